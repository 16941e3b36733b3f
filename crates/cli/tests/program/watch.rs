//! `--json`, `--metrics` and `--trace` of a transfer: what programs that watch it see.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::transfer::lo::works_here;
use super::{layercast, scratch, text};

fn transfer(arguments: &[&str]) -> Command {
    let mut command = layercast(arguments);
    command.args(["--interface", "127.0.0.1"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits for the line that names the address of the metrics.
pub(super) fn metrics_of(child: &mut Child) -> (String, BufReader<std::process::ChildStderr>) {
    let mut errors = BufReader::new(child.stderr.take().expect("its errors"));
    let mut line = String::new();
    errors.read_line(&mut line).expect("a line");
    let address =
        line.trim().strip_prefix("Metrics at http://").and_then(|rest| rest.strip_suffix("/metrics"));
    (address.unwrap_or_else(|| panic!("{line}")).to_owned(), errors)
}

pub(super) fn scrape(address: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

/// The value of a measure, by what its line begins with.
pub(super) fn measure(page: &str, name: &str) -> f64 {
    let line = page.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {page}"));
    line.rsplit(' ').next().and_then(|value| value.parse().ok()).expect("a number")
}

pub(super) fn events(output: &str) -> Vec<Value> {
    output.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

pub(super) fn names(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["event"].as_str()).collect()
}

#[test]
fn a_transfer_is_watched_from_both_ends() {
    if !works_here() {
        return;
    }
    let directory = scratch("watch");
    fs::create_dir(directory.join("into")).expect("the directory for tests can be made");
    let file = directory.join("a file");
    fs::write(&file, vec![7; 1_500_000]).expect("a file");
    let (file, trace) = (file.display().to_string(), directory.join("trace.jsonl"));
    let group = format!("239.255.81.1:{}", layercast_testkit::port(1));
    let watching = ["--json", "--metrics", "127.0.0.1:0"];
    let arguments = ["send", &file, "--group", &group, "--to", "8 Mbit/s", "--until-complete", "1"];
    let mut source = transfer(&[&arguments[..], &watching].concat()).spawn().expect("it starts");
    let (source_metrics, _errors) = metrics_of(&mut source);
    let (into, trace_name) = (directory.join("into").display().to_string(), trace.display().to_string());
    let arguments = ["receive", "--group", &group, "--into", &into, "--trace", &trace_name];
    let mut receiver = transfer(&[&arguments[..], &watching].concat()).spawn().expect("it starts");
    let (receiver_metrics, mut errors) = metrics_of(&mut receiver);

    // The file takes a second at least; the first measures come after half of one.
    let mut lines = BufReader::new(receiver.stdout.take().expect("its output"));
    let mut received = String::new();
    while !received.contains("\"progress\"") {
        assert_ne!(lines.read_line(&mut received).expect("a line"), 0, "{received}");
    }
    let page = scrape(&receiver_metrics);
    assert!(page.contains("role=\"receiver\"") && page.contains("protocol=\"tide\""), "{page}");
    assert!(measure(&page, "layercast_received_packets_total ") > 0.0, "{page}");
    assert!(measure(&page, "layercast_rejected_packets_total{reason=\"malformed\"} ") == 0.0, "{page}");
    assert!(measure(&page, "layercast_level ") >= 0.0, "{page}");
    // The source's first measures come after half a second of its own.
    let page = (0..100).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        Some(scrape(&source_metrics)).filter(|page| page.contains("layercast_sent_packets_total "))
    });
    let page = page.expect("the source's measures");
    assert!(measure(&page, "layercast_sent_packets_total ") > 0.0, "{page}");
    assert!(measure(&page, "layercast_receivers_complete ") <= 1.0, "{page}");

    lines.read_to_string(&mut received).expect("the rest");
    let mut said = String::new();
    errors.read_to_string(&mut said).expect("its errors");
    assert_eq!(receiver.wait().expect("its end").code(), Some(0), "{said}");
    assert_eq!(said, "");
    let received = events(&received);
    let end = received.last().expect("an end");
    assert_eq!((end["event"].as_str(), end["reason"].as_str()), (Some("end"), Some("complete")), "{end}");
    assert_eq!((end["exit_status"].as_u64(), end["objects_complete"].as_u64()), (Some(0), Some(1)));
    let named = names(&received);
    assert_eq!(named.first(), Some(&"session"));
    for name in ["level_changed", "progress", "object_complete"] {
        assert!(named.contains(&name), "{name}: {named:?}");
    }
    assert!(received.iter().all(|event| event["time_s"].is_number() && event["unix_s"].is_number()));

    let sent = source.wait_with_output().expect("its end");
    assert_eq!(sent.status.code(), Some(0));
    let sent = events(&text(&sent.stdout));
    let named = names(&sent);
    assert!(named.contains(&"ready") && named.contains(&"progress"), "{named:?}");
    let end = sent.last().expect("an end");
    assert_eq!((end["reason"].as_str(), end["receivers_complete"].as_u64()), (Some("completions"), Some(1)));

    let traced = events(&fs::read_to_string(&trace).expect("the trace"));
    let named = names(&traced);
    for name in ["session", "join", "level_changed", "estimates", "leave"] {
        assert!(named.contains(&name), "{name}: {named:?}");
    }
    let explained = layercast(&["explain", &trace_name]).output().expect("it runs");
    assert_eq!(explained.status.code(), Some(0), "{}", text(&explained.stderr));
    assert!(text(&explained.stdout).contains("level 0"), "{}", text(&explained.stdout));
}

#[test]
fn a_failed_reception_ends_with_an_event_that_names_the_reason() {
    if !works_here() {
        return;
    }
    let directory = scratch("watch-silent");
    let group = format!("239.255.81.9:{}", layercast_testkit::port(9));
    let into = directory.display().to_string();
    let arguments = ["receive", "--group", &group, "--into", &into, "--patience", "1 s", "--json"];
    let output = transfer(&arguments).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let events = events(&text(&output.stdout));
    let end = events.last().expect("an end");
    assert_eq!((end["event"].as_str(), end["reason"].as_str()), (Some("end"), Some("silent")), "{end}");
    assert_eq!(end["exit_status"].as_u64(), Some(1));
    assert!(text(&output.stderr).starts_with("error: "), "{}", text(&output.stderr));
}

#[test]
fn an_address_in_use_is_an_error_before_anything_is_sent() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    let arguments = ["receive", "--group", "239.255.81.9", "--into", ".", "--metrics", &address];
    let output = transfer(&arguments).output().expect("it runs");
    // It may be free again when the command is started again.
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains(&format!("--metrics {address}: ")), "{}", text(&output.stderr));
}
