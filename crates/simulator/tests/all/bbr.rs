//! BBR by what it does on a path: rate, queue, sharing, and the search for the round-trip time.

use crate::world::{Plan, at, link, tcp};
use layercast_simulator::tcp::{TcpOptions, TcpProfile, TcpVariant};
use layercast_simulator::{
    Demand, Distribution, LinkConfig, LossModel, QueueConfig, QueueLimit, TcpConfig, TcpId,
};

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// A bottleneck of 10 Mbit/s, 40 ms there and back: 50 packets of 1000 bytes fill it.
const BDP: f64 = 50.0;

/// That bottleneck with a drop-tail buffer in multiples of the bandwidth-delay product.
fn path(buffer_bdp: f64, loss: LossModel) -> Plan {
    let limit = QueueLimit::Packets((buffer_bdp * BDP) as u32);
    let queue = QueueConfig::drop_tail(limit);
    let forward = LinkConfig { queue, loss, ..link(10.0, 20.0) };
    Plan::new(&[("S-R", forward, link(10.0, 20.0))])
}

fn add(
    simulation: &mut Simulation,
    plan: &Plan,
    variant: TcpVariant,
    window: u32,
    name: &str,
    start_s: f64,
) -> TcpId {
    let options = TcpOptions { window, ..TcpOptions::new(variant, TcpProfile::Ns2) };
    let config = tcp(plan, variant, "S", "R", name);
    simulation.add_tcp(TcpConfig { options, start: at(start_s), ..config }).unwrap()
}

/// What the flows got between two times, in Mbit/s.
fn mbps(simulation: &mut Simulation, flows: &[TcpId], from_s: f64, to_s: f64) -> Vec<f64> {
    let received = |simulation: &Simulation| -> Vec<u64> {
        flows.iter().map(|&id| simulation.tcp_counters(id).received_bytes).collect()
    };
    simulation.run_until(at(from_s));
    let before = received(simulation);
    simulation.run_until(at(to_s));
    let after = received(simulation);
    let rate = |(after, before): (u64, u64)| (after - before) as f64 * 8.0 / (to_s - from_s) / 1e6;
    after.into_iter().zip(before).map(rate).collect()
}

#[test]
fn alone_it_fills_the_path_without_filling_the_buffer() {
    let plan = path(5.0, LossModel::None);
    let mut simulation = plan.simulation();
    let id = add(&mut simulation, &plan, TcpVariant::Bbr, 1000, "bbr", 0.0);
    simulation.run_until(at(10.0));
    let before = simulation.tcp_counters(id).received_bytes;
    let mut queue = 0.0;
    for step in 1..=5000 {
        simulation.run_until(at(10.0 + f64::from(step) / 100.0));
        queue += simulation.queue_state(plan.link("S-R")).packets as f64 / 5000.0;
    }
    let mbps = (simulation.tcp_counters(id).received_bytes - before) as f64 * 8.0 / 50.0 / 1e6;
    assert!(mbps >= 9.0, "{mbps} Mbit/s");
    assert!(queue < 1.5 * BDP, "{queue} packets wait");
    assert_eq!(simulation.link_counters(plan.link("S-R")).queue_drops, 0);
}

/// What the flows got over a minute from the tenth second on, for ten seeds.
fn all_rates(plan: &Plan, window: u32, flows: [(TcpVariant, f64); 2]) -> Vec<[f64; 2]> {
    (1..=10)
        .map(|seed| {
            let mut simulation = Simulation::new(plan.network.clone(), seed);
            let mut number = 0;
            let flows = flows.map(|(variant, start_s)| {
                number += 1;
                add(&mut simulation, plan, variant, window, &format!("tcp-{number}"), start_s)
            });
            mbps(&mut simulation, &flows, 10.0, 70.0).try_into().unwrap()
        })
        .collect()
}

/// Each lossy round between two probings costs what was lost and the percent by which it paces below its
/// estimate. With 0.4 of all rounds lossy and some 50 rounds between probings the estimate falls to about
/// 0.98 to the power of 20, two thirds, before a probing restores it: 0.8 to 0.85 on average.
#[test]
fn random_losses_of_one_percent_cost_a_fifth() {
    let plan = path(5.0, LossModel::Bernoulli(0.01));
    let rates: Vec<f64> = (1..=20)
        .map(|seed| {
            let mut simulation = Simulation::new(plan.network.clone(), seed);
            let id = add(&mut simulation, &plan, TcpVariant::Bbr, 1000, "tcp", 0.0);
            mbps(&mut simulation, &[id], 10.0, 130.0)[0]
        })
        .collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    assert!(mean >= 8.0, "{mean} Mbit/s: {rates:.2?}");
}

