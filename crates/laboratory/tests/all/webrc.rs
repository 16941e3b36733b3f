//! WEBRC in the simulator: its rate against the equation's, its share against TCP, and leaves that take long.

use crate::running::{Ran, built_in, run_text, runs_long};
use layercast_protocols::webrc::equation_rate;

fn run(name: &str, more: &[&str]) -> Ran {
    run_text(name, built_in(name), &[&["replications=2", "duration=600 s"], more].concat())
}

/// The rate in each replication.
fn samples(ran: &Ran, flow: &str) -> Vec<f64> {
    ran.flow(flow).throughput_kbps.samples.iter().copied().flatten().collect()
}

/// A receiver reaches the equation's rate at a join, and falls to three quarters of it until the next one:
/// on average 0.87. The loss rate that the filter measures scatters, and the round-trip time has the
/// scatter of first packets in it, so a quarter around that is allowed. What arrives is less by the
/// losses. Measured over ten replications of 800 s: 0.86 to 0.90 at 0.5 %, 0.91 to 0.98 at 2 %.
#[test]
fn the_rate_is_near_the_equation() {
    if !runs_long() {
        return;
    }
    for loss in [0.005, 0.02] {
        let ran = run("webrc/equation", &[&format!("link.G1-G2.loss.forward={loss}")]);
        let fair_kbps = 8.0 * equation_rate(loss, 0.1) * (1.0 - loss);
        for kbps in samples(&ran, "webrc@R") {
            let ratio = kbps / fair_kbps;
            assert!((0.65..1.25).contains(&ratio), "{loss}: {kbps} kbit/s, {ratio} of the equation");
        }
    }
}

/// The mean rate of the six TCP in each replication.
fn tcp_means(ran: &Ran) -> Vec<f64> {
    let tcp: Vec<Vec<f64>> = (1..=6).map(|n| samples(ran, &format!("tcp-{n}@R3"))).collect();
    let mean = |index: usize| tcp.iter().map(|samples| samples[index]).sum::<f64>() / tcp.len() as f64;
    (0..tcp[0].len()).map(mean).collect()
}

/// Within a factor of two of TCP (RFC 3738, section 1). Measured over ten replications of 800 s: 0.82 to
/// 0.94 of the mean of six TCP.
#[test]
fn the_share_is_within_a_factor_of_two_of_tcp() {
    if !runs_long() {
        return;
    }
    let ran = run("webrc/beside-tcp", &[]);
    for (own, mean) in samples(&ran, "webrc@R3").into_iter().zip(tcp_means(&ran)) {
        assert!((0.5..2.0).contains(&(own / mean)), "{own} of {mean}");
    }
}

/// Who joins a wave that a neighbour holds hears its first packet sooner than the path to the source
/// would let it, and takes more: a property of the protocol, not of this implementation. Three receivers
/// still move together, since they see the same losses. Measured over ten replications: a share of 0.89
/// alone, 1.8 with two neighbours.
#[test]
fn neighbours_shorten_the_round_trip_time() {
    if !runs_long() {
        return;
    }
    let alone = run("webrc/beside-tcp", &[]);
    let three = run("webrc/beside-tcp", &["session.webrc.receivers=[\"R1\", \"R2\", \"R3\"]"]);
    let share = |ran: &Ran| ran.kbps("webrc@R3") / tcp_means(ran).iter().sum::<f64>();
    assert!(share(&three) > 1.3 * share(&alone), "{} {}", share(&three), share(&alone));
    let [near, far] = ["webrc@R1", "webrc@R3"].map(|flow| three.kbps(flow));
    assert!((0.8..1.25).contains(&(near / far)), "{near} {far}");
}

/// A wave is left when it has ended and is silent from then on, so nothing arrives after a leave however
/// long a router goes on forwarding, and nothing else changes.
#[test]
fn leaves_may_take_long() {
    if !runs_long() {
        return;
    }
    let at_once = run("webrc/beside-tcp", &["session.webrc.leave_latency=0 s"]);
    let late = run("webrc/beside-tcp", &["session.webrc.leave_latency=9 s"]);
    for flow in ["webrc@R3", "tcp-1@R3"] {
        let (at_once, late) = (samples(&at_once, flow), samples(&late, flow));
        let sum = |samples: &[f64]| samples.iter().sum::<f64>();
        assert!((sum(&late) / sum(&at_once) - 1.0).abs() < 0.1, "{flow}: {at_once:?} {late:?}");
    }
    let late_kbps = late.flow("webrc@R3").late_kbps.as_ref().unwrap().mean.unwrap();
    assert!(late_kbps < 0.01 * late.kbps("webrc@R3"), "{late_kbps} kbit/s after leaves");
}
