//! Sessions with data behind edge routers: latencies, crashes, refusals, marks.

use crate::world::{ALWAYS, Member, Plan, add_fixed, at, link, member, tcp};
use layercast_core::contract::Cause;
use layercast_core::units::{Duration, Level, Rate};
use layercast_simulator::tcp::TcpVariant;
use layercast_simulator::{
    EdgeConfig, LeaveRule, LinkConfig, QuerierProfile, QueueConfig, QueueLimit, ReceiverId, RedConfig,
};

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// Data flows at this rate: a packet each millisecond.
const KBPS: f64 = 8_000.0;

/// S - G, then from G to R and to Q: 10 ms, 20 ms, 5 ms; membership messages go up at 1 Mbit/s.
fn fork() -> Plan {
    Plan::new(&[
        ("S-G", link(100.0, 10.0), link(1.0, 10.0)),
        ("G-R", link(100.0, 20.0), link(1.0, 20.0)),
        ("G-Q", link(100.0, 5.0), link(1.0, 5.0)),
    ])
}

/// A session behind an edge at R.
fn behind(edge: EdgeConfig, kbps: &[f64], members: &[Member]) -> (Plan, Simulation, Vec<ReceiverId>) {
    let plan = fork();
    let mut simulation = plan.simulation();
    simulation.set_edge(plan.node("R"), edge);
    let ids = add_fixed(&mut simulation, &plan, kbps, members);
    (plan, simulation, ids)
}

#[test]
fn the_latency_of_a_leave_is_the_check_the_prune_and_the_data_in_flight() {
    // From the leave until the last packet at R: check, 64 bytes up, one path down.
    for (edge, wait_s) in [
        (QuerierProfile::IgmpV3.config(), 2.0),
        (
            EdgeConfig {
                leave: LeaveRule::Fast { processing: Duration::from_ms(10) },
                ..EdgeConfig::default()
            },
            0.01,
        ),
        (EdgeConfig { leave_loss: 1.0, ..QuerierProfile::MldV2.config() }, 260.0),
    ] {
        let (plan, mut simulation, ids) =
            behind(edge, &[KBPS], &[Member { stop_s: 1.0, ..member("R") }, member("Q")]);
        simulation.run_until(at(wait_s + 5.0));
        let late_s = wait_s + 0.020_512 + 0.020_080;
        let late = simulation.receiver_counters(ids[0]).late_bytes as f64 / 1000.0;
        assert!((late - late_s * 1000.0).abs() <= 1.0, "{late} packets, not {late_s} s");
        // What is late has loaded the link.
        let received = simulation.receiver_counters(ids[0]).received_packets;
        let carried = simulation.link_counters(plan.link("G-R")).packets;
        assert_eq!(carried, received + late as u64);
    }
}

#[test]
fn the_latency_of_a_join_is_the_report_the_graft_and_the_data() {
    let late = Member { start_s: 1.0, join_ms: 150, ..member("R") };
    for (others, path_s) in [(vec![], 0.031_024 + 0.030_160), (vec![member("Q")], 0.020_512 + 0.020_080)] {
        let members: Vec<Member> = [late].into_iter().chain(others).collect();
        let (_, mut simulation, ids) = behind(QuerierProfile::IgmpV2.config(), &[KBPS], &members);
        simulation.run_until(at(3.0));
        let missed_s = 0.15 + path_s;
        let received = simulation.receiver_counters(ids[0]).received_packets as f64;
        assert!((received - (2.0 - missed_s) * 1000.0).abs() <= 1.0, "{received}, missed {missed_s} s");
    }
}

#[test]
fn a_crashed_host_receives_nothing_and_its_link_stays_loaded_for_the_membership_interval() {
    let (plan, mut simulation, ids) =
        behind(QuerierProfile::IgmpV2.config(), &[KBPS], &[member("R"), member("Q")]);
    simulation.crash_receiver(ids[0], at(10.0));
    simulation.run_until(at(10.0));
    let received = simulation.receiver_counters(ids[0]).received_packets;
    simulation.run_until(at(400.0));
    let after = simulation.receiver_counters(ids[0]);
    assert_eq!(after.received_packets, received);
    let expected = (260.0 + 0.020_512 + 0.020_080) * 1000.0;
    assert!((after.late_bytes as f64 / 1000.0 - expected).abs() <= 1.0, "{}", after.late_bytes);
    let carried = simulation.link_counters(plan.link("G-R")).packets;
    simulation.run_until(at(410.0));
    assert_eq!(simulation.link_counters(plan.link("G-R")).packets, carried, "pruned");
    assert!(simulation.receiver_counters(ids[1]).received_packets > 400_000, "Q goes on");
}

