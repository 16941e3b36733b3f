//! Marks instead of drops, from the queue to the sender's window and back, compared with ns-2 2.35.

use crate::world::{Plan, at, link, tcp};
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Size, Time};
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{LinkConfig, QueueConfig, QueueLimit, RedConfig, TcpConfig};
use layercast_testkit::runs_long;

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// What four connections over one bottleneck did from 20 s to 120 s, mean of ten seeds.
#[derive(Debug)]
struct Measured {
    packets_per_s: f64,
    marks: f64,
    drops: f64,
}

/// The network of `validation/ecn.tcl`.
fn four_connections(variant: TcpVariant, ecn: bool) -> Measured {
    const SEEDS: u64 = 10;
    let red = RedConfig {
        limit: Some(QueueLimit::Packets(100)),
        mean_packet: Size::from_bytes(1000),
        ecn: true,
        ..RedConfig::classic()
    };
    let shared = LinkConfig { queue: QueueConfig::Red(red), ..link(8.0, 20.0) };
    let access = || link(100.0, 10.0);
    let names: Vec<String> = (0..4).flat_map(|i| [format!("S{i}-L"), format!("R-D{i}")]).collect();
    let mut links = vec![("L-R", shared, link(8.0, 20.0))];
    links.extend(names.iter().map(|name| (name.as_str(), access(), access())));
    let plan = Plan::new(&links);
    let mut measured = Measured { packets_per_s: 0.0, marks: 0.0, drops: 0.0 };
    for seed in 1..=SEEDS {
        let mut simulation = Simulation::new(plan.network.clone(), seed);
        let mut starts = Stream::new(seed, "starts");
        let mut flows = Vec::new();
        for i in 0..4 {
            let mut options = TcpOptions::new(variant, TcpProfile::Ns2);
            (options.window, options.ecn) = (5000, ecn);
            let start = Time::ZERO + starts.uniform_duration(Duration::from_secs(5));
            let (from, to) = (format!("S{i}"), format!("D{i}"));
            let config = TcpConfig { options, start, ..tcp(&plan, variant, &from, &to, &format!("tcp-{i}")) };
            flows.push(simulation.add_tcp(config).unwrap());
        }
        let count = |simulation: &Simulation| {
            let link = simulation.link_counters(plan.link("L-R"));
            let received: u64 = flows.iter().map(|&id| simulation.tcp_counters(id).received_packets).sum();
            [received, link.marks, link.queue_drops].map(|count| count as f64 / SEEDS as f64)
        };
        simulation.run_until(at(20.0));
        let before = count(&simulation);
        simulation.run_until(at(120.0));
        let after = count(&simulation);
        measured.packets_per_s += (after[0] - before[0]) / 100.0;
        measured.marks += after[1] - before[1];
        measured.drops += after[2] - before[2];
    }
    measured
}

/// Means of 20 runs of ns-2, whose rates are spread by up to 1 % and marks by 3 %.
#[test]
fn marks_and_rates_are_those_of_ns2() {
    if !runs_long("means of 20 runs") {
        return;
    }
    let cases = [
        (TcpVariant::Tahoe, 835.1, 925.7, 377.4),
        (TcpVariant::Reno, 858.3, 926.8, 376.1),
        (TcpVariant::NewReno, 924.9, 925.4, 375.4),
        (TcpVariant::Sack, 926.1, 924.6, 376.4),
    ];
    for (variant, without, with, marks) in cases {
        let measured = four_connections(variant, false);
        assert!((measured.packets_per_s / without - 1.0).abs() < 0.01, "{variant:?} {measured:?}");
        assert!(measured.marks == 0.0 && measured.drops > 250.0, "{variant:?} {measured:?}");
        let measured = four_connections(variant, true);
        assert!((measured.packets_per_s / with - 1.0).abs() < 0.01, "{variant:?} {measured:?}");
        assert!((measured.marks / marks - 1.0).abs() < 0.05, "{variant:?} {measured:?}");
        assert!(measured.drops == 0.0, "{variant:?} {measured:?}");
    }
}

/// Nothing to compare with: marks must do what drops did, and spare them. CUBIC grows so fast that it
/// passes the threshold above which this queue drops all.
#[test]
fn the_others_are_held_by_marks_too() {
    for (variant, drops) in [(TcpVariant::Sack6675, 0.0), (TcpVariant::Cubic, 300.0)] {
        let measured = four_connections(variant, true);
        assert!(measured.packets_per_s > 900.0 && measured.marks > 300.0, "{variant:?} {measured:?}");
        assert!(measured.drops <= drops, "{variant:?} {measured:?}");
    }
}
