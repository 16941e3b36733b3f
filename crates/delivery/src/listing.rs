//! A receiver's view of the file delivery table: which instances it has, and whether these are all.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::object::{
    Content, FEC_NO_CODE, FEC_RAPTORQ, Instance, OtiError, TABLE_MAX, TableError, decompressed,
};
use crate::packet::Fdt;
use crate::part::Part;
use crate::security::keys::PublicKey;
use crate::signed_table::{Untrusted, verified};
use crate::table_reader::TableReader;

/// The maximum number of instances that are reassembled at the same time. A source sends one after the other on each
/// channel.
const READERS_MAX: usize = 16;
/// The maximum number of instances of a log.
const LOG_MAX: usize = 1 << 16;

/// How many bytes of documents are read between two calls of [`Listing::refill`], about twice a second, and what each counts at least
/// (CHOICE: 16,000 files a second, and a quarter of a processor). Genuine instances that were passed over come again.
const READ_MAX: usize = 2 << 20;
const READ_LEAST: usize = 4 << 10;

/// An instance that no packet came of during this many packets of the table for each instance that is known does not
/// exist: one with a damaged or forged number must not keep a receiver from being complete.
const FORGOTTEN_AFTER: u64 = 64;

/// A log that may grow has settled after so many packets of the table without a new instance, and so many more for each
/// instance (CHOICE: a short table takes a quarter of a minute, and that many packets are not lost in a row).
const SETTLED_PACKETS: u64 = 16;
const SETTLED_ROUNDS: u64 = 4;

/// Why an instance cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstanceError {
    /// It is invalid.
    #[error(transparent)]
    Table(#[from] TableError),
    /// No key that is trusted has signed it.
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
}

/// The newest instance of the log.
#[derive(Clone, Copy, Debug)]
struct Newest {
    number: u32,
    first: Option<u32>,
    complete: bool,
}

/// The instances of a session.
#[derive(Debug)]
pub struct Listing {
    /// Whose instances are taken; anyone's if empty.
    keys: Arc<[PublicKey]>,
    /// The longest instance in packets, in bytes.
    most: usize,
    /// Instances that are not complete, and the packet of the table that was the last of each.
    readers: Vec<(TableReader, u64)>,
    packets: u64,
    /// The number of packets at the last instance that was new.
    new_at: u64,
    next_reader: usize,
    seen: BTreeSet<u32>,
    newest: Option<Newest>,
    /// How many bytes may still be read.
    left: usize,
}

impl Default for Listing {
    /// That of one of our sources.
    fn default() -> Listing {
        Listing::new(TABLE_MAX)
    }
}

/// The numbers of instances have 20 bits.
const NUMBERS: u32 = 0xf_ffff;

/// How far a number of 20 bits is ahead of another; negative if it is behind.
pub fn ahead(number: u32, of: u32) -> i32 {
    (number.wrapping_sub(of) << 12) as i32 >> 12
}

impl Listing {
    /// A listing that takes instances of our sources only if one of the keys has signed them; all, if there are no keys.
    pub fn trusting(keys: Arc<[PublicKey]>) -> Listing {
        Listing { keys, ..Listing::default() }
    }

    /// Nothing yet of a table whose instances have at most `most` bytes in packets.
    pub fn new(most: usize) -> Listing {
        Listing {
            keys: Arc::default(),
            most,
            readers: Vec::new(),
            packets: 0,
            new_at: 0,
            next_reader: 0,
            seen: BTreeSet::new(),
            newest: None,
            left: READ_MAX,
        }
    }

    /// Time has passed: more may be read. Without this a flood of forged instances would take a processor.
    pub fn refill(&mut self) {
        self.left = READ_MAX;
    }

    /// Begins again, with another session.
    pub fn restart(&mut self) {
        *self = Listing { keys: Arc::clone(&self.keys), left: self.left, ..Listing::new(self.most) };
    }

