//! Connections and sessions over links that change.

use std::sync::Arc;

use crate::world::{Member, Plan, add_session, at, bottleneck, fixed_session, link, member, tcp};
use allocation_counter::measure;
use layercast_core::family::AnyProtocol as _;
use layercast_core::units::{Duration, Rate};
use layercast_protocols::registry::{NAMES, Protocol};
use layercast_simulator::tcp::TcpVariant;
use layercast_simulator::{
    DeliveryTrace, LinkChange, LinkConfig, LinkId, LinkVariation, LossModel, LossPlace, NetworkError, NodeId,
    Outage, QueueConfig, QueueLimit, TcpId, VariationError,
};

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

fn rate_from(seconds: f64, mbps: f64) -> LinkChange {
    LinkChange { at: at(seconds), rate: Some(Rate::from_mbps(mbps)), ..LinkChange::default() }
}

fn down(stretches: &[(f64, f64)]) -> LinkVariation {
    let outage = |&(start, end): &(f64, f64)| Outage { start: at(start), end: at(end) };
    LinkVariation { outages: stretches.iter().map(outage).collect(), ..LinkVariation::default() }
}

fn changes(changes: Vec<LinkChange>) -> LinkVariation {
    LinkVariation { changes, ..LinkVariation::default() }
}

/// One link of 10 Mbit/s, 10 ms and room for 30 packets, of which one direction varies.
fn one_link(variation: LinkVariation) -> Plan {
    let queue = QueueConfig::drop_tail(QueueLimit::Packets(30));
    let mut plan = Plan::new(&[("S-R", LinkConfig { queue, ..link(10.0, 10.0) }, link(10.0, 10.0))]);
    let id = plan.link("S-R");
    plan.network.vary_link(id, variation).unwrap();
    plan
}

/// A simulation of one SACK connection over it.
fn one_tcp(variation: LinkVariation) -> (Simulation, TcpId, LinkId) {
    let plan = one_link(variation);
    let mut simulation = plan.simulation();
    let flow = simulation.add_tcp(tcp(&plan, TcpVariant::Sack, "S", "R", "tcp")).unwrap();
    (simulation, flow, plan.link("S-R"))
}

/// What a connection receives between two times, in Mbit/s.
fn throughput(simulation: &mut Simulation, flow: TcpId, from: f64, to: f64) -> f64 {
    simulation.run_until(at(from));
    let before = simulation.tcp_counters(flow).received_bytes;
    simulation.run_until(at(to));
    (simulation.tcp_counters(flow).received_bytes - before) as f64 * 8.0 / (to - from) / 1e6
}

#[test]
fn a_tcp_follows_the_rate() {
    let (mut simulation, flow, id) = one_tcp(changes(vec![rate_from(30.0, 2.0), rate_from(60.0, 8.0)]));
    // The queue holds more than the bandwidth-delay product at each rate, so the link is never idle
    // once the window has reached it.
    for (from, to, rate) in [(10.0, 30.0, 10.0), (35.0, 60.0, 2.0), (75.0, 90.0, 8.0)] {
        let measured = throughput(&mut simulation, flow, from, to);
        assert!((0.97 * rate..=rate * 1.001).contains(&measured), "{measured} of {rate}");
    }
    // 30 s of each rate.
    let capacity = simulation.link_capacity_bytes(id).unwrap() * 8.0 / 1e6;
    assert!((capacity - 30.0 * 20.0).abs() < 1e-6, "{capacity}");
    assert_eq!(simulation.link_capacity_bytes(id.reverse()), None);
}

