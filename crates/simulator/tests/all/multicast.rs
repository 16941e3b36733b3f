//! Trees and membership: which receiver gets which channel, from when and until when.

use crate::world::{ALWAYS, Member, Plan, at, fixed_session, link, member};
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};
use layercast_simulator::{LinkConfig, LossModel, ReceiverId};

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// Data flows at this rate: a packet each 100 us.
const KBPS: f64 = 80_000.0;
/// How fine arrivals are looked for.
const STEP: Duration = Duration::from_us(10);
/// From the source over G to R: two transmissions of 80 us, 10 and 20 ms.
const TRAVEL: Duration = Duration::from_us(30_160);
/// From G to R.
const LAST_HOP: Duration = Duration::from_us(20_080);
/// A graft or prune from R to G and from G to the source: 64 bytes at 1 Mbit/s, 20 and 10 ms.
const UP_TO_G: Duration = Duration::from_us(20_512);
const UP_TO_S: Duration = Duration::from_us(10_512);

/// S - G, then from G to R and to Q.
fn fork() -> Plan {
    let (fast, slow) = (|ms| link(100.0, ms), |ms| link(1.0, ms));
    Plan::new(&[
        ("S-G", fast(10.0), slow(10.0)),
        ("G-R", fast(20.0), slow(20.0)),
        ("G-Q", fast(5.0), slow(5.0)),
    ])
}

/// When packets reach a receiver until `end`.
fn arrivals(simulation: &mut Simulation, id: ReceiverId, end: Time) -> Vec<Time> {
    let (mut found, mut now) = (Vec::new(), Time::ZERO);
    while now < end {
        now += STEP;
        simulation.run_until(now);
        let received = simulation.receiver_counters(id).received_packets;
        assert!(received <= found.len() as u64 + 1, "two packets within {STEP}");
        if received > found.len() as u64 {
            found.push(now);
        }
    }
    found
}

/// When packets arrive at R if it has been a member of the channel from the start: the reference for all
/// else.
fn reference(end_s: f64) -> Vec<Time> {
    let (mut simulation, ids) = fixed_session(&fork(), &[KBPS], &[member("R")]);
    arrivals(&mut simulation, ids[0], at(end_s))
}

#[test]
fn a_join_takes_its_latency_the_graft_and_the_data() {
    let reference = reference(0.6);
    let late = Member { start_s: 0.2, join_ms: 150, ..member("R") };
    // Alone, the graft goes up to the source; with Q, only to G.
    let alone = (vec![late], at(0.35) + UP_TO_G + UP_TO_S + TRAVEL);
    let with_neighbour = (vec![late, member("Q")], at(0.35) + UP_TO_G + LAST_HOP);
    for (members, earliest) in [alone, with_neighbour] {
        let (mut simulation, ids) = fixed_session(&fork(), &[KBPS], &members);
        let found = arrivals(&mut simulation, ids[0], at(0.6));
        // The packets that G, or the source, had after the graft; all of them, and none before.
        let expected: Vec<Time> = reference.iter().copied().filter(|&when| when >= earliest).collect();
        assert!(found.len() > 1000);
        // Arrivals are seen up to one step late, so that the first may fall on either side.
        assert!(found[0].since(earliest) <= Duration::from_us(100) + STEP, "{} {earliest}", found[0]);
        assert_eq!(found[1..], expected[expected.len() - (found.len() - 1)..]);
        assert!(found.len().abs_diff(expected.len()) <= 1);
    }
}

#[test]
fn a_join_taken_back_before_it_counts_brings_nothing() {
    let hasty = Member { start_s: 0.1, stop_s: 0.2, join_ms: 150, ..member("R") };
    let plan = fork();
    let (mut simulation, ids) = fixed_session(&plan, &[KBPS], &[hasty]);
    simulation.run_until(at(1.0));
    assert_eq!(simulation.receiver_counters(ids[0]), Default::default());
    assert_eq!(simulation.link_counters(plan.link("G-R").reverse()).packets, 0, "no graft set out");
}

