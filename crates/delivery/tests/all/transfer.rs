//! Whole transfers without a network: what a sender's packets give at receivers that miss many of them.

mod batches;
mod floods;
mod packages;
mod parts;
mod signed;
mod tags;

use std::sync::Arc;

use layercast_core::family::AnyHeader as _;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Layer, Time, WireSeq};
use layercast_delivery::catalogue::{Item, TableSettings};
use layercast_delivery::disk::{Attributes, Disk as _};
use layercast_delivery::memory::{MemoryDisk, MemoryObjects};
use layercast_delivery::object::{Coding, Content, Cut, PART_SYMBOLS, hashes_of, sha256};
use layercast_delivery::packet::Repr;
use layercast_delivery::reception::{
    ObjectError, Reception, ReceptionEvent, ReceptionProgress, ReceptionSettings,
};
use layercast_delivery::security::keys::SecretKey;
use layercast_delivery::sender::Sender;
use layercast_delivery::signed_table::TableSigner;
use layercast_protocols::fixed;
use layercast_protocols::registry::Header;
use proptest::prelude::*;

const SYMBOL: u16 = 200;

fn content(length: usize, seed: u32) -> Vec<u8> {
    (0..length as u32).map(|at| ((at ^ seed).wrapping_mul(2_654_435_761) >> 11) as u8).collect()
}

struct Source {
    sender: Sender,
    objects: MemoryObjects,
    now: Time,
    packets: u64,
    cut: Cut,
}

impl Source {
    fn new(channels: u16) -> Source {
        Source::signing(channels, None)
    }

    fn signing(channels: u16, key: Option<SecretKey>) -> Source {
        let is_signed = key.is_some();
        let settings = TableSettings {
            symbol: SYMBOL,
            expires_s: 4_000_000_000,
            wants_completions: false,
            session: String::new(),
            signer: key.map(|key| TableSigner { key, tsi: 1 }),
        };
        Source {
            sender: Sender::new(settings, channels),
            objects: MemoryObjects::default(),
            now: Time::ZERO,
            packets: 0,
            cut: Cut { symbol: SYMBOL, longest: PART_SYMBOLS, is_signed },
        }
    }

    fn put(&mut self, files: &[(&str, &[u8])], removed: &[&str], complete: bool) {
        let items: Vec<Item> = files
            .iter()
            .map(|(path, bytes)| {
                let hashes = hashes_of(bytes, self.cut).unwrap();
                Item {
                    path: (*path).to_owned(),
                    file: Some((bytes.len() as u64, Some(hashes.whole.sha256))),
                    tag: None,
                    leaves: hashes.whole.leaves,
                    parts: hashes.parts,
                    members: Arc::default(),
                    attributes: Attributes { mode: Some(0o640), modified_ns: Some(7) },
                }
            })
            .collect();
        let removed: Vec<String> = removed.iter().map(|path| (*path).to_owned()).collect();
        let change = self.sender.change(&items, &removed, complete, &|_| Vec::new()).unwrap();
        for (toi, &place) in change.added.iter().zip(&change.items) {
            let entry = self.sender.catalogue().object(*toi).unwrap();
            self.objects.add_entry(*toi, entry, files[place].1);
        }
    }

    /// The next packet of a channel.
    fn next(&mut self, channel: u16) -> (Repr, Vec<u8>) {
        self.now += Duration::from_ms(1);
        self.packets += 1;
        let mut room = [0; 1000];
        let load = self.sender.next(Channel(channel), self.now, &mut room, &mut self.objects).unwrap();
        let header = Header::Fixed(fixed::Header { layer: Layer(channel), seq: WireSeq(0) });
        (load.repr(header.to_lct().unwrap(), 1), room[..load.length].to_vec())
    }
}

fn receiver(settings: ReceptionSettings) -> Reception<MemoryDisk> {
    Reception::new(MemoryDisk::default(), settings)
}

