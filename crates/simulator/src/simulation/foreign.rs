//! Packets from outside: whoever runs the simulation on the wall clock brings them in and takes them out.
//!
//! A header of such a packet is a handle; the bytes are its owner's, who may keep them by the number of the slot
//! that the packet has while it is in flight. A slot that becomes free while events are served is given to the
//! next packet that is brought in, and to no other packet from outside. So the bytes of all that has arrived
//! stay valid until then, and an owner that takes out what has arrived before it brings anything in needs no
//! counts of references.

use layercast_core::contract::{Ecn, Host as _, Input, Origin, Peer, TraceEvent};
use layercast_core::family::Family;
use layercast_core::units::{Channel, Size, Time};

use super::session::{ReceiverId, SessionId};
use super::{Agent, Simulation, TcpId, UdpId};
use crate::host::ReceiverHost;
use crate::measure::FlowCounters;
use crate::network::{LinkId, NetworkError, NodeId};
use crate::packet::{Body, CopyKind, EcnBits, PacketCopy};

/// A path for packets from outside, with counters of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForeignPath(u32);

impl ForeignPath {
    /// The path as a TCP connection, whose counters and links it then gives.
    pub fn as_tcp(self) -> TcpId {
        TcpId { sender: self.0, sink: self.0 }
    }

    /// The path as a constant-rate flow, whose counters and links it then gives.
    pub fn as_udp(self) -> UdpId {
        UdpId(self.0)
    }
}

/// A packet from outside that has reached the end of its path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForeignArrival<H> {
    /// When.
    pub at: Time,
    /// On which path.
    pub path: ForeignPath,
    /// Its header.
    pub header: H,
    /// Its size on the wire.
    pub size: Size,
    /// Its ECN codepoint on arrival.
    pub ecn: Ecn,
    /// Whether it counts for the flow of its path.
    pub counts: bool,
}

/// A packet as it is brought in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignPacket {
    /// Its size on the wire.
    pub size: Size,
    /// The ECN field of its IP header: 0 not capable, 1 ECT(1), 2 ECT(0), 3 congestion experienced.
    pub ecn: u8,
    /// What distinguishes it from other flows on the same path, for queues with a queue for each flow.
    pub label: u16,
    /// Whether it counts for the flow of its path: it is one of those that are sent, received or lost.
    pub counts: bool,
}

/// The mark of a packet that counts.
const COUNTS: Peer = Peer(1);
const DOES_NOT_COUNT: Peer = Peer(0);

impl<F: Family> Simulation<F> {
    /// When the next event is due.
    pub fn next_event(&mut self) -> Option<Time> {
        self.engine.events.first(Time::MAX).map(|(key, _)| key.time)
    }

    /// The time up to which events have been served.
    pub fn now(&self) -> Time {
        self.engine.now()
    }

    /// Opens a path for packets from outside.
    ///
    /// # Errors
    /// [`NetworkError::NoPath`], [`NetworkError::SameNode`].
    pub fn open_path(&mut self, from: NodeId, to: NodeId) -> Result<ForeignPath, NetworkError> {
        let links = self.path_between(from, to)?;
        let agent = self.agents.len() as u32;
        let path = self.add_path(&links, agent);
        let flow = self.unicast_flows.len() as u32;
        self.unicast_flows.push(FlowCounters::default());
        self.add_agent(Agent::Outlet { path, flow });
        Ok(ForeignPath(agent))
    }

    /// The links of a path.
    pub fn foreign_path(&self, path: ForeignPath) -> &[LinkId] {
        self.tcp_path(path.as_tcp())
    }

    /// Sends a packet from outside on a path, now. `header` makes its header from the number of its slot, which
    /// is returned. What has arrived must have been taken out before.
    pub fn send_foreign(
        &mut self,
        path: ForeignPath,
        packet: ForeignPacket,
        header: impl FnOnce(u32) -> F::Header,
    ) -> Option<u32> {
        debug_assert!(self.foreign.is_empty(), "arrivals are taken out first, or their bytes are lost");
        let &Agent::Outlet { path, flow } = self.agents.get(path.0 as usize)? else { return None };
        self.unicast_flows[flow as usize].sent_packets += u64::from(packet.counts);
        let from = if packet.counts { COUNTS } else { DOES_NOT_COUNT };
        let (id, slot) = self.engine.slab.insert_with(|slot| Body::Unicast { from, header: header(slot) });
        let copy = PacketCopy {
            packet: id,
            route: path.route,
            position: path.next,
            size_bytes: packet.size.as_bytes(),
            ecn: EcnBits(packet.ecn & 3),
            kind: CopyKind::PATH,
            channel: packet.label,
        };
        self.engine.offer(path.first, copy);
        self.account_drops();
        Some(slot)
    }

