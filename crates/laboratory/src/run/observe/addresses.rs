//! Which addresses and ports stand for the nodes, sessions and connections of a scenario.

use layercast_core::family::Family;
use layercast_core::units::Channel;
use layercast_simulator::tcp::TcpVariant;
use layercast_simulator::{ReceiverId, SessionId, TcpId, UdpId};

use super::super::world::{World, WorldFlowId};
use crate::scenario::{FlowEnd, Scenario, Traffic};

/// An IPv4 address.
pub(super) type Address = [u8; 4];

/// Where a connection runs, and how its packets become bytes.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) id: TcpId,
    pub(super) from: Address,
    pub(super) to: Address,
    pub(super) from_port: u16,
    pub(super) to_port: u16,
    /// The bytes of TCP options that the sizes of its packets count.
    pub(super) options: u32,
    /// The bytes of payload of a data packet.
    pub(super) payload: u32,
    /// Whether packet 0 is a SYN without payload; otherwise it is data as all others.
    pub(super) has_syn: bool,
    /// Whether its ends agree on ECN when it opens.
    pub(super) ecn: bool,
}

/// Where a constant-rate flow runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagrams {
    id: UdpId,
    pub(super) from: Address,
    pub(super) to: Address,
    /// At its source; all go to the same port.
    pub(super) from_port: u16,
}

/// A session: where its source is, and where its channels begin.
#[derive(Clone, Debug)]
struct Session {
    source: Address,
    first_channel: u32,
}

/// The names on packets.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    /// In ascending order, as ids are given out.
    connections: Vec<Connection>,
    /// In ascending order.
    datagrams: Vec<Datagrams>,
    sessions: Vec<Session>,
    /// In ascending order, with the session's number and the node.
    receivers: Vec<(ReceiverId, usize, Address)>,
}

/// Node n, counted from 0 in the order in which the links mention them, is 10.0.0.0 and n + 1.
pub(super) fn node_address(node: usize) -> Address {
    let [_, high, middle, low] = (node as u32 + 1).to_be_bytes();
    [10, high, middle, low]
}

/// The headers of IPv4 and TCP without options.
const HEADERS: u32 = 40;

/// How many bytes of options a header of this size has: whole words, at most 40.
fn counted_options(header: u32) -> u32 {
    header.saturating_sub(HEADERS).min(40) & !3
}

impl Addresses {
    /// The names of a scenario.
    pub(super) fn new<F: Family>(scenario: &Scenario, world: &World<F>) -> Addresses {
        let mut ids = world.flows.iter().map(|flow| flow.id);
        let (mut sessions, mut receivers, mut first_channel) = (Vec::new(), Vec::new(), 0);
        for (number, (session, channels)) in scenario.sessions.iter().zip(&world.channels).enumerate() {
            sessions.push(Session { source: node_address(session.source), first_channel });
            first_channel += u32::from(*channels);
            for (place, id) in session.receivers.iter().zip(&mut ids) {
                if let WorldFlowId::Receiver(id) = id {
                    receivers.push((id, number, node_address(place.node)));
                }
            }
        }
        let places = scenario.flows.iter().flat_map(|flow| flow.to.iter().map(move |place| (flow, place)));
        let (mut connections, mut datagrams) = (Vec::new(), Vec::new());
        for (number, ((flow, FlowEnd { node, .. }), id)) in places.zip(ids).enumerate() {
            let (from, to) = (node_address(flow.from), node_address(*node));
            // Ports above the well-known ones; with very many connections the far port turns too.
            let from_port = 1024 + (number % 64_000) as u16;
            if let WorldFlowId::Udp(id) = id {
                datagrams.push(Datagrams { id, from, to, from_port });
            }
            if let (WorldFlowId::Tcp(id), Traffic::Tcp { options, .. }) = (id, &flow.traffic) {
                let (packet, header) = (options.packet_size.as_bytes(), options.ack_size.as_bytes());
                let counted = counted_options(header);
                connections.push(Connection {
                    id,
                    from,
                    to,
                    from_port,
                    to_port: 5001 + (number / 64_000) as u16,
                    options: counted,
                    payload: packet.min(u32::from(u16::MAX)).saturating_sub(HEADERS + counted).max(1),
                    has_syn: options.variant != TcpVariant::Vegas,
                    ecn: options.ecn && options.variant.answers_marks(),
                });
            }
        }
        Addresses { connections, datagrams, sessions, receivers }
    }

    /// A connection and its number.
    pub(super) fn connection(&self, id: TcpId) -> Option<(usize, &Connection)> {
        let number = self.connections.binary_search_by_key(&id, |connection| connection.id).ok()?;
        Some((number, &self.connections[number]))
    }

    /// A constant-rate flow.
    pub(super) fn datagrams(&self, id: UdpId) -> Option<Datagrams> {
        let number = self.datagrams.binary_search_by_key(&id, |flow| flow.id).ok()?;
        Some(self.datagrams[number])
    }

    /// How many connections there are.
    pub(super) fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// The node of a session's source.
    pub(super) fn source(&self, session: SessionId) -> Option<Address> {
        Some(self.sessions.get(session.index())?.source)
    }

    /// The group of a channel: all channels of all sessions follow each other from 239.1.0.0 on.
    pub(super) fn group(&self, session: SessionId, channel: Channel) -> Option<Address> {
        let first = self.sessions.get(session.index())?.first_channel;
        Some((0xef01_0000 + first + u32::from(channel.0)).to_be_bytes())
    }

    /// The node of a receiver, and that of its session's source.
    pub(super) fn receiver(&self, id: ReceiverId) -> Option<(Address, Address)> {
        let number = self.receivers.binary_search_by_key(&id, |&(known, ..)| known).ok()?;
        let (_, session, node) = self.receivers[number];
        Some((node, self.sessions.get(session)?.source))
    }
}
