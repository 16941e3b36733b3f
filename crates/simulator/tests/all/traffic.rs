//! Traffic that comes and goes: transfers, arrivals, pauses, constant rates.

use crate::world::{Plan, at, link, tcp};
use allocation_counter::measure;
use layercast_core::units::{Rate, Size, Time};
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{
    ArrivalsConfig, Carried, Demand, Distribution, LinkConfig, LinkEvent, LossModel, QueueConfig, QueueLimit,
    TcpConfig, TcpId, UdpConfig, UdpId,
};

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

fn path(mbps: f64, loss: f64) -> Plan {
    let queue = QueueConfig::drop_tail(QueueLimit::Packets(50));
    let forward = LinkConfig { queue, loss: LossModel::Bernoulli(loss), ..link(mbps, 25.0) };
    Plan::new(&[("S-R", forward.clone(), forward)])
}

fn add(simulation: &mut Simulation, plan: &Plan, variant: TcpVariant, demand: Demand, name: &str) -> TcpId {
    let options = TcpOptions { window: 1000, ..TcpOptions::new(variant, TcpProfile::Ns2) };
    simulation.add_tcp(TcpConfig { options, demand, ..tcp(plan, variant, "S", "R", name) }).unwrap()
}

fn transfers(bytes: Distribution, gap_s: Option<Distribution>) -> Demand {
    Demand::Transfers { bytes, gap_s }
}

#[test]
fn equal_transfers_on_an_empty_path_take_equal_times() {
    for variant in TcpVariant::ALL {
        let plan = path(10.0, 0.0);
        let mut simulation = plan.simulation();
        let demand = transfers(Distribution::Fixed(30_500.0), Some(Distribution::Fixed(1.0)));
        let id = add(&mut simulation, &plan, variant, demand.clone(), "tcp");
        simulation.run_until(at(20.0));
        // 31 packets and the opening one each; packets in flight are not counted yet.
        let counters = simulation.tcp_counters(id);
        let small_first = variant != TcpVariant::Vegas;
        let packets = 31 + u64::from(small_first);
        assert!(counters.received_packets / packets - counters.transfers <= 1, "{variant:?}");
        assert!(counters.transfers > 8, "{variant:?}: {counters:?}");
        // Round trips of 50 ms: one to open, then windows that double from 2, from 1 every second time
        // for Vegas.
        let mean_s = counters.transfer_ns as f64 / counters.transfers as f64 / 1e9;
        assert!((0.25..0.75).contains(&mean_s), "{variant:?}: {mean_s}");
        let mut first = plan.simulation();
        let once = add(&mut first, &plan, variant, demand, "tcp");
        first.run_until(at(1.0));
        let once = first.tcp_counters(once);
        assert_eq!(
            (once.transfers, once.transfer_ns * u128::from(counters.transfers)),
            (1, counters.transfer_ns)
        );
    }
}

/// Lost packets must not keep a transfer from its end, and none may count for the next one.
#[test]
fn transfers_over_a_lossy_path_all_end() {
    for variant in TcpVariant::ALL {
        let plan = path(10.0, 0.05);
        let mut simulation = plan.simulation();
        let sizes = Distribution::Pareto { mean: 12_000.0, shape: 1.3 };
        let id = add(
            &mut simulation,
            &plan,
            variant,
            transfers(sizes, Some(Distribution::Exponential { mean: 0.1 })),
            "tcp",
        );
        // A lost first packet costs 3 s, and twice as much each time again: some transfers take a minute.
        let mut last = 0;
        for half in 1..=2 {
            simulation.run_until(at(600.0 * f64::from(half)));
            let counters = simulation.tcp_counters(id);
            assert!(counters.transfers > last + 200, "{variant:?}: {counters:?}");
            last = counters.transfers;
        }
    }
}

/// Ten arrivals of 20 kB in a second.
fn with_arrivals(slots: usize, until_s: f64) -> (Simulation, Vec<TcpId>, Plan) {
    let plan = path(10.0, 0.001);
    let mut simulation = plan.simulation();
    let bytes = Distribution::LogNormal { mean: 20_000.0, sigma: 1.0 };
    let flows: Vec<TcpId> = (0..slots)
        .map(|slot| {
            let variant = TcpVariant::ALL[slot % TcpVariant::ALL.len()];
            add(&mut simulation, &plan, variant, transfers(bytes, None), &format!("tcp-{slot}"))
        })
        .collect();
    simulation.add_arrivals(ArrivalsConfig {
        gap_s: Distribution::Exponential { mean: 0.1 },
        flows: flows.clone(),
        start: Time::ZERO,
        stop: None,
        name: "web".to_owned(),
    });
    simulation.run_until(at(until_s));
    (simulation, flows, plan)
}

#[test]
fn arrivals_come_at_their_rate_whatever_the_flows_do() {
    let (simulation, flows, _) = with_arrivals(50, 1000.0);
    let all = flows.iter().map(|&id| simulation.tcp_counters(id).transfers).sum::<u64>();
    // A Poisson number of mean 10 000 has a spread of 100.
    assert!((9_700..10_300).contains(&all), "{all}");
    let bytes = flows.iter().map(|&id| simulation.tcp_counters(id).received_bytes).sum::<u64>();
    let mean = bytes as f64 / all as f64;
    assert!((20_000.0..22_000.0).contains(&mean), "{mean}");
    // The first that is free takes it, so the last of fifty see little.
    assert!(simulation.tcp_counters(flows[0]).transfers > 10 * simulation.tcp_counters(flows[49]).transfers);
}

