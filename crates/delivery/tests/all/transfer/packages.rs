//! Packages of small files.

use std::collections::BTreeMap;

use layercast_delivery::package::{PackageError, Packing, PackingSettings, Part, build, packed};

use super::*;

/// A source that packs.
struct Packer {
    source: Source,
    packing: Packing,
    packages: BTreeMap<String, Vec<u8>>,
}

impl Packer {
    fn new(channels: u16, least_files: usize) -> Packer {
        let settings = PackingSettings { least_files, longest_package: 60_000, ..PackingSettings::default() };
        let (packing, packages) = (Packing::new(settings), BTreeMap::new());
        Packer { source: Source::new(channels), packing, packages }
    }

    fn put(&mut self, files: &[(&str, &[u8])], removed: &[&str], complete: bool) {
        let item = |(path, bytes): &(&str, &[u8])| Item {
            path: (*path).to_owned(),
            file: Some((bytes.len() as u64, Some(sha256(bytes)))),
            tag: None,
            leaves: Arc::default(),
            parts: None,
            members: Arc::default(),
            attributes: Attributes { mode: Some(0o640), modified_ns: Some(7) },
        };
        let items: Vec<Item> = files.iter().map(item).collect();
        let removed: Vec<String> = removed.iter().map(|path| (*path).to_owned()).collect();
        let groups = self.packing.plan(&items, &removed);
        let packed = packed(&groups);
        let mut all: Vec<(Item, Vec<u8>)> = Vec::new();
        for (number, (item, (_, bytes))) in items.into_iter().zip(files).enumerate() {
            if !packed.contains(&number) {
                all.push((item, bytes.to_vec()));
            }
        }
        let own: Vec<String> = all.iter().map(|(item, _)| item.path.clone()).chain(removed.clone()).collect();
        let mut made = Vec::new();
        for group in &groups {
            let mut bytes = Vec::new();
            let mut read = |part: &Part, room: &mut [u8]| -> Result<(), PackageError> {
                match part {
                    Part::New(number) => room.copy_from_slice(files[*number].1),
                    Part::Kept(name, start) => {
                        let start = *start as usize;
                        room.copy_from_slice(&self.packages[name][start..start + room.len()]);
                    }
                }
                Ok(())
            };
            let built = build(group, &mut read, &mut |part| {
                bytes.extend_from_slice(part);
                Ok(())
            });
            let built = built.unwrap();
            all.push((built.item(Arc::default()), bytes.clone()));
            self.packages.insert(built.name.clone(), bytes);
            made.push((built.name, built.head));
        }
        let items: Vec<Item> = all.iter().map(|(item, _)| item.clone()).collect();
        let change = self.source.sender.change(&items, &removed, complete, &|_| Vec::new()).unwrap();
        for name in self.packing.note(made, own.iter().map(String::as_str)) {
            self.packages.remove(&name);
        }
        for (toi, (_, bytes)) in change.added.iter().zip(all) {
            if let Some(Content::File { coding, .. }) =
                self.source.sender.catalogue().object(*toi).map(|e| e.content)
            {
                self.source.objects.add(*toi, coding, bytes);
            }
        }
    }
}

type Files = Vec<(String, Vec<u8>)>;
type Packets = Vec<(Repr, Vec<u8>)>;

fn small(count: usize, seed: u32) -> Files {
    (0..count).map(|n| (format!("f{}/{n:03}", n % 3), content(n * 37 % 900, seed ^ n as u32))).collect()
}

fn slices(files: &Files) -> Vec<(&str, &[u8])> {
    files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect()
}

const MIRROR: ReceptionSettings = ReceptionSettings { replace: true, mirror: true };

/// The files that are visible.
fn visible(reception: &Reception<MemoryDisk>) -> Files {
    let files = reception.disk().files().filter(|(path, _)| !path.starts_with('.'));
    files.map(|(path, bytes)| (path.to_owned(), bytes)).collect()
}

fn sorted(mut files: Files) -> Files {
    files.sort();
    files
}

