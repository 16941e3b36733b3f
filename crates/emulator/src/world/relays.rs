//! The relays of a session: their processes, and the hops that its packets take.

use std::net::{IpAddr, SocketAddr};

use layercast_laboratory::scenario::{Relay, RelayTree, Scenario};
use layercast_simulator::ReceiverId;

use super::endpoints::{EndpointPlan, Role};
use super::hosts::{Hosts, Use};
use crate::emulation::{Emulation, HopPlan};
use crate::host::HostId;

/// The first port of relays and of sources that serve them; each session has one.
const FIRST_PORT: u16 = 5600;
/// How many bytes relays may put before a packet.
pub(super) const HEADER_MAX: u32 = 24;

/// The port of a session's relays.
pub(super) fn port(session: usize) -> u16 {
    FIRST_PORT + (session % 400) as u16
}

/// The tree of a session's relays in hosts.
pub(super) struct Relays {
    tree: RelayTree,
    port: u16,
    source: HostId,
    hosts: Vec<HostId>,
}

impl Relays {
    /// The relays of a session; none if it comes by multicast.
    pub(super) fn of(scenario: &Scenario, session: usize, hosts: &Hosts) -> Option<Relays> {
        let tree = RelayTree::of(scenario, session)?;
        let places = tree.relays.iter().map(|relay| hosts.get(Use::relay(relay.node))).collect();
        let source = hosts.get(Use::of(scenario.sessions.get(session)?.source, false));
        Some(Relays { tree, port: port(session), source, hosts: places })
    }

    /// The host of a relay, or of the source.
    fn host(&self, relay: Option<usize>) -> HostId {
        relay.and_then(|relay| self.hosts.get(relay)).copied().unwrap_or(self.source)
    }

    /// From which address a receiver has its packets.
    pub(super) fn of_receiver(&self, receiver: usize, emulation: &Emulation) -> Option<SocketAddr> {
        let relay = self.tree.receivers.get(receiver).copied().flatten();
        self.address(relay, emulation)
    }

    fn address(&self, relay: Option<usize>, emulation: &Emulation) -> Option<SocketAddr> {
        let host = emulation.host(self.host(relay))?;
        Some(SocketAddr::new(IpAddr::V4(host.ipv4()), self.port))
    }

    /// The processes of the relays, for the group and port of the base channel.
    pub(super) fn processes(
        &self,
        emulation: &Emulation,
        scenario: &Scenario,
        session: usize,
        group: SocketAddr,
    ) -> Vec<EndpointPlan> {
        let name = scenario.sessions.get(session).map_or("", |plan| plan.name.as_str());
        let most = self.tree.relays.len() + self.tree.receivers.len();
        let process = |(number, relay): (usize, &Relay)| {
            let node = scenario.nodes.get(relay.node).map_or("", String::as_str);
            Some(EndpointPlan {
                host: self.host(Some(number)),
                name: format!("the relay of {name} at {node}"),
                role: Role::Relay,
                session,
                is_relayed: true,
                arguments: vec![
                    group.to_string(),
                    format!("--parent={}", self.address(relay.parent, emulation)?),
                    format!("--listen=0.0.0.0:{}", self.port),
                    format!("--max-children={most}"),
                    "--attended".to_owned(),
                ],
            })
        };
        self.tree.relays.iter().enumerate().filter_map(process).collect()
    }

    /// The hops of the session's packets to relays and receivers, these in the order of the scenario with their hosts.
    pub(super) fn hops(&self, receivers: &[(HostId, ReceiverId)]) -> Vec<HopPlan> {
        let id = |receiver: usize| receivers.get(receiver).map(|&(_, id)| id);
        let relays = self.tree.relays.iter().enumerate().map(|(number, relay)| HopPlan {
            from: self.host(relay.parent),
            to: self.host(Some(number)),
            port: self.port,
            below: self.tree.below(number).into_iter().filter_map(id).collect(),
            end: None,
        });
        let ends = receivers.iter().zip(&self.tree.receivers).map(|(&(host, id), &relay)| HopPlan {
            from: self.host(relay),
            to: host,
            port: self.port,
            below: vec![id],
            end: Some(id),
        });
        relays.chain(ends).collect()
    }
}
