//! Files that are sent before their hash is known, by their tag.

use super::*;

const LENGTH: usize = 30_000;

/// A file with a tag, whose hash is named later.
fn put(source: &mut Source, path: &str, bytes: &[u8], tag: u8) {
    let item = Item {
        path: path.to_owned(),
        file: Some((bytes.len() as u64, None)),
        tag: Some([tag; 32]),
        leaves: Arc::default(),
        parts: None,
        members: Arc::default(),
        attributes: Attributes { mode: Some(0o640), modified_ns: Some(7) },
    };
    let change = source.sender.change(&[item], &[], true, &|_| Vec::new()).unwrap();
    let toi = change.added[0];
    source.objects.add_entry(toi, source.sender.catalogue().object(toi).unwrap(), bytes);
}

fn name(source: &mut Source, path: &str, bytes: &[u8]) {
    let toi = source.sender.catalogue().toi(path).unwrap();
    source.sender.name_hashes(&[(toi, sha256(bytes))]).unwrap();
}

fn events(reception: &mut Reception<MemoryDisk>) -> Vec<ReceptionEvent> {
    reception.drain_events().collect()
}

#[test]
fn a_file_is_put_in_place_when_its_hash_is_known_and_not_before() {
    let big = content(LENGTH, 1);
    let mut source = Source::new(2);
    put(&mut source, "big", &big, 1);
    let mut reception = receiver(ReceptionSettings::default());
    run(&mut source, &mut reception, 2000);
    let progress = reception.progress();
    assert_eq!(progress.held, progress.needed, "all of it is there");
    assert!(reception.needs_packets() && !reception.is_complete());
    assert_eq!(names(&reception), [""; 0]);
    name(&mut source, "big", &big);
    transfer(&mut source, &mut reception, &[0, 1], |_, _| true);
    assert_placed(&reception, &[("big", &big)]);
}

#[test]
fn a_hash_that_comes_early_changes_nothing_and_a_late_joiner_needs_one_round() {
    let big = content(LENGTH, 1);
    let mut source = Source::new(2);
    put(&mut source, "big", &big, 1);
    let mut reception = receiver(ReceptionSettings::default());
    run(&mut source, &mut reception, 50);
    name(&mut source, "big", &big);
    transfer(&mut source, &mut reception, &[0, 1], |number, _| number % 5 > 0);
    assert_placed(&reception, &[("big", &big)]);
    let mut late = receiver(ReceptionSettings::default());
    transfer(&mut source, &mut late, &[0], |_, _| true);
    assert_placed(&late, &[("big", &big)]);
}

#[test]
fn what_does_not_have_the_hash_is_not_put_in_place() {
    let (big, other) = (content(LENGTH, 1), content(LENGTH, 2));
    let mut source = Source::new(1);
    put(&mut source, "big", &big, 1);
    let mut reception = receiver(ReceptionSettings::default());
    run(&mut source, &mut reception, 2000);
    name(&mut source, "big", &other);
    for _ in 0..5000 {
        let (repr, payload) = source.next(0);
        reception.packet(&repr, &payload).unwrap();
        finish(&mut reception);
    }
    assert_eq!(names(&reception), [""; 0]);
    assert_eq!(reception.results().collect::<Vec<_>>(), [("big", Err(ObjectError::Hash))]);
}

#[test]
fn a_file_that_is_there_waits_for_the_hash_and_is_kept_or_replaced() {
    let (big, other) = (content(LENGTH, 1), content(LENGTH, 2));
    for (there, replace) in [(&big, false), (&other, false), (&other, true)] {
        let mut source = Source::new(1);
        put(&mut source, "big", &big, 1);
        let mut disk = MemoryDisk::default();
        disk.put("big", there);
        let mut reception = Reception::new(disk, ReceptionSettings { replace, mirror: false });
        for _ in 0..500 {
            let (repr, payload) = source.next(0);
            reception.packet(&repr, &payload).unwrap();
            finish(&mut reception);
        }
        assert_eq!(reception.progress().held, 0);
        assert_eq!(reception.results().count(), 0);
        name(&mut source, "big", &big);
        transfer(&mut source, &mut reception, &[0], |_, _| true);
        let events = events(&mut reception);
        let wanted = match (there == &big, replace) {
            (true, _) => ReceptionEvent::Present { path: "big".into() },
            (false, true) => ReceptionEvent::Complete { path: "big".into(), length: LENGTH as u64 },
            (false, false) => ReceptionEvent::Failed { path: "big".into(), reason: ObjectError::Exists },
        };
        assert!(events.contains(&wanted), "{events:?}");
        assert_placed(&reception, &[("big", if replace { &big } else { there })]);
    }
}

#[test]
fn another_receiver_and_another_session_go_on_by_the_tag() {
    let (big, other) = (content(LENGTH, 1), content(LENGTH, 2));
    let mut source = Source::new(1);
    put(&mut source, "big", &big, 1);
    let mut first = receiver(ReceptionSettings { replace: true, ..ReceptionSettings::default() });
    run(&mut source, &mut first, 120);
    first.flush();
    let held = first.kept().0;
    assert!(held > 50);
    let resumed = |bytes: &[u8], tag: u8| {
        let mut reception = Reception::new(left(&first), ReceptionSettings::default());
        let mut source = Source::new(1);
        put(&mut source, "big", bytes, tag);
        name(&mut source, "big", bytes);
        transfer(&mut source, &mut reception, &[0], |_, _| true);
        assert_placed_but_own(&reception, "big", bytes);
        let is_resumed = |event: &ReceptionEvent| matches!(event, ReceptionEvent::Resumed { .. });
        reception.drain_events().any(|event| is_resumed(&event))
    };
    assert!(resumed(&big, 1));
    assert!(!resumed(&other, 2), "another version of the file");
    // A tag that has not changed with the file: what was there is not taken for it.
    assert!(resumed(&other, 1));
    // The same receiver follows a source that was started again, and whose file has changed.
    name(&mut source, "big", &big);
    transfer(&mut source, &mut first, &[0], |_, _| true);
    first.follow();
    let mut again = Source::new(1);
    put(&mut again, "big", &big, 1);
    run(&mut again, &mut first, 4);
    assert!(!first.is_complete(), "more is to follow");
    name(&mut again, "big", &big);
    transfer(&mut again, &mut first, &[0], |_, _| true);
    assert_placed(&first, &[("big", &big)]);
    // And one whose tag has not changed, and whose hash is named later.
    first.follow();
    let mut third = Source::new(1);
    put(&mut third, "big", &other, 1);
    run(&mut third, &mut first, 4);
    name(&mut third, "big", &other);
    transfer(&mut third, &mut first, &[0], |_, _| true);
    assert_placed(&first, &[("big", &other)]);
}
