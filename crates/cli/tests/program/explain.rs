//! `layercast explain`: traces of the laboratory and of the transport, and what is wrong with others.
//!
//! The traces are those of `run thesis/simulation-2 --replications 1 --set 'duration=40 s' --notes` and of a
//! `receive --trace` on the loopback interface.

use std::fs;

use serde_json::Value;

use super::{run, scratch, text};

const LABORATORY: &str = "laboratory-trace.jsonl";
const TRANSPORT: &str = "transport-trace.jsonl";

/// What is printed, which is nowhere wider than a terminal.
fn explained(arguments: &[&str]) -> String {
    let output = run(&[&["explain"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let printed = text(&output.stdout);
    if !arguments.contains(&"--json") {
        let widest = printed.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{printed}");
    }
    printed
}

fn refused(arguments: &[&str]) -> String {
    let output = run(&[&["explain"], arguments].concat());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    text(&output.stderr)
}

#[test]
fn the_receivers_of_a_laboratory_trace_are_listed() {
    insta::assert_snapshot!(explained(&[LABORATORY]));
}

#[test]
fn a_receiver_of_the_laboratory_is_explained() {
    let by_flow = explained(&[LABORATORY, "--receiver", "rlc@R3"]);
    assert!(by_flow.contains("packets were lost. The path was the limit."), "{by_flow}");
    insta::assert_snapshot!(explained(&[LABORATORY, "--receiver", "elm@R1"]));
}

#[test]
fn a_moment_has_what_led_to_it_and_what_ended_it() {
    insta::assert_snapshot!(explained(&[LABORATORY, "--receiver", "elm@R1", "--at", "30.2 s"]));
}

#[test]
fn a_trace_of_the_transport_is_explained() {
    insta::assert_snapshot!(explained(&[TRANSPORT]));
}

/// The longer part of the time decides what the limit was, and a fair rate above all layers is no number.
#[test]
fn a_receiver_at_the_top_is_limited_by_the_session() {
    let directory = scratch("explain-top");
    let line = |time_s: f64, event: &str| {
        format!("{{\"replication\":1,\"time_s\":{time_s},\"flow\":\"a@b\",{event}}}\n")
    };
    let level = |from: i32, to: i32, cause: &str| {
        format!(
            "\"event\":\"level_changed\",\"from\":{from},\"to\":{to},\"cause\":\"{cause}\",\"fair_bps\":8.5e9"
        )
    };
    let with_top_for = |top_s: f64| {
        let trace = directory.join("trace.jsonl").display().to_string();
        let text = [
            line(0.0, "\"event\":\"session\",\"protocol\":\"tide\",\"layers_bps\":[1e7,2e7]"),
            line(0.0, &level(-1, 0, "start")),
            line(0.0, &level(0, 1, "rate above next layer")),
            line(
                1.0,
                "\"event\":\"estimates\",\"level\":1,\"packets\":9,\"bytes\":9000,\"marked\":0,\"fair_bps\":8.5e9",
            ),
            line(top_s, &level(1, 0, "rate below level")),
            line(100.0, &level(0, -1, "stopped")),
        ];
        fs::write(&trace, text.concat()).expect("a trace");
        explained(&[&trace]).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mostly = with_top_for(87.0);
    assert!(
        mostly.contains("It had all 2 layers for 87 % of the time: then the session was the limit"),
        "{mostly}"
    );
    assert!(
        mostly.contains("At the lower levels the path was the limit.") && !mostly.contains("The path"),
        "{mostly}"
    );
    assert!(mostly.contains("a fair rate of at least 20 Mbit/s on average"), "{mostly}");
    assert!(mostly.contains("its fair rate, at least 20 Mbit/s, carried the next level"), "{mostly}");
    assert!(!mostly.contains("Gbit"), "{mostly}");
    let hardly = with_top_for(5.0);
    assert!(hardly.contains("The path was the limit.") && !hardly.contains("session was"), "{hardly}");
}

#[test]
fn json_has_the_summary_and_then_the_chain() {
    let printed = explained(&[TRANSPORT, "--json"]);
    let lines: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str(line).expect("an object of JSON")).collect();
    let (summary, chain) = lines.split_first().expect("a summary");
    assert_eq!(summary["kind"], "summary");
    let changes = summary["changes"].as_array().expect("changes");
    let counted: u64 = changes.iter().filter_map(|changes| changes["count"].as_u64()).sum();
    let decisions: Vec<&Value> = chain.iter().filter(|entry| entry["kind"] == "decision").collect();
    assert_eq!(decisions.len() as u64, counted);
    assert!(decisions.windows(2).all(|two| two[0]["to"] == two[1]["from"]), "{printed}");
    // Time and bytes at the levels are those of the decisions that ended them.
    let sum = |of: &str| decisions.iter().filter_map(|decision| decision["before"][of].as_f64()).sum::<f64>();
    let levels = summary["levels"].as_array().expect("levels");
    let at = |of: &str| levels.iter().filter_map(|level| level[of].as_f64()).sum::<f64>();
    assert!((sum("bytes") - at("bytes")).abs() < 1.0 && at("bytes") > 3e6, "{printed}");
    assert!((sum("held_s") - at("held_s")).abs() < 0.1, "{printed}");
}

#[test]
fn a_fresh_trace_of_the_laboratory_is_read() {
    let directory = scratch("explain-fresh").display().to_string();
    assert_eq!(run(&["run", "fixed.toml", "--out", &directory, "--notes"]).status.code(), Some(0));
    assert!(explained(&[&directory, "--replication", "1"]).contains("fixed@R"));
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let unknown = refused(&[LABORATORY, "--receiver", "elm@R4"]);
    assert!(unknown.contains("no receiver `elm@R4`") && unknown.contains("did you mean `elm@R"), "{unknown}");
    let ambiguous = refused(&[LABORATORY, "--receiver", "R1"]);
    assert!(ambiguous.contains("`R1` is more than one receiver: elm@R1, rlc@R1"), "{ambiguous}");
    let late = refused(&[TRANSPORT, "--at", "99 s"]);
    assert!(late.contains("the trace of elm@site7 is from 0.5 to 13.5 s"), "{late}");
    let several = refused(&[LABORATORY, "--at", "30 s"]);
    assert!(several.contains("name one with --receiver"), "{several}");
    let replication = refused(&[LABORATORY, "--replication", "7"]);
    assert!(replication.contains("has no replication 7, but 1"), "{replication}");
    assert!(refused(&["nowhere.jsonl"]).contains("write traces"));
}

#[test]
fn a_bad_line_is_named_and_a_torn_one_left_out() {
    let directory = scratch("explain-bad");
    let trace =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transport-trace.jsonl"))
            .expect("the trace");
    let bad = directory.join("bad.jsonl");
    fs::write(&bad, trace.replacen("\"rtt_ms\"", "\"rtt\"", 1)).expect("a file");
    let bad = refused(&[&bad.display().to_string()]);
    assert!(bad.contains("bad.jsonl: line 4: missing field `rtt_ms`"), "{bad}");
    let torn = directory.join("torn.jsonl");
    fs::write(&torn, &trace[..trace.len() - 20]).expect("a file");
    let output = run(&["explain", &torn.display().to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("is cut off, and left out"), "{}", text(&output.stderr));
}