fn finish(reception: &mut Reception<MemoryDisk>) {
    while reception.work().unwrap() {}
}

/// Sends on the channels in turn until the receiver of those that `keep` says has everything. Packets that reached it.
fn transfer(
    source: &mut Source,
    reception: &mut Reception<MemoryDisk>,
    turns: &[u16],
    mut keep: impl FnMut(u64, u16) -> bool,
) -> u64 {
    let mut taken = 0;
    for number in 0..2_000_000u64 {
        let channel = turns[(number % turns.len() as u64) as usize];
        let (repr, payload) = source.next(channel);
        if !keep(number, channel) {
            continue;
        }
        taken += 1;
        reception.packet(&repr, &payload).unwrap();
        finish(reception);
        if reception.is_complete() {
            return taken;
        }
    }
    panic!("not complete: {:?}", reception.progress());
}

fn assert_placed(reception: &Reception<MemoryDisk>, files: &[(&str, &[u8])]) {
    // A mirror's record of what it placed stays.
    let placed = reception.disk().files().filter(|(path, _)| *path != ".layercast/placed");
    let placed: Vec<(String, Vec<u8>)> = placed.map(|(path, bytes)| (path.to_owned(), bytes)).collect();
    let mut wanted: Vec<(String, Vec<u8>)> =
        files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
    wanted.sort();
    assert_eq!(placed.len(), wanted.len());
    assert!(placed == wanted);
}

#[test]
fn a_receiver_that_misses_nothing_takes_little_more_than_the_files() {
    let (big, mid, small) = (content(400_000, 1), content(5_000, 2), content(100, 3));
    let files: [(&str, &[u8]); 4] = [("a/big", &big), ("a/b/mid", &mid), ("small", &small), ("empty", &[])];
    let mut source = Source::new(3);
    source.put(&files, &[], true);
    let mut reception = receiver(ReceptionSettings::default());
    let taken = transfer(&mut source, &mut reception, &[0, 1, 2, 2], |_, _| true);
    assert_placed(&reception, &files);
    let needed = (400_000 + 5_000) / 200 + 1;
    assert!(taken < needed * 103 / 100, "{taken} of {needed}");
    assert_eq!(
        reception.disk().attributes("a/big"),
        Some(Attributes { mode: Some(0o640), modified_ns: Some(7) })
    );
    assert_eq!(reception.counters().refused, 0);
}

/// Two channels that take turns: one cycle through the blocks for both would give the base channel every second block.
#[test]
fn a_receiver_of_the_base_channel_alone_completes() {
    let big = content(450_000, 1);
    let mut source = Source::new(2);
    source.put(&[("big", &big)], &[], true);
    let mut reception = receiver(ReceptionSettings::default());
    let taken = transfer(&mut source, &mut reception, &[0, 1], |_, channel| channel == 0);
    assert_placed(&reception, &[("big", &big)]);
    assert!(reception.counters().decoded > 0);
    assert!(taken < 450_000 / 200 * 103 / 100, "{taken}");
}

#[test]
fn losses_of_five_percent_cost_three_percent_and_those_of_a_third_are_survived() {
    // Blocks of about a thousand symbols, as in real sessions.
    let big = content(2_000_000, 1);
    for (lost, most) in [(0.05, 103), (0.33, 105)] {
        let mut source = Source::new(2);
        source.put(&[("big", &big)], &[], true);
        let mut reception = receiver(ReceptionSettings::default());
        let mut stream = Stream::new(9, "losses");
        let taken = transfer(&mut source, &mut reception, &[0, 1], |_, _| !stream.chance(lost));
        assert_placed(&reception, &[("big", &big)]);
        let needed = 2_000_000 / 200;
        assert!(taken <= needed * most / 100, "{taken} of {needed} with {lost} lost");
    }
}