#[test]
fn the_round_trip_follows_the_delay() {
    // A window of 10 packets over a link that is never full: throughput is window over round trip.
    let longer = LinkChange { at: at(20.0), delay: Some(Duration::from_ms(90)), ..LinkChange::default() };
    let shorter = LinkChange { at: at(40.0), delay: Some(Duration::from_ms(40)), ..LinkChange::default() };
    let plan = one_link(changes(vec![longer, shorter]));
    let mut simulation = plan.simulation();
    let mut config = tcp(&plan, TcpVariant::Sack, "S", "R", "tcp");
    config.options.window = 10;
    let ack_bytes = f64::from(config.options.ack_size.as_bytes());
    let flow = simulation.add_tcp(config).unwrap();
    for (from, to, delay_s) in [(5.0, 19.0, 0.01), (25.0, 39.0, 0.09), (45.0, 59.0, 0.04)] {
        let measured = throughput(&mut simulation, flow, from, to);
        let round_trip_s = delay_s + 0.01 + (1000.0 + ack_bytes) * 8.0 / 10e6;
        let expected = 10.0 * 8000.0 / round_trip_s / 1e6;
        assert!((measured / expected - 1.0).abs() < 0.01, "{measured} of {expected}");
    }
}

#[test]
fn a_link_that_is_down_stops_everything_and_a_tcp_recovers() {
    let (mut simulation, flow, id) = one_tcp(down(&[(20.0, 22.0)]));
    let before = throughput(&mut simulation, flow, 10.0, 20.0);
    assert_eq!(throughput(&mut simulation, flow, 20.0, 22.0), 0.0);
    assert!(simulation.link_counters(id).losses > 0);
    // Timeouts back off to at most 4 s or so, then the window grows again.
    let after = throughput(&mut simulation, flow, 35.0, 45.0);
    assert!(before > 9.5 && after > 9.5, "{before} {after}");
    let capacity = simulation.link_capacity_bytes(id).unwrap();
    assert!((capacity - 43.0 * 1.25e6).abs() < 1e-3, "{capacity}");
}

#[test]
fn a_tree_loses_what_is_below_a_link_that_is_down_and_nothing_else() {
    let mut plan = Plan::new(&[
        ("S-G", link(10.0, 10.0), link(10.0, 10.0)),
        ("G-R", link(10.0, 10.0), link(10.0, 10.0)),
        ("G-Q", link(10.0, 10.0), link(10.0, 10.0)),
    ]);
    let id = plan.link("G-R");
    plan.network.vary_link(id, down(&[(10.0, 12.0), (20.0, 21.0)])).unwrap();
    let until = |node| Member { stop_s: 30.0, ..member(node) };
    let (mut simulation, ids) = fixed_session(&plan, &[800.0], &[until("R"), until("Q")]);
    simulation.run_until(at(40.0));
    let (hit, spared) = (simulation.receiver_counters(ids[0]), simulation.receiver_counters(ids[1]));
    // 100 packets a second for 3 s, and at most two on the link each time that it goes down.
    assert!((300..=304).contains(&hit.lost_packets), "{hit:?}");
    assert_eq!(spared.lost_packets, 0);
    assert_eq!(hit.received_packets + hit.lost_packets, spared.received_packets);
    assert_eq!(simulation.link_counters(id).losses, hit.lost_packets);
    assert_eq!(simulation.packets_in_flight(), 0);
}

#[test]
fn a_trace_of_constant_rate_carries_what_a_link_of_that_rate_does() {
    // Two opportunities each 3 ms: 8 Mbit/s.
    let trace = DeliveryTrace::parse("1\n3\n").unwrap();
    assert!((trace.mean_rate().as_bps() / 8e6 - 1.0).abs() < 1e-9);
    let by_trace = LinkVariation { trace: Some(Arc::new(trace)), ..LinkVariation::default() };
    let measured = [by_trace, changes(vec![rate_from(0.0, 8.0)])].map(|variation| {
        let (mut simulation, flow, _) = one_tcp(variation);
        throughput(&mut simulation, flow, 10.0, 60.0)
    });
    // Neither queue is ever empty, so both links carry their rate but for what the edges of the 50 s
    // cut: a packet and an opportunity at each, 5000 of 50 million bytes.
    assert!((measured[0] - measured[1]).abs() <= 8.0 * 1e-4, "{measured:?}");
    assert!(measured[0] > 7.9, "{measured:?}");
}

