use super::*;

fn catalogue() -> Catalogue {
    Catalogue::new(TableSettings {
        symbol: 900,
        expires_s: 4_000_000_000,
        wants_completions: false,
        session: "layercast = 1".into(),
        signer: None,
    })
}

fn item(path: &str) -> Item {
    Item {
        path: path.into(),
        file: Some((2000, Some([1; 32]))),
        tag: None,
        leaves: Arc::default(),
        parts: None,
        members: Arc::default(),
        attributes: Attributes::default(),
    }
}

fn read(encoded: &Encoded) -> Instance {
    let xml = crate::object::decompressed(Some(crate::object::ContentEncoding::Zlib), &encoded.bytes);
    Instance::from_xml(&xml.expect("zlib")).expect("an instance")
}

#[test]
fn ten_thousand_files_are_described_in_short_instances() {
    let mut catalogue = catalogue();
    let items: Vec<Item> = (0..10_000)
        .map(|number| Item {
            file: Some((900, Some([number as u8; 32]))),
            ..item(&format!("folder/part-{number}"))
        })
        .collect();
    let change = catalogue.change(&items, &[], true).expect("a catalogue");
    assert_eq!((change.added.len(), change.instances), (10_000, 157));
    assert_eq!(catalogue.instances().iter().map(|one| read(one).entries.len()).sum::<usize>(), 10_000);
    let complete: Vec<bool> = catalogue.instances().iter().map(|one| read(one).complete).collect();
    assert!(complete[..156].iter().all(|&complete| !complete) && complete[156]);
}

#[test]
fn a_new_version_is_a_new_object_and_history_is_dropped() {
    let mut catalogue = catalogue();
    catalogue.change(&[item("a"), item("b")], &[], false).expect("two files");
    let change = catalogue.change(&[item("a")], &["b".into(), "nothing".into()], false).expect("a change");
    assert_eq!((change.added, change.removed), (vec![3], vec![2, 1]));
    let last = read(&catalogue.instances()[1]);
    assert_eq!(last.removed, [2], "an object that is replaced is not gone");
    for _ in 0..200 {
        catalogue.change(&[item("a")], &[], false).expect("a change");
    }
    assert!(catalogue.instances().len() < 150, "{}", catalogue.instances().len());
    let (first, instances) = (catalogue.first, catalogue.instances());
    assert!(first > 0 && instances.iter().all(|one| one.number >= first));
    assert_eq!(read(&instances[instances.len() - 1]).first, Some(first));
}

#[test]
fn a_hash_that_comes_later_is_named_in_an_instance_of_its_own_and_only_then_the_log_is_complete() {
    let mut catalogue = catalogue();
    let later = Item { file: Some((2000, None)), tag: Some([7; 32]), ..item("later") };
    catalogue.change(&[item("a"), later], &[], true).expect("two files");
    let first = read(&catalogue.instances()[0]);
    assert!(!first.complete && catalogue.awaits_hashes());
    let hashes = |instance: &Instance| instance.entries.iter().map(Entry::sha256).collect::<Vec<_>>();
    assert_eq!(hashes(&first), [Some([1; 32]), None]);
    assert_eq!(catalogue.name_hashes(&[(1, [3; 32])]), Ok(0), "it has one");
    assert_eq!(catalogue.name_hashes(&[(9, [3; 32])]), Ok(0), "it is not there");
    assert_eq!(catalogue.name_hashes(&[(2, [3; 32])]), Ok(1));
    let last = read(&catalogue.instances()[1]);
    assert_eq!((hashes(&last), last.complete), (vec![Some([3; 32])], true));
    let tois = |instance: &Instance| instance.entries.iter().map(|entry| entry.toi).collect::<Vec<_>>();
    assert_eq!((tois(&last), last.entries[0].tag), (vec![2], Some([7; 32])));
    assert_eq!(catalogue.name_hashes(&[(2, [4; 32])]), Ok(0), "it is named once");
    // A log that is started again has it with its hash.
    for _ in 0..200 {
        catalogue.change(&[item("a")], &[], true).expect("a change");
    }
    let all: Vec<Instance> = catalogue.instances().iter().map(read).collect();
    let of_two = all.iter().flat_map(|one| &one.entries).find(|entry| entry.toi == 2);
    assert_eq!(of_two.and_then(Entry::sha256), Some([3; 32]));
}

fn package(name: &str, paths: &[&str]) -> Item {
    let members = paths.iter().map(|path| (*path).to_owned()).collect();
    Item { members, ..item(&format!(".layercast/{name}.package")) }
}

