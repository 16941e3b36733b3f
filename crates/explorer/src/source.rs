//! A source as a program: its endpoint, its files and its table.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use layercast_core::contract::Ecn;
use layercast_core::family::AnyProtocol as _;
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Size, Time};
use layercast_delivery::accept::Incoming;
use layercast_delivery::catalogue::{Item, TableSettings};
use layercast_delivery::disk::Attributes;
use layercast_delivery::memory::MemoryObjects;
use layercast_delivery::node;
use layercast_delivery::object::{Content, Cut, Entry, Sha256, hashes_of, sha256};
use layercast_delivery::security::keys::{GroupKey, PublicKey, SecretKey};
use layercast_delivery::security::protection::ProtectError;
use layercast_delivery::security::sequence::Sequence;
use layercast_delivery::sender::{Load, Sender};
use layercast_delivery::session::{Session, whole_rates};
use layercast_delivery::signed_table::TableSigner;
use layercast_protocols::registry::{Protocol, Registry};

use crate::packer::Packer;
use crate::plan::{Plan, Tags};

/// The group of the base channel.
pub(crate) const GROUP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 1, 2, 0)), 5500);

/// How many packet numbers are granted at a time: enough for seconds at the highest rate, few enough that they are granted
/// again and again.
const GRANT: u64 = 1 << 14;

fn last_byte(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(address) => address.octets()[3],
        IpAddr::V6(address) => address.octets()[15],
    }
}

/// The group key of the source at an address, if it has one.
pub(crate) fn group_key_of(plan: &Plan, address: IpAddr) -> Option<GroupKey> {
    let number = if plan.protection?.of_others { 0 } else { last_byte(address) };
    Some(GroupKey::from_seed(&[number; 32]))
}

/// The key of the source at an address, which is no secret here.
pub(crate) fn key_of(address: IpAddr) -> SecretKey {
    SecretKey::from_seed(&[last_byte(address); 32])
}

/// The keys that receivers trust: that of the source at this address, if it signs.
pub(crate) fn trusted(plan: &Plan, address: IpAddr) -> Arc<[PublicKey]> {
    plan.is_signed.then(|| key_of(address).public()).into_iter().collect()
}

/// The name and the hash of an object.
fn key_of_object(entry: &Entry) -> Option<(String, Sha256)> {
    match entry.content {
        Content::File { sha256: Some(sha256), .. } => Some((entry.location(), sha256)),
        _ => None,
    }
}

/// What a source stores so that a later one continues.
#[derive(Clone, Debug, Default)]
pub(crate) struct Saved {
    /// The next symbol of each block of each object.
    reached: BTreeMap<(String, Sha256), Vec<u32>>,
    /// The highest packet number that may have been used.
    granted: u64,
}

/// A file as a source sends it, with its hash.
pub(crate) fn item_of(path: &str, bytes: &[u8], cut: Cut) -> Option<Item> {
    let hashes = hashes_of(bytes, cut)?;
    Some(Item {
        path: path.to_owned(),
        file: Some((bytes.len() as u64, Some(hashes.whole.sha256))),
        tag: None,
        leaves: hashes.whole.leaves,
        parts: hashes.parts,
        members: Arc::default(),
        attributes: Attributes { mode: Some(0o644), modified_ns: Some(0) },
    })
}

/// The files of a source.
struct Files {
    sender: Sender,
    objects: MemoryObjects,
}

impl node::Content for Files {
    type Error = ProtectError;

    fn next(&mut self, channel: Channel, now: Time, room: &mut [u8]) -> Result<Load, ProtectError> {
        let Ok(load) = self.sender.next(channel, now, room, &mut self.objects);
        Ok(load)
    }

    fn announce_soon(&mut self) {
        self.sender.announce_soon();
    }
}

