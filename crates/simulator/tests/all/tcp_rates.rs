//! What TCP gets on a path that loses packets at random, against what ns-2 2.35 gets there.

use crate::world::{Plan, at, link, tcp};
use layercast_core::units::Duration;
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{LinkConfig, LossModel, QueueConfig, QueueLimit, TcpConfig};
use layercast_testkit::runs_long;

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// The mean rate in kbit/s of a single connection between `from_s` and `to_s`, over a number of seeds. The
/// path is fast: it holds a fraction of a packet.
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
    options.min_rto = Duration::from_secs(1);
    for (loss, measured) in [(0.01, 1523.0), (0.03, 738.0)] {
        let kbps = mean_kbps(&options, 30.0, loss, 30.0, 300.0, 15);
        assert!((kbps / measured - 1.0).abs() < 0.05, "at {loss}: {kbps} kbit/s, ns-2 {measured}");
    }
}

/// Packets per round trip of 100 ms from 20 s to 220 s; minimum timeout 0.2 s.
fn packets_per_rtt(variant: TcpVariant) -> [f64; 4] {
    let mut options = TcpOptions::new(variant, TcpProfile::Ns2);
    options.window = 5000;
    [0.001, 0.01, 0.03, 0.1].map(|loss| mean_kbps(&options, 50.0, loss, 20.0, 220.0, 20) * 1e3 / 8000.0 * 0.1)
}

/// ns-2's means of 20 runs of 1000 s, as docs/validation.md has them, half a percent to 1.5 % wide. Ours are
/// means of 20 runs of 200 s: at 0.1 % with its 80 losses in a run some 3 % wide, elsewhere 2 %. 5 % holds both.
#[test]
fn each_variant_gets_what_it_gets_in_ns2() {
    if !runs_long("means of 20 runs") {
        return;
    }
    let cases = [
        (TcpVariant::Tahoe, [34.56, 9.59, 5.11, 2.28]),
        (TcpVariant::Reno, [39.31, 10.72, 5.31, 2.21]),
        (TcpVariant::NewReno, [39.77, 11.69, 6.07, 2.50]),
        (TcpVariant::Sack, [40.23, 11.71, 5.99, 2.36]),
        (TcpVariant::Vegas, [59.93, 17.15, 8.21, 2.23]),
    ];
    for (variant, expected) in cases {
        assert_near(variant, expected, 0.05);
    }
}

/// The figures are those of a model, for ns-2 has no such TCP. What it halves is not known exactly:
/// with the packets of limited transmit in the flight size, which RFC 5681 forbids, we get 41.4, 12.6,
/// 6.8 and 2.8; without them 40.4, 11.5, 5.8 and 2.4. The model lies between; 15 % holds both.
#[test]
fn rfc_6675_gets_about_what_a_model_of_it_gets() {
    assert_near(TcpVariant::Sack6675, [39.0, 12.2, 6.6, 2.6], 0.15);
}

fn assert_near(variant: TcpVariant, expected: [f64; 4], tolerance: f64) {
    let measured = packets_per_rtt(variant);
    println!("{variant:?} {measured:.2?}");
    for (measured, expected) in measured.into_iter().zip(expected) {
        let ratio = measured / expected;
        assert!((ratio - 1.0).abs() < tolerance, "{variant:?}: {measured} packets per RTT, not {expected}");
    }
}

/// Nothing printed to compare with. In its Reno-friendly region, where 100 ms and these loss rates put it,
/// CUBIC must get about what RFC 6675 gets, and at 0.1 % its cubic may give more: between 0.9 and 1.5 times.
#[test]
fn cubic_is_in_the_same_range() {
    if !runs_long("means of 20 runs") {
        return;
    }
    let standard = packets_per_rtt(TcpVariant::Sack6675);
    let measured = packets_per_rtt(TcpVariant::Cubic);
    println!("Cubic {measured:.1?}");
    for (measured, standard) in measured.into_iter().zip(standard) {
        let ratio = measured / standard;
        assert!(0.9 < ratio && ratio < 1.5, "{measured} against {standard}");
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

/// Two connections whose round-trip times of 120 and 150 ms are whole numbers of the 10 ms that a packet
/// takes on the bottleneck. In lockstep, one of them finds the drop-tail queue full again and again.
#[test]
fn a_random_delay_breaks_the_lockstep_of_flows() {
    let queue = QueueConfig::drop_tail(QueueLimit::Packets(16));
    let plan = Plan::new(&[
        ("A-L", link(8.0, 10.0), link(8.0, 10.0)),
        ("B-L", link(8.0, 25.0), link(8.0, 25.0)),
        ("L-R", LinkConfig { queue, ..link(0.8, 50.0) }, link(0.8, 50.0)),
    ]);
    let share_of_a = |overhead| {
        let mut simulation = plan.simulation();
        let flows = ["A", "B"].map(|node| {
            let options = TcpOptions::new(TcpVariant::Reno, TcpProfile::Ns2);
            let options = TcpOptions { overhead, window: 32, ..options };
            simulation
                .add_tcp(TcpConfig { options, ..tcp(&plan, TcpVariant::Reno, node, "R", node) })
                .unwrap()
        });
        let received = |simulation: &Simulation| flows.map(|id| simulation.tcp_counters(id).received_bytes);
        simulation.run_until(at(100.0));
        let before = received(&simulation);
        simulation.run_until(at(600.0));
        let [a, b] = received(&simulation);
        (a - before[0]) as f64 / (a + b - before[0] - before[1]) as f64
    };
    let [without, with] = [Duration::ZERO, Duration::from_ms(10)].map(|overhead| share_of_a(Some(overhead)));
    assert!(without < 0.2, "{without}");
    assert!((0.35..0.55).contains(&with), "{with}");
    // A packet takes 10 ms on the slowest link.
    assert_eq!(share_of_a(None).to_bits(), with.to_bits());
}

/// Slow start overshoots by a window, and what it loses may end in a timeout. What comes after that must find
/// the path's capacity, not overshoot again: from 20 s on the link is full but for a percent, and the few losses
/// are those of the cubic's own probing.
#[test]
fn cubic_alone_in_a_wide_window_finds_its_rate() {
    let queue = QueueConfig::drop_tail(QueueLimit::Packets(100));
    let plan = Plan::new(&[("S-R", LinkConfig { queue, ..link(10.0, 20.0) }, link(10.0, 20.0))]);
    let mut simulation = plan.simulation();
    let mut config = tcp(&plan, TcpVariant::Cubic, "S", "R", "tcp");
    config.options.window = 1000;
    let id = simulation.add_tcp(config).unwrap();
    simulation.run_until(at(20.0));
    let before = simulation.tcp_counters(id);
    simulation.run_until(at(120.0));
    let after = simulation.tcp_counters(id);
    let mbps = (after.received_bytes - before.received_bytes) as f64 * 8.0 / 100.0 / 1e6;
    let lost = (after.lost_packets - before.lost_packets) as f64;
    let sent = (after.sent_packets - before.sent_packets) as f64;
    assert!(mbps > 9.9, "{mbps} Mbit/s");
    assert!(lost / sent < 0.005, "{lost} of {sent}");
}