#[test]
fn data_flows_for_the_leave_latency_and_counts_as_late() {
    let reference = reference(1.0);
    for leave_ms in [0, 100] {
        let plan = fork();
        let leaver = Member { stop_s: 0.6, leave_ms, ..member("R") };
        let (mut simulation, ids) = fixed_session(&plan, &[KBPS], &[leaver]);
        simulation.run_until(at(1.0));
        let counters = simulation.receiver_counters(ids[0]);
        // G forwards until the prune has come and the latency is over.
        let last_at_g = at(0.6) + UP_TO_G + Duration::from_ms(leave_ms);
        let count =
            |from: Time, to: Time| reference.iter().filter(|&&when| when > from && when <= to).count();
        let received = count(Time::ZERO, at(0.6)) as u64;
        let late = count(at(0.6), last_at_g + LAST_HOP) as u64;
        // One packet more or less, since the reference is seen up to one step late.
        assert!(
            counters.received_packets.abs_diff(received) <= 1,
            "{} {received}",
            counters.received_packets
        );
        assert!((counters.late_bytes / 1000).abs_diff(late) <= 1, "{} {late}", counters.late_bytes);
        assert_eq!(counters.late_bytes % 1000, 0);
        assert_eq!(counters.received_bytes, counters.received_packets * 1000);
        assert_eq!((counters.lost_packets, counters.sent_packets), (0, counters.received_packets));
        let carried = simulation.link_counters(plan.link("G-R")).packets;
        assert_eq!(carried, counters.received_packets + counters.late_bytes / 1000);
        // The router above prunes at once: what is still in flight to G ends there.
        let last_at_source = last_at_g + UP_TO_S;
        let sent = count(Time::ZERO, last_at_source + TRAVEL) as u64;
        assert!(simulation.link_counters(plan.link("S-G")).packets.abs_diff(sent) <= 1);
    }
}

#[test]
fn a_join_while_the_router_is_leaving_takes_the_prune_back() {
    let plan = fork();
    let leaver = Member { stop_s: 0.3, leave_ms: 200, ..member("R") };
    let joiner = Member { start_s: 0.4, ..member("R") };
    let (mut simulation, ids) = fixed_session(&plan, &[KBPS], &[leaver, joiner]);
    simulation.run_until(at(1.0));
    let (mut undisturbed, _) = fixed_session(&plan, &[KBPS], &[member("R")]);
    undisturbed.run_until(at(1.0));
    let data = |simulation: &Simulation| simulation.link_counters(plan.link("G-R")).packets;
    assert_eq!(data(&simulation), data(&undisturbed), "the flow is not interrupted");
    let up = |name: &str| simulation.link_counters(plan.link(name).reverse()).packets;
    assert_eq!((up("G-R"), up("S-G")), (3, 1), "graft, prune, graft; of these only the first goes on");
    // Every arrival counts for the one or the other receiver, or in between as late for the one that has
    // left.
    let [first, second] = [ids[0], ids[1]].map(|id| simulation.receiver_counters(id));
    let late = first.late_bytes / 1000;
    assert!((990..=1010).contains(&late), "100 ms without a member: {late} packets");
    assert_eq!(second.late_bytes, 0);
    let accounted = first.received_packets + late + second.received_packets;
    let on_the_wire = data(&simulation) - accounted;
    assert!((199..=202).contains(&on_the_wire), "20.08 ms of packets: {on_the_wire}");
}

