//! Nothing is lost that is not counted, and nothing is counted that was not sent.

use crate::world::{Member, Plan, add_fixed, at, fixed_session, link, member, tcp};
use layercast_simulator::tcp::TcpVariant;
use layercast_simulator::{
    CoDelConfig, DropTailConfig, DualPi2Config, FairConfig, FqCoDelConfig, LinkConfig, LinkId, LossModel,
    LossPlace, NetworkError, PieConfig, QueueConfig, QueueLimit, RedConfig, RemConfig, TcpConfig,
};

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// Two links with small queues and losses of their own, in both directions.
fn chain() -> Plan {
    let poor = |mbps, loss| LinkConfig {
        queue: QueueConfig::drop_tail(QueueLimit::Packets(8)),
        loss: LossModel::Bernoulli(loss),
        loss_place: LossPlace::BeforeQueue,
        loss_marks: false,
        ..link(mbps, 10.0)
    };
    Plan::new(&[("S-G", poor(5.0, 0.02), poor(5.0, 0.03)), ("G-R", poor(2.0, 0.01), poor(2.0, 0.0))])
}

/// Packets that were offered to a link in all; nothing may wait or be on the wire.
fn offered(simulation: &Simulation, link: LinkId) -> u64 {
    let counters = simulation.link_counters(link);
    counters.packets + counters.losses + counters.queue_drops
}

fn dropped(simulation: &Simulation, link: LinkId) -> u64 {
    offered(simulation, link) - simulation.link_counters(link).packets
}

#[test]
fn what_tcp_sends_arrives_or_is_lost_at_some_link() {
    for variant in TcpVariant::ALL {
        let plan = chain();
        let mut simulation = plan.simulation();
        let flows: Vec<_> = (0..3)
            .map(|i| {
                let config = tcp(&plan, variant, "S", "R", &format!("tcp-{i}"));
                simulation.add_tcp(TcpConfig { stop: Some(at(60.0)), ..config }).unwrap()
            })
            .collect();
        // Each stop of a debug build checks that queues and wires hold all copies in flight.
        for second in 1..=60 {
            simulation.run_until(at(f64::from(second)));
        }
        assert!(simulation.packets_in_flight() > 0);
        simulation.run_until(at(70.0));
        assert_eq!(simulation.packets_in_flight(), 0);
        let (first, second) = (plan.link("S-G"), plan.link("G-R"));
        let sum = |of: fn(&layercast_simulator::FlowCounters) -> u64| -> u64 {
            flows.iter().map(|&flow| of(&simulation.tcp_counters(flow))).sum()
        };
        assert_eq!(offered(&simulation, first), sum(|flow| flow.sent_packets));
        assert_eq!(offered(&simulation, second), simulation.link_counters(first).packets);
        let lost = dropped(&simulation, first) + dropped(&simulation, second);
        assert!(dropped(&simulation, first) > 100 && dropped(&simulation, second) > 100);
        assert_eq!(sum(|flow| flow.lost_packets), lost);
        // What came through is new or a duplicate; a sender with selective acknowledgements resends
        // little in vain.
        let through = simulation.link_counters(second).packets;
        let new = sum(|flow| flow.received_packets);
        assert!(new <= through && through < new + new / 5, "{new} {through}");
        // One acknowledgement each, which may be lost as well.
        assert_eq!(offered(&simulation, second.reverse()), through);
        assert_eq!(offered(&simulation, first.reverse()), simulation.link_counters(second.reverse()).packets);
    }
}

#[test]
fn what_a_session_sends_arrives_is_late_or_is_lost_at_some_link() {
    let plan = chain();
    let leaver = Member { level: 1, stop_s: 30.0, leave_ms: 500, ..member("R") };
    let (mut simulation, ids) = fixed_session(&plan, &[1000.0, 4000.0], &[leaver]);
    simulation.run_until(at(60.0));
    assert_eq!(simulation.packets_in_flight(), 0);
    let (first, second) = (plan.link("S-G"), plan.link("G-R"));
    let counters = simulation.receiver_counters(ids[0]);
    let arrived = counters.received_packets + counters.late_bytes / 1000;
    assert_eq!(simulation.link_counters(second).packets, arrived);
    // A loss after the leave counts for no receiver; before it all losses are the receiver's. The latency
    // is half a second of 500 packets a second, of which half do not fit.
    let lost = dropped(&simulation, first) + dropped(&simulation, second);
    assert!(counters.lost_packets <= lost && lost <= counters.lost_packets + 350, "{lost} {counters:?}");
    assert_eq!(counters.sent_packets, counters.received_packets + counters.lost_packets);
}

