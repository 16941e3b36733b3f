//! Its receiver gets the packets of our sender's base channel.

use std::rc::Rc;
use std::sync::Arc;

use flute::core::UDPEndpoint;
use flute::receiver::{Receiver, writer::ObjectWriterBufferBuilder};
use layercast_core::family::AnyHeader as _;
use layercast_core::units::{Channel, Duration, Time, WireSeq};
use layercast_delivery::catalogue::{Item, TableSettings};
use layercast_delivery::disk::Attributes;
use layercast_delivery::memory::MemoryObjects;
use layercast_delivery::object::{Cut, PART_SYMBOLS, hashes_of};
use layercast_delivery::packet::{MAX_HEADER, Poll, Repr};
use layercast_delivery::security::keys::SecretKey;
use layercast_delivery::sender::Sender;
use layercast_delivery::signed_table::TableSigner;
use layercast_protocols::elm;
use layercast_protocols::elm::header::{Base, Data, TableEntry, WireRate};
use layercast_protocols::flid;
use layercast_protocols::registry::Header;

const TSI: u32 = 0x89ab_cdef;
const SYMBOL: u16 = 400;

fn content(length: usize, seed: u32) -> Vec<u8> {
    (0..length as u32).map(|at| ((at ^ seed).wrapping_mul(2_654_435_761) >> 11) as u8).collect()
}

/// Our source on its base channel, and their receiver.
struct Session {
    sender: Sender,
    objects: MemoryObjects,
    header: fn(u32) -> Header,
    sent: u32,
    /// The maximum number of symbols of an object.
    longest: u64,
    writer: Rc<ObjectWriterBufferBuilder>,
    receiver: Receiver,
}

/// ELM's packets, with congestion control information of 32 bits.
fn elm(number: u32) -> Header {
    let entry = TableEntry { layer: 0, rate: WireRate(0x1234) };
    Header::Elm(elm::Header::Data(Data {
        session: TSI,
        layer: 0,
        layer_count: 3,
        end_of_session: false,
        seq: WireSeq(number),
        timestamp_us: number,
        base: Some(Base { feedback_interval_ms: 1000, entry, echo: None }),
    }))
}

/// FLID's, with information of 64 bits.
fn flid(number: u32) -> Header {
    Header::FlidDl(flid::Header {
        session: TSI,
        slot: WireSeq(number / 10),
        signal: None,
        first_of_slot: number.is_multiple_of(10),
        channel: 0,
        seq: number as u16,
        layer: 0,
        end_of_session: false,
    })
}

impl Session {
    fn new(header: fn(u32) -> Header) -> Session {
        let settings = TableSettings {
            symbol: SYMBOL,
            expires_s: 4_200_000_000,
            wants_completions: true,
            // As long as a real one, so that the table takes several packets.
            session: format!("layercast = 1\n{}", "options = { of = \"a protocol\" }\n".repeat(20)),
            // The signature stands where other programs skip it.
            signer: Some(TableSigner { key: SecretKey::from_seed(&[1; 32]), tsi: TSI }),
        };
        let endpoint = UDPEndpoint::new(None, "239.1.2.0".to_owned(), 5500);
        let writer = Rc::new(ObjectWriterBufferBuilder::new(true));
        Session {
            sender: Sender::new(settings, 1),
            objects: MemoryObjects::default(),
            header,
            sent: 0,
            longest: PART_SYMBOLS,
            receiver: Receiver::new(&endpoint, TSI.into(), writer.clone(), None),
            writer,
        }
    }

    /// Adds or replaces files, and folders where there is no content.
    fn put(&mut self, files: &[(&str, Option<&[u8]>)], complete: bool) {
        let cut = Cut { symbol: SYMBOL, longest: self.longest, is_signed: false };
        let item = |(path, bytes): &(&str, Option<&[u8]>)| {
            let hashes = bytes.and_then(|bytes| hashes_of(bytes, cut));
            Item {
                path: (*path).to_owned(),
                file: bytes
                    .zip(hashes.as_ref())
                    .map(|(bytes, of)| (bytes.len() as u64, Some(of.whole.sha256))),
                tag: None,
                leaves: Arc::default(),
                parts: hashes.and_then(|hashes| hashes.parts),
                members: Arc::default(),
                attributes: Attributes { mode: Some(0o640), modified_ns: Some(7) },
            }
        };
        let items: Vec<Item> = files.iter().map(item).collect();
        let change = self.sender.change(&items, &[], complete, &|_| Vec::new()).unwrap();
        for (toi, &place) in change.added.iter().zip(&change.items) {
            let entry = self.sender.catalogue().object(*toi).unwrap();
            self.objects.add_entry(*toi, entry, files[place].1.unwrap_or_default());
        }
    }

