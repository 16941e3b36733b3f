//! Tide in the simulator: its share against TCP of both kinds, and different round-trip times.

#![allow(clippy::unwrap_used)]

mod running;

use running::{Ran, built_in, run_text};

fn run(name: &str, more: &[&str]) -> Ran {
    run_text(name, built_in(name), &[&["replications=2"], more].concat())
}

/// The mean rate of four TCP flows.
fn tcp_kbps(ran: &Ran) -> f64 {
    (1..=4).map(|number| ran.kbps(&format!("tcp-{number}@R"))).sum::<f64>() / 4.0
}

/// Measured over ten replications: 0.96 of a TCP's rate with reports, 0.64 without, since 100 ms are assumed there
/// and the round-trip time with queueing is 60 to 120 ms. Two replications scatter by a fifth.
#[test]
fn its_share_is_that_of_reno_with_reports_and_less_without() {
    let ran = run("tide/beside-tcp", &[]);
    let share = |flow| ran.kbps(flow) / tcp_kbps(&ran);
    assert!((0.75..1.33).contains(&share("reports@R")), "{}", share("reports@R"));
    assert!((0.4..1.0).contains(&share("silent@R")), "{}", share("silent@R"));
}

/// CUBIC goes with the cube of the interval between losses, so shares scatter more.
#[test]
fn its_share_is_that_of_cubic_when_it_is_set_to_cubic() {
    let sets = ["flow.tcp.protocol=tcp-cubic", "session.reports.fair_to=cubic"];
    let ran = run("tide/beside-tcp", &sets);
    let share = ran.kbps("reports@R") / tcp_kbps(&ran);
    assert!((0.6..1.6).contains(&share), "{share}");
}

/// Round-trip times of 250, 50 and 500 ms and random losses: measured over three replications of 300 s, 1.03, 1.17
/// and 0.83 of a TCP's rate.
#[test]
fn its_share_does_not_depend_on_the_round_trip_time() {
    let sets = ["session.elm.protocol=tide", "flow.tcp.profile=linux"];
    let ran = run("thesis/simulation-4-elm", &sets);
    for receiver in ["R1", "R2", "R3"] {
        let share = ran.kbps(&format!("elm@{receiver}")) / ran.kbps(&format!("tcp@{receiver}"));
        assert!((0.5..1.8).contains(&share), "{receiver}: {share}");
    }
}
