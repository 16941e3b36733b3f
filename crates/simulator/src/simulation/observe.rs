//! Observation of a run without changing it: taps on links, logs of receivers, queues.

use layercast_core::contract::Peer;
use layercast_core::family::Family;
use layercast_core::units::{Channel, Size, Time};

use super::{Agent, ReceiverId, Route, SessionId, Simulation, TcpId, UdpId};
use crate::engine::QueueDrop;
use crate::measure::{QueueState, ReceiverEntry};
use crate::network::LinkId;
use crate::packet::{Body, MembershipChange, PacketCopy};
use crate::queue::RawRecord;
use crate::tapped::LinkEvent;
use crate::tcp::{Ack, Segment};

/// What happened to one packet at a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRecord<H> {
    /// When.
    pub at: Time,
    /// What.
    pub event: LinkEvent,
    /// The packet's size on the wire.
    pub size: Size,
    /// The ECN field of its IP header (RFC 3168, section 5): 0 not capable, 1 ECT(1), 2 ECT(0),
    /// 3 congestion experienced.
    pub ecn: u8,
    /// What the packet is.
    pub carried: Carried<H>,
}

/// A packet that the queue of a link dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct DropRecord<H> {
    /// When.
    pub at: Time,
    /// Where.
    pub link: LinkId,
    /// The packet's size on the wire.
    pub size: Size,
    /// What the packet is.
    pub carried: Carried<H>,
}

/// The type of a packet and its owner.
#[derive(Clone, Debug, PartialEq)]
pub enum Carried<H> {
    /// Data of a TCP connection.
    TcpData {
        /// The connection.
        connection: TcpId,
        /// The number of the packet, from 0.
        seq: i64,
        /// Which of the connections that these ends have had one after another, from 0.
        incarnation: u32,
        /// CWR: the window was cut (RFC 3168, section 6.1.2).
        reduced: bool,
    },
    /// An acknowledgement of a TCP connection.
    TcpAck {
        /// The connection.
        connection: TcpId,
        /// All packets up to this one have arrived; -1 for none.
        cumulative: i64,
        /// Ranges [left, right) of packets that have arrived beyond.
        blocks: Vec<(i64, i64)>,
        /// As that of the data.
        incarnation: u32,
        /// ECE: a mark arrived (RFC 3168, section 6.1.3).
        echo: bool,
    },
    /// A packet of a constant-rate flow.
    Datagram {
        /// The flow.
        flow: UdpId,
    },
    /// A packet on a channel of a session.
    Data {
        /// The session.
        session: SessionId,
        /// The channel.
        channel: Channel,
        /// The protocol's header.
        header: H,
    },
    /// A unicast packet between the source of a session and a receiver, or between those and routers.
    Unicast {
        /// The receiver; for a packet from a router to the source, or from upstream to a router, a number
        /// of the router that is not a receiver's.
        receiver: ReceiverId,
        /// Whether it is going up to the source, or to the next router on the path.
        to_source: bool,
        /// The protocol's header.
        header: H,
    },
    /// A membership message on its path up a session's tree.
    Membership {
        /// The session.
        session: SessionId,
        /// The channel.
        channel: Channel,
        /// The change requested from the upstream router.
        change: MembershipChange,
    },
}

impl SessionId {
    /// The number of the session, from 0 in the order in which sessions were added.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl<F: Family> Simulation<F> {
    /// Puts a tap on one direction of a link: from now on it keeps a record of all that happens to packets
    /// there, until [`Simulation::drain_link`] takes them. The tap does not change the run and costs other
    /// links nothing. Packets already waiting at the link are not seen.
    pub fn watch_link(&mut self, id: LinkId) {
        self.engine.links[id.0 as usize].watch();
    }

    /// Passes on the records of a tap since the last call, in the order of their times. Call it between
    /// runs, often enough that they fit into memory: a packet leaves three or four. A link without a tap
    /// has none.
    pub fn drain_link(&mut self, id: LinkId, sink: &mut impl FnMut(LinkRecord<F::Header>)) {
        let now = self.engine.now();
        let mut raw = Vec::new();
        if let Some(tap) = self.engine.links[id.0 as usize].tap_mut() {
            tap.drain(now, &mut |record| raw.push(record));
        }
        for record in raw {
            if let Some(record) = self.link_record(record) {
                sink(record);
            }
        }
    }

    /// Keeps a log of what the queues of all links drop from now on, until [`Simulation::drain_drops`]
    /// takes it. The log does not change the run, and costs nothing except for the drops themselves.
    pub fn keep_drops(&mut self) {
        self.engine.drop_log.get_or_insert_default();
    }

