//! `layercast run --world emulated`: what it refuses, and a run in namespaces where they can be made.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use layercast_testkit::skip::{Missing, skip};
use serde_json::Value;

use super::{layercast, run, scratch, text};

/// Writes a scenario of one link from A to B with more tables.
fn scenario(name: &str, more: &str) -> String {
    let path = scratch(&format!("emulated-{name}")).join("scenario.toml");
    let link = "[links]\nA-B = { rate = \"1 Mbit/s\", delay = \"1 ms\" }";
    fs::write(&path, format!("name = \"{name}\"\nduration = \"5 s\"\nreplications = 1\n{link}\n{more}"))
        .unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_scenario_that_the_emulated_world_cannot_run_is_refused_before_anything_is_made() {
    let file = scenario(
        "refused",
        "[flows]\nweb = { protocol = \"tcp-reno\", traffic = \"web\", from = \"A\", to = [\"B\"] }\n\
         old = { protocol = \"tcp-tahoe\", from = \"A\", to = [\"B\"] }\n\
         [sessions.image]\nprotocol = \"amca\"\nsource = \"A\"\nreceivers = [\"B\"]\n\
         layers = { scheme = \"doubling\", base = \"64 kbit/s\", count = 1 }\n",
    );
    let out = scratch("emulated-refused-out").join("results");
    let output = run(&["run", &file, "--world", "emulated", "--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = text(&output.stderr);
    for expected in [
        "the scenario cannot run in the emulated world",
        "flow web: `traffic = \"web\"` is simulated only; use `download`",
        "flow old: no Linux kernel has tcp-tahoe; use tcp-reno, tcp-cubic or tcp-bbr",
        "session image: ",
        "simulate it with `layercast run`",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(!out.exists());
}

#[test]
fn captures_notes_and_threads_are_of_the_simulated_world() {
    let file = scenario("flags", "[flows]\nf = { protocol = \"tcp-reno\", from = \"A\", to = [\"B\"] }\n");
    let out = scratch("emulated-flags-out");
    let output = run(&[
        "run",
        &file,
        "--world",
        "emulated",
        "--out",
        out.to_str().unwrap(),
        "--capture",
        "A-B",
        "--notes",
        "--jobs",
        "2",
    ]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = text(&output.stderr);
    for flag in [
        "--capture cannot be used with `run --world emulated`: packets are captured in the simulated",
        "--notes cannot be used with `run --world emulated`: trace events",
        "--jobs cannot be used with `run --world emulated`: replications run one after",
    ] {
        assert!(said.contains(flag), "{flag}: {said}");
    }
}

/// Whether the text of an error says that the rights or the device are missing.
pub(crate) fn lacks_rights(said: &str) -> bool {
    said.contains("network namespace can be made") || said.contains("TUN device can be opened")
}

#[test]
fn a_scenario_runs_between_namespaces() {
    let out = scratch("emulated-run");
    let output = run(&["run", "emulated.toml", "--world", "emulated", "--out", out.to_str().unwrap()]);
    let said = text(&output.stderr);
    if output.status.code() == Some(1) && lacks_rights(&said) {
        return skip(Missing::Netns, said.trim());
    }
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("Emulated in real time: 1 replication of 10 s, 10 s in all."), "{said}");
    let table = text(&output.stdout);
    assert!(table.contains("emulated.toml · emulated · 1 replication"), "{table}");
    assert!(table.contains("Emulated: of ") && table.contains(" packets 99 % left within "), "{table}");
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["world"], "emulated");
    assert!(summary["lateness"]["packets"].as_u64().unwrap() > 1000, "{}", summary["lateness"]);
    let flow = |name: &str| {
        let flows = summary["flows"].as_array().unwrap();
        flows.iter().find(|flow| flow["name"] == name).unwrap_or_else(|| panic!("{name}")).clone()
    };
    let mean = |name: &str, metric: &str| flow(name)[metric]["mean"].as_f64().unwrap_or(f64::NAN);
    // Not more than the links carry, and something of each.
    for (name, most_kbps) in [
        ("elm@R1", 3000.0),
        ("elm@R2", 1000.0),
        ("bulk@R1", 3000.0),
        ("files@R2", 1000.0),
        ("phone@R2", 1000.0),
    ] {
        let kbps = mean(name, "throughput_kbps");
        assert!(kbps > 10.0 && kbps < most_kbps * 1.02, "{name}: {kbps} kbit/s");
    }
    assert!(mean("elm@R1", "mean_level") >= 0.0, "it has reported its levels: {}", flow("elm@R1"));
    assert!(
        mean("files@R2", "transfers") >= 1.0 && mean("files@R2", "completion_s") > 0.01,
        "{}",
        flow("files@R2")
    );
    assert!(mean("phone@R2", "delay_ms") >= 7.0, "{}", flow("phone@R2"));
    assert!(
        out.join("report.html").exists()
            && out.join("series.parquet").exists()
            && out.join("probes.parquet").exists()
    );
}

/// Each of 100 packets a second has 1000 bytes, and 12 more between relays.
#[test]
fn a_session_comes_through_relays() {
    let out = scratch("emulated-relays");
    let output = run(&["run", "relays.toml", "--world", "emulated", "--out", out.to_str().unwrap()]);
    let said = text(&output.stderr);
    if output.status.code() == Some(1) && lacks_rights(&said) {
        return skip(Missing::Netns, said.trim());
    }
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(!said.contains("[relays]"), "{said}");
    let table = text(&output.stdout);
    assert!(table.contains("Relays stood for the multicast of the network"), "{table}");
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    let mean = |list: &str, name: &str, metric: &str| {
        let of = summary[list].as_array().unwrap().iter().find(|one| one["name"] == name);
        of.unwrap_or_else(|| panic!("{name}"))[metric]["mean"].as_f64().unwrap_or(f64::NAN)
    };
    for (name, kbps, loss) in [
        ("fixed-1@R1", 800.0, 0.0),
        ("fixed-2@R1", 800.0, 0.0),
        ("fixed@R2", 500.0 / 1.012, 1.0 - 500.0 / 1.012 / 800.0),
        ("fixed@H", 800.0, 0.0),
        ("fixed@R3", 800.0, 0.0),
    ] {
        let got = (mean("flows", name, "throughput_kbps"), mean("flows", name, "loss_rate"));
        assert!((got.0 - kbps).abs() < 0.04 * kbps, "{name}: {got:?}\n{table}");
        assert!((got.1 - loss).abs() < 0.03, "{name}: {got:?}\n{table}");
        assert!(mean("flows", name, "mean_level") > -0.01, "{name} reports its level\n{table}");
    }
    // Each packet once, whatever the number of receivers below; R1 has two hosts, which have a copy each.
    for (name, share) in [("S-G", 0.81), ("G-H", 0.81), ("S-R3", 0.81), ("H-R1", 0.81), ("H-R2", 1.0)] {
        let got = mean("links", name, "utilisation");
        assert!((got - share).abs() < 0.03, "{name}: {got}\n{table}");
    }
}

/// The processes whose command lines have a word.
fn processes_with(word: &str) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let has = |path: &Path| {
        fs::read(path.join("cmdline")).is_ok_and(|line| String::from_utf8_lossy(&line).contains(word))
    };
    all.filter(|process| has(&process.path())).count()
}

/// The size of packets marks the processes of this test.
#[test]
fn a_kill_leaves_no_endpoint() {
    killed("emulated.toml", "session.elm.packet_size=941 bytes", ("--packet=941", 3));
}

/// The number of receivers and relays marks these.
#[test]
fn a_kill_leaves_no_relay() {
    killed("relays.toml", "session.fixed.count=2", ("--max-children=12", 2));
}

/// Kills a run when so many processes have this word in their command lines.
fn killed(scenario: &str, set: &str, (word, count): (&str, usize)) {
    let mut child = layercast(&["run", scenario, "--world", "emulated", "--set", set])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while processes_with(word) < count {
        if let Some(status) = child.try_wait().unwrap() {
            let said: Vec<String> =
                BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok).collect();
            let said = said.join(" ");
            assert!(lacks_rights(&said), "{status}: {said}");
            return skip(Missing::Netns, said);
        }
        assert!(Instant::now() < deadline, "the endpoints did not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    while processes_with(word) > 0 {
        assert!(Instant::now() < deadline, "endpoints outlive the program");
        std::thread::sleep(Duration::from_millis(10));
    }
}