/// A running source.
pub(crate) struct SourceProgram {
    node: node::Source<Registry>,
    files: Files,
    packer: Packer,
    cut: Cut,
    tags: Option<Tags>,
    /// Paths with the hashes that are still to be named, and the wake-ups until then.
    unnamed: VecDeque<(String, Sha256, u64)>,
    /// Where packets are written.
    room: Vec<u8>,
    /// The packets that are to be sent, and their channels.
    pub(crate) packets: Vec<(Channel, Vec<u8>)>,
}

impl SourceProgram {
    /// A source at this address; `life` distinguishes those that follow each other. It goes on from the packet numbers that
    /// are `saved`, and stores more of them before it sends any packet. None if the protocol cannot carry the layers.
    pub(crate) fn new(
        plan: &Plan,
        address: IpAddr,
        life: u64,
        saved: &mut Saved,
        now: Time,
    ) -> Option<SourceProgram> {
        let mut protocol = Protocol::named(plan.protocol)?;
        protocol.deploy();
        let layers = whole_rates(&LayerTable::doubling(plan.base, plan.layers).ok()?).ok()?;
        let packet = Size::from_bytes(plan.packet);
        let needs = protocol.requirements();
        let shape = SessionPlan { layers: layers.clone(), packet_size: packet };
        let agreed = needs.agreed().iter();
        let agreed = agreed.filter_map(|name| Some(((*name).to_owned(), protocol.get(name)?))).collect();
        let group_key = group_key_of(plan, address);
        let mut numbers = Stream::new(plan.seed, &format!("source/{address}/{life}"));
        let session = Session {
            tsi: numbers.bits() as u32,
            protocol: plan.protocol.to_owned(),
            source: address,
            group: GROUP,
            feedback: SocketAddr::new(address, 9000),
            packet,
            channels: needs.channels(&shape),
            agreed,
            group_key: group_key.as_ref().map(|key| key.fingerprint().to_string()),
            salt: plan.protection.and_then(|protection| protection.salt),
            layers,
            stream: None,
        };
        let mut node = node::Source::new(&protocol, session, Stream::new(numbers.bits(), "source")).ok()?;
        let session = node.session();
        let settings = TableSettings {
            symbol: session.symbol_size(),
            expires_s: 4_000_000_000,
            wants_completions: plan.on_demand,
            session: session.to_string(),
            signer: plan.is_signed.then(|| TableSigner { key: key_of(address), tsi: session.tsi }),
        };
        let mut sender = Sender::new(settings, session.channels);
        sender.set_block_window(plan.block_window);
        let cut =
            Cut { symbol: session.symbol_size(), longest: plan.longest_part, is_signed: plan.is_signed };
        if let Some(key) = group_key {
            let mut sequence = Sequence::after(saved.granted);
            saved.granted = sequence.grant_of(GRANT);
            sequence.grant(saved.granted);
            node.protect(&key, sequence);
        }
        if plan.on_demand {
            node.poll_receivers();
            node.bound(now, true);
        }
        Some(SourceProgram {
            room: vec![0; node.room()],
            node,
            files: Files { sender, objects: MemoryObjects::default() },
            packer: Packer::new(plan),
            tags: plan.tags,
            unnamed: VecDeque::new(),
            cut,
            packets: Vec::new(),
        })
    }