#[test]
fn a_thousand_small_files_cost_little_more_than_their_bytes() {
    for (lost, most) in [(0.0, 108), (0.05, 115)] {
        let files = small(1000, 1);
        let mut packer = Packer::new(2, 16);
        packer.put(&slices(&files), &[], true);
        assert_eq!(packer.source.sender.catalogue().objects().count(), 8);
        let mut reception = receiver(ReceptionSettings::default());
        let mut stream = Stream::new(9, "losses");
        let taken = transfer(&mut packer.source, &mut reception, &[0, 1], |_, _| !stream.chance(lost));
        assert!(visible(&reception) == sorted(files.clone()));
        // The index is 35 bytes of hash and a path for contents of 450: that share is larger than in real files.
        let bytes: usize = files.iter().map(|(_, bytes)| bytes.len() + 45).sum();
        let needed = (bytes / usize::from(SYMBOL)) as u64;
        assert!(taken < needed * most / 100, "{taken} of {needed} with {lost} lost");
        let progress = reception.progress();
        assert_eq!((progress.objects, progress.complete, progress.failed), (1000, 1000, 0));
        let events: Vec<ReceptionEvent> = reception.drain_events().collect();
        let complete = events.iter().filter(|event| matches!(event, ReceptionEvent::Complete { .. }));
        assert_eq!(
            (complete.count(), events.len()),
            (1000, 1000),
            "an event for each file, and none of packages"
        );
        assert_eq!(
            reception.results().filter(|(path, done)| path.starts_with('f') && done.is_ok()).count(),
            1000
        );
        assert_eq!(
            reception.disk().attributes("f0/000"),
            Some(Attributes { mode: Some(0o640), modified_ns: Some(7) })
        );
        assert!(
            reception.disk().files().all(|(path, _)| !path.contains(".file") && !path.ends_with(".partial"))
        );
    }
}

#[test]
fn a_receiver_that_is_started_again_needs_no_packets_of_what_is_in_place() {
    let files = small(300, 1);
    let mut packer = Packer::new(1, 16);
    packer.put(&slices(&files), &[], true);
    let mut first = receiver(MIRROR);
    transfer(&mut packer.source, &mut first, &[0], |_, _| true);
    // Without any symbol.
    let mut second = Reception::new(left(&first), MIRROR);
    for _ in 0..100 {
        let (repr, payload) = packer.source.next(0);
        if repr.toi == 0 {
            second.packet(&repr, &payload).unwrap();
        }
        finish(&mut second);
    }
    assert!(second.is_complete() && !second.needs_packets());
    assert_eq!(second.drain_events().filter(|e| matches!(e, ReceptionEvent::Present { .. })).count(), 300);
    // A file that was damaged is received again, and nothing else is written.
    let mut disk = left(&first);
    disk.put("f1/100", &[0; 100]);
    let mut third = Reception::new(disk, MIRROR);
    transfer(&mut packer.source, &mut third, &[0], |_, _| true);
    assert!(visible(&third) == sorted(files));
    let written = third.drain_events().filter(|e| matches!(e, ReceptionEvent::Complete { .. })).count();
    assert_eq!(written, 1);
}

#[test]
fn symbols_of_a_package_survive_a_kill() {
    let files = small(300, 1);
    let mut packer = Packer::new(1, 16);
    packer.put(&slices(&files), &[], true);
    let mut first = receiver(ReceptionSettings::default());
    for _ in 0..400 {
        let (repr, payload) = packer.source.next(0);
        first.packet(&repr, &payload).unwrap();
    }
    first.flush();
    let (held, needed) = first.kept();
    assert!(held > 300 && held < needed, "{held} of {needed}");
    let mut second = Reception::new(left(&first), ReceptionSettings::default());
    transfer(&mut packer.source, &mut second, &[0], |_, _| true);
    let useful = second.counters().useful;
    assert!(useful < (needed - held) * 103 / 100 + 5, "{useful} of {}", needed - held);
    assert!(visible(&second) == sorted(files));
}