    /// Sends a packet from outside on a channel of a session, now, at its source. Returns its slot, as
    /// [`send_foreign`](Simulation::send_foreign) does; none if nobody below the source has joined the channel.
    pub fn multicast_foreign(
        &mut self,
        session: SessionId,
        channel: Channel,
        packet: ForeignPacket,
        header: impl FnOnce(u32) -> F::Header,
    ) -> Option<u32> {
        debug_assert!(self.foreign.is_empty(), "arrivals are taken out first, or their bytes are lost");
        let tree = &self.sessions[session.index()].tree;
        if !tree.is_wanted(channel) {
            return None;
        }
        let make = |slot| Body::Channel { channel, header: header(slot), has_data: true };
        let (id, slot) = self.engine.slab.insert_with(make);
        let copy = PacketCopy {
            packet: id,
            route: 0,
            position: 0,
            size_bytes: packet.size.as_bytes(),
            ecn: EcnBits(packet.ecn & 3),
            kind: CopyKind::SESSION,
            channel: channel.0,
        };
        tree.forward(&mut self.engine, 0, channel, copy);
        self.engine.slab.release(id);
        self.account_drops();
        Some(slot)
    }

    /// Takes out what has reached the ends of paths since the last call, in the order of time.
    pub fn drain_foreign(&mut self, sink: &mut impl FnMut(ForeignArrival<F::Header>)) {
        self.foreign.drain(..).for_each(sink);
    }

    /// A packet that counts has brought its receiver something new.
    pub fn count_foreign(&mut self, path: ForeignPath, size: Size) {
        if let Some(&Agent::Outlet { flow, .. }) = self.agents.get(path.0 as usize) {
            let counters = &mut self.unicast_flows[flow as usize];
            counters.received_bytes += u64::from(size.as_bytes());
            counters.received_packets += 1;
        }
    }

    /// A flow has completed a transfer that took so long.
    pub fn count_foreign_transfer(&mut self, path: ForeignPath, took: layercast_core::units::Duration) {
        if let Some(&Agent::Outlet { flow, .. }) = self.agents.get(path.0 as usize) {
            let counters = &mut self.unicast_flows[flow as usize];
            counters.transfers += 1;
            counters.transfer_ns += u128::from(took.as_ns());
        }
    }

    /// A receiver joins a channel now; its own latency follows.
    pub fn join(&mut self, id: ReceiverId, channel: Channel) {
        self.as_host(id, |host| host.join(channel));
    }

    /// A receiver leaves a channel now; its own latency follows.
    pub fn leave(&mut self, id: ReceiverId, channel: Channel) {
        self.as_host(id, |host| host.leave(channel));
    }

    /// A receiver records a trace event now.
    pub fn trace(&mut self, id: ReceiverId, event: TraceEvent) {
        self.as_host(id, |host| host.trace(event));
    }

    /// The receivers of a session, in the order of its tree; none if it has none.
    pub fn receivers_mut(&mut self, session: SessionId) -> Option<&mut F::Receivers> {
        self.sessions.get_mut(session.index())?.endpoints.as_mut()
    }

    fn as_host(&mut self, id: ReceiverId, act: impl FnOnce(&mut ReceiverHost<'_, F::Header>)) {
        let to = &mut self.sessions[id.session as usize];
        act(&mut ReceiverHost {
            engine: &mut self.engine,
            tree: &mut to.tree,
            receiver: id.receiver,
            latencies: &to.latencies[id.receiver as usize],
            log: &mut to.logs[id.receiver as usize],
            deliveries: &mut to.deliveries,
        });
        self.account_drops();
    }

    /// A packet has reached the end of a path.
    pub(super) fn keep_foreign(&mut self, agent: u32, input: Input<F::Header>) {
        if let Input::Packet(arrival) = input
            && let Origin::Peer(from) = arrival.origin
        {
            self.foreign.push(ForeignArrival {
                at: self.engine.now(),
                path: ForeignPath(agent),
                header: arrival.header,
                size: arrival.size,
                ecn: arrival.ecn,
                counts: from == COUNTS,
            });
        }
    }

    /// A packet was lost on a path.
    pub(super) fn lose_foreign(&mut self, agent: u32, from: Peer, header: F::Header) {
        if let (&Agent::Outlet { flow, .. }, COUNTS) = (&self.agents[agent as usize], from) {
            self.unicast_flows[flow as usize].lost_packets += 1;
            if let Some(losses) = &mut self.foreign_losses {
                losses.push((ForeignPath(agent), header));
            }
        }
    }
}

impl ReceiverId {
    /// Its number in the tree of its session, which is its place among the session's receivers.
    pub fn index(self) -> usize {
        self.receiver as usize
    }
}