/// Nothing makes them equal but probing at random times.
#[test]
fn a_second_flow_gets_its_share() {
    for rates in
        all_rates(&path(2.0, LossModel::None), 1000, [(TcpVariant::Bbr, 0.0), (TcpVariant::Bbr, 5.0)])
    {
        assert!((0.5..2.0).contains(&(rates[0] / rates[1])), "{rates:?}");
        assert!(rates[0] + rates[1] >= 9.0, "{rates:?}");
    }
}

/// CUBIC fills the buffer and BBR leaves when it loses too much, so neither can be sure of its half. A flow
/// starves if it gets less than a tenth.
#[test]
fn sharing_with_cubic_neither_starves() {
    for buffer in [1.0, 2.0] {
        let flows = [(TcpVariant::Bbr, 0.0), (TcpVariant::Cubic, 0.0)];
        let all = all_rates(&path(buffer, LossModel::None), 1000, flows);
        println!("{buffer} BDP: {all:.2?}");
        assert!(all.iter().flatten().all(|&mbps| mbps >= 1.0), "{buffer} BDP: {all:.2?}");
    }
}

/// Round-trip times without a queue are all equal here, so none is ever below the smallest: every 5 s, and
/// a fifth of a second later each time, the window falls to half of what fills the path.
#[test]
fn it_looks_for_the_round_trip_time_every_five_seconds() {
    let plan = path(5.0, LossModel::None);
    let mut simulation = plan.simulation();
    let id = add(&mut simulation, &plan, TcpVariant::Bbr, 1000, "tcp", 0.0);
    let mut begins: Vec<f64> = Vec::new();
    let mut steps_held_down = 0;
    let mut was_down = false;
    for step in 200..12_000 {
        simulation.run_until(at(f64::from(step) / 200.0));
        let is_down = simulation.tcp_state(id).unwrap().cwnd < 0.7 * BDP;
        if is_down && !was_down {
            begins.push(f64::from(step) / 200.0);
        }
        steps_held_down += u32::from(is_down);
        was_down = is_down;
    }
    assert_eq!(begins.len(), 11, "{begins:?}");
    for pair in begins.windows(2) {
        assert!((5.2..5.35).contains(&(pair[1] - pair[0])), "{begins:?}");
    }
    // Each lasts 200 ms and up to two round trips.
    let mean_s = f64::from(steps_held_down) / 200.0 / begins.len() as f64;
    assert!((0.2..0.3).contains(&mean_s), "{mean_s}");
}

#[test]
fn it_asks_for_no_marks() {
    let plan = path(5.0, LossModel::None);
    let mut simulation = plan.simulation();
    let link = plan.link("S-R");
    simulation.watch_link(link);
    let options = TcpOptions { ecn: true, ..TcpOptions::new(TcpVariant::Bbr, TcpProfile::Ns2) };
    let config = TcpConfig { options, ..tcp(&plan, TcpVariant::Bbr, "S", "R", "tcp") };
    simulation.add_tcp(config).unwrap();
    simulation.run_until(at(1.0));
    let mut fields = Vec::new();
    simulation.drain_link(link, &mut |record| fields.push(record.ecn));
    assert!(fields.len() > 100 && fields.iter().all(|&field| field == 0), "{fields:?}");
}

/// The application pauses for a second now and then: what it had before the pause it has at once after it.
#[test]
fn a_pause_does_not_cost_the_rate() {
    let plan = path(5.0, LossModel::None);
    let mut simulation = plan.simulation();
    let options = TcpOptions { window: 1000, ..TcpOptions::new(TcpVariant::Bbr, TcpProfile::Ns2) };
    let demand = Demand::OnOff { on_s: Distribution::Fixed(4.0), off_s: Distribution::Fixed(1.0) };
    let config = TcpConfig { options, demand, ..tcp(&plan, TcpVariant::Bbr, "S", "R", "tcp") };
    let id = simulation.add_tcp(config).unwrap();
    let got = mbps(&mut simulation, &[id], 10.0, 110.0)[0];
    // Four fifths of 99 % of the path, and what comes while it is off.
    assert!((7.5..8.2).contains(&got), "{got} Mbit/s");
}

/// Probing waits for a random time, so a seed decides which of two probes first; and it decides all.
#[test]
fn the_seed_decides_the_run() {
    let plan = path(2.0, LossModel::None);
    let run = |seed| {
        let mut simulation = Simulation::new(plan.network.clone(), seed);
        let flows = ["a", "b"].map(|name| add(&mut simulation, &plan, TcpVariant::Bbr, 1000, name, 0.0));
        simulation.run_until(at(30.0));
        flows.map(|id| (simulation.tcp_counters(id), simulation.tcp_state(id)))
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