    /// Takes the payload of a packet of the table. Returns an instance that is new, or why it cannot be used, with its
    /// number. Never panics; memory is bounded.
    pub fn insert(
        &mut self,
        part: impl Into<Part>,
        payload: &[u8],
    ) -> Option<(u32, Result<Instance, InstanceError>)> {
        let part = part.into();
        let fdt = part.fdt?;
        let number = fdt.instance();
        self.packets += 1;
        let patience = FORGOTTEN_AFTER * (self.seen.len() as u64 + 1);
        let now = self.packets;
        self.readers.retain(|(_, last)| now - last <= patience);
        if self.seen.contains(&number) || self.left == 0 {
            return None;
        }
        if part.codepoint != FEC_NO_CODE && part.codepoint != FEC_RAPTORQ {
            let unknown = OtiError::Encoding(part.codepoint.into());
            return Some((number, Err(TableError::Oti(unknown).into())));
        }
        let place = self.reader(fdt);
        let (reader, last) = self.readers.get_mut(place)?;
        *last = now;
        let bytes = reader.insert(&part, payload, self.most)?;
        let xml = decompressed(part.encoding, &bytes);
        *reader = TableReader::default();
        self.left = self.left.saturating_sub(xml.as_ref().map_or(0, |xml| xml.len()).max(READ_LEAST));
        let instance = match xml {
            None => Err(TableError::Xml.into()),
            Some(xml) => read(&xml, &self.keys, part.tsi, number),
        };
        // One that is damaged or forged must not stand in the place of the genuine one.
        if let Ok(instance) = &instance
            && self.seen.len() < LOG_MAX
        {
            self.seen.insert(number);
            self.note(number, instance);
        }
        Some((number, instance))
    }

    /// Begins with an instance that was read elsewhere.
    pub fn begin(&mut self, number: u32, instance: &Instance) {
        self.seen.insert(number);
        self.note(number, instance);
    }

    fn note(&mut self, number: u32, instance: &Instance) {
        self.new_at = self.packets;
        if self.newest.is_some_and(|newest| ahead(number, newest.number) < 0) {
            return;
        }
        self.newest = Some(Newest { number, first: instance.first, complete: instance.complete });
        if let Some(first) = instance.first {
            self.seen.retain(|&seen| ahead(seen, first) >= 0);
        }
    }

    /// The reader of an instance: the one that has a part of it, or the one that was begun first.
    fn reader(&mut self, fdt: Fdt) -> usize {
        let known = self.readers.iter().position(|(reader, _)| reader.instance() == Some(fdt.instance()));
        let free = || self.readers.iter().position(|(reader, _)| reader.instance().is_none());
        known.or_else(free).unwrap_or_else(|| {
            if self.readers.len() < READERS_MAX {
                self.readers.push((TableReader::default(), self.packets));
                return self.readers.len() - 1;
            }
            self.next_reader = (self.next_reader + 1) % READERS_MAX;
            self.next_reader
        })
    }

    /// Whether the whole log is here and its newest instance says that no more follows.
    pub fn is_whole(&self) -> bool {
        self.newest.is_some_and(|newest| newest.complete) && self.has_all()
    }

    /// Whether all instances are here, as far as can be known of a log that may grow: the whole log came again and
    /// again, and nothing else.
    pub fn is_settled(&self) -> bool {
        let patience = SETTLED_PACKETS + SETTLED_ROUNDS * self.seen.len() as u64;
        self.has_all() && (self.is_whole() || self.packets - self.new_at >= patience)
    }

    /// Whether all instances up to the newest known are here.
    pub fn has_all(&self) -> bool {
        let Some(newest) = self.newest else { return false };
        let first = newest.first.unwrap_or(newest.number);
        let count = ahead(newest.number, first);
        // An instance that was begun and not finished may be newer.
        let is_newer = |(reader, _): &(TableReader, u64)| {
            reader.instance().is_some_and(|number| ahead(number, newest.number) > 0)
        };
        // What no session has is not looked for one by one.
        (0..self.seen.len() as i32).contains(&count)
            && (0..=count as u32).all(|after| self.seen.contains(&(first.wrapping_add(after) & NUMBERS)))
            && !self.readers.iter().any(is_newer)
    }
}

