//! Many small files: packages as an operator sees them.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::service::state_of;
use super::transfer::lo::works_here;
use super::transfer::{ended, group, signal, start, transfer};
use super::{scratch, text};

const FILES: u32 = 300;

fn content(number: u32) -> Vec<u8> {
    (0..number * 37 % 4000).map(|at| (at.wrapping_mul(2_654_435_761) >> 9) as u8 ^ number as u8).collect()
}

/// A folder of small files.
fn site(root: &Path) -> String {
    for number in 0..FILES {
        let folder = root.join(format!("site/{}", number % 7));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("{number}")), content(number)).expect("a file");
    }
    format!("{}/", root.join("site").display())
}

fn assert_same(into: &Path) {
    for number in 0..FILES {
        let found = fs::read(into.join(format!("{}/{number}", number % 7))).expect("a file");
        assert!(found == content(number), "{number}");
    }
}

/// The symbols of packages that a receiver has recorded, in bytes of its records.
fn recorded(into: &Path) -> u64 {
    let own = fs::read_dir(into.join(".layercast")).into_iter().flatten().flatten();
    let records = own.filter(|entry| entry.path().extension().is_some_and(|name| name == "symbols"));
    records.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

fn package_lines(state: &Path) -> Vec<String> {
    let state = state_of(state).expect("the state");
    let packages = state["packages"].as_array().expect("packages");
    packages.iter().map(|package| format!("{} {}", package["object"]["hash"], package["name"])).collect()
}

#[test]
fn three_hundred_small_files_survive_kills_of_both_ends_and_are_not_received_twice() {
    if !works_here() {
        return;
    }
    let root = scratch("packages");
    let (site, into, state, group) = (site(&root), root.join("into"), root.join("state"), group(140));
    fs::create_dir(&into).expect("a folder");
    let (state_name, into_name) = (state.display().to_string(), into.display().to_string());
    let sending =
        ["send", &site, "--group", &group, "--base", "1 Mbit/s", "--layers", "1", "--state", &state_name];
    let (mut sender, line, _stdout) = start(&sending);
    assert!(line.contains("300"), "files are counted, not packages: {line}");
    let receiving = ["receive", "--group", &group, "--into", &into_name, "--json", "--patience", "60 s"];
    let mut receiver = transfer(&receiving).spawn().expect("the program starts");
    let begin = Instant::now();
    // About a hundred symbols.
    while recorded(&into) < 1000 {
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing is recorded");
        thread::sleep(Duration::from_millis(20));
    }
    receiver.kill().expect("killed");
    receiver.wait().expect("its end");
    let packages = package_lines(&state);
    assert_eq!(packages.len(), 1);
    sender.kill().expect("killed");
    sender.wait().expect("its end");
    // Both start again: the same package goes on.
    let (sender, _, stdout) = start(&sending);
    assert_eq!(package_lines(&state), packages);
    let run = || {
        let output = transfer(&receiving).output().expect("it runs");
        let (out, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{out}{error}");
        out
    };
    let count = |out: &str, event: &str| {
        out.lines().filter(|line| line.contains(&format!("\"event\":\"{event}\""))).count()
    };
    let out = run();
    assert_same(&into);
    assert_eq!((count(&out, "object_resumed"), count(&out, "object_complete")), (1, 300), "{out}");
    // What is in place is found by its hash, and needs no symbols.
    let out = run();
    assert_eq!((count(&out, "object_present"), count(&out, "object_complete")), (300, 0), "{out}");
    // One that was damaged is written again.
    fs::write(into.join("3/10"), b"damaged").expect("a file");
    let replacing = [&receiving[..], &["--replace"]].concat();
    let output = transfer(&replacing).output().expect("it runs");
    let out = text(&output.stdout);
    assert_eq!((count(&out, "object_present"), count(&out, "object_complete")), (299, 1), "{out}");
    assert_same(&into);
    signal(&sender, "INT");
    let (_, error, status) = ended(sender, stdout);
    assert_eq!((status, error.as_str()), (Some(0), ""));
}

#[test]
fn without_packages_each_file_is_an_object_and_without_space_for_them_an_error_says_what_to_do() {
    if !works_here() {
        return;
    }
    let root = scratch("no-packages");
    let (site, state, group) = (site(&root), root.join("state"), group(144));
    let state_name = state.display().to_string();
    let sending =
        ["send", &site, "--group", &group, "--to", "2 Mbit/s", "--state", &state_name, "--for", "1 s"];
    let output = transfer(&[&sending[..], &["--no-packages"]].concat()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(package_lines(&state).is_empty());
    let sending = ["send", &site, "--group", &group, "--to", "2 Mbit/s", "--for", "1 s"];
    let output = transfer(&sending).env("TMPDIR", "/nowhere").output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(text(&output.stderr));
}

/// What receivers cannot take or nobody can read is left out alone, with its name and the cause, whether the others are packed or not.
#[test]
fn odd_names_are_left_out_alone_and_the_exit_status_says_so() {
    use std::os::unix::ffi::OsStrExt as _;

    if !works_here() {
        return;
    }
    let root = scratch("odd-names");
    let (site, into) = (site(&root), root.join("into"));
    let odd: [&[u8]; 5] =
        [b"0/back\\slash", b"0/new\nline", b"0/control\x1b[31m", b"0/not \xff UTF-8", b"1/Case"];
    for name in odd.iter().chain([&&b"1/case"[..]]) {
        let path = root.join("site").join(std::ffi::OsStr::from_bytes(name));
        fs::write(path, "odd").expect("a file");
    }
    for (packed, more) in [(true, &[][..]), (false, &["--no-packages"][..])] {
        let _ = fs::remove_dir_all(&into);
        fs::create_dir(&into).expect("a directory");
        let group = group(if packed { 236 } else { 240 });
        let sending =
            ["send", &site, "--group", &group, "--to", "20 Mbit/s", "--until-complete", "1", "--for", "40 s"];
        let mut sender = transfer(&[&sending[..], more].concat());
        sender.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = sender.spawn().expect("it starts");
        let into_name = into.display().to_string();
        let received =
            transfer(&["receive", "--group", &group, "--into", &into_name]).output().expect("it runs");
        assert_eq!(received.status.code(), Some(0), "{}", text(&received.stderr));
        let sent = child.wait_with_output().expect("it ends");
        let error = text(&sent.stderr);
        assert_eq!(sent.status.code(), Some(1), "{error}");
        assert!(error.contains("5 files were left out"), "{error}");
        let warnings = [
            r#"0/back\\slash" is left out: "#,
            r#"0/new\nline" is left out: "#,
            r#"0/control\u{1b}[31m" is left out: "#,
            r#"0/not \xFF UTF-8" is left out: its name is not UTF-8"#,
            r#"1/case" is left out: "#,
        ];
        for warning in warnings {
            assert!(error.contains(warning), "{warning}: {error}");
        }
        assert!(!error.contains('\x1b'), "{error}");
        assert_same(&into);
        assert_eq!(fs::read(into.join("1/Case")).expect("the first of the two"), b"odd");
    }
}
