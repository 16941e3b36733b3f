//! What `layercast send` says of its receivers: the line, the list, `--json` and `--metrics`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::time::Duration;

use serde_json::Value;

use super::transfer::lo::works_here;
use super::transfer::{ended, signal, start, transfer};
use super::watch::{metrics_of, scrape};
use super::{scratch, text};

/// A receiver into a folder of its own.
fn receiver(group: &str, into: &std::path::Path, more: &[&str]) -> Child {
    fs::create_dir(into).expect("the directory for tests can be made");
    let into = into.display().to_string();
    let arguments = ["receive", "--group", group, "--into", &into, "--start-within", "30 s"];
    transfer(&[&arguments[..], more].concat()).spawn().expect("it starts")
}

fn stop(child: Child) {
    signal(&child, "TERM");
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
}

/// Certain answers come from the fifth poll on, half a minute after the start.
#[test]
fn a_sender_says_how_many_receivers_it_has_and_which_is_the_slowest() {
    if !works_here() {
        return;
    }
    let directory = scratch("reception");
    let file = directory.join("a file");
    // A minute and a half at 1 Mbit/s.
    fs::write(&file, vec![7; 12_000_000]).expect("a file");
    let file = file.display().to_string();
    let port = layercast_testkit::port(0);
    let (group, other) = (format!("239.255.82.1:{port}"), format!("239.255.82.3:{port}"));
    let sending =
        |group| ["send", &file, "--group", group, "--base", "1 Mbit/s", "--layers", "1", "--control", "elm"];
    let arguments = [&sending(&group)[..], &["--json", "--metrics", "127.0.0.1:0"]].concat();
    let mut source = transfer(&arguments).spawn().expect("it starts");
    let (metrics, _errors) = metrics_of(&mut source);
    let (in_words, _, words) = start(&sending(&other));
    let first = receiver(&group, &directory.join("first"), &[]);
    let unheard = receiver(&group, &directory.join("silent"), &["--silent"]);
    let only = receiver(&other, &directory.join("only"), &[]);
    std::thread::sleep(Duration::from_secs(3));
    let second = receiver(&group, &directory.join("second"), &[]);

    let lines = BufReader::new(source.stdout.take().expect("its output")).lines();
    let mut events = lines.map(|line| serde_json::from_str::<Value>(&line.expect("a line")).expect("JSON"));
    let known = |event: &Value| event["slowest"].as_array().map_or(0, Vec::len);
    let progress = |event: &Value, at: usize| event["slowest"][at]["progress"].as_f64().expect("a number");
    // The rest stays in the pipe: the source goes on.
    let reception = events
        .by_ref()
        .filter(|event| event["event"] == "reception")
        .take(20)
        // What each has is as old as its answer: order and number are right when both have answered the same poll.
        .find(|event| {
            let is_exact = event["receivers_high"].as_f64() == Some(2.0);
            is_exact && known(event) == 2 && progress(event, 0) < progress(event, 1)
        })
        .expect("two receivers are known, the slower one first");
    for name in ["receivers", "receivers_low", "receivers_high"] {
        assert_eq!(reception[name].as_f64(), Some(2.0), "{reception}");
    }
    assert_eq!(reception["receivers_complete_estimate"].as_f64(), Some(0.0), "{reception}");
    assert!(0.0 < progress(&reception, 0) && progress(&reception, 1) < 1.0, "{reception}");
    assert!(reception["slowest"][0]["address"].as_str().expect("text").starts_with("127.0.0.1:"));
    assert_eq!(reception["slowest"][0]["level"].as_i64(), Some(0), "{reception}");
    // The page is renewed with the next progress.
    let page = (0..50).find_map(|_| {
        std::thread::sleep(Duration::from_millis(100));
        Some(scrape(&metrics)).filter(|page| page.contains("\nlayercast_receivers 2\n"))
    });
    let page = page.expect("two receivers in the measures");
    assert!(page.contains("\nlayercast_receivers_slowest_ratio 0."), "{page}");

    // The other source's only receiver began earlier than the second one.
    std::thread::sleep(Duration::from_secs(6));
    signal(&in_words, "INT");
    let (out, error, status) = ended(in_words, words);
    assert_eq!(status, Some(0), "{error}");
    assert!(out.contains("At the end, reception: 1 receiver, 0 complete, half have "), "{out}");
    assert!(out.contains(" or more; slowest: 127.0.0.1 at "), "{out}");
    assert!(out.contains(" %, level 0, "), "{out}");
    assert!(out.contains("\nNot complete: 127.0.0.1:"), "{out}");
    let only = only.wait_with_output().expect("its end");
    assert_eq!(only.status.code(), Some(1), "{}", text(&only.stderr));
    [first, second, unheard].into_iter().for_each(stop);
    signal(&source, "INT");
    assert_eq!(source.wait().expect("its end").code(), Some(0));
}
