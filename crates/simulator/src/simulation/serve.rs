//! What each event does.

use layercast_protocol::contract::{Arrival, Ecn, Input, Origin, settle};
use layercast_protocol::registry::Header;
use layercast_protocol::units::{Channel, Size, Time};

use super::{Agent, Route, Session, Simulation};
use crate::core::Core;
use crate::event::{Event, Key};
use crate::host::{ReceiverHost, SourceHost, TcpOutput, Way};
use crate::packet::{Body, Dropped, EcnField, Parcel};
use crate::tcp::{Ack, Segment, Sender, Sink};

impl Simulation {
    pub(super) fn serve_arrival(&mut self, link: u32) {
        match self.core.links[link as usize].land() {
            Some((parcel, Some(next))) => {
                self.core.events.replace_first(next, Event::Arrival(link));
                self.serve_landed(link, parcel);
            }
            Some((parcel, None)) => {
                self.core.events.remove_first();
                self.serve_landed(link, parcel);
            }
            None => self.core.events.remove_first(),
        }
    }

    /// A parcel has come to the far end of a link, where an error model may lose it yet.
    #[inline]
    fn serve_landed(&mut self, link: u32, parcel: Parcel) {
        if !self.core.loses_on_arrival(link, parcel) {
            self.serve_parcel(parcel);
        }
    }