    /// Passes on what queues have dropped since the last call, in the order of time. Losses by error models
    /// and by links that go down are not included.
    pub fn drain_drops(&mut self, sink: &mut impl FnMut(DropRecord<F::Header>)) {
        let Some(log) = &mut self.engine.drop_log else { return };
        let mut drops = std::mem::take(log);
        for &QueueDrop { at, link, copy, body } in &drops {
            if let Some(carried) = self.carried(&copy, body) {
                let size = Size::from_bytes(copy.size_bytes);
                sink(DropRecord { at, link, size, carried });
            }
        }
        // The allocation is reused.
        drops.clear();
        self.engine.drop_log = Some(drops);
    }

    /// Keeps a log of what all present receivers do from now on, until [`Simulation::drain_log`] takes it.
    pub fn keep_logs(&mut self) {
        for log in self.sessions.iter_mut().flat_map(|session| &mut session.logs) {
            log.entries.get_or_insert_default();
        }
    }

    /// Passes on a receiver's log since the last call, in the order of time.
    pub fn drain_log(&mut self, id: ReceiverId, sink: &mut impl FnMut(ReceiverEntry)) {
        let log = &mut self.sessions[id.session as usize].logs[id.receiver as usize];
        if let Some(entries) = &mut log.entries {
            entries.drain(..).for_each(sink);
        }
    }

    /// The links from the sender of a connection to its receiver.
    pub fn tcp_path(&self, id: TcpId) -> &[LinkId] {
        self.links_of(id.sender)
    }

    /// The links from a constant-rate source to its sink.
    pub fn udp_path(&self, id: UdpId) -> &[LinkId] {
        if let Agent::Outlet { .. } = self.agents[id.0 as usize] {
            return self.links_of(id.0);
        }
        // The agents of a flow are adjacent, the source first.
        id.0.checked_sub(1).map_or(&[], |source| self.links_of(source))
    }

    /// The links of the path that an agent sends on.
    fn links_of(&self, agent: u32) -> &[LinkId] {
        let route = match &self.agents[agent as usize] {
            Agent::TcpSender { path, .. } | Agent::UdpSource { path, .. } | Agent::Outlet { path, .. } => {
                path.route
            }
            _ => return &[],
        };
        match self.routes[route as usize] {
            Route::Path { first, .. } => self.paths.links(first),
            _ => &[],
        }
    }

    /// The state of a link's queue now.
    pub fn queue_state(&self, id: LinkId) -> QueueState {
        let Some(queue) = self.engine.links[id.0 as usize].queue() else { return QueueState::default() };
        QueueState { packets: queue.len(), bytes: queue.bytes(), average: queue.average() }
    }

    fn link_record(&mut self, raw: RawRecord) -> Option<LinkRecord<F::Header>> {
        let RawRecord { at, event, copy, packet } = raw;
        let body = self.engine.tapped.body_at(packet, event)?;
        let carried = self.carried(&copy, body)?;
        Some(LinkRecord { at, event, size: Size::from_bytes(copy.size_bytes), ecn: copy.ecn.0, carried })
    }

    /// The type of a packet. None for a packet on a route of another kind, which cannot happen.
    fn carried(&self, copy: &PacketCopy, body: Body<F::Header>) -> Option<Carried<F::Header>> {
        match (&self.routes[copy.route as usize], body) {
            (&Route::Path { agent, .. }, Body::Segment(segment)) => {
                // The agents of a connection are adjacent, the sender first.
                let connection = TcpId { sender: agent.checked_sub(1)?, sink: agent };
                let Segment { seq, incarnation, reduced } = segment;
                Some(Carried::TcpData { connection, seq, incarnation, reduced })
            }
            (&Route::Path { agent, .. }, Body::Ack(ack)) => {
                let connection = TcpId { sender: agent, sink: agent + 1 };
                let (cumulative, blocks) = (ack.cumulative, ack.blocks().to_vec());
                let Ack { incarnation, echo, .. } = ack;
                Some(Carried::TcpAck { connection, cumulative, blocks, incarnation, echo })
            }
            (&Route::Path { agent, .. }, Body::Datagram { .. }) => {
                Some(Carried::Datagram { flow: UdpId(agent) })
            }
            // A packet from outside: what it is, its owner knows.
            (&Route::Path { agent, .. }, Body::Unicast { .. }) => {
                Some(Carried::Datagram { flow: UdpId(agent) })
            }
            (&Route::Up { session }, Body::Unicast { from: Peer(receiver), header }) => {
                Some(Carried::Unicast { receiver: ReceiverId { session, receiver }, to_source: true, header })
            }
            (&Route::Down { session }, Body::Unicast { header, .. }) => {
                let receiver = ReceiverId { session, receiver: copy.position };
                Some(Carried::Unicast { receiver, to_source: false, header })
            }
            (&Route::Data { session }, Body::Channel { channel, header, .. }) => {
                Some(Carried::Data { session: SessionId(session), channel, header })
            }
            (&Route::Membership { session }, Body::Membership(message)) => {
                let (session, channel, change) = (SessionId(session), message.channel, message.change);
                Some(Carried::Membership { session, channel, change })
            }
            _ => None,
        }
    }
}