/// A changing world with everything in it; every second what all its links have done.
fn everything(seed: u64) -> Vec<String> {
    let mut plan = bottleneck(6.0);
    let loss = Some((LossModel::Bernoulli(0.02), LossPlace::AfterLink));
    let varied = LinkVariation {
        repeat: Some(Duration::from_secs(7)),
        ..changes(vec![
            LinkChange { at: at(1.0), delay: Some(Duration::from_ms(2)), loss, ..LinkChange::default() },
            rate_from(2.5, 3.0),
            LinkChange { delay: Some(Duration::from_ms(30)), ..rate_from(5.0, 9.0) },
        ])
    };
    let trace = Some(Arc::new(DeliveryTrace::parse("1\n1\n4\n9\n").unwrap()));
    let traced = LinkVariation { trace, ..down(&[(5.0, 5.5), (13.0, 15.0)]) };
    let (first, second) = (plan.link("S-G"), plan.link("G-R"));
    plan.network.vary_link(first, varied).unwrap();
    plan.network.vary_link(second, traced).unwrap();
    let mut simulation = Simulation::new(plan.network.clone(), seed);
    for name in NAMES {
        let protocol = Protocol::named(name).unwrap();
        add_session(&mut simulation, &plan, &protocol, seed, &[("R", 0.0), ("Q", 0.5)]);
    }
    for node in ["R", "Q"] {
        simulation.add_tcp(tcp(&plan, TcpVariant::Sack, "S", node, node)).unwrap();
    }
    // Each stop of a debug build checks that queues and wires hold all copies in flight.
    (1..=30)
        .map(|second| {
            simulation.run_until(at(f64::from(second)));
            let links = (0..6).map(|id| simulation.link_counters(LinkId(id))).collect::<Vec<_>>();
            format!("{links:?} {:?}", simulation.engine_counters())
        })
        .collect()
}

#[test]
fn the_same_changes_give_the_same_run() {
    let runs = [everything(1), everything(1), everything(2)];
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
}

#[test]
fn changes_allocate_nothing_in_the_steady_state() {
    let delay = |seconds, ms| LinkChange {
        at: at(seconds),
        delay: Some(Duration::from_ms(ms)),
        ..LinkChange::default()
    };
    // The delay falls and rises ten times a second, so that packets overtake all the time.
    let repeat = Some(Duration::from_ms(100));
    let swings = LinkVariation { repeat, ..changes(vec![delay(0.02, 5), delay(0.05, 25), delay(0.07, 15)]) };
    let trace = Some(Arc::new(DeliveryTrace::parse("1\n1\n4\n").unwrap()));
    let traced = LinkVariation { trace, ..LinkVariation::default() };
    for variation in [swings, traced] {
        let plan = one_link(variation);
        let (mut simulation, _) = fixed_session(&plan, &[4000.0], &[member("R")]);
        simulation.run_until(at(20.0));
        let before = simulation.engine_counters().packet_hops;
        let allocations = measure(|| simulation.run_until(at(120.0)));
        assert!(simulation.engine_counters().packet_hops - before > 40_000);
        assert_eq!(allocations.count_total, 0);
    }
}

#[test]
fn an_impossible_change_names_its_link() {
    let mut plan = Plan::new(&[("S-R", link(1.0, 1.0), link(1.0, 1.0))]);
    let (id, wrong) = (plan.link("S-R"), changes(vec![rate_from(3.0, 0.0)]));
    let error = plan.network.vary_link(id.reverse(), wrong).unwrap_err();
    let source = VariationError::ZeroRate { at: at(3.0) };
    assert_eq!(error, NetworkError::Variation { link: "R-S".to_owned(), source });
    assert_eq!(plan.network.node_name(NodeId(0)), "S");
    // The last call for a direction takes effect.
    plan.network.vary_link(id, down(&[(1.0, 2.0)])).unwrap();
    plan.network.vary_link(id, LinkVariation::default()).unwrap();
    assert_eq!(plan.simulation().link_capacity_bytes(id), None);
}
