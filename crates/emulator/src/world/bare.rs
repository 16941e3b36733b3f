//! The network of a scenario with a host at every node and none of the scenario's traffic, for programs of a user's own.

use layercast_laboratory::run::outside;
use layercast_laboratory::scenario::Scenario;
use layercast_simulator::LinkId;

use super::WorldError;
use crate::emulation::{Emulation, HostPlan, Options};

/// The emulated network of a scenario, without traffic.
pub struct Bare {
    /// The emulation. Its hosts have the names of the nodes.
    pub emulation: Emulation,
    /// The name of each link.
    pub link_names: Vec<String>,
    /// The links in the same order.
    links: Vec<LinkId>,
}

/// What a link has carried so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Packets that were transmitted.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that the queue dropped or the error model lost.
    pub drops: u64,
    /// Packets in the queue now.
    pub queue: usize,
}

impl Bare {
    /// Makes the hosts. Random losses and delays are those of the scenario's first replication.
    ///
    /// # Errors
    /// [`WorldError::Emulation`], and [`WorldError::Run`] if links contradict each other.
    pub fn new(scenario: &Scenario) -> Result<Bare, WorldError> {
        let seed = outside::seed(scenario, 1);
        let (network, nodes, links) = outside::network(scenario, seed)?;
        let names = nodes.iter().zip(&scenario.nodes);
        let plans = names.map(|(&node, name)| HostPlan { node, name: name.clone() }).collect();
        let mut emulation = Emulation::new(network, plans, Options::default(), seed)?;
        for edge in &scenario.edges {
            emulation.simulation_mut().set_edge(nodes[edge.node], edge.config);
        }
        Ok(Bare { emulation, link_names: scenario.link_names(), links })
    }

    /// What each link has carried so far.
    #[must_use]
    pub fn carried(&self) -> Vec<Carried> {
        let simulation = self.emulation.simulation();
        let of = |&link: &LinkId| {
            let counters = simulation.link_counters(link);
            Carried {
                packets: counters.packets,
                bytes: counters.bytes,
                drops: counters.queue_drops + counters.losses,
                queue: simulation.queue_state(link).packets,
            }
        };
        self.links.iter().map(of).collect()
    }
}
