//! Why receivers have their rates, on networks small enough to work it out by hand.

use crate::conforming;
use crate::running;

use crate::running::{Ran, built_in, run_text};
use layercast_laboratory::results::Summary;
use layercast_laboratory::results::bottleneck::Limit;
use layercast_laboratory::results::explanation::Explanation;
use layercast_laboratory::results::why::HeldBack;
use layercast_laboratory::why::answer;

/// A session of one layer of 400 kbit/s to three receivers: behind a link of 1 Mbit/s that a TCP and a constant rate
/// of 200 kbit/s share, behind one that loses 2 %, and behind one with room.
const THREE: &str = r#"
name = "Three paths"
duration = "40 s"
windows = [["10 s", "end"]]

[links]
S-G = { rate = "100 Mbit/s", delay = "10 ms", queue = { limit = "500 packets" } }
G-R1 = { rate = "1 Mbit/s", delay = "20 ms", queue = { limit = "8 packets" } }
G-R2 = { rate = "10 Mbit/s", delay = "5 ms", queue = { limit = "50 packets" }, loss = 0.02 }
G-R3 = { rate = "10 Mbit/s", delay = "5 ms", queue = { limit = "50 packets" } }

[sessions.plain]
protocol = "fixed"
source = "S"
receivers = ["R1", "R2", "R3"]
layers = { scheme = "doubling", base = "400 kbit/s", count = 1 }

[flows.tcp]
protocol = "tcp-sack"
from = "S"
to = ["R1"]

[flows.constant]
protocol = "udp"
from = "S"
to = ["R1"]
rate = "200 kbit/s"
"#;

fn why<'a>(ran: &'a Ran, name: &str) -> &'a Explanation {
    ran.summary.flows.iter().find(|flow| flow.name == name).unwrap().why.as_ref().unwrap()
}

fn is_about(value: f64, expected: f64, within: f64) {
    assert!((value - expected).abs() <= within, "{value} is not {expected} ± {within}");
}

#[test]
fn each_path_has_the_bottleneck_that_was_built_into_it() {
    let ran = run_text("three", THREE, &[]);
    let first = why(&ran, "plain@R1");
    assert_eq!(first.path, ["S-G", "G-R1"]);
    let bottleneck = first.bottleneck.as_ref().unwrap();
    assert_eq!((bottleneck.link.as_str(), bottleneck.by), ("G-R1", Limit::Queue));
    is_about(bottleneck.capacity_kbps, 1000.0, 0.1);
    // The session and the TCP share what the constant rate leaves.
    is_about(bottleneck.sharing, 2.0, 1e-9);
    let constant = ran.kbps("constant@R1");
    is_about(bottleneck.fair_share_kbps.unwrap(), (1000.0 - constant) / 2.0, 1e-6);
    assert!((170.0..=200.5).contains(&constant), "{constant}");
    assert!(bottleneck.utilisation > 0.95);

    let second = why(&ran, "plain@R2");
    let bottleneck = second.bottleneck.as_ref().unwrap();
    assert_eq!((bottleneck.link.as_str(), bottleneck.by), ("G-R2", Limit::Errors));
    is_about(bottleneck.loss, 0.02, 0.008);
    assert_eq!(bottleneck.fair_share_kbps, None, "not the load limits there");

    let third = why(&ran, "plain@R3");
    assert_eq!(third.bottleneck, None, "nothing limits at 400 kbit/s of 10 Mbit/s");
    let (fullest, used) = third.fullest.as_ref().unwrap();
    assert_eq!(fullest, "G-R3");
    is_about(*used, 0.04, 0.002);
    // 10 + 5 ms each way, and 1000 bytes at 100 and at 10 Mbit/s: 0.08 + 0.8 ms.
    is_about(third.base_rtt_ms.mean.unwrap(), 30.88, 0.02);
    is_about(third.rtt_ms.mean.unwrap(), 30.9, 0.1);
    assert!(first.rtt_ms.mean.unwrap() > first.base_rtt_ms.mean.unwrap() + 10.0, "its queue is full");

    for explanation in [first, second, third] {
        assert_eq!(explanation.held_back.len(), 1, "{:?}", explanation.held_back);
        assert_eq!(explanation.held_back[0].by, HeldBack::Source);
        is_about(explanation.held_back[0].share, 1.0, 1e-9);
    }
    assert!(ran.summary.flows.iter().all(|flow| flow.why.is_some() == flow.session.is_some()));
}

#[test]
fn a_queue_that_is_always_full_delays_by_its_length() {
    let overload = r#"
name = "Overload"
duration = "20 s"
windows = [["5 s", "end"]]

[links]
A-B = { rate = "1 Mbit/s", delay = "1 ms", queue = { limit = "10 packets" } }

[flows.flood]
protocol = "udp"
from = "A"
to = ["B"]
rate = "2 Mbit/s"
packet_size = "1000 bytes"
"#;
    let ran = run_text("overload", overload, &[]);
    let link = &ran.summary.links[0];
    // Ten packets wait at most, of 8 ms each; after each transmission there is one less for up to 4 ms.
    is_about(link.queue_delay_ms.as_ref().unwrap().mean.unwrap(), 76.0, 4.5);
    let p95 = link.queue_delay_p95_ms.as_ref().unwrap().mean.unwrap();
    assert!((80.0..=90.0).contains(&p95), "{p95}");
    let series = &ran.outcome.replications[0].series.queue_delay_ms;
    assert_eq!(series[0].len(), 20);
    is_about(series[0][10], 76.0, 4.5);
    assert!(series[1].is_empty(), "nothing waits on the way back");
}

fn summary() -> Summary {
    run_text("three", THREE, &["duration=12 s"]).summary
}

#[test]
fn a_receiver_that_is_not_there_is_answered_with_the_nearest() {
    let summary = summary();
    let error = answer(&summary, "plane@R1").unwrap_err();
    assert!(error.contains("its receivers are plain@R1, plain@R2, plain@R3"), "{error}");
    assert!(error.contains("did you mean `plain@R1`?"), "{error}");
    let error = answer(&summary, "tcp@R1").unwrap_err();
    assert!(error.contains("not a receiver of a session but a flow of tcp-sack"), "{error}");
    assert_eq!(answer(&summary, "R2").unwrap(), answer(&summary, "plain@R2").unwrap());
    let mut old = summary;
    old.flows.iter_mut().for_each(|flow| flow.why = None);
    assert!(answer(&old, "plain@R1").unwrap_err().contains("run the scenario again"));
}

#[test]
fn an_answer_reads_as_sentences_within_80_columns() {
    let ran = run_text("thesis/simulation-2", built_in("thesis/simulation-2"), &["replications=3"]);
    let text = answer(&ran.summary, "elm@R1").unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
    // Everything needed is in the file, as its schema says.
    let schema = std::fs::read_to_string(running::root().join("docs/summary.schema.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let value = serde_json::from_str(&ran.summary.to_json()).unwrap();
    conforming::conforms(&value, &schema, &schema, "summary");
    let again = Summary::from_json(&ran.summary.to_json()).unwrap();
    assert_eq!(answer(&again, "elm@R1").unwrap(), text);
}
