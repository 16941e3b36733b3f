//! `layercast send` and `layercast receive` as a script and an operator see them: what they print, their exit status,
//! and the files that they leave.

#[path = "../../../transport/tests/network/lo.rs"]
pub(super) mod lo;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use super::{layercast, scratch, text};
use lo::works_here;

pub(super) fn transfer(arguments: &[&str]) -> Command {
    let mut command = layercast(arguments);
    // What goes by unicast alone has no interface.
    if !arguments.iter().any(|flag| ["--reliable", "--relay-only"].contains(flag)) {
        command.args(["--interface", "127.0.0.1"]);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The group of a test; each has its own, and its own port in each run.
pub(super) fn group(number: u8) -> String {
    // Sessions have more groups than tests are apart: each has a port of its own.
    format!("239.255.79.{number}:{}", layercast_testkit::port(number))
}

/// An empty directory of a test's own, with a file of this length.
pub(super) fn with_file(name: &str, length: usize) -> (PathBuf, String) {
    let directory = scratch(&format!("transfer-{name}"));
    fs::create_dir(directory.join("into")).expect("the directory for tests can be made");
    let file = directory.join("a file");
    fs::write(&file, vec![7; length]).expect("a file");
    let file = file.display().to_string();
    (directory, file)
}

/// Starts a sender and waits until it says what it sends; returns that line too.
pub(super) fn start(arguments: &[&str]) -> (Child, String, BufReader<std::process::ChildStdout>) {
    let mut child = transfer(arguments).spawn().expect("the program starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("its output"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    (child, line, stdout)
}

pub(super) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
}

/// The rest of what a sender prints, its errors and its exit status.
pub(super) fn ended(
    mut child: Child,
    mut stdout: BufReader<std::process::ChildStdout>,
) -> (String, String, Option<i32>) {
    let (mut out, mut error) = (String::new(), String::new());
    stdout.read_to_string(&mut out).expect("its output");
    child.stderr.take().expect("its errors").read_to_string(&mut error).expect("its errors");
    (out, error, child.wait().expect("its end").code())
}

pub(super) fn printed(output: &Output) -> (String, String) {
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_missing_receiver_is_a_failure_and_complete_ones_are_listed() {
    if !works_here() {
        return;
    }
    let (directory, file) = with_file("missing", 100_000);
    let (group, into) = (group(1), directory.join("into").display().to_string());
    let arguments = ["send", &file, "--group", &group, "--to", "8 Mbit/s", "--until-complete", "2"];
    let (child, _, stdout) = start(&arguments);
    let received = transfer(&["receive", "--group", &group, "--into", &into]).output().expect("it runs");
    assert_eq!(received.status.code(), Some(0), "{:?}", printed(&received));
    signal(&child, "TERM");
    let (out, error, status) = ended(child, stdout);
    assert_eq!(status, Some(1), "{out}{error}");
    assert!(out.contains("1 of 2 receivers complete\nComplete: 127.0.0.1:"), "{out}");
    assert_eq!(error, "error: 1 of 2 receivers did not report completion\n");
}

#[test]
fn the_end_by_time_is_a_failure_only_if_receivers_were_waited_for() {
    if !works_here() {
        return;
    }
    let (_, file) = with_file("time", 1000);
    let group = group(10);
    let arguments = ["send", &file, "--group", &group, "--to", "2 Mbit/s", "--for", "1 s"];
    let output = transfer(&arguments).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{:?}", printed(&output));
    let output = transfer(&[&arguments[..], &["--until-complete", "1"]].concat()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{:?}", printed(&output));
    assert!(
        printed(&output).1.contains("1 of 1 receivers did not report completion"),
        "{:?}",
        printed(&output)
    );
}

#[test]
fn an_interruption_is_the_end_of_a_sender_without_another() {
    if !works_here() {
        return;
    }
    let (_, file) = with_file("interrupted", 1000);
    let group = group(20);
    let sending = ["send", &file, "--group", &group, "--to", "2 Mbit/s"];
    let (child, _, stdout) = start(&sending);
    signal(&child, "INT");
    let (out, error, status) = ended(child, stdout);
    assert_eq!((status, error.as_str()), (Some(0), ""), "{out}");
    let (child, _, stdout) = start(&[&sending[..], &["--rounds", "1000000"]].concat());
    signal(&child, "INT");
    let (out, error, status) = ended(child, stdout);
    assert_eq!(status, Some(1), "{out}");
    assert!(error.contains("interrupted before the end, which was for 1000000 rounds"), "{error}");
}

#[test]
fn an_interrupted_receiver_says_what_it_keeps_and_the_next_goes_on() {
    if !works_here() {
        return;
    }
    let (directory, file) = with_file("kept", 2_000_000);
    let (group, into) = (group(30), directory.join("into"));
    let rates = ["--base", "4 Mbit/s", "--layers", "1"];
    let (child, _, stdout) = start(&[&["send", &file, "--group", &group][..], &rates[..]].concat());
    let arguments = ["receive", "--group", &group, "--into", &into.display().to_string()];
    // The file takes four seconds at least.
    let output = transfer(&[&arguments[..], &["--within", "2 s"]].concat()).output().expect("it runs");
    let (_, error) = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("not complete after 2 s") && error.contains(".layercast: receive"), "{error}");
    // A build without optimisation makes the first repair symbols of a block in half a minute.
    let arguments = [&arguments[..], &["--patience", "3 min"]].concat();
    let output = transfer(&arguments).output().expect("it runs");
    let (_, error) = printed(&output);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.contains("symbols are here already"), "{error}");
    assert_eq!(fs::read(into.join("a file")).expect("the file"), vec![7; 2_000_000]);
    signal(&child, "INT");
    ended(child, stdout);
}

#[test]
fn a_pipe_cannot_be_sent_and_does_not_block() {
    let (directory, _) = with_file("pipe", 0);
    let pipe = directory.join("pipe").display().to_string();
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let output = transfer(&["send", &pipe, "--group", &group(40)]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(printed(&output).1.contains("not a plain file"), "{:?}", printed(&output));
}

#[test]
fn port_zero_is_named_as_such() {
    let output = transfer(&["send", "a", "--group", "239.1.2.0:0"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(printed(&output).1.contains("port 0 is none to send to"), "{:?}", printed(&output));
}

#[test]
fn what_is_announced_is_the_most_that_smcc_sends() {
    if !works_here() {
        return;
    }
    let (_, file) = with_file("smcc", 100_000);
    let group = group(54);
    let rates = ["--base", "128 kbit/s", "--packet", "1000 bytes", "--for", "2 s", "--all-layers"];
    let arguments = [&["send", &file, "--group", &group, "--control", "smcc"][..], &rates].concat();
    let (out, error) = printed(&transfer(&arguments).output().expect("it runs"));
    // 246 steps of counting layers of 80 kbit/s each, and the layers.
    assert!(out.contains(" by smcc, 128 kbit/s to 8.192 Mbit/s in 7 levels on "), "{out}{error}");
    assert!(out.contains(", 27.87 Mbit/s with all channels, for 2 s"), "{out}");
    let average = out.split(" on average").next().and_then(|start| start.rsplit(", ").next());
    let mbps = average.and_then(|rate| rate.strip_suffix(" Mbit/s")?.parse::<f64>().ok());
    assert!(mbps.expect("a rate") <= 27.87, "{out}");
}

#[test]
fn a_protocol_for_one_receiver_says_so() {
    if !works_here() {
        return;
    }
    let (_, file) = with_file("one", 1000);
    let arguments = ["send", &file, "--group", &group(58), "--control", "tfrc", "--for", "1 s"];
    let (out, error) = printed(&transfer(&arguments).output().expect("it runs"));
    assert!(out.contains("to one receiver: tfrc serves no more"), "{out}{error}");
}

#[test]
fn options_for_simulations_only_are_refused() {
    let (_, file) = with_file("simulated", 1000);
    let arguments = ["send", &file, "--group", &group(91), "--control", "tide", "--set", "marks=fraction"];
    let (_, error) = printed(&transfer(&arguments).output().expect("it runs"));
    assert!(error.contains("tide responds to the fraction of marks with these options"), "{error}");
}

/// Warnings have no time, level or module.
#[test]
fn another_sender_on_the_group_is_reported_in_words() {
    if !works_here() {
        return;
    }
    let (_, file) = with_file("senders", 100_000);
    let group = group(100);
    let (one, _, stdout) = start(&["send", &file, "--group", &group, "--to", "2 Mbit/s"]);
    let arguments = ["send", &file, "--group", &group, "--to", "2 Mbit/s", "--for", "4 s"];
    let (out, error) = printed(&transfer(&arguments).output().expect("it runs"));
    // All groups are listened to, and the first packet may be on any of them.
    let (network, _) = group.rsplit_once('.').expect("an address");
    let expected = format!("warning: another sender, 127.0.0.1, uses the group {network}.");
    assert!(error.starts_with(&expected), "{out}{error}");
    assert_eq!(error.matches("another sender").count(), 1, "{error}");
    signal(&one, "INT");
    let (_, error, _) = ended(one, stdout);
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn a_source_that_is_killed_and_started_again_is_followed() {
    if !works_here() {
        return;
    }
    let (directory, file) = with_file("killed", 3_000_000);
    let (group, into) = (group(40), directory.join("into"));
    let sending = ["send", &file, "--group", &group, "--base", "4 Mbit/s", "--layers", "1"];
    let (mut first, _, _) = start(&sending);
    let arguments =
        ["receive", "--group", &group, "--into", &into.display().to_string(), "--within", "3 min"];
    let receiver =
        transfer(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    // The file takes six seconds at least.
    std::thread::sleep(std::time::Duration::from_secs(3));
    first.kill().expect("killed");
    first.wait().expect("killed");
    let (second, _, stdout) = start(&sending);
    let output = receiver.wait_with_output().expect("it runs");
    let (out, error) = printed(&output);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(out.contains("a file: complete, hash right"), "{out}");
    assert!(error.contains("switching to it; received data is kept"), "{error}");
    assert_eq!(fs::read(into.join("a file")).expect("the file"), vec![7; 3_000_000]);
    signal(&second, "INT");
    ended(second, stdout);
}

#[test]
fn a_group_key_is_demanded_checked_and_used() {
    if !works_here() {
        return;
    }
    let (directory, file) = with_file("group-key", 200_000);
    let (group, into) = (group(50), directory.join("into").display().to_string());
    let key = |name: &str| {
        let path = directory.join(name).display().to_string();
        let _ = fs::remove_file(&path);
        let made = layercast(&["key", "new", "--group", &path]).output().expect("it runs");
        assert_eq!(made.status.code(), Some(0), "{:?}", printed(&made));
        path
    };
    let (right, wrong) = (key("right"), key("wrong"));
    let rates = ["--base", "4 Mbit/s", "--layers", "1"];
    let (child, _, stdout) =
        start(&[&["send", &file, "--group", &group, "--group-key", &right][..], &rates[..]].concat());
    let receive = |more: &[&str]| {
        let arguments = ["receive", "--group", &group, "--into", &into, "--patience", "4 s"];
        let output = transfer(&[&arguments[..], more].concat()).output().expect("it runs");
        let (out, error) = printed(&output);
        (output.status.code(), out + &error)
    };
    let (status, text) = receive(&[]);
    assert_eq!(status, Some(1), "anyone can send such a session: {text}");
    assert!(
        text.contains("is authenticated by the group key") && text.contains("--group-key FILE"),
        "{text}"
    );
    let (status, text) = receive(&["--group-key", &wrong]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("no packet of the session is authentic by the group key"), "{text}");
    let (status, text) = receive(&["--group-key", &right]);
    assert_eq!(status, Some(0), "{text}");
    signal(&child, "INT");
    ended(child, stdout);
    // And a key where the session has none.
    let (child, _, stdout) = start(&[&["send", &file, "--group", &group][..], &rates[..]].concat());
    let (status, text) = receive(&["--group-key", &right, "--replace"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(
        text.contains("the session's packets are not authenticated, and a group key was given"),
        "{text}"
    );
    signal(&child, "INT");
    ended(child, stdout);
}