#[test]
fn changes_removals_and_packages_that_are_made_again_are_followed() {
    let mut files: BTreeMap<String, Vec<u8>> = small(60, 1).into_iter().collect();
    let mut packer = Packer::new(2, 16);
    packer.put(&slices(&files.clone().into_iter().collect()), &[], false);
    let mut reception = receiver(MIRROR);
    run(&mut packer.source, &mut reception, 1500);
    assert!(visible(&reception).len() == 60);
    // One version after the other, of more and more files, until packages are made again; some are removed.
    let mut packages = std::collections::BTreeSet::new();
    for round in 1..12u32 {
        let paths: Vec<String> = files.keys().cloned().collect();
        let changed: Files = (0..5 * round)
            .map(|n| (paths[(n * 7 + round) as usize % paths.len()].clone(), content(400, round * 1000 + n)))
            .collect::<BTreeMap<_, _>>()
            .into_iter()
            .collect();
        let gone = paths.iter().skip(round as usize * 2).step_by(17);
        let gone: Vec<&str> = gone
            .filter(|path| !changed.iter().any(|(other, _)| other == *path))
            .map(String::as_str)
            .collect();
        gone.iter().for_each(|path| _ = files.remove(*path));
        files.extend(changed.clone());
        packer.put(&slices(&changed), &gone, round == 11);
        // Not always enough for all to arrive.
        run(&mut packer.source, &mut reception, if round % 3 == 0 { 1500 } else { 150 });
        packages.extend(packer.packages.keys().cloned());
    }
    assert!(packages.len() > 5, "packages were made again: {packages:?}");
    run(&mut packer.source, &mut reception, 6000);
    assert!(reception.is_complete(), "{:?}", reception.progress());
    assert!(visible(&reception) == files.clone().into_iter().collect::<Files>());
    // One that comes late gets the same, and so does one that has what the first had.
    for disk in [MemoryDisk::default(), left(&reception)] {
        let mut late = Reception::new(disk, MIRROR);
        run(&mut packer.source, &mut late, 6000);
        assert!(late.is_complete(), "{:?}", late.progress());
        assert!(visible(&late) == files.clone().into_iter().collect::<Files>());
    }
}

/// Whatever comes first, the newest wins.
#[test]
fn the_newest_instance_wins_in_any_order_of_packets() {
    let (mut packer, packets, wanted) = three_states();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut reception = receiver(MIRROR);
        for (repr, payload) in order.iter().flat_map(|&at: &usize| &packets[at]) {
            reception.packet(repr, payload).unwrap();
            finish(&mut reception);
        }
        run(&mut packer.source, &mut reception, 400);
        assert!(reception.is_complete(), "{order:?}: {:?}", reception.progress());
        assert!(visible(&reception) == wanted, "{order:?}");
    }
}

#[test]
fn files_that_may_not_be_replaced_or_are_in_the_way_are_named_and_the_others_placed() {
    let files = small(20, 1);
    let mut packer = Packer::new(1, 16);
    packer.put(&slices(&files), &[], true);
    let mut disk = MemoryDisk::default();
    disk.create_folder("f0/003").unwrap();
    disk.create_folder("f1").unwrap();
    disk.put("f1/004", b"mine");
    disk.put("f1/007", &files[7].1);
    let mut reception = Reception::new(disk, ReceptionSettings::default());
    transfer(&mut packer.source, &mut reception, &[0], |_, _| true);
    let mut failed: Vec<_> =
        reception.results().filter_map(|(path, done)| Some((path.to_owned(), done.err()?))).collect();
    failed.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        failed,
        [("f0/003".to_owned(), ObjectError::InTheWay), ("f1/004".to_owned(), ObjectError::Exists)]
    );
    let progress = reception.progress();
    assert_eq!((progress.objects, progress.complete, progress.failed), (20, 18, 2));
    assert_eq!(visible(&reception).iter().find(|(path, _)| path == "f1/004").unwrap().1, b"mine");
    let events: Vec<ReceptionEvent> = reception.drain_events().collect();
    assert!(events.contains(&ReceptionEvent::Present { path: "f1/007".into() }), "{events:?}");
}

