//! `send --reliable` and relays that take part, as an operator sees them.

use std::fs;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::relay::{Killed, free_port};
use super::transfer::{ended, group, transfer, with_file};
use super::{layercast, run, text};

fn taking_part(group: &str, listen: SocketAddr, parent: SocketAddr, metrics: SocketAddr) -> Killed {
    let [listen, parent, metrics] = [listen, parent, metrics].map(|address| address.to_string());
    let arguments = ["relay", group, "--protocol", "amca", "--listen", &listen, "--parent", &parent];
    let mut command = layercast(&[&arguments[..], &["--metrics", &metrics, "-q"]].concat());
    Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts"))
}

#[test]
fn what_a_reliable_session_does_not_have_is_refused_and_nothing_is_sent() {
    let (directory, file) = with_file("reliable-refused", 1000);
    let (group, into, parent) = (group(77), directory.join("into").display().to_string(), free_port());
    let parent = parent.to_string();
    let key = directory.join("no.key").display().to_string();
    let refused = |line: &[&str], more: &[&str], mode: &str| {
        let output = run(&[line, more].concat());
        let error = text(&output.stderr);
        assert_eq!(
            (output.status.code(), text(&output.stdout)),
            (Some(2), String::new()),
            "{more:?}: {error}"
        );
        let flags = more.iter().filter(|word| word.starts_with("--"));
        for flag in flags {
            let start = format!("error: {flag} cannot be used with `{mode} --reliable`: ");
            let line = error.lines().position(|line| line.starts_with(&start));
            let help = line.and_then(|line| error.lines().nth(line + 1));
            assert!(help.is_some_and(|help| help.starts_with("  = help: ")), "{flag}: {error}");
        }
    };
    let send = ["send", &file, "--group", &group, "--serve", &parent, "--reliable"];
    let send = |more: &[&str]| refused(&send, more, "send");
    send(&["--for", "1 s", "--rounds", "1", "--until-complete", "1"]);
    send(&["--ttl", "3", "--state", &key, "--follow", "--no-announce"]);
    send(&["--serve-only", "--no-reports", "--all-layers"]);
    let receive = ["receive", "--group", &group, "--into", &into, "--relay", &parent, "--reliable"];
    let receive = |more: &[&str]| refused(&receive, more, "receive");
    receive(&["--trace", &key, "--interface", "nosuch0", "--silent", "--relay-only"]);
    // Keys that cannot be read are an error, before anything is sent or received.
    for line in [
        &["send", &file, "--group", &group, "--serve", &parent, "--reliable", "--group-key", &key][..],
        &["receive", "--group", &group, "--into", &into, "--relay", &parent, "--reliable", "--key", &key],
    ] {
        let output = run(line);
        let error = text(&output.stderr);
        assert!(output.status.code() != Some(0) && error.contains("cannot be read"), "{line:?}: {error}");
    }
    assert!(!directory.join("no.key").exists());
    // As many links as a router has.
    let links = run(&["relay", &group, "--protocol", "amca", "--parent", &parent, "--max-children", "65"]);
    assert_eq!(links.status.code(), Some(2), "{links:?}");
    assert!(text(&links.stderr).contains("a router has 64 links at most"), "{links:?}");
}