#[test]
fn receivers_at_one_node_share_one_copy_and_prune_with_the_last() {
    let plan = fork();
    let first = Member { stop_s: 0.5, ..member("R") };
    let second = Member { stop_s: 0.8, ..member("R") };
    let (mut simulation, ids) = fixed_session(&plan, &[KBPS], &[first, second]);
    let up = plan.link("G-R").reverse();
    simulation.run_until(at(0.5));
    let [a, b] = [ids[0], ids[1]].map(|id| simulation.receiver_counters(id));
    assert_eq!(a, b);
    // All but what is on the wire: 20.08 ms of packets.
    let carried = simulation.link_counters(plan.link("G-R")).packets;
    assert!((200..=202).contains(&(carried - a.received_packets)), "{carried} {}", a.received_packets);
    simulation.run_until(at(0.79));
    assert_eq!(simulation.link_counters(up).packets, 1, "the graft; no prune while one stays");
    assert_eq!(simulation.receiver_counters(ids[0]).received_packets, a.received_packets);
    assert!(simulation.receiver_counters(ids[1]).received_packets > a.received_packets + 2000);
    simulation.run_until(at(1.5));
    assert_eq!(simulation.link_counters(up).packets, 2, "the prune of the last");
    assert_eq!(simulation.packets_in_flight(), 0);
    // What came while the other was there was not late.
    assert_eq!(simulation.receiver_counters(ids[0]).late_bytes, 0);
    assert!(simulation.receiver_counters(ids[1]).late_bytes > 0);
}

#[test]
fn receivers_at_an_inner_node_and_below_it_do_not_depend_on_each_other() {
    let plan = fork();
    let inner = Member { stop_s: 0.4, ..member("G") };
    let below = Member { start_s: 0.1, stop_s: 0.8, ..member("R") };
    let again = Member { start_s: 0.6, ..member("G") };
    let (mut simulation, ids) = fixed_session(&plan, &[KBPS], &[inner, below, again]);
    simulation.run_until(at(1.2));
    let packets = |id: usize| simulation.receiver_counters(ids[id]).received_packets as f64;
    // Ten packets a millisecond, from when they can come until the stop.
    let expected = [0.4 - 0.0206, 0.7 - 0.0406, 0.6];
    for (id, seconds) in expected.into_iter().enumerate() {
        assert!((packets(id) - seconds * 1e4).abs() < 10.0, "{id}: {} not {}", packets(id), seconds * 1e4);
    }
    let up = simulation.link_counters(plan.link("S-G").reverse()).packets;
    assert_eq!(up, 1, "the path to G is never pruned");
}

/// A tree with branches at two depths, and what each receiver can be delayed by at most.
fn deep() -> Plan {
    let both = |mbps, ms| (link(mbps, ms), link(mbps, ms));
    let named = |name, (forward, backward): (LinkConfig, LinkConfig)| (name, forward, backward);
    Plan::new(&[
        named("S-A", both(100.0, 3.0)),
        named("A-B", both(80.0, 4.0)),
        named("A-C", both(90.0, 1.0)),
        named("B-D", both(50.0, 2.0)),
        named("B-E", both(60.0, 7.0)),
        named("C-F", both(70.0, 5.0)),
    ])
}

#[test]
fn each_of_many_receivers_gets_its_layers_and_no_others() {
    const NODES: [(&str, f64); 6] = [("A", 3.0), ("B", 7.0), ("C", 4.0), ("D", 9.0), ("E", 14.0), ("F", 9.0)];
    // Packets per second of the layers: 250, 250, 500.
    const RATES: [f64; 3] = [2000.0, 4000.0, 8000.0];
    for seed in 0..20 {
        let mut stream = Stream::new(seed, "members");
        let mut pick = |bound: f64| stream.uniform_in(0.0, bound);
        let members: Vec<Member> = (0..12)
            .map(|_| {
                let start_s = pick(2.0);
                Member {
                    node: NODES[pick(6.0) as usize].0,
                    level: pick(3.0) as i64,
                    start_s,
                    stop_s: start_s + 0.2 + pick(2.0),
                    join_ms: pick(30.0) as u64,
                    leave_ms: pick(300.0) as u64,
                }
            })
            .collect();
        let plan = deep();
        let (mut simulation, ids) = fixed_session(&plan, &RATES, &members);
        simulation.run_until(at(6.0));
        assert_eq!(simulation.packets_in_flight(), 0, "all have left");
        for (member, id) in members.iter().zip(ids) {
            let counters = simulation.receiver_counters(id);
            let delay_ms = NODES.iter().find(|(name, _)| *name == member.node).unwrap().1;
            // From the join, at the latest after a path up and down, until the leave; a packet of each
            // layer may fall on either side of each end, and transmissions take 1 ms in all.
            let layers = member.level as f64 + 1.0;
            let per_s = RATES[member.level as usize] / 8.0;
            let join_s = member.join_ms as f64 / 1e3;
            let most_s = member.stop_s - member.start_s - join_s;
            let least_s = most_s - (2.0 * delay_ms + 1.0) / 1e3;
            let received = counters.received_packets as f64;
            assert!(received <= most_s * per_s + layers, "{seed} {member:?}: {received}");
            assert!(received >= least_s * per_s - layers, "{seed} {member:?}: {received}");
            assert_eq!((counters.lost_packets, counters.sent_packets), (0, counters.received_packets));
            // Late packets arrive within the latency of the last receiver that leaves here, and one path
            // down.
            let late_s = counters.late_bytes as f64 / 1000.0 / 1000.0;
            assert!(late_s <= 4.0, "{seed} {member:?}: {late_s}");
        }
    }
}