/// Another session, of a source that was started again: what an earlier session's package still has to put in place must
/// not replace what the new one sends.
#[test]
fn a_package_of_an_earlier_session_replaces_nothing_of_the_next() {
    let (old, new) = (small(30, 1), small(30, 2));
    let mut first = Packer::new(1, 16);
    first.put(&slices(&old), &[], true);
    let mut reception = receiver(MIRROR);
    while reception.needs_packets() {
        let (repr, payload) = first.source.next(0);
        reception.packet(&repr, &payload).unwrap();
    }
    // All of it is there, and none of it in place.
    assert!(visible(&reception).is_empty());
    let mut second = Packer::new(1, 16);
    second.put(&slices(&new), &[], true);
    reception.follow();
    transfer(&mut second.source, &mut reception, &[0], |_, _| true);
    assert!(visible(&reception) == sorted(new));
    // The first one again: it must be received again, as another was there meanwhile.
    let mut third = Packer::new(1, 16);
    third.put(&slices(&old), &[], true);
    reception.follow();
    transfer(&mut third.source, &mut reception, &[0], |_, _| true);
    assert!(visible(&reception) == sorted(old));
}

/// In a second session a mirror hears of a removal first, and later of the file that was at the path afterwards, which it has.
#[test]
fn a_file_that_was_removed_and_came_again_stays_whatever_is_heard_of_first() {
    let (mut old, newer) = (small(30, 1), content(70_000, 5));
    let path = old[3].0.clone();
    let states = |tables: &mut Packets| {
        let mut packer = Packer::new(1, 16);
        packer.put(&slices(&old), &[], false);
        packer.put(&[], &[&path], false);
        tables.extend((0..20).map(|_| packer.source.next(0)).filter(|(repr, _)| repr.fdt.is_some()));
        packer.put(&[(&path, &newer)], &[], true);
        packer
    };
    let mut reception = receiver(MIRROR);
    transfer(&mut states(&mut Vec::new()).source, &mut reception, &[0], |_, _| true);
    let mut tables = Packets::new();
    let mut again = states(&mut tables);
    reception.follow();
    for (repr, payload) in tables.iter().filter(|(repr, _)| repr.fdt.is_some_and(|fdt| fdt.instance() == 1)) {
        reception.packet(repr, payload).unwrap();
    }
    assert!(visible(&reception).iter().all(|(there, _)| *there != path), "the removal was heard of");
    transfer(&mut again.source, &mut reception, &[0], |_, _| true);
    old[3].1 = newer;
    assert!(visible(&reception) == sorted(old));
}

#[test]
fn a_mirror_that_was_away_removes_what_is_in_no_package_any_more() {
    let files = small(40, 1);
    let mut packer = Packer::new(1, 16);
    packer.put(&slices(&files), &[], true);
    let mut first = receiver(MIRROR);
    transfer(&mut packer.source, &mut first, &[0], |_, _| true);
    let mut packer = Packer::new(1, 16);
    packer.put(&slices(&files[..30].to_vec()), &[], false);
    let mut second = Reception::new(left(&first), MIRROR);
    run(&mut packer.source, &mut second, 60_000);
    assert!(visible(&second) == sorted(files[..30].to_vec()));
    let indices = second.disk().files().filter(|(path, _)| path.ends_with(".index")).count();
    assert_eq!(indices, packer.packages.len(), "those of packages that are gone are removed");
}