    /// Changes the files.
    pub(crate) fn change(
        &mut self,
        files: &[(String, Vec<u8>)],
        removed: &[String],
        complete: bool,
        saved: &Saved,
    ) {
        let (cut, tags) = (self.cut, self.tags);
        let unnamed = &mut self.unnamed;
        let item = |(path, bytes): &(String, Vec<u8>)| {
            let mut item = item_of(path, bytes, cut)?;
            let length = bytes.len() as u64;
            if let Some(tags) = tags.filter(|tags| length >= tags.from && item.parts.is_none())
                && let Some(sha256) = item.file.as_mut().and_then(|(_, sha256)| sha256.take())
            {
                unnamed.push_back((path.clone(), sha256, tags.after));
                item.tag = Some(match tags.of_lengths {
                    true => self::sha256(&length.to_be_bytes()),
                    false => self::sha256(&sha256),
                });
            }
            Some(item)
        };
        let items: Vec<Item> = files.iter().filter_map(item).collect();
        let reached = |entry: &Entry| {
            let key = key_of_object(entry);
            // What was sent after it was stored is skipped.
            key.and_then(|key| saved.reached.get(&key))
                .map_or(Vec::new(), |esis| esis.iter().map(|esi| esi + 64).collect())
        };
        // Packages are one object each.
        let whole = Cut { longest: u64::MAX, ..self.cut };
        let leaves = |bytes: &[u8]| hashes_of(bytes, whole).map_or([].into(), |hashes| hashes.whole.leaves);
        let Ok(packed) = self.packer.pack(items, files, removed, &leaves) else { return };
        let Ok(change) = self.files.sender.change(&packed.items, removed, complete, &reached) else { return };
        for (toi, &place) in change.added.iter().zip(&change.items) {
            if let (Some(entry), Some(bytes)) =
                (self.files.sender.catalogue().object(*toi), packed.contents.get(place))
            {
                self.files.objects.add_entry(*toi, entry, bytes);
            }
        }
        self.packer.note(packed, removed);
    }

    /// Names the hashes that are known by now.
    fn name_hashes(&mut self) {
        for (_, _, left) in &mut self.unnamed {
            *left = left.saturating_sub(1);
        }
        while self.unnamed.front().is_some_and(|(_, _, left)| *left == 0) {
            let Some((path, sha256, _)) = self.unnamed.pop_front() else { return };
            // Another version may have followed, whose hash comes later; this one does not name it.
            let is_last = !self.unnamed.iter().any(|(other, ..)| *other == path);
            if let Some(toi) = self.files.sender.catalogue().toi(&path).filter(|_| is_last) {
                // Paths are short: an entry with a hash fits.
                let _ = self.files.sender.name_hashes(&[(toi, sha256)]);
            }
        }
    }

    /// What a later source needs, with more packet numbers if few are left.
    pub(crate) fn save(&mut self) -> Saved {
        let mut reached = BTreeMap::new();
        for (toi, entry) in self.files.sender.catalogue().objects() {
            if let Some(key) = key_of_object(entry) {
                reached.insert(key, self.files.sender.carousel().reached(toi).collect());
            }
        }
        let granted = self.node.packet_numbers().map_or(0, |sequence| {
            let more = if sequence.left() < GRANT / 2 { GRANT } else { 0 };
            sequence.grant_of(more)
        });
        Saved { reached, granted }
    }

    /// A state is stored: its packet numbers may be used.
    pub(crate) fn stored(&mut self, saved: &Saved) {
        self.node.packet_numbers().into_iter().for_each(|sequence| sequence.grant(saved.granted));
    }

    /// The session.
    pub(crate) fn session(&self) -> &Session {
        self.node.session()
    }

    /// When [`SourceProgram::timer`] is to be called.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.node.deadline()
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.node.start(now);
        self.send(now);
    }

    pub(crate) fn timer(&mut self, now: Time) {
        self.name_hashes();
        self.node.handle_timer(now, &mut self.files);
        self.send(now);
    }

    /// A message of a receiver.
    pub(crate) fn report(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) {
        let incoming = Incoming { from, channel: None, is_cut: false };
        self.node.handle(now, incoming, Ecn::NotCapable, bytes);
        self.send(now);
    }

    fn send(&mut self, now: Time) {
        loop {
            match self.node.poll(now, &mut self.room, &mut self.files) {
                Ok(None) => return,
                Ok(Some(packet)) => {
                    // What goes to one receiver is an answer of protocols for few.
                    let Some(channel) = packet.channel else { continue };
                    self.node.sent(packet.place.len());
                    self.packets.push((channel, self.room.get(packet.place).unwrap_or_default().to_vec()));
                }
                // Without a number that is granted a packet must not be sent.
                Err(_) => {}
            }
        }
    }
}
