//! What TCP gets on a path that loses packets at random, against what ns-2 2.35 gets there.

#![allow(clippy::unwrap_used)]

mod world;

use layercast_protocol::units::Span;
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{LinkConfig, LossModel, Simulation, TcpConfig};
use world::{Plan, at, link, tcp};

/// The mean rate in kbit/s of a single connection between `from_s` and `to_s`, over so many seeds.
/// The path is fast: it holds a fraction of a packet.
fn mean_kbps(options: &TcpOptions, one_way_ms: f64, loss: f64, from_s: f64, to_s: f64, seeds: u64) -> f64 {
    let lossy = LinkConfig { loss: LossModel::Bernoulli(loss), ..link(100.0, one_way_ms) };
    let plan = Plan::new(&[("S-R", lossy, link(100.0, one_way_ms))]);
    let total: f64 = (1..=seeds)
        .map(|seed| {
            let mut simulation = Simulation::new(plan.network.clone(), seed);
            let config =
                TcpConfig { options: options.clone(), ..tcp(&plan, options.variant, "S", "R", "tcp") };
            let id = simulation.add_tcp(config).unwrap();
            simulation.run_until(at(from_s));
            let before = simulation.tcp_counters(id).received_bytes;
            simulation.run_until(at(to_s));
            (simulation.tcp_counters(id).received_bytes - before) as f64 * 8.0 / (to_s - from_s) / 1e3
        })
        .sum();
    total / seeds as f64
}

/// The year 2004 with its minimum timeout of 1 s: 60 ms, 15 runs of 270 s, bytes on the wire.
///
/// At 1 % a run has some 500 losses. The rate is spread by about half of 1/sqrt(500), so the mean of
/// 15 runs by 0.6 %, and that of the measurement by as much: 5 % is more than five such spreads.
#[test]
fn sack_gets_what_it_gets_in_ns2_with_a_minimum_timeout_of_one_second() {
    let mut options = TcpOptions::new(TcpVariant::Sack, TcpProfile::Ns2);
    options.window = 10_000;
    options.min_rto = Span::from_secs(1);
    for (loss, measured) in [(0.01, 1523.0), (0.03, 738.0)] {
        let kbps = mean_kbps(&options, 30.0, loss, 30.0, 300.0, 15);
        assert!((kbps / measured - 1.0).abs() < 0.05, "at {loss}: {kbps} kbit/s, ns-2 {measured}");
    }
}

/// Packets per round trip of 100 ms from 20 s to 220 s; minimum timeout 0.2 s.
///
/// The measurements are printed with two or three digits (up to 2.5 % off) and are means of 5 runs:
/// at 0.1 % with its 80 losses in a run the spread of that mean is some 2.5 %, elsewhere 1 %. Ours are
/// means of 20. 10 % is beyond all that.
#[test]
fn reno_and_sack_get_what_they_get_in_ns2() {
    let cases = [(TcpVariant::Reno, [37.8, 10.5, 5.3, 2.1]), (TcpVariant::Sack, [38.6, 11.5, 6.0, 2.3])];
    for (variant, measured) in cases {
        let mut options = TcpOptions::new(variant, TcpProfile::Ns2);
        options.window = 5000;
        for (loss, measured) in [0.001, 0.01, 0.03, 0.1].into_iter().zip(measured) {
            let kbps = mean_kbps(&options, 50.0, loss, 20.0, 220.0, 20);
            let packets_per_rtt = kbps * 1e3 / 8000.0 * 0.1;
            let ratio = packets_per_rtt / measured;
            assert!((ratio - 1.0).abs() < 0.10, "{variant:?} at {loss}: {packets_per_rtt}, ns-2 {measured}");
        }
    }
}

/// Reno needs a timeout where two packets of a window are lost; at 3 % that is often.
#[test]
fn reno_gets_less_than_sack_where_losses_come_in_one_window() {
    let kbps = |variant| {
        let mut options = TcpOptions::new(variant, TcpProfile::Ns2Year2004);
        options.window = 10_000;
        mean_kbps(&options, 30.0, 0.03, 30.0, 300.0, 15)
    };
    let (reno, sack) = (kbps(TcpVariant::Reno), kbps(TcpVariant::Sack));
    assert!(reno < 0.95 * sack, "{reno} {sack}");
    assert!(reno > 0.4 * sack, "{reno} {sack}");
}
