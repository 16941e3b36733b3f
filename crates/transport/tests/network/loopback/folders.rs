//! Folders, and what receivers keep on the disk.

use super::*;

#[test]
fn a_partial_file_is_kept_and_the_next_receiver_goes_on_with_it() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("resume");
    let data = content(3_000_000);
    let (file, into) = (temp.with("file", &data), temp.directory("into"));
    // Stopped by its user, by the end of the source, by its time: nothing is lost in any of these.
    let mut kept = Vec::new();
    let needed = 3_000_000u64.div_ceil(900);
    for (place, number) in [154, 158, 162].into_iter().enumerate() {
        let source = start(file.clone(), sending(number, "elm", Ends::default()));
        source.session();
        let user = AtomicBool::new(false);
        let source_flag = Arc::clone(&source.stop);
        let mut before = None;
        let mut resumed = None;
        let mut say = |event: &Event| match event {
            Event::Object(ReceptionEvent::Resumed { held, .. }) => resumed = Some(*held),
            Event::Progress(Progress::Receive(progress)) => {
                let first = *before.get_or_insert(progress.objects.held);
                // A fifth of the file more is enough of it.
                if progress.objects.held > first + needed / 20 {
                    match place {
                        0 => user.store(true, Ordering::Relaxed),
                        1 => source_flag.store(true, Ordering::Relaxed),
                        _ => {}
                    }
                }
            }
            _ => {}
        };
        let within = (place == 2).then_some(Duration::from_secs(2));
        let options = ReceiveOptions { within, ..receiving(number, into.clone()) };
        match receive(&options, &user, &mut say) {
            Err(Error::Kept { reason, held, .. }) => {
                assert!(
                    matches!(
                        (place, *reason),
                        (0, Error::Interrupted)
                            | (1, Error::Receive(ReceiveError::SessionEnded { .. }))
                            | (2, Error::Receive(ReceiveError::TimeOver { .. }))
                    ),
                    "{place}"
                );
                kept.push(held);
            }
            // A fast machine may be ready before its user or its time stops it.
            Ok(_) => return,
            Err(error) => panic!("{error}"),
        }
        if place > 0 {
            assert_eq!(resumed, kept.get(place - 1).copied(), "{kept:?}");
        }
        source.end().unwrap();
    }
    let source = start(file, sending(166, "elm", Ends::default()));
    source.session();
    let (path, report) = get(&receiving(166, into.clone())).unwrap();
    assert_eq!(fs::read(path).unwrap(), data);
    // What arrives while a block is decoded counts as useful too, and a loaded machine decodes late: half of what was
    // kept must be saved at least.
    let needed = report.objects.needed - kept.last().unwrap() / 2;
    assert!(report.assembly.useful < needed, "{kept:?}, {report:?}");
    assert_eq!(fs::read_dir(&into).unwrap().count(), 1, "no partial file and no record are left");
    source.end().unwrap();
}

/// Two receivers of one session into one directory.
#[test]
fn a_partial_file_that_another_receiver_writes_is_busy() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("busy");
    let into = temp.directory("into");
    let source = start(temp.with("file", &content(40_000_000)), sending(11, "elm", Ends::default()));
    source.session();
    let first = receiving(11, into.clone());
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let (begin, begun) = std::sync::mpsc::channel();
    let first = thread::spawn(move || {
        receive(&first, &flag, &mut |event| {
            if let Event::Progress(Progress::Receive(progress)) = event
                && progress.objects.held > 0
            {
                begin.send(()).unwrap_or_default();
            }
        })
    });
    begun.recv_timeout(Duration::from_secs(20)).unwrap();
    let error = get(&receiving(11, into)).unwrap_err();
    assert!(matches!(error, Error::FileBusy { .. }), "{error}");
    stop.store(true, Ordering::Relaxed);
    assert!(first.join().unwrap().is_err());
    source.end().unwrap();
}

