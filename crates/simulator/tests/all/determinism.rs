//! The same seed gives the same run, and idle flows do not perturb other flows.

use crate::world::{Plan, add_session_from, at, link, tcp};
use layercast_core::family::AnyProtocol as _;
use layercast_core::units::Duration;
use layercast_protocols::registry::{NAMES, Protocol};
use layercast_simulator::tcp::TcpVariant;
use layercast_simulator::{
    FlowCounters, LevelChange, LinkConfig, LinkCounters, LinkId, LossModel, QueueConfig, QueueLimit,
    ReceiverId, TcpConfig, TcpId,
};

type Simulation = layercast_simulator::Simulation<layercast_protocols::registry::Registry>;

/// Everything observable of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    flows: Vec<FlowCounters>,
    changes: Vec<Vec<LevelChange>>,
    links: Vec<LinkCounters>,
}

/// Where the receivers of each session are, and when they begin, in seconds.
const RECEIVERS: [(&str, f64); 3] = [("R", 1.0), ("Q", 2.0), ("R", 3.0)];

struct Run {
    links: Vec<LinkId>,
    simulation: Simulation,
    receivers: Vec<ReceiverId>,
    tcps: Vec<TcpId>,
}

const TCPS: [TcpVariant; 2] = [TcpVariant::Reno, TcpVariant::Sack];

/// A tree with a bottleneck for each protocol and each TCP, and two receivers' nodes behind lossy links. A protocol that is
/// added gets a tree of its own and changes nothing for the others.
fn trees() -> Plan {
    let queue = QueueConfig::drop_tail(QueueLimit::Packets(40));
    let lossy = |loss| LinkConfig { loss: LossModel::Bernoulli(loss), ..link(100.0, 10.0) };
    let mut links = Vec::new();
    for tree in 0..NAMES.len() + TCPS.len() {
        links.push((format!("S{tree}-G{tree}"), LinkConfig { queue, ..link(2.0, 10.0) }, link(2.0, 10.0)));
        links.push((format!("G{tree}-R{tree}"), lossy(0.01), link(100.0, 10.0)));
        links.push((format!("G{tree}-Q{tree}"), lossy(0.003), link(100.0, 10.0)));
    }
    let links: Vec<_> =
        links.iter().map(|(name, down, up)| (name.as_str(), down.clone(), up.clone())).collect();
    Plan::new(&links)
}

impl Run {
    /// Every protocol and two TCPs, each at a bottleneck of its own. Idle flows come before all others.
    fn new(seed: u64, with_idle_flows: bool) -> Run {
        let plan = trees();
        let mut simulation = Simulation::new(plan.network.clone(), seed);
        let (mut receivers, mut tcps) = (Vec::new(), Vec::new());
        for (index, name) in NAMES.iter().enumerate() {
            let at_tree = |node: &str| format!("{node}{index}");
            let [source, near, far] = ["S", "R", "Q"].map(at_tree);
            if with_idle_flows {
                let idle = tcp(&plan, TcpVariant::Sack, &source, &far, &at_tree("idle"));
                simulation.add_tcp(TcpConfig { start: at(1e6), ..idle }).unwrap();
                // Its source sends all the time, to nobody.
                let fixed = Protocol::named("fixed").unwrap();
                let nobody = [(near.as_str(), 1e6), (far.as_str(), 1e6)];
                add_session_from(&source, &mut simulation, &plan, &fixed, 99, &nobody);
            }
            let protocol = Protocol::named(name).unwrap();
            let places = RECEIVERS.map(|(node, start_s)| (at_tree(node), start_s));
            let places = places.each_ref().map(|(node, start_s)| (node.as_str(), *start_s));
            receivers.extend(add_session_from(&source, &mut simulation, &plan, &protocol, seed, &places));
        }
        for (index, variant) in (NAMES.len()..).zip(TCPS) {
            let [source, node, name] = ["S", "R", "tcp"].map(|part| format!("{part}{index}"));
            let mut config = tcp(&plan, variant, &source, &node, &name);
            // Timeouts that depend on what is measured, so that each draw can be seen.
            config.options.min_rto = Duration::from_ms(20);
            tcps.push(simulation.add_tcp(config).unwrap());
        }
        let trees = 0..NAMES.len() + TCPS.len();
        let links = trees
            .flat_map(|tree| {
                [format!("S{tree}-G{tree}"), format!("G{tree}-R{tree}"), format!("G{tree}-Q{tree}")]
            })
            .map(|name| plan.link(&name))
            .collect();
        Run { links, simulation, receivers, tcps }
    }

    fn seen(mut self) -> Seen {
        self.simulation.run_until(at(40.0));
        let simulation = &self.simulation;
        let flows = self.receivers.iter().map(|&id| simulation.receiver_counters(id));
        Seen {
            flows: flows.chain(self.tcps.iter().map(|&id| simulation.tcp_counters(id))).collect(),
            changes: self.receivers.iter().map(|&id| simulation.level_changes(id).to_vec()).collect(),
            links: self
                .links
                .iter()
                .flat_map(|&link| [link, link.reverse()])
                .map(|link| simulation.link_counters(link))
                .collect(),
        }
    }
}

#[test]
fn a_seed_gives_the_same_run_again_and_another_seed_another() {
    let first = Run::new(1, false).seen();
    for (index, flow) in first.flows.iter().enumerate() {
        // The slowest protocol sends a packet a second until it has reports.
        assert!(flow.received_packets > 30, "flow {index} takes part: {flow:?}");
    }
    assert!(first.changes.iter().any(|changes| changes.len() > 10));
    assert_eq!(first, Run::new(1, false).seen());
    for seed in 2..5 {
        let other = Run::new(seed, false).seen();
        assert_ne!(first.changes, other.changes, "seed {seed}");
        assert_ne!(first.links, other.links, "seed {seed}");
        // Two flows of a few hundred packets may have the same counts by chance; most do not.
        let same = first.flows.iter().zip(&other.flows).filter(|(one, other)| one == other).count();
        assert!(same <= first.flows.len() / 3, "seed {seed}: {same} flows are the same");
    }
}

#[test]
fn idle_flows_change_nothing_for_the_others() {
    for seed in 1..4 {
        assert_eq!(Run::new(seed, false).seen(), Run::new(seed, true).seen(), "seed {seed}");
    }
}

#[test]
fn stops_on_the_way_change_nothing() {
    let mut stopping = Run::new(1, false);
    let mut now = 0.0;
    while now < 40.0 {
        // An odd step, which falls on no event, and one that falls on many.
        for step in [0.003_217, 0.01] {
            now += step;
            stopping.simulation.run_until(at(f64::min(now, 40.0)));
        }
    }
    assert_eq!(stopping.seen(), Run::new(1, false).seen());
}
