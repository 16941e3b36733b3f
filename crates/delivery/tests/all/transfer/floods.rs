//! Tables that anyone may forge: they take no more than so much memory and time.

use layercast_delivery::object::{Entry, FilePart, Instance, Layout, PARTS_MAX, compressed, table_fti};
use layercast_delivery::packet::{Fdt, PayloadId};
use layercast_delivery::part::Part;

use super::*;

/// The entries of an instance: files of any names and codes, parts of files, packages, with hashes of blocks.
fn forged(random: &mut Stream, next: &mut u32) -> (Vec<Entry>, Vec<u128>) {
    let count = 1 + random.bits() % 16;
    let entry = |random: &mut Stream, toi: u32| {
        let length = 1 + random.bits() % 10_000_000;
        let coding = Coding::plan(length, SYMBOL).unwrap();
        let kind = random.bits() % 8;
        let sha256 = sha256(&toi.to_be_bytes());
        let layout = Layout::plan(length * 100, SYMBOL, 10_000).unwrap();
        let part = layout.filter(|_| kind == 0).map(|layout| FilePart {
            layout,
            number: toi % layout.count().min(PARTS_MAX),
            sha256,
        });
        Entry {
            leaves: vec![sha256; if kind == 1 { 256 } else { 0 }].into(),
            package: (kind == 2).then_some(9),
            part,
            tag: (kind == 3).then_some(sha256),
            ..Entry::new(
                toi.into(),
                format!("{toi}/{}", "long".repeat((random.bits() % 60) as usize)),
                Content::File { coding, sha256: Some(sha256) },
            )
        }
    };
    let entries = (0..count).map(|_| {
        *next += 1;
        entry(random, *next)
    });
    let entries = entries.collect();
    (entries, (0..random.bits() % 4).map(|_| u128::from(random.bits() % 1_000_000)).collect())
}

fn take(reception: &mut Reception<MemoryDisk>, number: u32, (entries, removed): (Vec<Entry>, Vec<u128>)) {
    let instance = Instance {
        number: None,
        first: None,
        complete: false,
        expires_s: 4_000_000_000,
        wants_completions: false,
        session: String::new(),
        entries,
        removed,
        removed_files: Vec::new(),
    };
    let bytes = compressed(instance.to_xml().as_bytes());
    for (esi, symbol) in bytes.chunks(1400).enumerate() {
        let part = Part {
            tsi: 1,
            toi: 0,
            codepoint: 0,
            fdt: Some(Fdt::new(number & 0xf_ffff)),
            encoding: Some(layercast_delivery::object::ContentEncoding::Zlib),
            fti: Some(table_fti(bytes.len(), 1400)),
        };
        let payload = [&PayloadId::new(0, esi as u32).unwrap().to_bytes()[..], symbol].concat();
        reception.packet(part, &payload).unwrap();
    }
}

/// The bound is 48 MiB for what is named; the numbers of instances, readers and the events that wait are on top of that.
#[test]
fn forged_tables_take_a_bounded_memory_whatever_they_name() {
    let mut random = Stream::new(0, "forged");
    let mut reception = Reception::of_any_sender(MemoryDisk::default(), ReceptionSettings::default());
    let mut next = 0;
    let measured = allocation_counter::measure(|| {
        for number in 0..8000 {
            take(&mut reception, number, forged(&mut random, &mut next));
            reception.drain_events().for_each(drop);
            if number % 50 == 0 {
                reception.flush();
            }
        }
    });
    let progress = reception.progress();
    println!("{} MB for {next} files, {progress:?}", measured.bytes_max / 1_000_000);
    assert!(measured.bytes_max < 72 << 20, "{measured:?}");
    assert!(progress.objects > 20_000 && progress.failed > 0, "{progress:?}");
    let failed = reception.results().filter(|(_, result)| *result == Err(ObjectError::NoRoom)).count();
    assert_eq!(failed, 1, "it is said");
}

#[test]
fn a_flood_of_tables_is_read_as_far_as_there_is_time_and_what_was_passed_over_comes_again() {
    let mut random = Stream::new(1, "flood");
    let mut reception = Reception::of_any_sender(MemoryDisk::default(), ReceptionSettings::default());
    let mut next = 0;
    let tables: Vec<_> = (0..2000).map(|_| forged(&mut random, &mut next)).collect();
    let mut known = 0;
    for (round, least) in [(0, 1), (1, 1), (2, 1)] {
        for (number, table) in (0..).zip(&tables) {
            take(&mut reception, number, (table.0.clone(), Vec::new()));
        }
        let now = reception.progress().objects;
        println!("round {round}: {now} of {next}");
        // Each counts as 4 kB at least, of 2 MB.
        assert!(now >= known + least && now <= known + 512 * 16, "{now} after {known}");
        known = now;
        reception.flush();
    }
}