#[test]
fn files_of_packages_are_replaced_and_removed_by_path_and_a_package_without_any_is_removed() {
    let mut catalogue = catalogue();
    catalogue.change(&[package("1", &["a", "b", "c"]), item("d")], &[], false).expect("a package");
    assert_eq!((catalogue.toi("b"), catalogue.files(), catalogue.objects().count()), (Some(1), 4, 2));
    assert_eq!(catalogue.object(1).and_then(|entry| entry.package), Some(3));
    // One is replaced, and one removed.
    let change = catalogue.change(&[item("a")], &["b".into()], false).expect("a change");
    assert_eq!((change.added, change.removed), (vec![3], vec![]));
    let last = read(&catalogue.instances()[1]);
    assert_eq!((last.removed, last.removed_files), (vec![], vec![(1, "b".to_owned())]));
    // The last one comes in another package.
    let change = catalogue.change(&[package("2", &["c", "e"])], &[], false).expect("a change");
    assert_eq!((change.added, change.removed), (vec![4], vec![1]));
    let last = read(&catalogue.instances()[2]);
    assert_eq!((last.removed, last.removed_files), (vec![1], vec![]));
    assert_eq!((catalogue.toi("c"), catalogue.toi("b"), catalogue.files()), (Some(4), None, 4));
    // A log that is started again names what packages have no more.
    catalogue.change(&[], &["e".into()], false).expect("a change");
    for _ in 0..200 {
        catalogue.change(&[item("d")], &[], false).expect("a change");
    }
    let all: Vec<Instance> = catalogue.instances().iter().map(read).collect();
    assert!(all[0].number > Some(100));
    let removed: Vec<_> = all.iter().flat_map(|one| one.removed_files.clone()).collect();
    assert_eq!(removed, [(4, "e".to_owned())]);
}

#[test]
fn what_receivers_could_not_keep_apart_is_rejected_and_changes_nothing() {
    let mut catalogue = catalogue();
    catalogue.change(&[item("a/b"), item("c")], &[], false).expect("two files");
    let error = |catalogue: &mut Catalogue, paths: &[&str]| {
        let items: Vec<Item> = paths.iter().map(|path| item(path)).collect();
        catalogue.change(&items, &[], false).expect_err("an error").to_string()
    };
    for (paths, expected) in [
        (&["../x"][..], "\"../x\" cannot be sent under this name: it leads out of the folder"),
        (&["d", "d"], "\"d\" is there twice: give one of them another name"),
        (&["C"], "\"c\" and \"C\" differ in case alone, which some receivers cannot keep apart: rename one"),
        (
            &["A/x"],
            "\"a\" and \"A\" differ in case alone, which some receivers cannot keep apart: rename one",
        ),
        (&["c/d"], "\"c\" is a file, and \"c/d\" needs a folder of that name"),
    ] {
        assert_eq!(error(&mut catalogue, paths), expected);
        // Nor as a file of a package.
        let rejected = match paths {
            [path] => catalogue.change(&[package("1", &["x", path])], &[], false),
            _ => catalogue.change(&[package("1", &["d", "e"]), item("d")], &[], false),
        };
        assert_eq!(rejected.expect_err("an error").to_string(), expected);
    }
    assert_eq!(catalogue.objects().count(), 2);
    assert_eq!(catalogue.instances().len(), 1);
}

#[test]
fn what_cannot_be_sent_is_named_and_the_rest_can_be() {
    let mut catalogue = catalogue();
    catalogue.change(&[item("sent/One"), item("gone")], &[], false).expect("two files");
    let paths = [
        "m/good",
        "m/a\\b",
        "m/new\nline",
        "m/Good",
        "M/x",
        "m/good/under",
        "m/good",
        "sent/one",
        "sent/One",
        "GONE",
        "m/é",
    ];
    let items: Vec<Item> = paths.into_iter().map(item).collect();
    let removed = ["gone".to_owned()];
    let refused = catalogue.refusals(&items.iter().collect::<Vec<_>>(), &removed);
    let left: Vec<usize> = refused.iter().map(|(at, _)| *at).collect();
    assert_eq!(left, [1, 2, 3, 4, 5, 6, 7], "{refused:?}");
    assert!(refused[1].1.to_string().contains(r"m/new\nline"), "{}", refused[1].1);
    let rest: Vec<Item> =
        items.into_iter().enumerate().filter(|(at, _)| !left.contains(at)).map(|(_, item)| item).collect();
    let change = catalogue.change(&rest, &removed, true).expect("the rest");
    assert_eq!(change.added.len(), 4);
    assert!(catalogue.refusals(&rest.iter().collect::<Vec<_>>(), &[]).is_empty(), "a new version of each");
}