#[test]
fn a_thousand_small_files_arrive_with_losses() {
    let bytes: Vec<Vec<u8>> = (0..1000).map(|number| content(number % 900, number as u32)).collect();
    let names: Vec<String> = (0..1000).map(|number| format!("folder-{}/file-{number}", number % 7)).collect();
    let files: Vec<(&str, &[u8])> =
        names.iter().zip(&bytes).map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let mut source = Source::new(2);
    source.put(&files, &[], true);
    let mut reception = receiver(ReceptionSettings::default());
    transfer(&mut source, &mut reception, &[0, 1], |number, _| number % 10 != 3);
    assert_placed(&reception, &files);
}

#[test]
fn changes_while_sending_are_followed() {
    let (one, two, more) = (content(30_000, 1), content(20_000, 2), content(40_000, 3));
    let mut source = Source::new(2);
    source.put(&[("a", &one), ("b", &two)], &[], false);
    let settings = ReceptionSettings { replace: true, mirror: true };
    let mut reception = receiver(settings);
    run(&mut source, &mut reception, 1000);
    assert_placed(&reception, &[("a", &one), ("b", &two)]);
    assert!(!reception.is_complete(), "more may follow");
    // A new version of one, the end of the other, and a file that was not there.
    source.put(&[("a", &more), ("c", &two)], &["b"], true);
    run(&mut source, &mut reception, 1000);
    assert!(reception.is_complete());
    assert_placed(&reception, &[("a", &more), ("c", &two)]);
    let events: Vec<ReceptionEvent> = reception.drain_events().collect();
    assert!(events.contains(&ReceptionEvent::Removed { path: "b".into() }), "{events:?}");
}

fn run(source: &mut Source, reception: &mut Reception<MemoryDisk>, packets: u16) {
    for number in 0..packets {
        let (repr, payload) = source.next(number % 2);
        reception.packet(&repr, &payload).unwrap();
        finish(reception);
    }
}

/// The disk that a receiver leaves.
fn left(reception: &Reception<MemoryDisk>) -> MemoryDisk {
    let mut disk = MemoryDisk::default();
    reception.disk().folders().for_each(|folder| disk.create_folder(folder).unwrap());
    reception.disk().files().for_each(|(path, bytes)| disk.put(path, &bytes));
    disk
}

fn names(reception: &Reception<MemoryDisk>) -> Vec<String> {
    let visible = reception.disk().files().filter(|(path, _)| !path.starts_with('.'));
    visible.map(|(path, _)| path.to_owned()).collect()
}

#[test]
fn a_mirror_removes_what_a_receiver_put_there_and_nothing_else() {
    let (one, two) = (content(30_000, 1), content(2_000, 2));
    let settings = ReceptionSettings { replace: true, mirror: true };
    let mut disk = MemoryDisk::default();
    disk.put("mine", &two);
    disk.put("both", &two);
    let mut reception = Reception::new(disk, settings);
    let mut source = Source::new(2);
    source.put(&[("a", &one), ("b", &two), ("both", &two), ("empty", &[])], &[], false);
    run(&mut source, &mut reception, 1000);
    assert_eq!(names(&reception), ["a", "b", "both", "empty", "mine"]);
    // The source removes what was there before too: it stays.
    source.put(&[], &["b", "both"], false);
    run(&mut source, &mut reception, 100);
    assert_eq!(names(&reception), ["a", "both", "empty", "mine"]);
    // Another receiver and another session, which no longer has some of the files.
    let mut reception = Reception::new(left(&reception), settings);
    let mut source = Source::new(2);
    source.put(&[("b", &two)], &[], false);
    run(&mut source, &mut reception, 60_000);
    assert_eq!(names(&reception), ["b", "both", "mine"]);
    // Without a mirror nothing is removed.
    let mut reception = Reception::new(left(&reception), ReceptionSettings { replace: true, mirror: false });
    let mut source = Source::new(2);
    source.put(&[("c", &two)], &[], true);
    run(&mut source, &mut reception, 60_000);
    assert_eq!(names(&reception), ["b", "both", "c", "mine"]);
}

