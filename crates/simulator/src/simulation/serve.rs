//! What each event does.

use layercast_protocol::contract::{Arrival, Ecn, Input, Origin, settle};
use layercast_protocol::registry::Header;
use layercast_protocol::units::{Channel, Size};

use super::{Agent, ReceiverAgent, Route, Session, Simulation};
use crate::core::{Core, Dropped};
use crate::event::{Event, Key};
use crate::host::{ReceiverHost, SourceHost, TcpOutput, Way};
use crate::multicast::Tree;
use crate::packet::{Body, Parcel};
use crate::tcp::{Ack, Sink};

impl Simulation {
    pub(super) fn serve_arrival(&mut self, link: u32) {
        match self.core.links[link as usize].land() {
            Some((parcel, Some(next))) => {
                self.core.events.replace_first(next, Event::Arrival(link));
                self.serve_parcel(parcel);
            }
            Some((parcel, None)) => {
                self.core.events.remove_first();
                self.serve_parcel(parcel);
            }
            None => self.core.events.remove_first(),
        }
    }

    /// A parcel has come to the far end of a link.
    fn serve_parcel(&mut self, mut parcel: Parcel) {
        match &self.routes[parcel.route as usize] {
            Route::Path { links, agent } => {
                parcel.position += 1;
                match links.get(parcel.position as usize) {
                    Some(&next) => self.core.offer(next, parcel),
                    None => {
                        let agent = *agent;
                        let body = *self.core.slab.body(parcel.packet);
                        self.core.slab.release(parcel.packet);
                        self.deliver(agent, body, parcel);
                    }
                }
            }
            Route::Data { session } => self.serve_data(*session, parcel),
            Route::Membership { session } => {
                if let &Body::Membership(message) = self.core.slab.body(parcel.packet) {
                    self.sessions[*session as usize].tree.serve_message(&mut self.core, message);
                }
                self.core.slab.release(parcel.packet);
            }
        }
    }

    /// A data parcel of a session has come to a node of its tree.
    fn serve_data(&mut self, session: u32, parcel: Parcel) {
        let node = parcel.position;
        if let &Body::Channel { channel, header } = self.core.slab.body(parcel.packet) {
            for receiver in self.sessions[session as usize].tree.receivers_at(node) {
                self.deliver_data(session, receiver, channel, header, parcel);
            }
            self.sessions[session as usize].tree.forward(&mut self.core, node, channel, parcel);
        }
        self.core.slab.release(parcel.packet);
    }

    fn deliver_data(
        &mut self,
        session: u32,
        receiver: u32,
        channel: Channel,
        header: Header,
        parcel: Parcel,
    ) {
        let session = &mut self.sessions[session as usize];
        let holds = session.tree.is_member(receiver, channel);
        let agent = session.receivers[receiver as usize];
        if let Agent::Receiver(receiver) = &mut self.agents[agent as usize] {
            if holds {
                receiver.counters.received_bytes += u64::from(parcel.size_bytes);
                receiver.counters.received_packets += 1;
                receiver.counters.sent_packets += 1;
                let arrival = arrival(Origin::Channel(channel), header, parcel);
                receiver.settle(agent, Input::Packet(arrival), &mut self.core, &mut session.tree);
            } else if session.tree.is_late(receiver.receiver, channel) {
                receiver.counters.late_bytes += u64::from(parcel.size_bytes);
            }
        }
    }

    /// A unicast packet has come to its agent.
    fn deliver(&mut self, agent: u32, body: Body, parcel: Parcel) {
        match (&mut self.agents[agent as usize], body) {
            (Agent::TcpSink { sink, way, flow }, Body::Segment(segment)) => {
                let received = sink.receive(self.core.now(), segment.seq);
                if received.is_new {
                    let counters = &mut self.tcp_flows[*flow as usize];
                    counters.received_bytes += u64::from(parcel.size_bytes);
                    counters.received_packets += 1;
                }
                if let Some(ack) = received.ack {
                    send_ack(&mut self.core, sink, *way, ack);
                }
                let deadline = sink.deadline();
                self.core.set_timer(agent, deadline);
            }
            (Agent::TcpSender { sender, way, flow, stopped: false }, Body::Ack(ack)) => {
                let now = self.core.now();
                let sent_packets = &mut self.tcp_flows[*flow as usize].sent_packets;
                sender.handle_ack(
                    now,
                    &ack,
                    &mut TcpOutput { core: &mut self.core, way: *way, sent_packets },
                );
                let deadline = sender.deadline();
                self.core.set_timer(agent, deadline);
            }
            (Agent::Source { .. }, Body::Unicast { from, header }) => {
                let arrival = arrival(Origin::Peer(from), header, parcel);
                self.settle_source(agent, Input::Packet(arrival));
            }
            (Agent::Receiver(receiver), Body::Unicast { from, header }) => {
                let arrival = arrival(Origin::Peer(from), header, parcel);
                let tree = &mut self.sessions[receiver.session as usize].tree;
                receiver.settle(agent, Input::Packet(arrival), &mut self.core, tree);
            }
            _ => {}
        }
    }