#[test]
fn relays_that_take_part_are_shown_as_a_tree() {
    let (directory, file) = with_file("relays-taking-part", 2_000_000);
    let (group, into) = (group(79), directory.join("into").display().to_string());
    let [top, first, second] = [(); 3].map(|()| free_port());
    let metrics = [(); 2].map(|()| free_port());
    let serve = top.to_string();
    let arguments = ["send", &file, "--group", &group, "--reliable", "--serve", &serve, "-q"];
    // Some four seconds, so that there is a tree to be seen.
    let sender = transfer(&[&arguments[..], &["--set", "rate_max=400"]].concat()).spawn();
    let mut sender = sender.expect("the program starts");
    let _first = taking_part(&group, first, top, metrics[0]);
    let _second = taking_part(&group, second, first, metrics[1]);
    let below = second.to_string();
    let receiver =
        transfer(&["receive", "--group", &group, "--into", &into, "--reliable", "--relay", &below, "-q"])
            .spawn();
    let receiver = receiver.expect("the program starts");

    let at = metrics.map(|metrics| metrics.to_string());
    // The second relay below the first as its child, the receiver below the second.
    let expected = [
        format!("relay {first}: "),
        "  a router of amca: ".to_owned(),
        format!("  {group} from {top}"),
        format!("    {second}: 1 channels, "),
        format!("      relay {second}: "),
        "        a router of amca: ".to_owned(),
        format!("        {group} from {first}"),
        "          127.0.0.1:".to_owned(),
    ];
    let begin = Instant::now();
    let tree = loop {
        let tree = text(&run(&["relay", "status", &at[1], &at[0]]).stdout);
        let lines: Vec<&str> = tree.lines().collect();
        let is_line = |(line, start): (&&str, &String)| line.starts_with(start.as_str());
        if lines.len() == expected.len() && lines.iter().zip(&expected).all(is_line) {
            break tree;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "{tree}");
        std::thread::sleep(Duration::from_millis(50));
    };
    let packets = |line: &str| !line.contains("router") || !line.contains(": 0 packets");
    assert!(tree.lines().all(packets), "{tree}");
    let json = text(&run(&["relay", "status", &at[1], "--json"]).stdout);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&json["router"]["protocol"], &json["router"]["active"]),
        (&"amca".into(), &true.into()),
        "{json}"
    );

    let received = receiver.wait_with_output().expect("its end");
    assert!(received.status.success(), "{}", text(&received.stderr));
    assert_eq!(fs::read(directory.join("into/a file")).expect("the file"), vec![7; 2_000_000]);
    let stdout = std::io::BufReader::new(sender.stdout.take().expect("its output"));
    let (out, error, status) = ended(sender, stdout);
    assert_eq!(status, Some(0), "{out}{error}");
}

/// A description names the protocol, the keys and where the source serves: nothing else need be given.
#[test]
fn a_reliable_session_is_signed_encrypted_and_found_by_its_description() {
    let (directory, file) = with_file("reliable-keys", 300_000);
    let (group, serve) = (group(80), free_port().to_string());
    let path = |name: &str| directory.join(name).display().to_string();
    for line in [&["--group", &path("group.key")][..], &[&path("secret.key")]] {
        let made = run(&[&["key", "new"][..], line].concat());
        assert!(made.status.success(), "{}", text(&made.stderr));
    }
    let described = path("session.sdp");
    let keys =
        ["--group-key", &path("group.key"), "--encrypt", "--key", &path("secret.key")].map(str::to_owned);
    let mut line =
        vec!["send", &file, "--group", &group, "--control", "nca", "--reliable", "--serve", &serve];
    line.extend(keys.iter().map(String::as_str));
    line.extend(["--describe", &described, "--json"]);
    let sender = transfer(&line).spawn().expect("the program starts");
    let begin = Instant::now();
    while !directory.join("session.sdp.sig").exists() {
        assert!(begin.elapsed() < Duration::from_secs(20), "no description was written");
        std::thread::sleep(Duration::from_millis(20));
    }
    let (into, public) = (path("into"), path("secret.key.pub"));
    let receive = |more: &[&str]| run(&[&["receive", &described, "--into", &into][..], more].concat());
    let without = receive(&["--key", &public, "-q"]);
    assert!(text(&without.stderr).contains("--group-key"), "{}", text(&without.stderr));
    let command = format!("echo \"$LAYERCAST_NAME\" >>'{}'", path("log"));
    let key = path("group.key");
    let received = receive(&["--key", &public, "--group-key", &key, "--json", "--on-complete", &command]);
    let (out, error) = (text(&received.stdout), text(&received.stderr));
    assert_eq!(received.status.code(), Some(0), "{out}{error}");
    assert_eq!(fs::read(directory.join("into/a file")).expect("the file"), vec![7; 300_000]);
    let events: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let has = |name: &str| events.iter().any(|event| event["event"] == name);
    assert!(["session", "object_complete", "end"].iter().all(|name| has(name)), "{out}");
    assert_eq!(fs::read_to_string(path("log")).expect("a log"), "a file\n");
    let sent = sender.wait_with_output().expect("its end");
    let out = text(&sent.stdout);
    assert!(sent.status.success() && out.contains("all_complete"), "{out}{}", text(&sent.stderr));
}