/// A folder with short and long files, one that is empty and an empty folder; some are there already.
#[test]
fn a_folder_arrives_as_it_is() {
    if !works_here() {
        return;
    }
    use std::os::unix::fs::PermissionsExt as _;
    let temp = TempDir::new("folder");
    let site = temp.directory("site");
    fs::create_dir_all(site.join("a/b/empty")).unwrap();
    fs::write(site.join("a/long"), content(600_000)).unwrap();
    fs::set_permissions(site.join("a/long"), fs::Permissions::from_mode(0o711)).unwrap();
    fs::write(site.join("a/b/none"), []).unwrap();
    for number in 0..300 {
        fs::write(site.join(format!("a/b/{number}")), content(number * 13)).unwrap();
    }
    let source = start(site, sending(13, "elm", Ends::default()));
    source.session();
    let into = temp.directory("into");
    fs::create_dir_all(into.join("site/a")).unwrap();
    fs::write(into.join("site/a/long"), content(600_000)).unwrap();
    let (_, report) = get(&receiving(13, into.clone())).unwrap();
    let objects = report.objects;
    assert_eq!((objects.objects, objects.complete, objects.failed, objects.is_open), (303, 303, 0, false));
    assert!(report.assembly.useful < objects.needed - 600, "the long file was there: {report:?}");
    for number in 0..300 {
        assert_eq!(fs::read(into.join(format!("site/a/b/{number}"))).unwrap(), content(number * 13));
    }
    assert!(fs::read(into.join("site/a/b/none")).unwrap().is_empty());
    assert!(into.join("site/a/b/empty").is_dir());
    let modified = |path: PathBuf| fs::metadata(path).unwrap().modified().unwrap();
    assert_eq!(modified(into.join("site/a/b/7")), modified(temp.0.join("site/a/b/7")));
    let own = fs::read_dir(into.join(".layercast")).unwrap().map(|entry| entry.unwrap().path());
    let own: Vec<PathBuf> = own.collect();
    assert!(own.len() == 1 && own[0].extension().unwrap() == "index", "no partial files are left: {own:?}");
    source.end().unwrap();
}

#[test]
fn a_mirror_follows_changes_and_a_restarted_source_and_never_ends_by_itself() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("mirror");
    let (site, into) = (temp.directory("site"), temp.directory("into"));
    let (one, two, three) = (content(150_000), content(90_000), content(3000));
    fs::write(into.join("mine"), &three).unwrap();
    fs::write(site.join("a"), &one).unwrap();
    fs::write(site.join("b"), &two).unwrap();
    let options = || SendOptions { follow: true, ..sending(181, "fixed", Ends::default()) };
    let source = start(site.join(""), options());
    let receiving = ReceiveOptions {
        settings: ReceptionSettings { replace: true, mirror: true },
        keep_going: true,
        within: None,
        patience: Duration::from_secs(3),
        ..receiving(181, into.clone())
    };
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let receiver = thread::spawn(move || receive(&receiving, &flag, &mut |_| {}));
    becomes(&into, &[("a", &one), ("b", &two), ("mine", &three)]);
    fs::write(site.join("a"), &two).unwrap();
    fs::remove_file(site.join("b")).unwrap();
    fs::write(site.join("c"), &three).unwrap();
    becomes(&into, &[("a", &two), ("c", &three), ("mine", &three)]);
    // The session ends, and the next one has other files.
    source.end().unwrap();
    fs::remove_file(site.join("c")).unwrap();
    fs::write(site.join("d"), &one).unwrap();
    let source = start(site.join(""), options());
    becomes(&into, &[("a", &two), ("d", &one), ("mine", &three)]);
    assert!(!receiver.is_finished());
    stop.store(true, Ordering::Relaxed);
    let ended = receiver.join().unwrap();
    assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    source.end().unwrap();
}

