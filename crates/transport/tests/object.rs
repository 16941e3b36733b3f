//! Files as symbols and back, under any loss, duplication and reordering.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use layercast_core::units::Channel;
use layercast_delivery::object::{
    Assembly, MAX_BLOCK_SYMBOLS, Oti, OtiError, Schedule, SymbolOutcome, Table, TableReader, safe_name,
    sha256_of, table_fti,
};
use layercast_delivery::packet::{Fdt, PayloadId};
use layercast_transport::Error;
use layercast_transport::disk::OpenFile;
use layercast_transport::file::FileSource;
use proptest::prelude::*;

/// A directory that is removed when it is dropped.
struct TempDir(PathBuf);

impl TempDir {
    fn new(name: &str) -> TempDir {
        let path = std::env::temp_dir().join(format!("layercast-object-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        TempDir(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn content(length: usize) -> Vec<u8> {
    (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn empty(path: &Path, length: u64) -> File {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path).unwrap();
    file.set_len(length).unwrap();
    file
}

/// Sends on layers in turn through a path that delivers what `keep` selects, until the file is complete.
/// Returns the assembly and how many packets were needed.
fn transfer(
    source: &FileSource,
    into: &Path,
    layers: &[u16],
    mut keep: impl FnMut(u64, u16) -> bool,
) -> (Assembly<OpenFile>, u64) {
    let oti = source.oti();
    let count = layers.iter().max().unwrap() + 1;
    let mut schedule = Schedule::new(oti, count);
    let mut assembly = Assembly::new(oti, OpenFile(empty(into, oti.length())));
    let mut symbol = vec![0; oti.symbol_size()];
    let mut taken = 0;
    // One packet of a hundred may be kept, so ten times as many is far beyond chance.
    for number in 0..1000 * oti.symbols() + 10_000 {
        let layer = layers[number as usize % layers.len()];
        let id = schedule.next(Channel(layer)).unwrap();
        if keep(number, layer) {
            source.symbol(id, &mut symbol).unwrap();
            taken += 1;
            assembly.insert(id, &symbol).unwrap();
            assert_eq!(
                assembly.insert(id, &symbol).unwrap(),
                SymbolOutcome::Needless,
                "a double counts for nothing"
            );
        }
        if assembly.is_complete() {
            return (assembly, taken);
        }
    }
    panic!("never complete");
}

#[test]
fn a_receiver_that_loses_nothing_decodes_nothing() {
    let temp = TempDir::new("lossless");
    let data = content(300_001);
    fs::write(temp.file("a"), &data).unwrap();
    let source = FileSource::open(&temp.file("a"), 100).unwrap();
    assert_eq!(source.oti().blocks(), 3);
    let (assembly, taken) = transfer(&source, &temp.file("b"), &[0, 1, 2, 2], |_, _| true);
    assert_eq!(assembly.counters().decoded, 0);
    // Layers cross the blocks' ends at different times, so a few repair symbols are in between.
    assert!(taken <= source.oti().symbols() + 10, "{taken}");
    assert_eq!(fs::read(temp.file("b")).unwrap(), data);
    assert_eq!(sha256_of(&assembly.file().0).unwrap(), source.sha256());
}

#[test]
fn a_receiver_of_the_base_layer_alone_completes() {
    let temp = TempDir::new("base");
    let data = content(200_000);
    fs::write(temp.file("a"), &data).unwrap();
    let source = FileSource::open(&temp.file("a"), 100).unwrap();
    // Two blocks and two alternating layers: one cycle through the blocks would give the base layer only
    // one of them.
    assert_eq!(source.oti().blocks(), 2);
    let (assembly, taken) = transfer(&source, &temp.file("b"), &[0, 1], |_, layer| layer == 0);
    assert!(assembly.counters().decoded > 0);
    assert!(taken <= source.oti().symbols() + 4, "{taken} of {}", source.oti().symbols());
    assert_eq!(fs::read(temp.file("b")).unwrap(), data);
}

#[test]
fn a_late_receiver_needs_no_more_than_another() {
    let temp = TempDir::new("late");
    let data = content(123_456);
    fs::write(temp.file("a"), &data).unwrap();
    let source = FileSource::open(&temp.file("a"), 200).unwrap();
    let late = source.oti().symbols() * 7;
    let (_, taken) = transfer(&source, &temp.file("b"), &[0, 1, 1], |number, _| number >= late);
    assert!(taken <= source.oti().symbols() + 4, "{taken}");
    assert_eq!(fs::read(temp.file("b")).unwrap(), data);
}

#[test]
fn empty_and_tiny_files_are_files_too() {
    let temp = TempDir::new("tiny");
    for length in [0, 1, 99, 100, 101] {
        fs::write(temp.file("a"), content(length)).unwrap();
        let source = FileSource::open(&temp.file("a"), 100).unwrap();
        transfer(&source, &temp.file("b"), &[0], |number, _| number % 3 > 0);
        assert_eq!(fs::read(temp.file("b")).unwrap(), content(length));
    }
}

#[test]
fn symbols_are_never_the_same_on_two_channels() {
    let oti = Oti::plan(1_000_000, 100).unwrap();
    let mut schedule = Schedule::new(oti, 4);
    let mut seen = HashSet::new();
    for number in 0u32..50_000 {
        let channel = Channel((number % 15 + 1).ilog2() as u16);
        assert!(seen.insert(schedule.next(channel).unwrap()));
    }
    assert!(schedule.rounds() > 4.9);
}

#[test]
fn a_file_that_changes_or_vanishes_is_named() {
    let temp = TempDir::new("gone");
    let path = temp.file("a");
    assert!(matches!(FileSource::open(&path, 100), Err(Error::File { .. })));
    fs::write(&path, content(1000)).unwrap();
    let source = FileSource::open(&path, 100).unwrap();
    source.check().unwrap();
    fs::write(&path, content(10)).unwrap();
    assert!(matches!(source.check(), Err(Error::FileChanged { .. })));
    let mut room = [0; 100];
    let last = PayloadId::new(0, 9).unwrap();
    assert!(matches!(source.symbol(last, &mut room), Err(Error::FileChanged { .. })));
    fs::remove_file(&path).unwrap();
    assert!(matches!(source.check(), Err(Error::FileVanished { .. })));
}

#[test]
fn cuts_follow_the_partition_of_the_rfc() {
    let oti = Oti::new(1050, 100, [4, 0, 1, 4]).unwrap();
    // Eleven symbols over four blocks: three longer blocks, then a short one.
    assert_eq!((0..5).map(|block| oti.block_symbols(block)).collect::<Vec<_>>(), [3, 3, 3, 2, 0]);
    assert_eq!((0..4).map(|block| oti.block_start(block)).collect::<Vec<_>>(), [0, 3, 6, 9]);
    assert_eq!(oti.position(3, 1), (1000, 50));
    assert_eq!(Oti::new(100, 0, [1, 0, 1, 4]), Err(OtiError::Symbol(0)));
    assert_eq!(Oti::new(100, 10, [1, 0, 1, 4]), Err(OtiError::Alignment(4)));
    assert_eq!(Oti::new(100, 8, [1, 0, 2, 4]), Err(OtiError::SubBlocks(2)));
    assert_eq!(Oti::new(100, 8, [0, 0, 1, 4]), Err(OtiError::Blocks(0)));
    assert_eq!(Oti::new(100, 100, [2, 0, 1, 4]), Err(OtiError::Blocks(2)));
    assert_eq!(Oti::new(1 << 40, 8, [1, 0, 1, 4]), Err(OtiError::Length(1 << 40)));
    assert!(matches!(Oti::plan(1 << 39, 100), Err(OtiError::Length(_))));
}

#[test]
fn names_stay_in_their_directory() {
    for name in ["", ".", "..", "../x", "a/b", "a\\b", ".bashrc", "a\nb", "a\0b", &"x".repeat(255)] {
        assert!(safe_name(name).is_err(), "{name:?}");
    }
    assert_eq!(safe_name("Füße & Co.tar.gz"), Ok("Füße & Co.tar.gz"));
}

fn table(name: &str) -> Table {
    Table {
        name: name.to_owned(),
        oti: Oti::plan(1_234_567, 916).unwrap(),
        sha256: [0xab; 32],
        expires_s: 4_000_000_000,
        wants_completions: true,
        session: "layercast = 1\nlayers = [1, 2] # <&>".to_owned(),
    }
}

/// Other FLUTE receivers know these names alone.
#[test]
fn attributes_have_the_names_of_the_rfc() {
    let xml = table("a file.bin").to_xml();
    // RFC 6726, section 3.4.2.
    for attribute in
        ["Content-Location=\"a%20file.bin\"", "Content-Length=\"1234567\"", "TOI=\"1\"", "Expires="]
    {
        assert!(xml.contains(&format!(" {attribute}")), "{attribute} is missing in {xml}");
    }
    // The length of the transfer is that of the file where it is not given.
    let short = xml.replacen(" Transfer-Length=\"1234567\"", "", 1);
    assert_ne!(short, xml);
    assert_eq!(Table::from_xml(short.as_bytes()), Ok(table("a file.bin")));
}

#[test]
fn line_ends_in_the_session_description_stay() {
    let table = Table { session: "layercast = 1\r\nlayers = [1]\n\r".to_owned(), ..table("x") };
    assert_eq!(Table::from_xml(table.to_xml().as_bytes()), Ok(table));
}

#[test]
fn a_table_in_several_packets_is_put_together() {
    let table = table("a file.bin");
    let xml = table.to_xml().into_bytes();
    let (fdt, fti) = (Fdt::new(7), table_fti(xml.len(), 100));
    let mut reader = TableReader::default();
    let mut whole = None;
    for (number, part) in xml.chunks(100).enumerate().rev() {
        assert!(whole.is_none());
        let mut payload = (number as u32).to_be_bytes().to_vec();
        payload.extend_from_slice(part);
        payload.resize(104, 0);
        whole = reader.insert(fdt, fti, &payload).map(<[u8]>::to_vec);
    }
    assert_eq!(Table::from_xml(&whole.unwrap()), Ok(table));
    // Parts that are too long, too short or out of range are ignored.
    assert_eq!(reader.insert(fdt, table_fti(1 << 30, 100), &[0; 104]), None);
    assert_eq!(reader.insert(fdt, table_fti(300, 100), &[0; 50]), None);
    assert_eq!(reader.insert(fdt, table_fti(300, 100), &[0, 0, 0, 3]), None);
    assert_eq!(reader.insert(fdt, table_fti(300, 0), &[0; 104]), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_losses_are_made_good(length in 1usize..60_000, symbol in 16u16..200, seed in any::<u32>(), share in 1u32..100) {
        let temp = TempDir::new(&format!("any-{seed}"));
        let data = content(length);
        fs::write(temp.file("a"), &data).unwrap();
        let source = FileSource::open(&temp.file("a"), symbol).unwrap();
        let mut state = seed | 1;
        let keep = |_, _| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 16) % 100 < share
        };
        transfer(&source, &temp.file("b"), &[0, 1, 0, 2], keep);
        prop_assert_eq!(fs::read(temp.file("b")).unwrap(), data);
    }

    #[test]
    fn symbols_in_any_order_and_of_any_kind(order in Just((0u32..80).collect::<Vec<_>>()).prop_shuffle(), odd in proptest::collection::vec((any::<u8>(), 0u32..1 << 24, 0usize..300), 20)) {
        let temp = TempDir::new(&format!("order-{}-{}", order[0], order[1]));
        let data = content(5_000);
        fs::write(temp.file("a"), &data).unwrap();
        let source = FileSource::open(&temp.file("a"), 100).unwrap();
        let mut assembly = Assembly::new(source.oti(), OpenFile(empty(&temp.file("b"), 5_000)));
        let mut room = [0; 100];
        for (&esi, (block, other, length)) in order.iter().zip(odd.iter().cycle()) {
            // Wrong lengths and blocks change nothing but a counter.
            if *length != 100 || *block > 0 {
                let wrong = PayloadId::new(*block, *other).unwrap();
                prop_assert_eq!(assembly.insert(wrong, &vec![7; *length]).unwrap(), SymbolOutcome::Refused);
            }
            let id = PayloadId::new(0, esi).unwrap();
            source.symbol(id, &mut room).unwrap();
            assembly.insert(id, &room).unwrap();
        }
        prop_assert!(assembly.is_complete());
        prop_assert_eq!(fs::read(temp.file("b")).unwrap(), data);
    }

    #[test]
    fn cuts_cover_the_object(length in 0u64..1 << 36, symbol in 4u16..2000) {
        let Ok(oti) = Oti::plan(length, symbol) else { return Ok(()) };
        let sum: u64 = (0..oti.blocks()).map(|block| u64::from(oti.block_symbols(block))).sum();
        prop_assert_eq!(sum, oti.symbols());
        prop_assert!((0..oti.blocks()).all(|block| oti.block_symbols(block) <= MAX_BLOCK_SYMBOLS));
        prop_assert_eq!(Oti::new(length, oti.symbol_size() as u16, oti.scheme()), Ok(oti));
    }

    #[test]
    fn tables_come_back(name in "\\PC{1,80}") {
        let table = table(&name);
        prop_assert_eq!(Table::from_xml(table.to_xml().as_bytes()), Ok(table));
    }

    #[test]
    fn no_table_panics(cut in 0usize..700, flip in 0usize..700, with in any::<u8>()) {
        let mut xml = table("x").to_xml().into_bytes();
        let at = flip % xml.len();
        xml[at] ^= with;
        let _ = Table::from_xml(&xml);
        xml.truncate(cut);
        let _ = Table::from_xml(&xml);
    }
}
