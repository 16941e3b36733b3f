//! Edge routers of a scenario file at work, and the load that they leave on links.

use crate::running::{Ran, run_text, run_with_jobs};

/// Receivers at R and Q whose edges learn of the end of R's only by the keys given.
fn run(keys: &str, overrides: &[&str]) -> Ran {
    let text = format!(
        r#"
name = "edge"
duration = "400 s"
windows = [["0 s", "end"], ["100 s", "200 s"]]

[defaults.link]
rate = "10 Mbit/s"
delay = "10 ms"

[links]
S-G = {{}}
G-R = {{}}
G-Q = {{}}

[sessions.fixed]
protocol = "fixed"
source = "S"
receivers = ["R", "Q"]
layers = {{ scheme = "equal", base = "800 kbit/s", count = 1 }}

[edges.R]
{keys}
"#
    );
    run_text("edge", &text, overrides)
}

fn late_kbps(ran: &Ran, flow: &str) -> f64 {
    ran.flow(flow).late_kbps.as_ref().unwrap().mean.unwrap()
}

#[test]
fn what_still_comes_to_a_crashed_host_is_reported_as_late() {
    let ran = run("querier = \"igmpv2\"\ncrash = \"60 s\"", &[]);
    // 260 s of 400 s, and the way of prune and data.
    let expected = 800.0 * 260.02 / 400.0;
    assert!((late_kbps(&ran, "fixed@R") - expected).abs() < 1.0, "{}", late_kbps(&ran, "fixed@R"));
    assert!((ran.kbps("fixed@R") - 800.0 * 60.0 / 400.0).abs() < 1.0);
    assert_eq!(late_kbps(&ran, "fixed@Q"), 0.0);
    // All of the window from 100 to 200 s is late.
    let within = &ran.summary.windows[0].flow("fixed@R").unwrap().measures;
    assert!((within.late_kbps.as_ref().unwrap().mean.unwrap() - 800.0).abs() < 1.0);
    assert_eq!(within.throughput_kbps.mean, Some(0.0));
    // The link carries it all the same.
    let link = ran.summary.links.iter().find(|link| link.name == "G-R").unwrap();
    let carried = link.utilisation.mean.unwrap() * 10_000.0;
    assert!((carried - (late_kbps(&ran, "fixed@R") + ran.kbps("fixed@R"))).abs() < 0.1, "{carried}");
}

/// Two receivers that go up and down against a TCP.
const BUSY: &str = r#"
name = "busy"
duration = "120 s"
replications = 2

[defaults.link]
rate = "10 Mbit/s"
delay = "10 ms"

[links]
S-G = {}
G-R = { rate = "1 Mbit/s", queue = { limit = "20 packets" }, loss = { backward = 0.1 } }
G-Q = { loss = 0.02 }

[sessions.elm]
protocol = "elm"
source = "S"
receivers = ["R", "Q", "R"]
layers = { scheme = "doubling", base = "128 kbit/s", count = 5 }
options = { strategy = "naive" }

[flows.tcp]
protocol = "tcp-sack"
profile = "ns2"
from = "S"
to = "R"
"#;

#[test]
fn the_longer_an_edge_goes_on_after_a_leave_the_more_is_late() {
    let late = |sets: &[&str]| late_kbps(&run_text("busy", BUSY, sets), "elm@Q");
    let fast = late(&["defaults.edge.querier=igmpv3", "defaults.edge.leave=fast"]);
    let asked = late(&["defaults.edge.querier=igmpv3"]);
    let slow = late(&[
        "defaults.edge.querier=igmpv2",
        "defaults.edge.last_member_interval=3 s",
        "defaults.edge.last_member_count=3",
    ]);
    let drawn = late(&["session.elm.leave_latency={ uniform = [\"2 s\", \"4 s\"] }"]);
    assert!(fast > 0.0 && fast * 5.0 < asked && asked * 1.5 < slow, "{fast} {asked} {slow}");
    assert!(fast < drawn && drawn < slow, "{fast} {drawn} {slow}");
}

#[test]
fn draws_and_losses_at_edges_are_the_same_again_on_any_number_of_threads() {
    let sets = [
        "defaults.edge.querier=igmpv2",
        "defaults.edge.report_loss=0.3",
        "defaults.edge.leave_loss=0.2",
        "session.elm.join_latency={ uniform = [\"0 s\", \"1 s\"] }",
    ];
    let one = run_with_jobs("busy", BUSY, &sets, 1).summary.without_engine();
    let two = run_with_jobs("busy", BUSY, &sets, 2).summary.without_engine();
    assert_eq!(one.to_json(), two.to_json());
    let other = run_with_jobs("busy", BUSY, &[&sets[..], &["seed=2"]].concat(), 1).summary.without_engine();
    assert_ne!(one.flows[0].measures, other.flows[0].measures);
}