#[test]
fn a_file_stays_until_its_new_version_is_there() {
    let (one, two) = (content(30_000, 1), content(30_000, 2));
    let mut reception = receiver(ReceptionSettings { replace: true, mirror: true });
    let mut source = Source::new(2);
    source.put(&[("a", &one)], &[], false);
    run(&mut source, &mut reception, 1000);
    source.put(&[("a", &two)], &[], false);
    for _ in 0..1000 {
        run(&mut source, &mut reception, 2);
        assert_eq!(names(&reception), ["a"]);
    }
    assert_placed(&reception, &[("a", &two)]);
}

#[test]
fn files_that_are_there_are_kept_compared_or_replaced() {
    let (one, two) = (content(30_000, 1), content(30_000, 2));
    for replace in [false, true] {
        let mut source = Source::new(1);
        source.put(&[("same", &one), ("other", &one), ("new", &two)], &[], true);
        let mut disk = MemoryDisk::default();
        disk.put("same", &one);
        disk.put("other", &two);
        let mut reception = Reception::new(disk, ReceptionSettings { replace, mirror: false });
        transfer(&mut source, &mut reception, &[0], |_, _| true);
        let events: Vec<ReceptionEvent> = reception.drain_events().collect();
        assert!(events.contains(&ReceptionEvent::Present { path: "same".into() }), "{events:?}");
        let failed: Vec<_> =
            reception.results().filter_map(|(path, done)| Some((path.to_owned(), done.err()?))).collect();
        if replace {
            assert_placed(&reception, &[("same", &one), ("other", &one), ("new", &two)]);
            assert!(failed.is_empty());
        } else {
            assert_placed(&reception, &[("same", &one), ("other", &two), ("new", &two)]);
            assert_eq!(failed, [("other".to_owned(), ObjectError::Exists)]);
        }
    }
}

#[test]
fn another_receiver_goes_on_with_what_is_on_the_disk_and_so_does_another_session() {
    let big = content(400_000, 1);
    let mut source = Source::new(1);
    source.put(&[("big", &big)], &[], true);
    let mut first = receiver(ReceptionSettings::default());
    for _ in 0..1200 {
        let (repr, payload) = source.next(0);
        first.packet(&repr, &payload).unwrap();
    }
    first.flush();
    let (held, needed) = first.kept();
    assert!(held > 1000 && held < needed, "{held} of {needed}");
    let mut disk = MemoryDisk::default();
    first.disk().files().for_each(|(path, bytes)| disk.put(path, &bytes));
    disk_folders(first.disk(), &mut disk);
    let mut second = Reception::new(disk, ReceptionSettings::default());
    let (repr, payload) = source.next(0);
    second.packet(&repr, &payload).unwrap();
    // The source begins again too; it knows what it had sent.
    let reached: Vec<u32> = source.sender.carousel().reached(1).collect();
    let mut other = Source::new(1);
    let item = Item {
        path: "big".into(),
        file: Some((400_000, Some(sha256(&big)))),
        tag: None,
        leaves: Arc::default(),
        parts: None,
        members: Arc::default(),
        attributes: Attributes::default(),
    };
    other.sender.change(&[item], &[], true, &|_| reached.clone()).unwrap();
    let Some(Content::File { coding, .. }) = other.sender.catalogue().object(1).map(|e| e.content) else {
        panic!()
    };
    other.objects.add(1, coding, big.clone());
    second.follow();
    let taken = transfer(&mut other, &mut second, &[0], |_, _| true);
    assert_placed_but_own(&second, "big", &big);
    assert!(taken < (needed - held) * 105 / 100 + 5, "{taken} of {}", needed - held);
    let events: Vec<ReceptionEvent> = second.drain_events().collect();
    assert!(events.contains(&ReceptionEvent::Resumed { path: "big".into(), held, needed }), "{events:?}");
}

