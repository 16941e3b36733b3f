//! Files that are too long for one object, and are sent in parts.

use layercast_delivery::carousel::BlockWindow;
use layercast_testkit::cases;

use super::*;

/// A source of parts of at most so many symbols.
fn cutting(channels: u16, longest: u64, key: Option<SecretKey>) -> Source {
    let mut source = Source::signing(channels, key);
    source.cut.longest = longest;
    source
}

/// Takes packets of channel 0, some of which are lost, until everything is there; how many reached the receiver.
fn receive(source: &mut Source, reception: &mut Reception<MemoryDisk>, lost: f64, seed: u64) -> u64 {
    let mut random = Stream::new(seed, "losses");
    transfer(source, reception, &[0], |_, _| !random.chance(lost))
}

#[test]
fn a_file_of_parts_arrives_as_one_file() {
    let (long, short) = (content(400_000, 1), content(5_000, 2));
    let files: [(&str, &[u8]); 3] = [("a/long", &long), ("short", &short), ("empty", &[])];
    for (lost, channels) in [(0.0, 1), (0.05, 3), (0.4, 2)] {
        let mut source = cutting(channels, 300, None);
        source.put(&files, &[], true);
        // 2000 symbols in seven parts.
        assert_eq!((source.sender.catalogue().objects().count(), source.sender.catalogue().files()), (9, 3));
        let mut reception = receiver(ReceptionSettings::default());
        let mut random = Stream::new(4, "losses");
        let turns: Vec<u16> = (0..channels).collect();
        let taken = transfer(&mut source, &mut reception, &turns, |_, _| !random.chance(lost));
        assert_placed(&reception, &files);
        let attributes = Attributes { mode: Some(0o640), modified_ns: Some(7) };
        assert_eq!(reception.disk().attributes("a/long"), Some(attributes));
        let progress = reception.progress();
        assert_eq!((progress.objects, progress.complete, progress.bytes), (3, 3, 405_000));
        assert_eq!((progress.needed, progress.held), (2025, 2025));
        assert!(taken < 2025 * 14 / 10, "{taken}");
        let events: Vec<ReceptionEvent> = reception.drain_events().collect();
        let complete = ReceptionEvent::Complete { path: "a/long".into(), length: 400_000 };
        assert_eq!(events.iter().filter(|event| **event == complete).count(), 1);
        assert_eq!(events.len(), 3, "{events:?}");
        // A receiver that has the file already needs no packets of it.
        let mut disk = MemoryDisk::default();
        disk.put("a/long", &long);
        let mut source = cutting(1, 300, None);
        source.put(&files[..1], &[], true);
        let mut again = Reception::new(disk, ReceptionSettings::default());
        assert!(receive(&mut source, &mut again, 0.0, 1) < 20);
        let present = ReceptionEvent::Present { path: "a/long".into() };
        assert_eq!(again.drain_events().collect::<Vec<_>>(), [present]);
    }
}

#[test]
fn another_receiver_goes_on_with_all_parts_also_in_another_session() {
    let long = content(400_000, 1);
    let mut source = cutting(1, 300, None);
    source.put(&[("long", &long)], &[], true);
    let mut first = receiver(ReceptionSettings::default());
    run(&mut source, &mut first, 1500);
    first.flush();
    let before = first.progress();
    // Another session names its objects by other numbers, in the same order or another.
    let mut source = cutting(1, 300, None);
    source.put(&[("other", &content(1000, 9)), ("long", &long)], &[], true);
    let mut second = Reception::new(left(&first), ReceptionSettings::default());
    let taken = receive(&mut source, &mut second, 0.0, 1);
    assert_placed(&second, &[("long", &long), ("other", &content(1000, 9))]);
    let events: Vec<ReceptionEvent> = second.drain_events().collect();
    let resumed: Vec<_> = events.iter().filter(|e| matches!(e, ReceptionEvent::Resumed { .. })).collect();
    let expected = ReceptionEvent::Resumed { path: "long".into(), held: before.held, needed: before.needed };
    assert_eq!(resumed, [&expected], "once for the file");
    let useful = second.counters().useful;
    assert!(useful <= 2000 - before.held + 5 + 14, "{useful} of {taken}, {before:?}");
    // The first receiver follows the restarted source without a restart of its own.
    let mut source = cutting(1, 300, None);
    source.put(&[("other", &content(1000, 9)), ("long", &long)], &[], true);
    let mut third = Reception::new(left(&first), ReceptionSettings::default());
    let (repr, payload) = source.next(0);
    third.packet(&repr, &payload).unwrap();
    third.follow();
    let mut source = cutting(1, 300, None);
    source.put(&[("long", &long), ("other", &content(1000, 9))], &[], true);
    receive(&mut source, &mut third, 0.1, 2);
    assert_placed(&third, &[("long", &long), ("other", &content(1000, 9))]);
}

