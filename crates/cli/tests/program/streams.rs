//! Streams of live data as a script uses them: from standard input to standard output.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::security::new_key;
use super::transfer::{group, lo::works_here, printed, signal, transfer, with_file};
use super::watch::{events, measure, metrics_of, names, scrape};
use super::{layercast, scratch, text};

#[test]
fn what_goes_into_one_side_comes_out_at_the_other() {
    if !works_here() {
        return;
    }
    let group = group(160);
    let mut receiver = transfer(&["receive", "--stream", "--group", &group, "--output", "-"]);
    let mut receiver = receiver.spawn().expect("it starts");
    let mut sender = transfer(&[
        "send",
        "--stream",
        "-",
        "--group",
        &group,
        "--base",
        "2 Mbit/s",
        "--units",
        "1000 bytes",
    ]);
    let mut sender = sender.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut errors = BufReader::new(receiver.stderr.take().expect("its errors"));
    let mut line = String::new();
    errors.read_line(&mut line).expect("a line");
    assert!(line.contains("found a session of"), "{line}");
    let data: Vec<u8> = (0..100_500u32).map(|at| (at / 3) as u8).collect();
    sender.stdin.take().expect("its input").write_all(&data).expect("written");
    let sent = sender.wait_with_output().expect("it ends");
    assert_eq!(sent.status.code(), Some(0), "{:?}", printed(&sent));
    let (out, _) = printed(&sent);
    assert!(out.contains("Sending a stream of 1 layer of up to 2 Mbit/s"), "{out}");
    assert!(
        out.contains("the inputs have ended") && out.contains("Layer 0: 101 units, 100500 bytes"),
        "{out}"
    );
    let mut received = Vec::new();
    receiver.stdout.take().expect("its output").read_to_end(&mut received).expect("its output");
    let mut text = String::new();
    errors.read_to_string(&mut text).expect("its errors");
    assert_eq!(receiver.wait().expect("its end").code(), Some(0), "{text}");
    assert!(received == data, "{} bytes: {text}", received.len());
    assert!(
        text.contains("the source has ended the session") && text.contains("Layer 0: 101 units"),
        "{text}"
    );
}