/// A receiver that is killed has no time to write what it would record: wherever that happens while blocks are decoded, another one
/// goes on with all that is there.
#[test]
fn a_receiver_that_is_killed_while_it_decodes_loses_nothing_that_is_on_the_disk() {
    let big = content(1_000_000, 3);
    let mut source = Source::new(1);
    source.put(&[("big", &big)], &[], true);
    let mut first = receiver(ReceptionSettings::default());
    let mut number = 0;
    while first.needs_packets() {
        let (repr, payload) = source.next(0);
        number += 1;
        if number % 5 != 0 {
            first.packet(&repr, &payload).unwrap();
        }
    }
    first.flush();
    let mut kills = 0;
    while !first.is_complete() {
        first.work().unwrap();
        let mut second = Reception::new(left(&first), ReceptionSettings::default());
        transfer(&mut source, &mut second, &[0], |_, _| true);
        kills += 1;
        // The symbol that opens the file, and for each block the two spare ones that were in memory alone.
        let useful = second.counters().useful;
        assert!(useful <= 20, "{useful} symbols after {kills} steps");
        assert_placed_but_own(&second, "big", &big);
        let is_wrong = |event| matches!(event, ReceptionEvent::WrongHash { .. });
        assert!(!second.drain_events().any(is_wrong), "after {kills} steps");
    }
    assert!(kills >= 3, "{kills}");
}

fn disk_folders(from: &MemoryDisk, to: &mut MemoryDisk) {
    use layercast_delivery::disk::Disk as _;
    from.folders().for_each(|folder| to.create_folder(folder).unwrap());
}

fn assert_placed_but_own(reception: &Reception<MemoryDisk>, path: &str, bytes: &[u8]) {
    let found: Vec<_> =
        reception.disk().files().filter(|(path, _)| !path.starts_with(".layercast/")).collect();
    assert_eq!(found.len(), 1);
    assert!(found[0] == (path, bytes.to_vec()));
}

/// A version that replaced another and was then removed: the other must not come back, in whatever order the receiver
/// hears of the three.
#[test]
fn what_a_removed_file_had_replaced_stays_away_in_any_order_of_the_table() {
    let (one, two) = (content(3_000, 1), content(3_000, 2));
    let mut source = Source::new(1);
    source.put(&[("a", &one)], &[], false);
    source.put(&[("a", &two)], &[], false);
    source.put(&[], &["a"], true);
    let mut instances: Vec<Vec<(Repr, Vec<u8>)>> = vec![Vec::new(); 3];
    while instances.iter().any(Vec::is_empty) || source.packets < 5_000 {
        let (repr, payload) = source.next(0);
        if let Some(instance) = repr.fdt.and_then(|fdt| instances.get_mut(fdt.instance() as usize)) {
            instance.push((repr, payload));
        }
    }
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut reception = receiver(ReceptionSettings::default());
        for (repr, payload) in order.iter().flat_map(|&instance: &usize| &instances[instance]) {
            reception.packet(repr, payload).unwrap();
        }
        let progress = reception.progress();
        assert_eq!((progress.objects, progress.is_open), (0, false), "{order:?}");
        assert!(reception.is_complete(), "{order:?}");
    }
}

/// A symbol that was changed on the path: the hash notices, and the object is received again.
#[test]
fn a_forged_symbol_is_noticed_by_the_hash() {
    let (big, small) = (content(100_000, 1), content(150, 2));
    let mut source = Source::new(1);
    source.put(&[("big", &big), ("small", &small)], &[], true);
    let mut reception = receiver(ReceptionSettings::default());
    let mut forged = 0;
    let mut number = 0;
    while !reception.is_complete() {
        let (repr, mut payload) = source.next(0);
        number += 1;
        if repr.toi > 0 && forged < 2 && number % 3 == 0 {
            payload[10] ^= 1;
            forged += 1;
        }
        reception.packet(&repr, &payload).unwrap();
        finish(&mut reception);
        assert!(number < 10_000);
    }
    assert_placed(&reception, &[("big", &big), ("small", &small)]);
    let events: Vec<ReceptionEvent> = reception.drain_events().collect();
    assert!(events.iter().any(|event| matches!(event, ReceptionEvent::WrongHash { .. })), "{events:?}");
}