#[test]
fn parts_of_a_signed_session_take_no_forged_byte_and_a_forged_part_alone_is_received_again() {
    let long = content(400_000, 1);
    let key = SecretKey::from_seed(&[1; 32]);
    // Parts of several blocks, and of one.
    for longest in [1500, 300] {
        let mut source = cutting(1, longest, Some(key.clone()));
        source.put(&[("long", &long)], &[], true);
        let keys = Arc::new([key.public()]);
        let mut reception = Reception::trusting(MemoryDisk::default(), ReceptionSettings::default(), keys);
        let mut random = Stream::new(3, "forger");
        for number in 0..60_000 {
            let (repr, payload) = source.next(0);
            // The table has come.
            if (1000..1300).contains(&number) && repr.toi > 0 {
                let mut forged = payload.clone();
                forged.iter_mut().skip(4).for_each(|byte| *byte ^= 0x55);
                reception.packet(&repr, &forged).unwrap();
            }
            if !random.chance(0.1) {
                reception.packet(&repr, &payload).unwrap();
            }
            finish(&mut reception);
            if reception.is_complete() {
                break;
            }
        }
        assert_placed(&reception, &[("long", &long)]);
        assert!(reception.counters().forged > 0, "{longest} {:?}", reception.counters());
    }
    // Without signatures the hash of the part notices.
    let mut source = cutting(1, 300, None);
    source.put(&[("long", &long)], &[], true);
    let mut reception = receiver(ReceptionSettings::default());
    let mut is_forged = false;
    let mut taken = 0;
    while !reception.is_complete() {
        let (repr, mut payload) = source.next(0);
        if repr.toi == 3 && !is_forged {
            payload[10] ^= 1;
            is_forged = true;
        }
        reception.packet(&repr, &payload).unwrap();
        finish(&mut reception);
        taken += 1;
        assert!(taken < 20_000);
    }
    assert_placed(&reception, &[("long", &long)]);
    let events: Vec<ReceptionEvent> = reception.drain_events().collect();
    let wrong = events.iter().filter(|event| matches!(event, ReceptionEvent::WrongHash { .. }));
    assert_eq!(wrong.count(), 1, "{events:?}");
    assert!(reception.counters().useful < 2000 + 310, "{:?}", reception.counters());
}

#[test]
fn a_new_version_replaces_all_parts_and_what_is_removed_leaves_nothing() {
    let (one, two) = (content(400_000, 1), content(300_000, 2));
    let settings = ReceptionSettings { replace: true, mirror: true };
    let mut source = cutting(2, 300, None);
    source.put(&[("long", &one)], &[], false);
    let mut reception = receiver(settings);
    run(&mut source, &mut reception, 1000);
    let own = |reception: &Reception<MemoryDisk>| {
        let own = reception.disk().files().map(|(path, _)| path.to_owned());
        own.filter(|path| path.ends_with(".symbols") || path.ends_with(".partial")).count()
    };
    assert_eq!(own(&reception), 8);
    source.put(&[("long", &two)], &[], false);
    run(&mut source, &mut reception, 100);
    assert_eq!(own(&reception), 6, "of the new version alone");
    run(&mut source, &mut reception, 4000);
    assert_placed(&reception, &[("long", &two)]);
    // The same content again, under other numbers, in place of one that is complete and of one that is not.
    source.put(&[("long", &two)], &[], false);
    run(&mut source, &mut reception, 500);
    assert_placed(&reception, &[("long", &two)]);
    source.put(&[("next", &one)], &[], false);
    run(&mut source, &mut reception, 700);
    let held = reception.progress().held;
    source.put(&[("next", &one)], &[], false);
    run(&mut source, &mut reception, 20);
    assert!(reception.progress().held >= held, "nothing is lost");
    // A file in parts becomes a short one, and the other is removed before it is complete.
    source.put(&[("long", b"short now")], &["next"], true);
    run(&mut source, &mut reception, 500);
    assert!(reception.is_complete());
    assert_placed(&reception, &[("long", b"short now")]);
    assert_eq!(own(&reception), 0);
}