/// Three TCPs and a session of two channels, more than the bottleneck carries, through every queue.
#[test]
fn every_queue_carries_or_drops_what_it_gets() {
    let limit = QueueLimit::Packets(30);
    for queue in [
        QueueConfig::drop_tail(limit),
        QueueConfig::DropTail(DropTailConfig { limit, ns2_compat: true, drop_front: true }),
        QueueConfig::Red(RedConfig { limit: Some(limit), ..RedConfig::classic() }),
        QueueConfig::CoDel(CoDelConfig { limit, ..CoDelConfig::default() }),
        QueueConfig::Rem(RemConfig { limit, ..RemConfig::default() }),
        QueueConfig::Pie(PieConfig { limit, ..PieConfig::default() }),
        QueueConfig::FqCoDel(FqCoDelConfig { limit, ..FqCoDelConfig::default() }),
        QueueConfig::DualPi2(DualPi2Config { limit: Some(limit), ..DualPi2Config::default() }),
        QueueConfig::Fair(FairConfig { limit, ..FairConfig::default() }),
    ] {
        let plan = Plan::new(&[("S-R", LinkConfig { queue, ..link(4.0, 10.0) }, link(4.0, 10.0))]);
        let leaver = Member { level: 1, stop_s: 60.0, ..member("R") };
        let (mut simulation, ids) = fixed_session(&plan, &[1000.0, 3000.0], &[leaver]);
        let flows: Vec<_> = (0..3)
            .map(|i| {
                let config = tcp(&plan, TcpVariant::Sack, "S", "R", &format!("tcp-{i}"));
                simulation.add_tcp(TcpConfig { stop: Some(at(60.0)), ..config }).unwrap()
            })
            .collect();
        // Each stop of a debug build checks that queues and wires hold all copies in flight.
        for second in 1..=70 {
            simulation.run_until(at(f64::from(second)));
        }
        assert_eq!(simulation.packets_in_flight(), 0, "{queue:?}");
        let session = simulation.receiver_counters(ids[0]);
        let sent: u64 = flows.iter().map(|&flow| simulation.tcp_counters(flow).sent_packets).sum();
        let lost: u64 = flows.iter().map(|&flow| simulation.tcp_counters(flow).lost_packets).sum();
        // Packets that wait at its leave, or arrive while the prune goes up for 10 ms, count for no
        // receiver.
        let late = offered(&simulation, plan.link("S-R")) - sent - session.sent_packets;
        assert!(late <= 3 + 30, "{queue:?}: {late}");
        let drops = simulation.link_counters(plan.link("S-R")).queue_drops;
        assert!(lost + session.lost_packets <= drops && drops <= lost + session.lost_packets + late);
        assert!(drops > 1000, "{queue:?}: {drops}");
    }
}

#[test]
fn a_full_link_is_busy_all_the_time_and_its_queue_full() {
    let queue = QueueConfig::drop_tail(QueueLimit::Packets(21));
    let plan = Plan::new(&[("S-R", LinkConfig { queue, ..link(8.0, 5.0) }, link(8.0, 5.0))]);
    let (mut simulation, ids) = fixed_session(&plan, &[16_000.0], &[member("R")]);
    simulation.run_until(at(1.0));
    let before = (simulation.link_counters(plan.link("S-R")), simulation.receiver_counters(ids[0]));
    simulation.run_until(at(11.0));
    let after = (simulation.link_counters(plan.link("S-R")), simulation.receiver_counters(ids[0]));
    // 8 Mbit/s for 10 s, at most one packet of 1000 bytes cut at each end.
    let bytes = after.0.bytes - before.0.bytes;
    assert!(bytes.abs_diff(10_000_000) <= 1000, "{bytes}");
    assert_eq!(after.1.received_bytes - before.1.received_bytes, bytes);
    // Twice as much comes as goes: after each departure an arrival fills the queue to 20 again. The
    // place is empty for at most half of a transmission.
    let mean = (after.0.queue_packet_ns - before.0.queue_packet_ns) as f64 / 1e10;
    assert!((19.5..=20.0).contains(&mean), "{mean}");
    let drops = after.0.queue_drops - before.0.queue_drops;
    assert!(drops.abs_diff(10_000) <= 2, "{drops}");
}

#[test]
fn an_endless_queue_grows_as_what_comes_and_does_not_go() {
    let plan = Plan::new(&[("S-R", link(8.0, 5.0), link(8.0, 5.0))]);
    let (mut simulation, _) = fixed_session(&plan, &[16_000.0], &[member("R")]);
    simulation.run_until(at(2.0));
    // 1000 packets a second too many make a triangle: 2000 packets after 2 s (the graft takes 5 ms).
    let integral = simulation.link_counters(plan.link("S-R")).queue_packet_ns as f64 / 1e9;
    assert!((integral / 2000.0 - 1.0).abs() < 0.01, "{integral}");
    assert_eq!(simulation.link_counters(plan.link("S-R")).queue_drops, 0);
    // A stop before now changes nothing.
    simulation.run_until(at(1.0));
    assert_eq!(simulation.link_counters(plan.link("S-R")).queue_packet_ns as f64 / 1e9, integral);
    simulation.run_until(at(2.0));
    assert_eq!(simulation.link_counters(plan.link("S-R")).queue_packet_ns as f64 / 1e9, integral);
}

#[test]
fn both_ends_at_one_node_is_an_error() {
    let plan = chain();
    let mut simulation = plan.simulation();
    let error = simulation.add_tcp(tcp(&plan, TcpVariant::Sack, "S", "S", "tcp")).unwrap_err();
    assert_eq!(error, NetworkError::SameNode { node: "S".to_owned() });
    assert_eq!(error.to_string(), "both ends are at S; put them on different nodes");
    let ids = add_fixed(&mut simulation, &plan, &[1000.0], &[member("R")]);
    simulation.run_until(at(1.0));
    assert!(simulation.receiver_counters(ids[0]).received_packets > 0, "the error left nothing behind");
}