#[test]
fn a_loss_on_a_shared_link_counts_for_each_member_below_that_holds_the_channel() {
    let lossy = |loss: LossModel| {
        let shared = LinkConfig { loss, ..link(100.0, 10.0) };
        let clean = || (link(100.0, 5.0), link(100.0, 5.0));
        let named = |name, (forward, backward): (LinkConfig, LinkConfig)| (name, forward, backward);
        Plan::new(&[
            ("S-G", shared, link(100.0, 10.0)),
            named("G-R", clean()),
            named("G-Q", clean()),
            named("G-Z", clean()),
        ])
    };
    // R holds both layers and has a neighbour with the base layer alone, as Q; Z is gone before the
    // losses begin.
    let leaver = Member { stop_s: 0.4, ..member("Z") };
    let members = [Member { level: 1, ..member("R") }, member("Q"), leaver, member("R")];
    let run = |plan: &Plan| {
        let (mut simulation, ids) = fixed_session(plan, &[1000.0, 3000.0], &members);
        simulation.run_until(at(2.0));
        let counters: Vec<_> = ids.iter().map(|&id| simulation.receiver_counters(id)).collect();
        (counters, simulation.link_counters(plan.link("S-G")))
    };
    let (clean, carried) = run(&lossy(LossModel::None));
    // From packet 200 of 375 a second, so after 0.5 s: one of three is of the base layer.
    let lost: Vec<u64> = (200..400).collect();
    let (counters, shared) = run(&lossy(LossModel::List(lost)));
    assert_eq!((shared.losses, shared.queue_drops), (200, 0));
    assert_eq!(shared.packets + shared.losses, carried.packets);
    assert_eq!(counters[0].lost_packets, 200, "R holds all that is sent");
    let of_base = counters[1].lost_packets;
    assert!((60..=74).contains(&of_base), "a third of the packets are of the base layer: {of_base}");
    assert_eq!(counters[2], clean[2], "Z had left");
    assert_eq!(counters[3].lost_packets, of_base, "the neighbour of R as Q");
    for (lossy, clean) in counters.iter().zip(&clean) {
        assert_eq!(lossy.received_packets + lossy.lost_packets, clean.received_packets);
        assert_eq!(lossy.sent_packets, clean.sent_packets);
    }
}

#[test]
fn what_nobody_wants_is_not_sent() {
    let plan = fork();
    let absent = Member { start_s: ALWAYS / 2.0, ..member("R") };
    let (mut simulation, ids) = fixed_session(&plan, &[1000.0, 2000.0], &[absent, member("Q")]);
    simulation.run_until(at(5.0));
    assert_eq!(simulation.receiver_counters(ids[0]), Default::default());
    assert_eq!(simulation.link_counters(plan.link("G-R")).packets, 0);
    // Only the base layer is held: 125 packets a second.
    let sent = simulation.link_counters(plan.link("S-G")).packets;
    assert!((620..=625).contains(&sent), "{sent}");
}