/// A mirror that has a file hears of its removal before it hears of the numbers that the file had at last.
#[test]
fn a_file_that_was_sent_again_and_removed_is_removed_in_any_order() {
    let long = content(200_000, 1);
    let mut source = cutting(1, 300, None);
    let mut tables = Vec::new();
    for (file, removed) in [(Some("long"), None), (Some("long"), None), (None, Some("long"))] {
        let files: Vec<(&str, &[u8])> = file.map(|path| (path, long.as_slice())).into_iter().collect();
        source.put(&files, removed.as_slice(), false);
        let number = tables.len() as u32;
        let mut packets: Vec<_> = (0..60).map(|_| source.next(0)).collect();
        packets.retain(|(repr, _)| repr.fdt.is_some_and(|fdt| fdt.instance() == number));
        tables.push(packets);
    }
    source.put(&[("other", b"other")], &[], true);
    for order in [[0, 1, 2], [0, 2, 1], [2, 0, 1], [2, 1, 0]] {
        let settings = ReceptionSettings { replace: true, mirror: true };
        let mut first = cutting(1, 300, None);
        first.put(&[("long", &long)], &[], true);
        let mut reception = receiver(settings);
        receive(&mut first, &mut reception, 0.0, 1);
        assert_placed(&reception, &[("long", &long)]);
        reception.follow();
        for (repr, payload) in order.iter().flat_map(|&number| &tables[number]) {
            reception.packet(repr, payload).unwrap();
        }
        run(&mut source, &mut reception, 200);
        assert!(reception.is_in_step(), "{order:?}");
        assert_placed(&reception, &[("other", b"other")]);
    }
}

/// Instances of the table come in any order: parts of one file are in several of them.
#[test]
fn a_table_of_hundreds_of_parts_may_come_in_any_order() {
    let (one, two) = (content(400_000, 1), content(400_000, 2));
    let mut source = cutting(1, 10, None);
    source.put(&[("long", &one)], &[], false);
    let mut changed: Vec<_> = (0..60).map(|_| source.next(0)).collect();
    source.put(&[("long", &one)], &[], false);
    changed.extend((0..60).map(|_| source.next(0)));
    source.put(&[], &["long"], false);
    source.put(&[("long", &two)], &[], true);
    changed.extend((0..200).map(|_| source.next(0)));
    changed.retain(|(repr, _)| repr.toi == 0);
    for seed in 0..12 {
        let mut table = changed.clone();
        let mut random = Stream::new(seed, "order");
        for at in (1..table.len()).rev() {
            table.swap(at, random.bits() as usize % (at + 1));
        }
        let mut reception = receiver(ReceptionSettings::default());
        for (repr, payload) in &table {
            reception.packet(repr, payload).unwrap();
        }
        let mut later = source.sender.clone();
        let mut room = [0; 1000];
        let mut number = 0;
        while !reception.is_complete() {
            number += 1;
            assert!(number < 50_000, "{:?}", reception.progress());
            let now = Time::ZERO + Duration::from_ms(1000 + number);
            let load = later.next(Channel(0), now, &mut room, &mut source.objects).unwrap();
            let header = Header::Fixed(fixed::Header { layer: Layer(0), seq: WireSeq(0) });
            reception.packet(&load.repr(header.to_lct().unwrap(), 1), &room[..load.length]).unwrap();
            finish(&mut reception);
        }
        assert_placed(&reception, &[("long", &two)]);
        assert_eq!(reception.progress().objects, 1);
    }
}