/// The packets of three states of the files, without the work on them: a package; newer versions of two of its files and
/// removals; and most of the files again in a second package, one of those that were removed too.
fn three_states() -> (Packer, Vec<Packets>, Files) {
    let (old, new) = (small(100, 1), small(100, 2));
    let newer = content(500, 77);
    let mut packer = Packer::new(1, 16);
    packer.put(&slices(&old), &[], false);
    let mut packets: Vec<Packets> = Vec::new();
    let mut take = |packer: &mut Packer| {
        // The table is sent again and again: without this all of it would come with the last state.
        let number = packets.len() as u32;
        let is_new = |(repr, _): &(Repr, Vec<u8>)| repr.fdt.is_none_or(|fdt| fdt.instance() == number);
        packets.push((0..900).map(|_| packer.source.next(0)).filter(is_new).collect());
    };
    take(&mut packer);
    let removed = ["f2/098", "f2/023", "f2/020"];
    packer.put(&[("f1/097", &newer), ("f1/094", &newer)], &removed, false);
    take(&mut packer);
    let is_again = |(number, (path, _)): &(usize, &(String, Vec<u8>))| {
        *number >= 60 && path != "f1/097" && path != "f2/098" || path == "f2/020"
    };
    let again: Files = new.iter().enumerate().filter(is_again).map(|(_, file)| file.clone()).collect();
    packer.put(&slices(&again), &[], true);
    take(&mut packer);
    let mut wanted: BTreeMap<String, Vec<u8>> = old.into_iter().collect();
    wanted.insert("f1/097".into(), newer);
    removed.iter().for_each(|path| _ = wanted.remove(*path));
    wanted.extend(again);
    (packer, packets, wanted.into_iter().collect())
}

/// Whatever is in its place when a newer version, a removal or another package is heard of, none comes back.
#[test]
fn what_is_heard_of_while_a_package_is_taken_apart_counts_at_every_step() {
    let (mut packer, packets, wanted) = three_states();
    // One that has the second package, so that its index is known from the disk.
    let mut before = receiver(MIRROR);
    for (repr, payload) in packets[2].iter().chain(&packets[0]) {
        before.packet(repr, payload).unwrap();
        finish(&mut before);
    }
    for is_known in [false, true] {
        for steps in 0..20 {
            let disk = if is_known { left(&before) } else { MemoryDisk::default() };
            let mut reception = Reception::new(disk, MIRROR);
            // All of the first package is here, and some of its files are in place.
            for (repr, payload) in &packets[0] {
                reception.packet(repr, payload).unwrap();
            }
            for _ in 0..steps {
                reception.work().unwrap();
            }
            for (repr, payload) in packets[1].iter().chain(&packets[2]) {
                reception.packet(repr, payload).unwrap();
            }
            finish(&mut reception);
            run(&mut packer.source, &mut reception, 1500);
            assert!(reception.is_complete(), "{steps}: {:?}", reception.progress());
            let differing =
                visible(&reception).into_iter().filter(|file| !wanted.contains(file)).map(|(path, _)| path);
            assert_eq!(differing.collect::<Vec<_>>(), [] as [String; 0], "after {steps} steps, {is_known}");
            assert_eq!(visible(&reception).len(), wanted.len());
        }
    }
}

/// The source is started again with other contents while a package is taken apart.
#[test]
fn a_package_that_is_taken_apart_stops_with_its_session() {
    let (old, new) = (small(100, 1), small(100, 2));
    for steps in 0..20 {
        let mut first = Packer::new(1, 16);
        first.put(&slices(&old), &[], true);
        let mut reception = receiver(MIRROR);
        while reception.needs_packets() {
            let (repr, payload) = first.source.next(0);
            reception.packet(&repr, &payload).unwrap();
        }
        for _ in 0..steps {
            reception.work().unwrap();
        }
        let mut second = Packer::new(1, 16);
        second.put(&slices(&new), &[], false);
        reception.follow();
        // What comes first is placed first, whatever is left of the package.
        run(&mut second.source, &mut reception, 1500);
        assert!(visible(&reception) == sorted(new.clone()), "after {steps} steps");
        // The first session again, as another one.
        let mut third = Packer::new(1, 16);
        third.put(&slices(&old), &[], true);
        reception.follow();
        transfer(&mut third.source, &mut reception, &[0], |_, _| true);
        assert!(visible(&reception) == sorted(old.clone()), "after {steps} steps");
    }
}