/// Packed files that change, are removed, and are packed again from what is kept of them: their first versions are gone.
#[test]
fn a_mirror_follows_changes_of_packed_files() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("packed");
    let (site, into) = (temp.directory("site"), temp.directory("into"));
    let name = |number: usize| format!("{number:02}");
    let mut wanted: std::collections::BTreeMap<String, Vec<u8>> =
        (0..60).map(|n| (name(n), content(n * 90))).collect();
    let write = |name: &str, bytes: &[u8]| fs::write(site.join(name), bytes).unwrap();
    wanted.iter().for_each(|(name, bytes)| write(name, bytes));
    let options = SendOptions { follow: true, ..sending(14, "fixed", Ends::default()) };
    let source = start(site.join(""), options);
    let receiving = ReceiveOptions {
        settings: ReceptionSettings { replace: true, mirror: true },
        keep_going: true,
        within: None,
        ..receiving(14, into.clone())
    };
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let receiver = thread::spawn(move || receive(&receiving, &flag, &mut |_| {}));
    let all = |wanted: &std::collections::BTreeMap<String, Vec<u8>>| {
        let files: Vec<(&str, &[u8])> =
            wanted.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        becomes(&into, &files);
    };
    all(&wanted);
    // Few enough to be objects of their own; then so many that the package is made again, of two contents.
    for (first, count, round) in [(0, 5, 1), (5, 40, 2)] {
        for number in first..first + count {
            let bytes = content(700 + number * round);
            write(&name(number), &bytes);
            wanted.insert(name(number), bytes);
        }
        for number in [50 + round, 55 + round] {
            fs::remove_file(site.join(name(number))).unwrap();
            wanted.remove(&name(number));
        }
        all(&wanted);
    }
    stop.store(true, Ordering::Relaxed);
    let ended = receiver.join().unwrap();
    // A package that has no file for it may be there in part.
    let reason = match &ended {
        Err(Error::Kept { reason, .. }) => &**reason,
        Err(reason) => reason,
        Ok(_) => panic!("{ended:?}"),
    };
    assert!(matches!(reason, Error::Interrupted), "{ended:?}");
    source.end().unwrap();
}

/// The hash of a long file follows; a second receiver, after the source was started again, continues by its tag.
#[test]
fn a_file_that_is_sent_while_it_is_hashed_arrives_and_is_continued() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("tagged");
    let data = content(2_000_000);
    let (file, into) = (temp.with("file", &data), temp.directory("into"));
    let tagged = || SendOptions { tagged: 1_000_000, ..sending(170, "elm", Ends::default()) };
    let source = start(file.clone(), tagged());
    source.session();
    let user = AtomicBool::new(false);
    let mut say = |event: &Event| {
        if let Event::Progress(Progress::Receive(progress)) = event {
            user.store(progress.objects.held > 300, Ordering::Relaxed);
        }
    };
    let stopped = receive(&receiving(170, into.clone()), &user, &mut say);
    source.end().unwrap();
    let Err(Error::Kept { held, .. }) = stopped else {
        // A fast machine has the whole file before its user stops it.
        assert_eq!(fs::read(into.join("file")).unwrap(), data);
        return;
    };
    let source = start(file, tagged());
    source.session();
    let mut resumed = None;
    let mut say = |event: &Event| {
        if let Event::Object(ReceptionEvent::Resumed { held, .. }) = event {
            resumed = Some(*held);
        }
    };
    receive(&receiving(170, into.clone()), &AtomicBool::new(false), &mut say).unwrap();
    assert_eq!(resumed, Some(held));
    assert_eq!(fs::read(into.join("file")).unwrap(), data);
    source.end().unwrap();
}

/// It waits for the hash, and until receivers can have it.
#[test]
fn a_source_of_some_rounds_names_the_hash_before_it_ends() {
    if !works_here() {
        return;
    }
    let temp = TempDir::new("one-round");
    let data = content(1_000_000);
    let (file, into) = (temp.with("file", &data), temp.directory("into"));
    let ends = Ends { rounds: Some(8), ..Ends::default() };
    let receiver = thread::spawn(move || get(&receiving(12, into)));
    thread::sleep(Duration::from_millis(300));
    let source = start(file, SendOptions { tagged: 1, ..sending(12, "elm", ends) });
    let (path, _) = receiver.join().unwrap().unwrap();
    assert_eq!(fs::read(path).unwrap(), data);
    source.end().unwrap();
}