/// Symbols that are forged at random give another content each time; one that is the same each time is what the sender has, and
/// then its hash is wrong.
#[test]
fn a_file_fails_when_the_same_wrong_content_comes_again_and_again() {
    let (big, small) = (content(10_000, 1), content(150, 2));
    for is_the_senders in [false, true] {
        let mut source = Source::new(1);
        source.put(&[("big", &big), ("small", &small)], &[], true);
        if is_the_senders {
            for (toi, length) in [(1, big.len()), (2, small.len())] {
                let coding = Coding::plan(length as u64, SYMBOL).unwrap();
                source.objects.add(toi, coding, content(length, 3));
            }
        }
        let mut reception = receiver(ReceptionSettings::default());
        for number in 0..6000u32 {
            let (repr, mut payload) = source.next(0);
            if repr.toi > 0 && !is_the_senders && number < 500 {
                payload[10] ^= number.to_be_bytes()[3];
            }
            reception.packet(&repr, &payload).unwrap();
            finish(&mut reception);
        }
        if is_the_senders {
            let failed = reception.results().filter(|(_, result)| *result == Err(ObjectError::Hash));
            assert_eq!(failed.count(), 2);
        } else {
            assert_placed(&reception, &[("big", &big), ("small", &small)]);
        }
    }
}

#[test]
fn progress_counts_objects_and_symbols() {
    let big = content(100_000, 1);
    let mut source = Source::new(1);
    source.put(&[("big", &big), ("empty", &[])], &[], true);
    let mut reception = receiver(ReceptionSettings::default());
    assert_eq!(reception.progress(), ReceptionProgress { is_open: true, ..ReceptionProgress::default() });
    for _ in 0..12 {
        let (repr, payload) = source.next(0);
        reception.packet(&repr, &payload).unwrap();
        finish(&mut reception);
    }
    let progress = reception.progress();
    assert_eq!((progress.objects, progress.complete, progress.failed, progress.is_open), (2, 1, 0, false));
    assert_eq!((progress.bytes, progress.needed), (100_000, 500));
    assert!((8..=11).contains(&progress.held), "{progress:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_losses_are_made_good(lengths in proptest::collection::vec(0usize..30_000, 1..8), seed in any::<u32>(), share in 2u32..100) {
        let bytes: Vec<Vec<u8>> = lengths.iter().enumerate().map(|(n, &length)| content(length, seed ^ n as u32)).collect();
        let names: Vec<String> = (0..bytes.len()).map(|n| format!("f{n}")).collect();
        let files: Vec<(&str, &[u8])> = names.iter().zip(&bytes).map(|(n, b)| (n.as_str(), b.as_slice())).collect();
        let mut source = Source::new(3);
        source.put(&files, &[], true);
        let mut reception = receiver(ReceptionSettings::default());
        let mut state = seed | 1;
        transfer(&mut source, &mut reception, &[0, 1, 2, 2], |_, _| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 16) % 100 < share
        });
        assert_placed(&reception, &files);
    }

    #[test]
    fn no_packet_panics(packets in proptest::collection::vec((0u32..4, any::<u8>(), any::<bool>(), proptest::collection::vec(any::<u8>(), 0..300)), 1..60)) {
        let big = content(3_000, 1);
        let mut source = Source::new(1);
        source.put(&[("big", &big)], &[], true);
        let mut reception = receiver(ReceptionSettings::default());
        for (toi, codepoint, is_compressed, payload) in packets {
            let (repr, genuine) = source.next(0);
            reception.packet(&repr, &genuine).unwrap();
            let odd = Repr { toi, codepoint, is_compressed, ..repr };
            reception.packet(&odd, &payload).unwrap();
            reception.work().unwrap();
        }
    }
}
