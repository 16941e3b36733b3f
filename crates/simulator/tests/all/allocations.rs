//! In the steady state nothing is allocated: not for a packet, not for an event.

use crate::world::{Plan, add_session, at, bottleneck, link, tcp};
use allocation_counter::{AllocationInfo, measure};
use layercast_core::family::AnyProtocol as _;
use layercast_protocols::registry::{NAMES, Protocol};
use layercast_simulator::tcp::TcpVariant;
use layercast_simulator::{
    CoDelConfig, DropTailConfig, DualPi2Config, FairConfig, FqCoDelConfig, LinkConfig, PieConfig,
    QueueConfig, QueueLimit, ReceiverId, RedConfig, RemConfig,
};
use layercast_testkit::cases;

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// The cost of one second.
struct Stretch {
    hops: u64,
    level_changes: usize,
    allocations: AllocationInfo,
}

/// The protocols of those names and every TCP at two nodes behind one bottleneck, after a warm-up.
fn stretches(names: &[&str]) -> Vec<Stretch> {
    let warm_up = cases(400).max(150);
    let plan = bottleneck(60.0);
    let mut simulation = Simulation::new(plan.network.clone(), 1);
    let mut receivers: Vec<ReceiverId> = Vec::new();
    for name in names {
        let protocol = Protocol::named(name).unwrap();
        receivers.extend(add_session(&mut simulation, &plan, &protocol, 1, &[("R", 0.0), ("Q", 0.0)]));
    }
    let count = TcpVariant::ALL.len();
    for (number, variant) in TcpVariant::ALL.into_iter().cycle().take(2 * count).enumerate() {
        let node = ["R", "Q"][number / count];
        simulation.add_tcp(tcp(&plan, variant, "S", node, &format!("tcp-{number}"))).unwrap();
    }
    // Long enough for every queue, log and board to have had its largest size, but for rare ones.
    simulation.run_until(at(f64::from(warm_up)));
    let changes = |simulation: &Simulation| {
        receivers.iter().map(|&id| simulation.level_changes(id).len()).sum::<usize>()
    };
    (warm_up + 1..warm_up * 17 / 10)
        .map(|second| {
            let (hops, before) = (simulation.engine_counters().packet_hops, changes(&simulation));
            let allocations = measure(|| simulation.run_until(at(f64::from(second))));
            Stretch {
                hops: simulation.engine_counters().packet_hops - hops,
                level_changes: changes(&simulation) - before,
                allocations,
            }
        })
        .collect()
}

#[test]
fn packets_allocate_nothing() {
    assert_eq!(measure(|| drop(std::hint::black_box(vec![1]))).count_total, 1, "the count counts");
    let mut all_changes = 0;
    for names in NAMES.chunks(6) {
        let stretches = stretches(names);
        let hops: u64 = stretches.iter().map(|stretch| stretch.hops).sum();
        let calm = stretches.iter().filter(|stretch| stretch.level_changes == 0);
        let calm: u64 = calm.map(|stretch| stretch.allocations.count_total).sum();
        let changes: usize = stretches.iter().map(|stretch| stretch.level_changes).sum();
        let allocations: u64 = stretches.iter().map(|stretch| stretch.allocations.count_total).sum();
        assert!(hops >= 100_000, "{names:?}: only {hops} packet hops");
        all_changes += changes;
        // A level change goes into a log, which doubles when it is full. Over less than the time of the
        // warm-up no log doubles more than once, and nothing else grows, whatever receivers decide.
        assert_eq!(calm, 0, "{names:?}: over {hops} packet hops");
        assert!(allocations <= 2 * names.len() as u64, "{names:?}: {allocations} in {changes} level changes");
    }
    assert!(all_changes > 500, "{all_changes} level changes");
}

#[test]
fn managed_queues_allocate_nothing() {
    let limit = QueueLimit::Packets(100);
    for queue in [
        QueueConfig::Red(RedConfig { limit: Some(limit), ..RedConfig::classic() }),
        QueueConfig::CoDel(CoDelConfig { limit, ..CoDelConfig::default() }),
        QueueConfig::Rem(RemConfig { limit, ..RemConfig::default() }),
        QueueConfig::Pie(PieConfig { limit, ..PieConfig::default() }),
        QueueConfig::DropTail(DropTailConfig { limit, ns2_compat: true, drop_front: true }),
        QueueConfig::FqCoDel(FqCoDelConfig { limit, ..FqCoDelConfig::default() }),
        QueueConfig::DualPi2(DualPi2Config { limit: Some(limit), ..DualPi2Config::default() }),
        QueueConfig::Fair(FairConfig { limit, ..FairConfig::default() }),
    ] {
        let plan = Plan::new(&[("S-R", LinkConfig { queue, ..link(10.0, 20.0) }, link(10.0, 20.0))]);
        let mut simulation = plan.simulation();
        for number in 0..8 {
            simulation.add_tcp(tcp(&plan, TcpVariant::Sack, "S", "R", &format!("tcp-{number}"))).unwrap();
        }
        simulation.run_until(at(200.0));
        let before = simulation.link_counters(plan.link("S-R"));
        let allocations = measure(|| simulation.run_until(at(300.0)));
        let after = simulation.link_counters(plan.link("S-R"));
        assert!(after.queue_drops > before.queue_drops, "{queue:?} drops");
        assert_eq!(allocations.count_total, 0, "{queue:?}");
    }
}