#[test]
fn what_a_stream_cannot_be_is_refused() {
    let (directory, file) = with_file("stream-refused", 10);
    let into = directory.join("into").display().to_string();
    let refused = |arguments: &[&str]| {
        let output = transfer(arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{:?}", printed(&output));
        printed(&output).1
    };
    let group = group(164);
    let send = |more: &[&str]| refused(&[&["send", &file, "--group", &group][..], more].concat());
    assert!(send(&["--stream", "--layers", "2"]).contains("--layers"));
    assert!(send(&["--stream", "--key", "k"]).contains("--key"));
    assert!(send(&["--stream", "--rates", "1 Mbit/s,2 Mbit/s"]).contains("1 inputs for 2 layers"));
    assert!(send(&["--stream", "--protocol", "webrc"]).contains("a channel of its own"));
    assert!(send(&["--stream", "--units", "0 bytes"]).contains("units have 1 to"));
    assert!(send(&["--deadline", "1 s"]).contains("--stream"));
    let receive = |more: &[&str]| refused(&[&["receive", "--group", &group][..], more].concat());
    assert!(receive(&["--into", &into, "--stream", "--mirror"]).contains("--mirror"));
    assert!(receive(&["--into", &into, "--output", "x"]).contains("--output"));
    assert!(receive(&["--stream"]).contains("--into"));
    assert!(receive(&["--stream", "--output", "-", "--json"]).contains("both need standard output"));
}

#[test]
fn a_stream_is_watched_from_both_ends() {
    if !works_here() {
        return;
    }
    let group = group(168);
    let metrics = ["--group", &group, "--metrics", "127.0.0.1:0"];
    let trace = scratch("stream-trace").join("trace.jsonl").display().to_string();
    let arguments = ["receive", "--stream", "--output", "/dev/null", "--trace", &trace];
    let mut receiver = transfer(&[&arguments[..], &metrics].concat()).spawn().expect("it starts");
    let (receiver_metrics, _receiver_errors) = metrics_of(&mut receiver);
    let arguments = ["send", "--stream", "-", "--base", "2 Mbit/s", "--units", "1000 bytes"];
    let mut sender = transfer(&[&arguments[..], &metrics].concat());
    let mut sender = sender.stdin(Stdio::piped()).spawn().expect("it starts");
    let (sender_metrics, _sender_errors) = metrics_of(&mut sender);
    let mut input = sender.stdin.take().expect("its input");
    let mut pages = (String::new(), String::new());
    let has_units = |page: &str| {
        page.contains("layercast_units_total{layer=\"0\"} ")
            && measure(page, "layercast_units_total{layer=\"0\"} ") > 0.0
    };
    for _ in 0..600 {
        input.write_all(&[7; 10_000]).expect("written");
        thread::sleep(Duration::from_millis(100));
        pages = (scrape(&sender_metrics), scrape(&receiver_metrics));
        if has_units(&pages.0) && has_units(&pages.1) {
            break;
        }
    }
    drop(input);
    let (sent, received) = pages;
    assert!(has_units(&sent) && has_units(&received), "{sent}{received}");
    assert!(sent.contains("role=\"source\"") && sent.contains("protocol=\"elm\""), "{sent}");
    assert!(measure(&sent, "layercast_sent_packets_total ") > 0.0, "{sent}");
    assert!(measure(&sent, "layercast_source_symbols_total{layer=\"0\"} ") > 0.0, "{sent}");
    assert!(received.contains("role=\"receiver\""), "{received}");
    assert!(measure(&received, "layercast_received_packets_total ") > 0.0, "{received}");
    assert_eq!(measure(&received, "layercast_level "), 0.0);
    for name in ["lost", "late", "absent", "unwritten"] {
        assert!(measure(&received, &format!("layercast_units_{name}_total{{layer=\"0\"}} ")) >= 0.0);
    }
    // Files alone have these.
    assert!(!sent.contains("layercast_rounds ") && !received.contains("layercast_symbols_total"));
    assert_eq!(sender.wait_with_output().expect("its end").status.code(), Some(0));
    assert_eq!(receiver.wait_with_output().expect("its end").status.code(), Some(0));
    let traced = events(&fs::read_to_string(&trace).expect("the trace"));
    let named = names(&traced);
    for name in ["session", "join", "level_changed", "estimates", "leave"] {
        assert!(named.contains(&name), "{name}: {named:?}");
    }
    let explained = layercast(&["explain", &trace]).output().expect("it runs");
    assert_eq!(explained.status.code(), Some(0), "{:?}", printed(&explained));
    assert!(text(&explained.stdout).contains("level 0"), "{:?}", printed(&explained));
}

/// Sends units of live data until the sender ends.
fn live(arguments: &[&str]) -> Child {
    let mut sender = transfer(arguments);
    let mut sender = sender.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = sender.stdin.take().expect("its input");
    thread::spawn(move || {
        while input.write_all(&[7; 1316]).is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    sender
}

#[test]
fn a_signed_stream_is_received_with_the_key_that_signed_it_alone() {
    if !works_here() {
        return;
    }
    let (directory, _) = with_file("stream-signed", 10);
    let [secret, other] = ["hall", "other"].map(|name| new_key(&directory, name, &[]));
    let (public, other) = (format!("{secret}.pub"), format!("{other}.pub"));
    let key = new_key(&directory, "members", &["--group"]);
    let ([signed, unsigned], sdp) = ([172, 176].map(group), directory.join("s.sdp").display().to_string());
    let send = ["send", "--stream", "-", "--base", "1 Mbit/s", "--no-announce", "--group-key", &key];
    let described = ["--group", &signed, "--key", &secret, "--describe", &sdp];
    let senders =
        [live(&[&send[..], &described].concat()), live(&[&send[..], &["--group", &unsigned]].concat())];
    let begin = Instant::now();
    while !directory.join("s.sdp.sig").exists() {
        assert!(begin.elapsed() < Duration::from_secs(20), "no description was written");
        thread::sleep(Duration::from_millis(20));
    }
    let receive = ["receive", "--stream", "--output", "/dev/null", "--group-key", &key];
    let times = ["--start-within", "6 s", "--within", "9 s"];
    let cases = [
        (&["--group", &signed, "--key", &public][..], None),
        (&[&sdp, "--key", &public], None),
        (&["--group", &signed, "--key", &other, "--key", &public], None),
        (&["--group", &signed, "--key", &other], Some("it is signed with a key that is not trusted here")),
        (&["--group", &unsigned, "--key", &public], Some("the file delivery table is not signed")),
    ];
    let started = cases.map(|(words, expected)| {
        (words, transfer(&[&receive[..], &times, words].concat()).spawn().expect("it starts"), expected)
    });
    for (words, receiver, expected) in started {
        let output = receiver.wait_with_output().expect("its end");
        let (out, error) = printed(&output);
        assert_eq!(output.status.code(), Some(i32::from(expected.is_some())), "{words:?}: {out}{error}");
        match expected {
            Some(expected) => assert!(error.contains(expected), "{words:?}: {error}"),
            None => assert!(!out.contains("Layer 0: 0 units"), "{words:?}: {out}"),
        }
    }
    for sender in senders {
        signal(&sender, "INT");
        assert_eq!(sender.wait_with_output().expect("its end").status.code(), Some(0));
    }
    // Packets would be anyone's.
    let output = transfer(&["send", "--stream", "-", "--group", &signed, "--key", &secret]).output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{:?}", printed(&output));
    let error = "--key cannot be used with --stream: a signature is of the description of live data";
    assert!(printed(&output).1.contains(error), "{:?}", printed(&output));
}
