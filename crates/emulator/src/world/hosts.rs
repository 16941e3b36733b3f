//! Which hosts a scenario needs.

use std::collections::BTreeMap;

use layercast_laboratory::run::RunError;
use layercast_laboratory::scenario::{Scenario, Traffic};
use layercast_simulator::NodeId;

use crate::emulation::{Emulation, HostPlan};
use crate::host::HostId;

/// What a host at a node is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    /// The node: an index into the scenario's.
    pub(super) node: usize,
    /// The first host of the node has number 0. Several receivers of one session need a host each.
    pub(super) number: usize,
    /// Whether its TCPs use ECN, which the kernel decides for a whole namespace.
    pub(super) ecn: bool,
    /// Whether relays run there, apart from the ends of flows, so that what they send is seen.
    pub(super) is_relay: bool,
}

impl Use {
    /// The host of a node for the ends of flows, the first if there are several.
    pub(super) fn of(node: usize, ecn: bool) -> Use {
        Use { node, number: 0, ecn, is_relay: false }
    }

    /// The host of a node for relays.
    pub(super) fn relay(node: usize) -> Use {
        Use { is_relay: true, ..Use::of(node, false) }
    }
}

/// The hosts of a scenario.
#[derive(Debug)]
pub(super) struct Hosts {
    by_use: BTreeMap<Use, HostId>,
}

impl Hosts {
    pub(super) fn of(scenario: &Scenario) -> Hosts {
        let mut uses = Vec::new();
        for session in &scenario.sessions {
            uses.push(Use::of(session.source, false));
            uses.extend(session.relays.iter().map(|&node| Use::relay(node)));
            uses.extend(receivers(session.receivers.iter().map(|end| end.node)));
        }
        for flow in &scenario.flows {
            let ecn = uses_ecn(&flow.traffic);
            uses.push(Use::of(flow.from, ecn));
            uses.extend(flow.to.iter().map(|end| Use::of(end.node, ecn)));
        }
        uses.sort_unstable();
        uses.dedup();
        Hosts { by_use: uses.into_iter().zip((0..).map(HostId)).collect() }
    }

    /// The host for a use; the scenario that the hosts were made for has no others.
    pub(super) fn get(&self, wanted: Use) -> HostId {
        self.by_use.get(&wanted).copied().unwrap_or(HostId(0))
    }

    pub(super) fn plans(&self, scenario: &Scenario, nodes: &[NodeId]) -> Vec<HostPlan> {
        let plan = |host: &Use| {
            let name = &scenario.nodes[host.node];
            let number = if host.number == 0 { String::new() } else { format!("-{}", host.number + 1) };
            let ecn = if host.ecn { "-ecn" } else { "" };
            let relay = if host.is_relay { "-relay" } else { "" };
            HostPlan { node: nodes[host.node], name: format!("{name}{number}{ecn}{relay}") }
        };
        self.by_use.keys().map(plan).collect()
    }

    /// Lets the TCPs of the hosts that are for it use ECN, and of no other.
    ///
    /// # Errors
    /// That of the system.
    pub(super) fn allow_ecn(&self, emulation: &Emulation) -> Result<(), RunError> {
        for (host, &id) in &self.by_use {
            let Some(place) = emulation.host(id) else { continue };
            let value = if host.ecn { "1" } else { "0" };
            let set = place.run(|| std::fs::write("/proc/sys/net/ipv4/tcp_ecn", value));
            set.and_then(|set| set).map_err(|error| {
                RunError::Outside(format!("ECN of host {} cannot be set: {error}", place.name()))
            })?;
        }
        Ok(())
    }
}

/// The uses of the receivers of a session: those at one node have a host each.
pub(super) fn receivers(nodes: impl Iterator<Item = usize>) -> Vec<Use> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let host = |node| {
        let count = counts.entry(node).or_default();
        *count += 1;
        Use { number: *count - 1, ..Use::of(node, false) }
    };
    nodes.map(host).collect()
}

/// Whether a flow is a TCP with ECN.
pub(super) fn uses_ecn(traffic: &Traffic) -> bool {
    matches!(traffic, Traffic::Tcp { options, .. } if options.ecn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_of_one_session_at_one_node_have_hosts_of_their_own() {
        let numbers: Vec<(usize, usize)> =
            receivers([4, 5, 4, 4].into_iter()).iter().map(|host| (host.node, host.number)).collect();
        assert_eq!(numbers, [(4, 0), (5, 0), (4, 1), (4, 2)]);
    }
}
