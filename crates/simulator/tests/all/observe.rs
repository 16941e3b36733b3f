//! Observation does not change a run, and its counts add up.

use crate::world::{Plan, add_session, at, link, tcp};
use layercast_core::family::AnyProtocol as _;
use layercast_protocols::registry::{Header, Protocol};
use layercast_simulator::tcp::TcpVariant;
use layercast_simulator::{
    Carried, LinkConfig, LinkEvent, LinkId, LossModel, LossPlace, MembershipChange, QueueConfig, QueueLimit,
    ReceiverEntry, ReceiverEvent, ReceiverId, RedConfig,
};

type LinkRecord = layercast_simulator::LinkRecord<layercast_protocols::registry::Header>;
type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// A bottleneck with this queue that loses packets before it or at its end, and all that crosses it.
fn build(queue: QueueConfig, loss_place: LossPlace) -> (Simulation, LinkId, Vec<ReceiverId>) {
    let bottleneck = LinkConfig { queue, loss: LossModel::Bernoulli(0.01), loss_place, ..link(2.0, 10.0) };
    let plan = Plan::new(&[("S-G", bottleneck, link(2.0, 10.0)), ("G-R", link(10.0, 5.0), link(10.0, 5.0))]);
    let mut simulation = plan.simulation();
    let elm = Protocol::named("elm").unwrap();
    let receivers = add_session(&mut simulation, &plan, &elm, 1, &[("R", 0.0)]);
    simulation.add_tcp(tcp(&plan, TcpVariant::Sack, "S", "R", "tcp")).unwrap();
    (simulation, plan.link("S-G"), receivers)
}

fn queues() -> [QueueConfig; 2] {
    let limit = QueueLimit::Packets(12);
    [
        QueueConfig::drop_tail(limit),
        QueueConfig::Red(RedConfig { limit: Some(limit), ..RedConfig::classic() }),
    ]
}

fn watched(queue: QueueConfig, place: LossPlace) -> (Simulation, LinkId, Vec<LinkRecord>) {
    let (mut simulation, id, _) = build(queue, place);
    simulation.watch_link(id);
    simulation.watch_link(id.reverse());
    let mut records = Vec::new();
    for second in 1..=60 {
        simulation.run_until(at(f64::from(second)));
        simulation.drain_link(id, &mut |record| records.push(record));
    }
    (simulation, id, records)
}

#[test]
fn a_tap_changes_nothing_and_counts_as_the_link_does() {
    for queue in queues() {
        for place in [LossPlace::BeforeQueue, LossPlace::AfterLink] {
            let (mut plain, id, receivers) = build(queue, place);
            plain.run_until(at(60.0));
            let (seen, _, records) = watched(queue, place);
            let counters = plain.link_counters(id);
            assert_eq!(seen.link_counters(id), counters, "{queue:?}");
            assert_eq!(seen.link_counters(id.reverse()), plain.link_counters(id.reverse()), "{queue:?}");
            assert_eq!(seen.engine_counters(), plain.engine_counters(), "{queue:?}");
            assert_eq!(seen.receiver_counters(receivers[0]), plain.receiver_counters(receivers[0]));

            let count = |event| records.iter().filter(|record| record.event == event).count() as u64;
            assert!(counters.queue_drops > 0 && counters.losses > 0, "{counters:?}");
            assert_eq!(count(LinkEvent::Sent), counters.packets);
            assert_eq!(count(LinkEvent::Dropped), counters.queue_drops);
            assert_eq!(count(LinkEvent::Lost), counters.losses);
            // What was offered was dropped, lost, has arrived, or is still there.
            let there = plain.queue_state(id).packets as u64;
            let lost_first = if place == LossPlace::BeforeQueue { counters.losses } else { 0 };
            assert_eq!(
                count(LinkEvent::Offered),
                counters.packets + counters.queue_drops + lost_first + there
            );
            let on_wire = counters.packets - count(LinkEvent::Arrived) - (counters.losses - lost_first);
            assert!(on_wire <= 4, "{on_wire} on a wire that takes 14 ms, 4 ms for each");
            assert!(records.is_sorted_by_key(|record| record.at), "records are in the order of time");
            let bytes: u64 = records
                .iter()
                .filter(|record| record.event == LinkEvent::Sent)
                .map(|record| u64::from(record.size.as_bytes()))
                .sum();
            assert_eq!(bytes, counters.bytes);
        }
    }
}