    /// A parcel has come to a node.
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
        let session = &self.sessions[session as usize];
        let holds = session.tree.is_member(receiver, channel);
        let agent = session.receivers[receiver as usize];
        if let Agent::Receiver(to) = &mut self.agents[agent as usize] {
            if holds {
                to.counters.received_bytes += u64::from(parcel.size_bytes);
                to.counters.received_packets += 1;
                to.counters.sent_packets += 1;
            } else if session.tree.is_late(receiver, channel) {
                to.counters.late_bytes += u64::from(parcel.size_bytes);
            }
        }
        if holds {
            self.tell(agent, Input::Packet(arrival(Origin::Channel(channel), header, parcel)));
        }
    }

    /// A unicast packet has come to its agent.
    fn deliver(&mut self, agent: u32, body: Body, parcel: Parcel) {
        match body {
            Body::Segment(segment) => self.deliver_segment(agent, segment, parcel),
            Body::Ack(ack) => self.drive_tcp(agent, |sender, now, out| sender.handle_ack(now, &ack, out)),
            Body::Unicast { from, header } => {
                self.tell(agent, Input::Packet(arrival(Origin::Peer(from), header, parcel)));
            }
            Body::Datagram => self.deliver_datagram(agent, parcel.size_bytes),
            Body::Channel { .. } | Body::Membership(_) => {}
        }
    }

    fn deliver_segment(&mut self, agent: u32, segment: Segment, parcel: Parcel) {
        if let Agent::TcpSink { sink, way, flow } = &mut self.agents[agent as usize] {
            let received = sink.receive(self.core.now(), segment, parcel.marked);
            if received.is_new {
                let counters = &mut self.unicast_flows[*flow as usize];
                counters.received_bytes += u64::from(parcel.size_bytes);
                counters.received_packets += 1;
            }
            if let Some(ack) = received.ack {
                send_ack(&mut self.core, sink, *way, ack);
            }
            let deadline = sink.deadline();
            self.core.set_timer(agent, deadline);
        }
    }

    pub(super) fn serve_timer(&mut self, agent: u32, key: Key) {
        if !self.core.timers[agent as usize].serve(agent, key, &mut self.core.events) {
            return;
        }
        match &mut self.agents[agent as usize] {
            Agent::Source { .. } | Agent::Receiver(_) => self.tell(agent, Input::Timer),
            Agent::TcpSender { .. } => self.serve_sender_timer(agent),
            Agent::TcpSink { sink, way, .. } => {
                if let Some(ack) = sink.take_due() {
                    send_ack(&mut self.core, sink, *way, ack);
                }
            }
            Agent::Arrivals(_) => self.serve_arrivals(agent, true),
            Agent::UdpSource { .. } => self.send_datagram(agent),
            Agent::UdpSink { .. } => {}
        }
    }

    pub(super) fn start_agent(&mut self, agent: u32) {
        match &mut self.agents[agent as usize] {
            Agent::Source { .. } | Agent::Receiver(_) => self.tell(agent, Input::Start),
            Agent::TcpSender { .. } => self.start_application(agent),
            Agent::Arrivals(_) => self.serve_arrivals(agent, false),
            Agent::UdpSource { source, .. } => {
                source.start(self.core.now());
                self.send_datagram(agent);
            }
            Agent::TcpSink { .. } | Agent::UdpSink { .. } => {}
        }
    }

    pub(super) fn stop_agent(&mut self, agent: u32) {
        match &mut self.agents[agent as usize] {
            Agent::Source { .. } | Agent::Receiver(_) => self.tell(agent, Input::Stop),
            Agent::TcpSender { stopped, .. } => {
                *stopped = true;
                self.core.set_timer(agent, None);
            }
            Agent::Arrivals(_) | Agent::UdpSource { .. } => self.core.set_timer(agent, None),
            Agent::TcpSink { .. } | Agent::UdpSink { .. } => {}
        }
    }

    /// Tells an endpoint one thing and does what it asks for. Other agents have no endpoint.
    fn tell(&mut self, agent: u32, input: Input<Header>) {
        let core = &mut self.core;
        let now = core.now();
        let deadline = match &mut self.agents[agent as usize] {
            Agent::Source { endpoint, session } => {
                let Session { tree, to_peers, .. } = &self.sessions[*session as usize];
                settle(&mut **endpoint, now, input, &mut SourceHost { core, tree, to_peers })
            }
            Agent::Receiver(receiver) => {
                let mut host = ReceiverHost {
                    core,
                    tree: &mut self.sessions[receiver.session as usize].tree,
                    receiver: receiver.receiver,
                    to_source: receiver.to_source,
                    join_latency: receiver.join_latency,
                    leave_latency: receiver.leave_latency,
                    level_changes: &mut receiver.level_changes,
                };
                settle(&mut receiver.endpoint, now, input, &mut host)
            }
            _ => return,
        };
        self.core.set_timer(agent, deadline);
    }

    /// Lets a TCP sender that has not stopped act, and reads its deadline.
    pub(super) fn drive_tcp(&mut self, agent: u32, act: impl FnOnce(&mut Sender, Time, &mut TcpOutput<'_>)) {
        if let Agent::TcpSender { sender, way, flow, stopped: false, application, .. } =
            &mut self.agents[agent as usize]
        {
            let sent_packets = &mut self.unicast_flows[*flow as usize].sent_packets;
            let now = self.core.now();
            act(sender, now, &mut TcpOutput { core: &mut self.core, way: *way, sent_packets });
            if application.is_some() {
                return self.attend_application(agent);
            }
            let deadline = sender.deadline();
            self.core.set_timer(agent, deadline);
        }
    }

    /// Books the parcels that links did not carry on the flows that were to get them.
    pub(super) fn account_drops(&mut self) {
        while let Some(Dropped(parcel)) = self.core.dropped.pop() {
            match (&self.routes[parcel.route as usize], self.core.slab.body(parcel.packet)) {
                (Route::Path { agent, .. }, Body::Segment(_)) => {
                    if let Agent::TcpSink { flow, .. } = &self.agents[*agent as usize] {
                        self.unicast_flows[*flow as usize].lost_packets += 1;
                    }
                }
                (Route::Path { agent, .. }, Body::Datagram) => {
                    if let Agent::UdpSink { flow } = &self.agents[*agent as usize] {
                        self.unicast_flows[*flow as usize].lost_packets += 1;
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

fn arrival(origin: Origin, header: Header, parcel: Parcel) -> Arrival<Header> {
    let ecn = if parcel.marked { Ecn::Marked } else { Ecn::NotCapable };
    Arrival { origin, size: Size::from_bytes(parcel.size_bytes), ecn, header }
}

fn send_ack(core: &mut Core, sink: &Sink, way: Way, ack: Ack) {
    core.send(Body::Ack(ack), sink.ack_size(&ack), EcnField::NotCapable, way.first, way.route, 0);
}
