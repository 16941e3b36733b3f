//! A long run whose lost packets are given, against the same run of ns-2 2.35.
//!
//! Once the fate of every packet is given, nothing random is left: both must send, resend, wait and open
//! their windows alike. The figures are what `validation/losses.tcl` prints.

use crate::world::{Plan, at, link, tcp};
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{LinkConfig, LossModel, TcpConfig};

/// Variant, share of packets lost, and after 220 s: acknowledged up to, window, threshold, packets sent.
type Case = (TcpVariant, f64, i64, f64, i64, u64);

#[rustfmt::skip]
const CASES: [Case; 20] = [
    (TcpVariant::Tahoe, 0.001, 74753, 35.8481, 33, 74878),
    (TcpVariant::Tahoe, 0.01, 21002, 1.0000, 12, 21281),
    (TcpVariant::Tahoe, 0.03, 11374, 3.5530, 2, 11836),
    (TcpVariant::Tahoe, 0.1, 5036, 6.0349, 4, 5742),
    (TcpVariant::Reno, 0.001, 83509, 28.9882, 14, 83629),
    (TcpVariant::Reno, 0.01, 23558, 2.0000, 6, 23818),
    (TcpVariant::Reno, 0.03, 11867, 5.1976, 2, 12322),
    (TcpVariant::Reno, 0.1, 4816, 3.5530, 2, 5542),
    (TcpVariant::NewReno, 0.001, 87602, 68.3028, 21, 87765),
    (TcpVariant::NewReno, 0.01, 25609, 20.0445, 7, 25935),
    (TcpVariant::NewReno, 0.03, 13259, 7.7532, 3, 13780),
    (TcpVariant::NewReno, 0.1, 5664, 2.9000, 2, 6542),
    (TcpVariant::Sack, 0.001, 87721, 70.0904, 21, 87886),
    (TcpVariant::Sack, 0.01, 25902, 15.6678, 14, 26181),
    (TcpVariant::Sack, 0.03, 12985, 4.6260, 4, 13421),
    (TcpVariant::Sack, 0.1, 5050, 3.2156, 3, 5655),
    (TcpVariant::Vegas, 0.001, 130454, 48.1042, 2, 130644),
    (TcpVariant::Vegas, 0.01, 37053, 10.0000, 2, 37462),
    (TcpVariant::Vegas, 0.03, 18886, 6.0000, 2, 19521),
    (TcpVariant::Vegas, 0.1, 5358, 5.0000, 2, 6099),
];

/// Packet n, unless it is the first, is lost where the n-th number of this generator (Park and Miller
/// 1988) is below `share` of its range.
fn lost_packets(share: f64) -> Vec<u64> {
    const RANGE: u64 = (1 << 31) - 1;
    let mut number = 1;
    let mut is_lost = |_: &u64| {
        number = number * 16_807 % RANGE;
        (number as f64) < share * RANGE as f64
    };
    (0..200_000).filter(|packet| is_lost(packet) && *packet > 0).collect()
}

#[test]
fn with_the_same_losses_a_connection_does_what_it_does_in_ns2() {
    for &(variant, loss, acknowledged, cwnd, ssthresh, sent) in &CASES {
        let lossy = LinkConfig { loss: LossModel::List(lost_packets(loss)), ..link(100.0, 50.0) };
        let plan = Plan::new(&[("S-R", lossy, link(100.0, 50.0))]);
        let mut simulation = plan.simulation();
        let mut options = TcpOptions::new(variant, TcpProfile::Ns2);
        options.window = 200_000;
        let config = TcpConfig { options, ..tcp(&plan, variant, "S", "R", "tcp") };
        let id = simulation.add_tcp(config).unwrap();
        simulation.run_until(at(220.015));
        let (state, counters) = (simulation.tcp_state(id).unwrap(), simulation.tcp_counters(id));
        let reached = (state.highest_ack, state.ssthresh, counters.sent_packets);
        assert_eq!(reached, (acknowledged, ssthresh, sent), "{variant:?} at {loss}");
        // ns-2 prints six digits.
        assert!((state.cwnd - cwnd).abs() < 1e-3, "{variant:?} at {loss}: a window of {}", state.cwnd);
    }
}
