//! `layercast send --state`, `layercast receive --mirror` and `layercast doctor` as an operator sees them.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use layercast_delivery::reception::ReceptionSettings;
use layercast_transport::receive::{Known, ReceiveOptions, receive};

use super::transfer::lo::works_here;
use super::transfer::{ended, group, signal, start, transfer, with_file};
use super::{layercast, text};

/// Waits for something that another program does.
fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_there() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what} did not come");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The state of a sender: a record of JSON, between its length and its checksum.
pub(super) fn state_of(path: &Path) -> Option<serde_json::Value> {
    let bytes = fs::read(path).ok()?;
    let begin = bytes.iter().position(|byte| *byte == b'{')?;
    serde_json::Deserializer::from_slice(&bytes[begin..]).into_iter().next()?.ok()
}

/// The first symbol that a state names for the first block of its first file.
fn reached(state: &Path) -> u64 {
    let state = state_of(state).unwrap_or_default();
    state["files"][0]["objects"][0]["reached"][0].as_u64().unwrap_or(0)
}

#[test]
fn a_killed_sender_goes_on_with_symbols_that_receivers_do_not_have() {
    if !works_here() {
        return;
    }
    let (directory, file) = with_file("state", 2_000_000);
    let (group, state, into) = (group(120), directory.join("state"), directory.join("into"));
    let state_name = state.display().to_string();
    let arguments =
        ["send", &file, "--group", &group, "--base", "2 Mbit/s", "--layers", "1", "--state", &state_name];
    let (mut child, _, _stdout) = start(&arguments);
    let options = ReceiveOptions {
        known: Known::Group(group.parse().expect("an address"), None),
        announced: None,
        interface: Some("127.0.0.1".to_owned()),
        into: into.clone(),
        settings: ReceptionSettings::default(),
        keep_going: false,
        start_within: Duration::from_secs(30),
        patience: Duration::from_secs(180),
        within: Some(Duration::from_secs(300)),
        protocol_options: Vec::new(),
        group_key: None,
        silent: false,
        salt: None,
        keys: Vec::new(),
        relays: Default::default(),
        seed: None,
        is_routed: false,
    };
    let receiver = thread::spawn(move || receive(&options, &AtomicBool::new(false), &mut |_| {}));
    // Half of the file's eight seconds.
    wait_for("half of the file", || reached(&state) > 500);
    child.kill().expect("killed");
    child.wait().expect("its end");
    let before = reached(&state);
    let (child, _, stdout) = start(&arguments);
    assert!(reached(&state) >= before, "{} after {before}", reached(&state));
    let received = receiver.join().expect("the receiver").expect("the file");
    assert_eq!(fs::read(into.join("a file")).expect("the file"), vec![7; 2_000_000]);
    let (useful, needless) = (received.assembly.useful, received.assembly.needless);
    assert!(needless * 20 < useful, "{needless} needless symbols for {useful} useful ones");
    signal(&child, "INT");
    let (_, error, status) = ended(child, stdout);
    assert_eq!((status, error.as_str()), (Some(0), ""));
    // Another file in its place is not overwritten.
    fs::write(&state, "my notes").expect("a file");
    let output = transfer(&arguments).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("it is not the state of a sender"), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(&state).expect("a file"), "my notes");
}

#[test]
fn a_mirror_runs_a_command_for_each_file_and_ends_when_it_is_asked_to() {
    if !works_here() {
        return;
    }
    let (directory, file) = with_file("mirror", 3000);
    let (group, into, log) =
        (group(130), directory.join("into").display().to_string(), directory.join("log"));
    let command = format!("echo \"$LAYERCAST_NAME $LAYERCAST_LENGTH $LAYERCAST_PATH\" >>'{}'", log.display());
    let arguments = ["receive", "--group", &group, "--into", &into, "--mirror", "--on-complete", &command];
    let mut receiver = transfer(&arguments).spawn().expect("it starts");
    let output =
        transfer(&["send", &file, "--group", &group, "--until-complete", "1", "--for", "1 min"]).output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    wait_for("the command", || fs::read_to_string(&log).is_ok_and(|text| text.ends_with('\n')));
    assert_eq!(fs::read_to_string(&log).expect("the log"), format!("a file 3000 {into}/a file\n"));
    // The session has ended, and the receiver has not.
    thread::sleep(Duration::from_millis(500));
    assert!(receiver.try_wait().expect("its state").is_none());
    signal(&receiver, "TERM");
    let mut error = String::new();
    receiver.stderr.take().expect("its errors").read_to_string(&mut error).expect("its errors");
    assert_eq!(receiver.wait().expect("its end").code(), Some(0), "{error}");
}

#[test]
fn doctor_says_what_it_looked_at_and_what_is_wrong() {
    let output =
        layercast(&["doctor", "--group", "239.1.2.0", "--interface", "nosuch0"]).output().expect("it runs");
    let lines = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{lines}");
    assert!(lines.contains("WRONG  no interface `nosuch0`"), "{lines}");
    if !works_here() {
        return;
    }
    let output = transfer(&["doctor", "--group", "239.1.2.0"]).output().expect("it runs");
    let lines = text(&output.stdout);
    assert!(lines.contains("fine   a packet to 239.1.2.0 on lo is received here"), "{lines}");
    let has_wrong = lines.lines().any(|line| line.starts_with("WRONG"));
    assert_eq!(output.status.code(), Some(i32::from(has_wrong)), "{lines}");
}