/// Reads an instance; by one of the keys, if there are any. The header's number has no checksum but UDP's: an instance
/// under a wrong number would be missing under its own, and stand in the place of another.
fn read(xml: &[u8], keys: &[PublicKey], tsi: u64, header: u32) -> Result<Instance, InstanceError> {
    let xml = match u32::try_from(tsi) {
        _ if keys.is_empty() => xml,
        Ok(tsi) => verified(xml, keys, tsi, header)?,
        Err(_) => return Err(Untrusted::Unsigned.into()),
    };
    let instance = Instance::from_xml(xml)?;
    if let Some(own) = instance.number.filter(|&own| own != header) {
        return Err(TableError::Number { own, header }.into());
    }
    // Nobody would vouch for the content.
    let has_hash = |content: &Content| !matches!(content, Content::File { sha256: None, .. });
    if keys.is_empty() || instance.entries.iter().all(|entry| has_hash(&entry.content)) {
        Ok(instance)
    } else {
        Err(TableError::Field("SHA-256").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Encoded, Item, TableSettings};
    use crate::disk::Attributes;
    use crate::object::table_fti;
    use crate::packet::Repr;
    use layercast_core::family::AnyHeader as _;
    use layercast_core::units::{Layer, WireSeq};
    use layercast_protocols::fixed;
    use layercast_protocols::registry::Header;

    fn packets(encoded: &Encoded) -> Vec<(Repr, Vec<u8>)> {
        let parts = encoded.bytes.chunks(100).enumerate();
        let packet = |(number, part): (usize, &[u8])| {
            let mut payload = (number as u32).to_be_bytes().to_vec();
            payload.extend_from_slice(part);
            let repr = Repr {
                fields: Header::Fixed(fixed::Header { layer: Layer::BASE, seq: WireSeq(0) })
                    .to_lct()
                    .expect("fields"),
                tsi: 1,
                toi: 0,
                close_object: false,
                codepoint: 0,
                fdt: Some(Fdt::new(encoded.number)),
                is_compressed: true,
                fti: Some(table_fti(encoded.bytes.len(), 100)),
                poll: None,
                known_level: None,
            };
            (repr, payload)
        };
        parts.map(packet).collect()
    }

    fn empty() -> Catalogue {
        Catalogue::new(TableSettings {
            symbol: 900,
            expires_s: 1,
            wants_completions: false,
            session: String::new(),
            signer: None,
        })
    }

    #[test]
    fn a_log_is_whole_when_all_of_it_came_in_any_order() {
        let mut catalogue = empty();
        let items: Vec<Item> = (0..300)
            .map(|n| Item {
                path: format!("file-{n}"),
                file: Some((1, Some([n as u8; 32]))),
                tag: None,
                leaves: Arc::default(),
                parts: None,
                members: Arc::default(),
                attributes: Attributes::default(),
            })
            .collect();
        catalogue.change(&items, &[], true).expect("a catalogue");
        let mut all: Vec<_> = catalogue.instances().iter().flat_map(packets).collect();
        all.reverse();
        let mut listing = Listing::default();
        let mut entries = 0;
        let last = all.pop().expect("a packet");
        for (repr, payload) in &all {
            let new = listing.insert(repr, payload);
            entries += new.map_or(0, |(_, instance)| instance.expect("an instance").entries.len());
            assert!(!listing.is_whole());
        }
        entries +=
            listing.insert(&last.0, &last.1).map_or(0, |(_, one)| one.expect("an instance").entries.len());
        assert!(listing.is_whole());
        assert_eq!(entries, 300);
        // A change makes it incomplete from the first packet of the new instance on.
        catalogue.change(&items[..1], &[], true).expect("a change");
        let new = packets(&catalogue.instances()[catalogue.instances().len() - 1]);
        listing.insert(&new[0].0, &new[0].1);
        assert!(new.len() > 1 && !listing.is_whole());
        for (repr, payload) in &new[1..] {
            listing.insert(repr, payload);
        }
        assert!(listing.is_whole());
    }

    #[test]
    fn an_instance_under_another_number_is_not_the_genuine_one() {
        let mut catalogue = empty();
        catalogue.change(&[], &[], true).expect("a catalogue");
        let genuine = &catalogue.instances()[0];
        let forged = Encoded { number: genuine.number + 5, ..genuine.clone() };
        let mut listing = Listing::default();
        for (repr, payload) in packets(&forged) {
            let read = listing.insert(&repr, &payload).map(|(_, instance)| instance);
            let wrong = InstanceError::from(TableError::Number { own: 0, header: 5 });
            assert!(read.is_none_or(|read| read == Err(wrong)));
        }
        assert!(!listing.is_whole());
        packets(genuine).iter().for_each(|(repr, payload)| _ = listing.insert(repr, payload));
        assert!(listing.is_whole());
    }

    #[test]
    fn numbers_wrap() {
        assert_eq!(ahead(2, 0xf_ffff), 3);
        assert_eq!(ahead(0xf_ffff, 2), -3);
        assert_eq!(ahead(5, 5), 0);
    }
}