/// A receiver that holds few records in memory reads those of other parts again, and needs no more packets for that.
#[test]
fn records_that_do_not_fit_into_memory_are_put_aside() {
    let (long, other) = (content(400_000, 1), content(150_000, 2));
    for seed in 0..u64::from(cases(32).max(2)) {
        let taken = [1000, 1 << 20].map(|most| {
            let key = (seed % 2 == 1).then(|| SecretKey::from_seed(&[1; 32]));
            let mut source = cutting(1, 1100, key.clone());
            source.sender.set_block_window(BlockWindow { all_up_to: 0, turn: 0.1, ..BlockWindow::NONE });
            source.put(&[("long", &long), ("other", &other)], &[], true);
            // It comes late, and finds repair symbols alone.
            (0..4000).for_each(|_| drop(source.next(0)));
            let keys = key.iter().map(SecretKey::public).collect();
            let mut reception =
                Reception::trusting(MemoryDisk::default(), ReceptionSettings::default(), keys);
            reception.limit_records(most);
            let mut random = Stream::new(seed, "losses");
            let mut taken = 0;
            let mut held = 0;
            while !reception.is_complete() {
                let (repr, payload) = source.next(0);
                if random.chance(0.2) {
                    continue;
                }
                taken += 1;
                assert!(taken < 20_000);
                reception.packet(&repr, &payload).unwrap();
                finish(&mut reception);
                let now = reception.progress().held;
                assert!(now >= held, "what is put aside counts");
                held = now;
            }
            assert_placed(&reception, &[("long", &long), ("other", &other)]);
            let events: Vec<ReceptionEvent> = reception.drain_events().collect();
            assert!(events.iter().all(|e| matches!(e, ReceptionEvent::Complete { .. })), "{events:?}");
            taken
        });
        assert_eq!(taken[0], taken[1]);
    }
}

#[test]
fn parts_whose_hashes_do_not_give_that_of_the_file_are_refused() {
    let long = content(100_000, 1);
    let mut source = cutting(1, 300, None);
    let mut hashes = hashes_of(&long, source.cut).unwrap();
    hashes.whole.sha256[3] ^= 1;
    let item = Item {
        path: "long".into(),
        file: Some((100_000, Some(hashes.whole.sha256))),
        tag: None,
        leaves: Arc::default(),
        parts: hashes.parts,
        members: Arc::default(),
        attributes: Attributes::default(),
    };
    source.sender.change(&[item], &[], true, &|_| Vec::new()).unwrap();
    let mut reception = receiver(ReceptionSettings::default());
    run(&mut source, &mut reception, 10);
    assert!(reception.is_complete());
    let results: Vec<_> = reception.results().map(|(path, result)| (path.to_owned(), result)).collect();
    assert_eq!(results, [("long".to_owned(), Err(ObjectError::Parts))]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_losses_and_restarts_of_files_of_parts_are_made_good(
        length in 1usize..60_000, longest in 1u64..90, seed: u32, share in 10u32..100,
        stops in proptest::collection::vec(1u64..300, 0..4), signed: bool, most in 0u64..4000,
    ) {
        let bytes = content(length, seed);
        let files: [(&str, &[u8]); 1] = [("long", &bytes)];
        let key = signed.then(|| SecretKey::from_seed(&[1; 32]));
        let keys: Arc<[_]> = key.iter().map(SecretKey::public).collect();
        let mut disk = MemoryDisk::default();
        let mut state = seed | 1;
        let mut keep = || {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 16) % 100 < share
        };
        let mut source = cutting(2, longest, key.clone());
        source.put(&files, &[], true);
        for stop in stops {
            let mut reception = Reception::trusting(disk, ReceptionSettings::default(), Arc::clone(&keys));
            reception.limit_records(most);
            for number in 0..stop {
                let (repr, payload) = source.next(number as u16 % 2);
                if keep() {
                    reception.packet(&repr, &payload).unwrap();
                    reception.work().unwrap();
                }
            }
            if stop % 2 == 0 {
                reception.flush();
            }
            disk = left(&reception);
        }
        let mut reception = Reception::trusting(disk, ReceptionSettings::default(), keys);
        reception.limit_records(most);
        transfer(&mut source, &mut reception, &[0, 1], |_, _| keep());
        assert_placed(&reception, &files);
    }
}