#[test]
fn a_log_of_drops_has_what_queues_dropped_and_changes_nothing() {
    for queue in queues() {
        let (mut plain, id, _) = build(queue, LossPlace::AfterLink);
        plain.run_until(at(60.0));
        let (mut seen, _, _) = build(queue, LossPlace::AfterLink);
        seen.keep_drops();
        let mut drops = Vec::new();
        for second in 1..=60 {
            seen.run_until(at(f64::from(second)));
            seen.drain_drops(&mut |drop| drops.push(drop));
        }
        assert_eq!(seen.engine_counters(), plain.engine_counters(), "{queue:?}");
        assert_eq!(seen.link_counters(id), plain.link_counters(id), "{queue:?}");
        assert_eq!(drops.len() as u64, plain.link_counters(id).queue_drops, "{queue:?}");
        assert!(drops.is_sorted_by_key(|drop| drop.at));
        assert!(drops.iter().all(|drop| drop.link == id));
        let of_session = drops.iter().filter(|drop| matches!(drop.carried, Carried::Data { .. })).count();
        let of_tcp = drops.iter().filter(|drop| matches!(drop.carried, Carried::TcpData { .. })).count();
        assert!(of_session > 0 && of_tcp > 0 && of_session + of_tcp == drops.len(), "{of_session}, {of_tcp}");
    }
}

#[test]
fn a_tap_reports_what_each_packet_is() {
    let (mut simulation, id, records) = watched(queues()[0], LossPlace::BeforeQueue);
    let has = |fits: &dyn Fn(&Carried<Header>) -> bool| records.iter().any(|record| fits(&record.carried));
    assert!(has(&|carried| matches!(carried, Carried::TcpData { seq: 0, .. })));
    assert!(has(&|carried| matches!(carried, Carried::Data { channel, .. } if channel.0 == 2)));
    let mut back = Vec::new();
    simulation.drain_link(id.reverse(), &mut |record| back.push(record.carried));
    let has = |fits: &dyn Fn(&Carried<Header>) -> bool| back.iter().any(fits);
    assert!(has(&|carried| matches!(carried, Carried::TcpAck { blocks, .. } if !blocks.is_empty())));
    assert!(has(&|carried| matches!(carried, Carried::Unicast { to_source: true, .. })));
    let graft = MembershipChange::Graft;
    assert!(has(&|carried| matches!(carried, Carried::Membership { change, .. } if *change == graft)));
    // All is handed out once.
    let mut again = 0;
    simulation.drain_link(id, &mut |_| again += 1);
    assert_eq!(again, 0);
}

#[test]
fn a_log_has_every_join_and_change_of_level() {
    let (mut simulation, _, receivers) = build(queues()[0], LossPlace::BeforeQueue);
    simulation.keep_logs();
    simulation.run_until(at(60.0));
    let mut log: Vec<ReceiverEntry> = Vec::new();
    simulation.drain_log(receivers[0], &mut |entry| log.push(entry));
    assert!(log.is_sorted_by_key(|entry| entry.at));
    let changes = simulation.level_changes(receivers[0]);
    let noted = log.iter().filter(|entry| {
        matches!(entry.event, ReceiverEvent::Trace(layercast_core::contract::TraceEvent::LevelChanged { .. }))
    });
    assert!(changes.len() > 1);
    assert_eq!(noted.count(), changes.len());
    let held = log.iter().fold(0i64, |held, entry| match entry.event {
        ReceiverEvent::Join(_) => held + 1,
        ReceiverEvent::Leave(_) => held - 1,
        ReceiverEvent::Trace(_) => held,
    });
    assert_eq!(held, i64::from(changes.last().unwrap().to.layer_count()));
}