    /// Passes the next packets of the base channel, without those that `lost` says.
    fn pass(&mut self, packets: u32, lost: impl Fn(u32) -> bool) {
        for _ in 0..packets {
            self.sent += 1;
            let now = Time::ZERO + Duration::from_ms(u64::from(self.sent) * 2);
            let mut payload = [0; 1000];
            let load = self.sender.next(Channel(0), now, &mut payload, &mut self.objects).unwrap();
            let fields = (self.header)(self.sent).to_lct().unwrap();
            let poll = load.fdt.map(|_| Poll::new(3, 2, 1, 1000));
            let repr = Repr { poll, ..load.repr(fields, TSI) };
            let mut header = [0; MAX_HEADER];
            let start = repr.write(&mut header);
            if !lost(self.sent) {
                let packet = [&header[..start], &payload[..load.length]].concat();
                self.receiver.push_data(&packet, crate::flute::begin()).unwrap();
            }
        }
    }

    /// The complete files, in the order of their completion.
    fn received(&self) -> Vec<(String, Vec<u8>)> {
        let objects = self.writer.objects.borrow();
        let complete = objects.iter().map(|object| object.borrow()).filter(|object| object.complete);
        complete.map(|object| (object.meta.content_location.clone(), object.data.clone())).collect()
    }
}

fn assert_received(session: &Session, files: &[(&str, &[u8])]) {
    let mut received = session.received();
    received.sort();
    let mut wanted: Vec<(String, Vec<u8>)> =
        files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
    wanted.sort();
    let names = |all: &[(String, Vec<u8>)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&received), names(&wanted));
    assert!(received == wanted);
}

#[test]
fn it_receives_a_folder_of_files_of_all_kinds_and_an_update() {
    for header in [elm, flid] {
        let mut session = Session::new(header);
        // Several blocks of RaptorQ, one, a file of one symbol, an empty file, an empty folder.
        let (big, mid, small) = (content(1_100_000, 1), content(5_000, 2), content(100, 3));
        let files: [(&str, &[u8]); 3] = [("site/big", &big), ("site/b c/mid", &mid), ("site/small", &small)];
        let all: Vec<(&str, Option<&[u8]>)> =
            files.iter().map(|&(name, bytes)| (name, Some(bytes))).collect();
        session.put(&all, false);
        session.put(&[("site/nothing", Some(&[])), ("site/folder", None)], false);
        session.pass(1_100_000 / u32::from(SYMBOL) * 11 / 10, |_| false);
        // Names are percent-encoded, as URIs are.
        let named = [("site/big", &big[..]), ("site/b%20c/mid", &mid), ("site/small", &small)];
        assert_received(&session, &named);
        // Another version of a file is another object.
        let other = content(6_000, 4);
        session.put(&[("site/b c/mid", Some(&other))], true);
        session.pass(200, |_| false);
        assert_received(&session, &[&named[..], &[("site/b%20c/mid", &other)]].concat());
    }
}

/// A file that we send in parts is as many files for it.
#[test]
fn it_receives_the_parts_of_a_long_file_one_by_one() {
    let mut session = Session::new(elm);
    session.longest = 200;
    let long = content(500 * usize::from(SYMBOL), 1);
    session.put(&[("a/long", Some(&long))], true);
    session.pass(600, |_| false);
    let mut received = session.received();
    received.sort();
    let names: Vec<&str> = received.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a/long.part-1-of-3", "a/long.part-2-of-3", "a/long.part-3-of-3"]);
    assert_eq!(received.iter().flat_map(|(_, bytes)| bytes).copied().collect::<Vec<u8>>(), long);
}

#[test]
fn it_makes_good_for_losses_with_our_repair_symbols() {
    let mut session = Session::new(elm);
    let big = content(1_000_000, 1);
    session.put(&[("big", Some(&big))], true);
    session.pass(1_000_000 / u32::from(SYMBOL) * 12 / 10, |number| number % 10 == 3);
    assert_received(&session, &[("big", &big)]);
}