#[test]
fn arrivals_wait_where_flows_are_few() {
    let (simulation, flows, _) = with_arrivals(2, 1000.0);
    let all = flows.iter().map(|&id| simulation.tcp_counters(id).transfers).sum::<u64>();
    let busy_ns: u128 = flows.iter().map(|&id| simulation.tcp_counters(id).transfer_ns).sum();
    assert!(all < 9_000, "{all}");
    // Both carry one transfer after another without a rest.
    assert!(busy_ns > 1_980_000_000_000, "{busy_ns}");
}

#[test]
fn transfers_allocate_nothing() {
    let (mut simulation, flows, _) = with_arrivals(50, 300.0);
    let before = flows.iter().map(|&id| simulation.tcp_counters(id).transfers).sum::<u64>();
    let allocations = measure(|| simulation.run_until(at(400.0)));
    let after = flows.iter().map(|&id| simulation.tcp_counters(id).transfers).sum::<u64>();
    assert!(after > before + 800, "{before} {after}");
    assert_eq!(allocations.count_total, 0);
}

#[test]
fn a_tcp_pauses_and_goes_on() {
    for variant in TcpVariant::ALL {
        let plan = path(10.0, 0.0);
        let mut simulation = plan.simulation();
        let demand = Demand::OnOff { on_s: Distribution::Fixed(5.0), off_s: Distribution::Fixed(5.0) };
        let id = add(&mut simulation, &plan, variant, demand, "tcp");
        let mut received = Vec::new();
        let mut before = 0;
        for half in 1..=8 {
            // What is in flight when the pause begins arrives within it.
            simulation.run_until(at(5.0 * f64::from(half) + 0.2));
            let now = simulation.tcp_counters(id).received_bytes;
            received.push(now - before);
            before = now;
        }
        for pair in received.chunks(2) {
            // BBR comes back at its full rate: 1250 kB/s for 174 ms.
            assert!(pair[0] > 2_500_000 && pair[1] < 220_000, "{variant:?}: {received:?}");
        }
    }
}

fn add_udp(
    simulation: &mut Simulation,
    plan: &Plan,
    pauses: Option<(Distribution, Distribution)>,
    ends: (&str, &str),
) -> UdpId {
    let config = UdpConfig {
        from: plan.node(ends.0),
        to: plan.node(ends.1),
        rate: Rate::from_kbps(800.0),
        packet_size: Size::from_bytes(500),
        pauses,
        is_call: false,
        start: Time::ZERO,
        stop: Some(at(1000.0)),
        name: format!("udp-{}", ends.0),
    };
    simulation.add_udp(config).unwrap()
}

#[test]
fn a_constant_rate_is_constant_and_pauses_take_their_share() {
    let plan = path(10.0, 0.01);
    let mut simulation = plan.simulation();
    let steady = add_udp(&mut simulation, &plan, None, ("S", "R"));
    let pauses = (Distribution::Exponential { mean: 0.5 }, Distribution::Exponential { mean: 1.5 });
    let paused = add_udp(&mut simulation, &plan, Some(pauses), ("R", "S"));
    simulation.run_until(at(1001.0));
    let (steady, paused) = (simulation.udp_counters(steady), simulation.udp_counters(paused));
    assert_eq!(steady.sent_packets, 200_000);
    assert_eq!(steady.received_packets + steady.lost_packets, steady.sent_packets);
    assert!((1_800..2_200).contains(&steady.lost_packets), "{steady:?}");
    assert_eq!(steady.received_bytes, 500 * steady.received_packets);
    // A quarter of the time; 500 cycles spread it by some 6 %.
    let share = paused.sent_packets as f64 / steady.sent_packets as f64;
    assert!((0.2..0.3).contains(&share), "{share}");
}

#[test]
fn a_stopped_application_is_silent() {
    let plan = path(10.0, 0.0);
    let mut simulation = plan.simulation();
    let demand = transfers(Distribution::Fixed(20_000.0), Some(Distribution::Fixed(0.1)));
    let config = TcpConfig { demand, stop: Some(at(10.0)), ..tcp(&plan, TcpVariant::Sack, "S", "R", "tcp") };
    let id = simulation.add_tcp(config).unwrap();
    simulation.run_until(at(11.0));
    let counters = simulation.tcp_counters(id);
    assert!(counters.transfers > 10, "{counters:?}");
    simulation.run_until(at(30.0));
    assert_eq!(simulation.tcp_counters(id), counters);
}

#[test]
fn a_tap_has_the_flow_of_a_datagram() {
    let plan = path(10.0, 0.0);
    let mut simulation = plan.simulation();
    let ids = [("S", "R"), ("R", "S")].map(|ends| add_udp(&mut simulation, &plan, None, ends));
    let links = [plan.link("S-R"), plan.link("S-R").reverse()];
    links.iter().for_each(|&link| simulation.watch_link(link));
    simulation.run_until(at(10.0));
    for (link, id) in links.into_iter().zip(ids) {
        let mut arrived = 0;
        simulation.drain_link(link, &mut |record| {
            assert_eq!(
                (record.carried, record.size),
                (Carried::Datagram { flow: id }, Size::from_bytes(500))
            );
            arrived += u64::from(record.event == LinkEvent::Arrived);
        });
        assert_eq!(arrived, simulation.udp_counters(id).received_packets);
        assert!(arrived > 1900, "{arrived}");
    }
}