    pub(super) fn serve_timer(&mut self, agent: u32, key: Key) {
        if !self.core.timers[agent as usize].serve(agent, key, &mut self.core.events) {
            return;
        }
        match &mut self.agents[agent as usize] {
            Agent::Source { .. } => self.settle_source(agent, Input::Timer),
            Agent::Receiver(receiver) => {
                let tree = &mut self.sessions[receiver.session as usize].tree;
                receiver.settle(agent, Input::Timer, &mut self.core, tree);
            }
            Agent::TcpSender { sender, way, flow, .. } => {
                let now = self.core.now();
                let sent_packets = &mut self.tcp_flows[*flow as usize].sent_packets;
                sender.handle_timeout(now, &mut TcpOutput { core: &mut self.core, way: *way, sent_packets });
                let deadline = sender.deadline();
                self.core.set_timer(agent, deadline);
            }
            Agent::TcpSink { sink, way, .. } => {
                if let Some(ack) = sink.take_due() {
                    send_ack(&mut self.core, sink, *way, ack);
                }
            }
        }
    }

    pub(super) fn start_agent(&mut self, agent: u32) {
        match &mut self.agents[agent as usize] {
            Agent::Source { .. } => self.settle_source(agent, Input::Start),
            Agent::Receiver(receiver) => {
                let tree = &mut self.sessions[receiver.session as usize].tree;
                receiver.settle(agent, Input::Start, &mut self.core, tree);
            }
            Agent::TcpSender { sender, way, flow, .. } => {
                let now = self.core.now();
                let sent_packets = &mut self.tcp_flows[*flow as usize].sent_packets;
                sender.start(now, &mut TcpOutput { core: &mut self.core, way: *way, sent_packets });
                let deadline = sender.deadline();
                self.core.set_timer(agent, deadline);
            }
            Agent::TcpSink { .. } => {}
        }
    }

    pub(super) fn stop_agent(&mut self, agent: u32) {
        match &mut self.agents[agent as usize] {
            Agent::Source { .. } => self.settle_source(agent, Input::Stop),
            Agent::Receiver(receiver) => {
                let tree = &mut self.sessions[receiver.session as usize].tree;
                receiver.settle(agent, Input::Stop, &mut self.core, tree);
            }
            Agent::TcpSender { stopped, .. } => {
                *stopped = true;
                self.core.set_timer(agent, None);
            }
            Agent::TcpSink { .. } => {}
        }
    }

    fn settle_source(&mut self, agent: u32, input: Input<Header>) {
        if let Agent::Source { endpoint, session } = &mut self.agents[agent as usize] {
            let session = &self.sessions[*session as usize];
            let now = self.core.now();
            let mut host =
                SourceHost { core: &mut self.core, tree: &session.tree, to_peers: &session.to_peers };
            let deadline = settle(&mut **endpoint, now, input, &mut host);
            self.core.set_timer(agent, deadline);
        }
    }

    /// Books the parcels that links did not carry on the flows that were to get them.
    pub(super) fn account_drops(&mut self) {
        while let Some(Dropped(parcel)) = self.core.dropped.pop() {
            match (&self.routes[parcel.route as usize], self.core.slab.body(parcel.packet)) {
                (Route::Path { agent, .. }, Body::Segment(_)) => {
                    if let Agent::TcpSink { flow, .. } = &self.agents[*agent as usize] {
                        self.tcp_flows[*flow as usize].lost_packets += 1;
                    }
                }
                (Route::Data { session }, &Body::Channel { channel, .. }) => {
                    let Session { tree, receivers, .. } = &self.sessions[*session as usize];
                    tree.for_each_member_below(parcel.position, channel, &mut |receiver| {
                        let agent = receivers[receiver as usize];
                        if let Agent::Receiver(receiver) = &mut self.agents[agent as usize] {
                            receiver.counters.lost_packets += 1;
                            receiver.counters.sent_packets += 1;
                        }
                    });
                }
                _ => {}
            }
            self.core.slab.release(parcel.packet);
        }
    }
}

impl ReceiverAgent {
    fn settle(&mut self, agent: u32, input: Input<Header>, core: &mut Core, tree: &mut Tree) {
        let now = core.now();
        let mut host = ReceiverHost {
            core,
            tree,
            receiver: self.receiver,
            to_source: self.to_source,
            join_latency: self.join_latency,
            leave_latency: self.leave_latency,
            level_changes: &mut self.level_changes,
        };
        let deadline = settle(&mut self.endpoint, now, input, &mut host);
        core.set_timer(agent, deadline);
    }
}

fn arrival(origin: Origin, header: Header, parcel: Parcel) -> Arrival<Header> {
    let ecn = if parcel.marked { Ecn::Marked } else { Ecn::NotCapable };
    Arrival { origin, size: Size::from_bytes(parcel.size_bytes), ecn, header }
}

fn send_ack(core: &mut Core, sink: &Sink, way: Way, ack: Ack) {
    core.send(Body::Ack(ack), sink.ack_size(&ack), way.first, way.route, 0);
}
