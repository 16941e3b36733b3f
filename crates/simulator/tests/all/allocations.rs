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

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// The cost of one second.
struct Stretch {
    hops: u64,
    level_changes: usize,
    allocations: AllocationInfo,
}

/// The protocols of those names and every TCP at two nodes behind one bottleneck, after a warm-up.
fn stretches(names: &[&str]) -> Vec<Stretch> {
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
    simulation.run_until(at(400.0));
    let changes = |simulation: &Simulation| {
        receivers.iter().map(|&id| simulation.level_changes(id).len()).sum::<usize>()
    };
    (401..680)
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

/// The protocol whose receivers join a wave every few seconds.
const WAVES: &str = "webrc";

/// Whether a protocol decides in every slot or at close points, so that no second is without decisions.
fn in_slots(name: &str) -> bool {
    name.contains("flid") || name == "wei-zhang"
}

/// WEBRC's receivers allocate the numbers of each wave, so that a join costs an allocation or two; packets
/// cost none.
#[test]
fn waves_allocate_when_they_are_joined() {
    let stretches = stretches(&[WAVES]);
    let calm = stretches.iter().filter(|stretch| stretch.level_changes == 0);
    assert_eq!(calm.map(|stretch| stretch.allocations.count_total).sum::<u64>(), 0);
    let changes: usize = stretches.iter().map(|stretch| stretch.level_changes).sum();
    let allocations: u64 = stretches.iter().map(|stretch| stretch.allocations.count_total).sum();
    assert!(changes > 100, "{changes} level changes");
    assert!(allocations <= changes as u64 + 2, "{allocations} allocations for {changes} level changes");
}

/// Levels, joins and leaves change all the time, and only the logs of levels grow.
#[test]
fn slots_allocate_nothing() {
    let names: Vec<&str> = NAMES.iter().copied().filter(|name| in_slots(name)).collect();
    let stretches = stretches(&names);
    let changes: usize = stretches.iter().map(|stretch| stretch.level_changes).sum();
    let allocations: u64 = stretches.iter().map(|stretch| stretch.allocations.count_total).sum();
    assert!(changes > 300, "{changes} level changes");
    assert!(allocations <= 2 * names.len() as u64, "{allocations} allocations");
}

#[test]
fn packets_allocate_nothing() {
    assert_eq!(measure(|| drop(std::hint::black_box(vec![1]))).count_total, 1, "the count counts");
    let names: Vec<&str> = NAMES.iter().copied().filter(|name| !in_slots(name) && *name != WAVES).collect();
    let stretches = stretches(&names);
    let calm: Vec<&Stretch> = stretches.iter().filter(|stretch| stretch.level_changes == 0).collect();
    let hops: u64 = calm.iter().map(|stretch| stretch.hops).sum();
    let allocations: u64 = calm.iter().map(|stretch| stretch.allocations.count_total).sum();
    assert!(hops >= 100_000, "only {hops} packet hops");
    assert_eq!(allocations, 0, "over {hops} packet hops");
    // A level change goes into a log, which doubles when it is full. Over less than the time of the
    // warm-up no log doubles more than once, and nothing else grows.
    let receivers = 2 * names.len() as u64;
    let changes: usize = stretches.iter().map(|stretch| stretch.level_changes).sum();
    let allocations: u64 = stretches.iter().map(|stretch| stretch.allocations.count_total).sum();
    assert!(changes > 100, "{changes} level changes");
    assert!(allocations <= receivers, "{allocations} allocations");
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
