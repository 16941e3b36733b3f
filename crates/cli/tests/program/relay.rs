//! `layercast relay` as an operator sees it: a tree without multicast, and a relay that is killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::transfer::{ended, group, signal, start, transfer, with_file};
use super::{layercast, run, text};

/// A process that is killed when it is dropped.
pub(super) struct Killed(pub(super) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that neither UDP nor TCP uses now: metrics are served by TCP.
pub(super) fn free_port() -> SocketAddr {
    loop {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("its address");
        if UdpSocket::bind(address).is_ok() {
            return address;
        }
    }
}

fn relay(group: &str, listen: SocketAddr, parent: SocketAddr, metrics: Option<SocketAddr>) -> Killed {
    let (listen, parent) = (listen.to_string(), parent.to_string());
    let mut command: Command = layercast(&["relay", group, "--listen", &listen, "--parent", &parent, "-q"]);
    if let Some(metrics) = metrics {
        command.args(["--metrics", &metrics.to_string()]);
    }
    Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts"))
}

#[test]
fn a_relay_is_killed_and_its_receiver_is_at_the_next_one_within_three_seconds() {
    let (directory, file) = with_file("relay-killed", 8_000_000);
    let (group, into) = (group(77), directory.join("into").display().to_string());
    let (top, first, second, metrics) = (free_port(), free_port(), free_port(), free_port());
    let serve = top.to_string();
    let arguments = [
        "send",
        &file,
        "--group",
        &group,
        "--to",
        "8 Mbit/s",
        "--serve",
        &serve,
        "--serve-only",
        "--no-announce",
        "--until-complete",
        "1",
        "--for",
        "60 s",
    ];
    let (sender, _, stdout) = start(&arguments);
    let killed = relay(&group, first, top, Some(metrics));
    let _second = relay(&group, second, top, None);
    let relays = format!("{first},{second}");
    let mut receiver =
        transfer(&["receive", "--group", &group, "--into", &into, "--relay", &relays, "--relay-only"])
            .spawn()
            .expect("the program starts");
    let mut lines = BufReader::new(receiver.stderr.take().expect("its errors")).lines();
    let mut line_with = |what: &str| {
        let found = lines.by_ref().map_while(Result::ok).find(|line| line.contains(what));
        found.unwrap_or_else(|| panic!("no line with `{what}`"))
    };
    line_with(&format!("through the relay {first}"));
    std::thread::sleep(Duration::from_millis(2500));
    let status = run(&["relay", "status", &metrics.to_string()]);
    let tree = text(&status.stdout);
    assert!(tree.contains(&format!("from {top}")) && tree.contains(" channels, "), "{tree}");
    let json = run(&["relay", "status", &metrics.to_string(), "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["children"].as_array().map(Vec::len), Some(1), "{json}");
    signal(&killed.0, "KILL");
    let begin = Instant::now();
    line_with("is gone");
    line_with(&format!("through the relay {second}"));
    let took = begin.elapsed();
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert!(receiver.wait().expect("its end").success());
    assert_eq!(fs::read(directory.join("into/a file")).expect("the file"), vec![7; 8_000_000]);
    let (out, error, status) = ended(sender, stdout);
    assert_eq!(status, Some(0), "{out}{error}");
}

#[test]
fn what_a_relay_cannot_serve_is_said() {
    let nothing = run(&["relay"]);
    assert_eq!(nothing.status.code(), Some(2));
    let wrong = run(&["relay", "192.0.2.1:5"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong.stderr));
    let portless = run(&["relay", "--allow", "239.1.0.0/16", "--local", "lo"]);
    assert_eq!(portless.status.code(), Some(2));
    assert!(text(&portless.stderr).contains("name the sessions"), "{}", text(&portless.stderr));
}

#[test]
fn a_relay_that_does_not_answer_is_a_row_among_the_others() {
    let (top, listen, metrics) = (free_port(), free_port(), free_port());
    let _relay = relay(&group(79), listen, top, Some(metrics));
    let until = Instant::now() + Duration::from_secs(20);
    while run(&["relay", "status", &metrics.to_string()]).status.code() != Some(0) {
        assert!(Instant::now() < until, "the relay does not answer");
    }
    let (nobody, metrics) = (free_port().to_string(), metrics.to_string());
    let asked = ["relay", "status", &nobody, &metrics, "hq.invalid:9100"];
    let status = run(&asked);
    let said = text(&status.stdout);
    assert_eq!(status.status.code(), Some(1), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with(&format!("relay {listen}: ")), "{said}");
    assert!(lines[1].starts_with(&format!("relay at {nobody}: unreachable: there is no relay")), "{said}");
    assert!(lines[1].contains("Connection refused"), "{said}");
    assert!(lines[2].starts_with("relay at hq.invalid:9100: unreachable: the host is not found"), "{said}");
    let json = run(&[&asked[..], &["--json"]].concat());
    let json: Vec<serde_json::Value> =
        text(&json.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(json.len() == 3 && json[1]["at"] == nobody && json[1]["unreachable"].is_string(), "{json:?}");
}

#[test]
fn a_receiver_without_multicast_finds_the_relay_that_the_description_names() {
    let (directory, file) = with_file("relay-described", 300_000);
    let (group, top) = (group(78), free_port().to_string());
    let path = |name: &str| directory.join(name).display().to_string();
    let (description, into) = (path("session.sdp"), path("into"));
    let ends = ["--until-complete", "1", "--for", "60 s", "--describe", &description];
    let serve = ["--serve", &top, "--serve-only", "--no-announce", "--relays", &top];
    let arguments = [&["send", &file, "--group", &group][..], &serve, &ends].concat();
    let (sender, _, stdout) = start(&arguments);
    let written = fs::read_to_string(&description).expect("the description");
    assert!(written.contains(&format!("a=x-layercast:relays = \"{top}\"\r\n")), "{written}");
    let without = ["receive", &description, "--into", &into, "--no-relays", "--start-within", "4 s"];
    let without = transfer(&without).output().expect("the program starts");
    assert_eq!(without.status.code(), Some(1), "{}", text(&without.stderr));
    let with = transfer(&["receive", &description, "--into", &into]).output().expect("the program starts");
    assert!(with.status.success(), "{}", text(&with.stderr));
    assert!(text(&with.stderr).contains(&format!("through the relay {top}")), "{}", text(&with.stderr));
    assert_eq!(fs::read(directory.join("into/a file")).expect("the file"), vec![7; 300_000]);
    let (out, error, status) = ended(sender, stdout);
    assert_eq!(status, Some(0), "{out}{error}");
}