#[test]
fn of_two_hosts_on_a_network_one_crashes_and_the_other_goes_on() {
    let (_, mut simulation, ids) =
        behind(QuerierProfile::IgmpV2.config(), &[KBPS], &[member("R"), member("R")]);
    simulation.crash_receiver(ids[0], at(10.0));
    simulation.run_until(at(400.0));
    let [gone, there] = [ids[0], ids[1]].map(|id| simulation.receiver_counters(id));
    assert_eq!(gone.late_bytes, 0, "the other one wants it");
    assert!(there.received_packets > 399_000);
    assert!((9_900..10_000).contains(&gone.received_packets));
}

#[test]
fn an_edge_without_room_refuses_the_join_and_sessions_share_its_table() {
    let edge = EdgeConfig { group_limit: Some(3), ..QuerierProfile::IgmpV3.config() };
    let plan = fork();
    let mut simulation = plan.simulation();
    simulation.set_edge(plan.node("R"), edge);
    let wants_two = [Member { level: 1, ..member("R") }];
    let first = add_fixed(&mut simulation, &plan, &[100.0, 200.0], &wants_two)[0];
    let second = add_fixed(&mut simulation, &plan, &[100.0, 200.0], &wants_two)[0];
    simulation.run_until(at(10.0));
    let causes = |id| simulation.level_changes(id).iter().map(|change| change.cause).collect::<Vec<_>>();
    assert!(!causes(first).contains(&Cause::JoinFailed));
    let failed = simulation.level_changes(second).last().unwrap();
    assert_eq!((failed.cause, failed.to), (Cause::JoinFailed, Level::from_count(1)));
    let [first, second] = [first, second].map(|id| simulation.receiver_counters(id).received_packets);
    assert!((second * 2).abs_diff(first) <= 4, "{first} and half of it, {second}");
}

/// A queue that marks from two packets on.
fn marking() -> QueueConfig {
    QueueConfig::Red(RedConfig {
        min_threshold: Some(2.0),
        max_threshold: Some(8.0),
        limit: Some(QueueLimit::Packets(100)),
        ecn: true,
        ..RedConfig::ns2()
    })
}

/// Counts of R and Q, and the marks on the shared link and on the one to R.
fn marked(shared: QueueConfig, to_r: QueueConfig, ecn: bool) -> ([u64; 2], [u64; 2], [u64; 2]) {
    let narrow = |queue| LinkConfig { rate: Rate::from_mbps(10.0), queue, ..link(10.0, 5.0) };
    let plan = Plan::new(&[
        ("S-G", narrow(shared), link(10.0, 5.0)),
        ("G-R", narrow(to_r), link(10.0, 5.0)),
        ("G-Q", link(100.0, 5.0), link(100.0, 5.0)),
        ("G-T", link(100.0, 5.0), link(100.0, 5.0)),
    ]);
    let mut simulation = plan.simulation();
    let members = [member("R"), member("Q"), Member { stop_s: ALWAYS, ..member("T") }];
    let ids = crate::world::add_fixed_with(&mut simulation, &plan, &[2000.0], &members, ecn);
    // A TCP keeps each narrow link full.
    for (from, to) in [("S", "T"), ("G", "R")] {
        simulation.add_tcp(tcp(&plan, TcpVariant::Sack, from, to, to)).unwrap();
    }
    simulation.run_until(at(60.0));
    let receivers = [ids[0], ids[1]].map(|id| simulation.receiver_counters(id).marked_packets);
    let lost = [ids[0], ids[1]].map(|id| simulation.receiver_counters(id).lost_packets);
    (receivers, lost, ["S-G", "G-R"].map(|name| simulation.link_counters(plan.link(name)).marks))
}

#[test]
fn each_branch_has_its_own_marks_and_those_from_above() {
    let plain = QueueConfig::drop_tail(QueueLimit::Packets(1000));
    let (receivers, _, marks) = marked(plain, marking(), true);
    assert!(marks[1] >= 10, "{marks:?}");
    assert_eq!(marks[0], 0);
    assert!(receivers[0].abs_diff(marks[1]) <= 1, "R has the marks of its branch: {receivers:?} {marks:?}");
    assert_eq!(receivers[1], 0, "and Q none");

    let (receivers, _, marks) = marked(marking(), plain, true);
    assert!(marks[0] >= 10, "{marks:?}");
    for received in receivers {
        assert!(received.abs_diff(marks[0]) <= 1, "a mark from above is copied: {receivers:?} {marks:?}");
    }

    let (receivers, lost, marks) = marked(marking(), marking(), false);
    assert_eq!((receivers, marks), ([0, 0], [0, 0]), "a session that is not capable is not marked");
    assert!(lost[0] >= 10, "but loses packets: {lost:?}");
}
