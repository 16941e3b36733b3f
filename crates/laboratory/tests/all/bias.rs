//! The bias of the loss event rate in a network: a built-in scenario shows what the thesis found.

use crate::running::{Ran, built_in, run_text};
use layercast_testkit::runs_long;

const NAME: &str = "thesis/bias-lossy";

/// What a probe kept in all replications, from the flow's start on.
fn values(ran: &Ran, probe: &str, quantity: &str) -> Vec<f64> {
    let probes = &ran.outcome.experiment.probes;
    let number = probes.iter().position(|info| info.name == probe).unwrap();
    let column = probes[number].quantities.iter().position(|name| *name == quantity).unwrap();
    let all = ran.outcome.replications.iter().flat_map(|replication| &replication.probes[number][column]);
    all.copied().filter(|value| value.is_finite()).collect()
}

fn sum(ran: &Ran, probe: &str, quantity: &str) -> f64 {
    values(ran, probe, quantity).iter().sum()
}

#[test]
fn lip_sinks_with_the_sending_rate_and_lap_finds_the_loss() {
    if !runs_long("half an hour of constant rates") {
        return;
    }
    let ran = run_text(NAME, built_in(NAME), &["replications=6"]);
    let mut rates = Vec::new();
    for (probe, packets_per_rtt) in [("cbr-1", 1.0), ("cbr-4", 4.0), ("cbr-16", 16.0), ("cbr-64", 64.0)] {
        let packets = sum(&ran, probe, "packets");
        let lost = sum(&ran, probe, "lap_losses") / packets;
        // 6 runs of some 290 s have at least 500 losses: a standard error of 4 % at the slowest flow.
        assert!((lost / 0.03 - 1.0).abs() < 0.15, "{probe}: {lost}");
        // The measured round-trip time is a little longer than nominal, so a period holds one more packet.
        let expected = lost / (1.0 + packets_per_rtt * lost);
        let events = sum(&ran, probe, "lip_losses") / packets;
        assert!((events / expected - 1.0).abs() < 0.1, "{probe}: {events}, not {expected}");
        let mean = |quantity| sum(&ran, probe, quantity) / values(&ran, probe, quantity).len() as f64;
        assert!((mean("lap_loss") / 0.03 - 1.0).abs() < 0.25, "{probe}: {}", mean("lap_loss"));
        rates.push((mean("lip_rate_kbps"), mean("lap_rate_kbps")));
    }
    // LIP's rate rises with the sending rate, to more than 1.7 times by the equation; LAP's stays.
    assert!(rates.windows(2).all(|pair| pair[1].0 > pair[0].0), "{rates:?}");
    assert!(rates[3].0 > 1.7 * rates[0].0, "{rates:?}");
    assert!(rates.iter().all(|(_, lap)| (lap / rates[2].1 - 1.0).abs() < 0.25), "{rates:?}");
    // At a rate near its own the loop may be open or closed: TFRC finds what LAP says.
    let tfrc = ran.kbps("tfrc@R");
    assert!((tfrc / rates[2].1 - 1.0).abs() < 0.35, "{tfrc} and {rates:?}");
}
