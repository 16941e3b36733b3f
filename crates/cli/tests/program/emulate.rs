//! `layercast emulate`: what it refuses, and programs in namespaces where they can be made.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Output, Stdio};

use layercast_testkit::skip::{Missing, skip};

use super::emulated::lacks_rights;
use super::{layercast, run, scratch, text};

/// Writes a scenario of two links, A-G-B.
fn scenario(name: &str) -> String {
    let path = scratch(&format!("emulate-{name}")).join("scenario.toml");
    let links =
        "A-G = { rate = \"10 Mbit/s\", delay = \"10 ms\" }\nG-B = { rate = \"1 Mbit/s\", delay = \"20 ms\" }";
    let flows = "tcp = { protocol = \"tcp-reno\", from = \"A\", to = [\"B\"] }";
    fs::write(&path, format!("name = \"{name}\"\nduration = \"5 s\"\n[links]\n{links}\n[flows]\n{flows}\n"))
        .unwrap();
    path.to_str().unwrap().to_owned()
}

/// The output of commands, unless networks cannot be made here.
fn emulate(name: &str, commands: &[&str]) -> Option<Output> {
    let file = scenario(name);
    let output = run(&[&["emulate", &file, "--"][..], commands].concat());
    let said = text(&output.stderr);
    if lacks_rights(&said) {
        skip(Missing::Netns, said.trim());
        return None;
    }
    Some(output)
}

#[test]
fn commands_that_cannot_be_understood_are_refused() {
    let file = scenario("refused");
    for (commands, expected) in [
        (&["ping", "{B}"][..], "commands begin with the word `at`"),
        (&["at", "A"], "`at A` needs a command"),
        (&["at", "A", "look", "at", "B"], "write {at} for the word `at`"),
        (&["at", "C", "true"], "the scenario has no node `C`; it has A, G, B"),
    ] {
        let output = run(&[&["emulate", &file, "--"][..], commands].concat());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains(expected), "{commands:?}: {}", text(&output.stderr));
    }
}

#[test]
fn the_status_is_that_of_the_command_listed_last() {
    for (script, status) in [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)] {
        // The first would take longer than the test may.
        let commands = ["at", "B", "sleep", "1000", "at", "A", "sh", "-c", script];
        let Some(output) = emulate("status", &commands) else { return };
        assert_eq!(output.status.code(), Some(status), "{script}: {}", text(&output.stderr));
    }
    let Some(output) = emulate("status-first", &["at", "B", "false", "at", "A", "sleep", "0.5"]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("at B: false ended: exit status: 1"), "{}", text(&output.stderr));
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let Some(output) = emulate("missing", &["at", "A", "/nowhere/iperf7"]) else { return };
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("error: at A: /nowhere/iperf7 cannot be started: No such file"), "{said}");
}

/// What is sent crosses both links twice, so it takes at least 60 ms until it comes back.
#[test]
fn packets_cross_the_links_of_the_scenario() {
    let python = Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|output| output.status.success()) {
        return skip(Missing::Netns, "python3 is not installed");
    }
    let serve = "import socket\ns = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\ns.bind(('::', 9))\n\
                 while True:\n    m, a = s.recvfrom(100); s.sendto(m, a)";
    let ask = "import socket, sys, time\n\
               for family, to in ((socket.AF_INET, '{B}'), (socket.AF_INET6, '{B.6}')):\n\
               \x20   s = socket.socket(family, socket.SOCK_DGRAM)\n    s.settimeout(1)\n    s.connect((to, 9))\n\
               \x20   for attempt in range(30):\n        try:\n            begun = time.monotonic(); s.send(b'x'); s.recv(9)\n\
               \x20           print(time.monotonic() - begun); break\n        except OSError: time.sleep(0.2)";
    let commands = ["at", "B", "python3", "-c", serve, "at", "A", "python3", "-c", ask];
    let Some(output) = emulate("links", &commands) else { return };
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let took: Vec<f64> = text(&output.stdout).lines().map(|line| line.parse().unwrap()).collect();
    assert!(took.len() == 2 && took.iter().all(|seconds| *seconds >= 0.06), "{took:?}");
    for expected in ["Carried in ", "A-G ", "B-G ", " packets 99 % left within "] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn hosts_can_be_entered_until_an_interruption() {
    let file = scenario("enter");
    let mut child =
        layercast(&["emulate", &file]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().take(4).map_while(Result::ok).collect();
    if lines.len() < 4 {
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        assert!(lacks_rights(&said), "{said}");
        return skip(Missing::Netns, said.trim());
    }
    assert_eq!(lines[0], "3 hosts, until Ctrl-C:");
    let path = lines[3].split_once("--net=").unwrap().1.split_once(' ').unwrap().0;
    assert!(lines[3].starts_with("B  10.") && lines[3].contains("  fd6c:"), "{}", lines[3]);
    assert!(fs::exists(path).unwrap(), "{path}");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn an_interruption_ends_commands() {
    let file = scenario("interrupted");
    let mut child =
        layercast(&["emulate", &file, "--", "at", "A", "sh", "-c", "echo ready; exec sleep 1000"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if line.is_empty() {
        let said = text(&child.wait_with_output().unwrap().stderr);
        assert!(lacks_rights(&said), "{said}");
        return skip(Missing::Netns, said.trim());
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    // It was asked to end, as a signal that programs can catch.
    assert_eq!(output.status.code(), Some(128 + 15), "{}", text(&output.stderr));
}
