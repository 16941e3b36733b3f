//! What each event does.

use layercast_core::contract::{Arrival, Ecn, Header, Input, Origin, drive};
use layercast_core::family::{Family, Receivers};
use layercast_core::units::{Channel, Size, Time};

use super::{Agent, Route, Simulation};
use crate::engine::Engine;
use crate::event::{ArrivalRun, Event, Key};
use crate::host::{ReceiverHost, SourceHost, TcpOutput};
use crate::network::LinkId;
use crate::packet::{Body, Dropped, EcnField, PacketCopy};
use crate::paths::{Hop, UnicastPath};
use crate::tcp::{Ack, Segment, Sender, Sink};

impl<F: Family> Simulation<F> {
    /// Serves an event. The main loop calls this for all but the most frequent one, of which it makes no call.
    #[inline(never)]
    pub(super) fn serve_event(&mut self, key: Key, event: Event) {
        match event {
            Event::Arrival(link) => self.serve_arrival(link),
            Event::Arrivals { first, count } => self.serve_arrival_run(key, first, count),
            Event::Free(link) => self.engine.transmitter_free(LinkId(link)),
            Event::Change(link) => self.engine.change_link(LinkId(link)),
            Event::Timer(agent) => self.serve_timer(agent, key),
            Event::Membership { route, slot } => self.serve_membership(route, slot),
            Event::Start(agent) => self.start_agent(agent),
            Event::Stop(agent) => self.stop_agent(agent),
            Event::Crash(agent) => self.crash_agent(agent),
        }
    }

    #[inline]
    pub(super) fn serve_arrival(&mut self, link: u32) {
        let (copy, next) = self.engine.take_arrival(link);
        if let Some(next) = next {
            self.engine.events.push(next, Event::Arrival(link));
        }
        if let Some(copy) = copy {
            self.forward_copy(LinkId(link), copy);
        }
    }

    /// A run of arrivals at one instant, of which the first is counted as served already. Events whose
    /// order number falls in between are served in between.
    pub(super) fn serve_arrival_run(&mut self, key: Key, first: u32, count: u32) {
        let mut next_arrivals = ArrivalRun::new();
        for index in 0..count {
            let (link, key_here) = ArrivalRun::nth(first, key, index);
            if index > 0 {
                if !self.engine.dropped.is_empty() {
                    self.account_drops();
                }
                if self.engine.events.first(key_here.time).is_some_and(|(other, _)| other < key_here) {
                    for index in index..count {
                        let (link, key) = ArrivalRun::nth(first, key, index);
                        next_arrivals.add(&mut self.engine.events, link, key);
                    }
                    break;
                }
                self.engine.current = key_here;
                self.events_served += 1;
            }
            let (copy, next) = self.engine.take_arrival(link);
            if let Some(next) = next {
                next_arrivals.add(&mut self.engine.events, link, next);
            }
            if let Some(copy) = copy {
                self.forward_copy(LinkId(link), copy);
            }
        }
        next_arrivals.enter(&mut self.engine.events);
    }

    /// A copy has arrived at a node.
    #[inline(always)]
    fn forward_copy(&mut self, link: LinkId, copy: PacketCopy) {
        if copy.kind.is_in_session() {
            return self.forward_in_session(link, copy);
        }
        match self.paths.hop(copy.position) {
            Hop::Link(next) => self.engine.offer(next, PacketCopy { position: copy.position + 1, ..copy }),
            Hop::Agent(agent) => self.deliver(agent, copy),
        }
    }

    /// A copy on a route of a session has arrived at a node.
    #[inline(never)]
    fn forward_in_session(&mut self, link: LinkId, copy: PacketCopy) {
        match &self.routes[copy.route as usize] {
            Route::Path { .. } => debug_assert!(false, "a path is not a session's"),
            Route::Data { session } => self.serve_data(*session, copy),
            Route::Membership { session } => {
                if let &Body::Membership(message) = self.engine.slab.body(copy.packet) {
                    self.sessions[*session as usize].tree.serve_message(&mut self.engine, message);
                }
                self.engine.slab.release(copy.packet);
            }
            &Route::Up { session } => self.serve_up(session, link, copy),
            &Route::Down { session } => {
                let session = &self.sessions[session as usize];
                match session.tree.down_towards(copy.position, Some(link)) {
                    Some(next) => self.engine.offer(next, copy),
                    None => {
                        let agent = session.agent_of(copy.position);
                        self.deliver(agent, copy);
                    }
                }
            }
        }
    }

    /// A data copy of a session has arrived at a node of its tree.
    fn serve_data(&mut self, session: u32, copy: PacketCopy) {
        let node = copy.position;
        if let &Body::Channel { channel, header, has_data } = self.engine.slab.body(copy.packet) {
            for receiver in self.sessions[session as usize].tree.receivers_at(node) {
                self.deliver_data(session, receiver, channel, header, has_data, copy);
            }
            let router = self.router_agent(session, node);
            if router.is_none() || !header.is_held_by_routers() {
                self.sessions[session as usize].tree.forward(&mut self.engine, node, channel, copy);
            }
            if let Some(agent) = router {
                let arrived = arrival(Origin::Channel(channel), header, copy);
                self.drive_router(agent, Input::Packet(arrived));
            }
        }
        self.engine.slab.release(copy.packet);
    }

    fn deliver_data(
        &mut self,
        session: u32,
        receiver: u32,
        channel: Channel,
        header: F::Header,
        has_data: bool,
        copy: PacketCopy,
    ) {
        let to = &mut self.sessions[session as usize];
        if to.tree.is_member(receiver, channel) {
            if header.is_repair() {
                to.deliveries.repair(receiver, copy.size_bytes);
            } else {
                let received = &mut to.received[receiver as usize];
                received.bytes += u64::from(copy.size_bytes);
                received.packets += 1;
                if copy.is_marked() {
                    to.exceptions[receiver as usize].marked_packets += 1;
                }
            }
            self.drive_receiver(
                session,
                receiver,
                Input::Packet(arrival(Origin::Channel(channel), header, copy)),
            );
            if has_data && self.sessions[session as usize].object.is_some() {
                self.count_towards_object(session, receiver);
            }
        } else if to.tree.is_late(receiver, channel) {
            to.exceptions[receiver as usize].late_bytes += u64::from(copy.size_bytes);
            if to.observes_late_packets {
                let arrived = Input::Packet(arrival(Origin::Channel(channel), header, copy));
                self.drive_receiver(session, receiver, arrived);
            }
        }
    }

    /// A unicast packet has arrived at its agent.
    #[inline(never)]
    pub(super) fn deliver(&mut self, agent: u32, copy: PacketCopy) {
        let body = self.engine.slab.body_of(&copy);
        self.engine.slab.release_copy(&copy);
        match body {
            Body::Segment(segment) => self.deliver_segment(agent, segment, copy),
            Body::Ack(ack) => self.drive_tcp(agent, |sender, now, out| sender.handle_ack(now, &ack, out)),
            Body::Unicast { from, header } => {
                self.drive_endpoint(agent, Input::Packet(arrival(Origin::Peer(from), header, copy)));
            }
            Body::Datagram { sent } => self.deliver_datagram(agent, copy.size_bytes, sent),
            Body::Channel { .. } | Body::Membership(_) => {}
        }
    }

    fn deliver_segment(&mut self, agent: u32, segment: Segment, copy: PacketCopy) {
        if let Agent::TcpSink { sink, path, flow } = &mut self.agents[agent as usize] {
            let received = sink.receive(self.engine.now(), segment, copy.is_marked());
            if received.is_new {
                let counters = &mut self.unicast_flows[*flow as usize];
                counters.received_bytes += u64::from(copy.size_bytes);
                counters.received_packets += 1;
            }
            if let Some(ack) = received.ack {
                send_ack(&mut self.engine, sink, *path, ack);
            }
            if sink.may_hold() {
                let deadline = sink.deadline();
                self.engine.set_timer(agent, deadline);
            }
        }
    }

    pub(super) fn serve_timer(&mut self, agent: u32, key: Key) {
        if !self.engine.timers[agent as usize].serve(agent, key, &mut self.engine.events) {
            return;
        }
        match &mut self.agents[agent as usize] {
            Agent::Source { .. } | Agent::Receiver { .. } | Agent::Router(_) => {
                self.drive_endpoint(agent, Input::Timer)
            }
            Agent::TcpSender { .. } => self.serve_sender_timer(agent),
            Agent::TcpSink { sink, path, .. } => {
                if let Some(ack) = sink.take_due() {
                    send_ack(&mut self.engine, sink, *path, ack);
                }
            }
            Agent::Arrivals(_) => self.serve_arrivals(agent, true),
            Agent::UdpSource { .. } => self.send_datagram(agent),
            Agent::UdpSink { .. } | Agent::Outlet { .. } => {}
        }
    }

    pub(super) fn start_agent(&mut self, agent: u32) {
        match &mut self.agents[agent as usize] {
            Agent::Source { .. } | Agent::Receiver { .. } => self.drive_endpoint(agent, Input::Start),
            Agent::Router(_) => self.set_working(agent, true),
            Agent::TcpSender { .. } => self.start_application(agent),
            Agent::Arrivals(_) => self.serve_arrivals(agent, false),
            Agent::UdpSource { source, .. } => {
                let now = self.engine.now();
                match source.start(now) {
                    first if first > now => self.engine.set_timer(agent, Some(first)),
                    _ => self.send_datagram(agent),
                }
            }
            Agent::TcpSink { .. } | Agent::UdpSink { .. } | Agent::Outlet { .. } => {}
        }
    }

    pub(super) fn stop_agent(&mut self, agent: u32) {
        if self.is_done_with_object(agent) {
            return;
        }
        match &mut self.agents[agent as usize] {
            Agent::Source { .. } | Agent::Receiver { .. } => self.drive_endpoint(agent, Input::Stop),
            Agent::Router(_) => self.set_working(agent, false),
            Agent::TcpSender { sender, stopped, application, .. } => {
                *stopped = true;
                sender.stop(self.engine.now());
                if let Some(application) = application {
                    application.stop(self.engine.now());
                }
                self.engine.set_timer(agent, None);
            }
            Agent::Arrivals(_) | Agent::UdpSource { .. } => self.engine.set_timer(agent, None),
            Agent::TcpSink { .. } | Agent::UdpSink { .. } | Agent::Outlet { .. } => {}
        }
    }

    /// Passes one input to an endpoint and carries out its actions. Other agents have no endpoint.
    pub(super) fn drive_endpoint(&mut self, agent: u32, input: Input<F::Header>) {
        match &mut self.agents[agent as usize] {
            Agent::Source { endpoint, session, left } => {
                let session = &self.sessions[*session as usize];
                let engine = &mut self.engine;
                let now = engine.now();
                let mut host = SourceHost { engine, tree: &session.tree, ecn: session.ecn, left };
                let mut deadline = drive(&mut **endpoint, now, input, &mut host);
                if *host.left == Some(0) {
                    *host.left = None;
                    deadline = drive(&mut **endpoint, now, Input::Finish, &mut host);
                }
                self.engine.set_timer(agent, deadline);
            }
            Agent::Router(_) => self.drive_router(agent, input),
            &mut Agent::Receiver { session, receiver } => self.drive_receiver(session, receiver, input),
            Agent::Outlet { .. } => self.keep_foreign(agent, input),
            _ => {}
        }
    }

    pub(super) fn drive_receiver(&mut self, session: u32, receiver: u32, input: Input<F::Header>) {
        let now = self.engine.now();
        let to = &mut self.sessions[session as usize];
        if to.is_crashed(receiver) {
            return;
        }
        if let Some(endpoints) = &mut to.endpoints {
            let mut host = ReceiverHost {
                engine: &mut self.engine,
                tree: &mut to.tree,
                receiver,
                latencies: &to.latencies[receiver as usize],
                log: &mut to.logs[receiver as usize],
                deliveries: &mut to.deliveries,
            };
            let deadline = endpoints.drive(receiver as usize, now, input, &mut host);
            let had_deadline = &mut to.had_deadline[receiver as usize];
            if deadline.is_some() || *had_deadline {
                *had_deadline = true;
                self.engine.set_timer(to.first_agent + receiver, deadline);
            }
        }
    }

    /// Lets a TCP sender that has not stopped act, and reads its deadline.
    pub(super) fn drive_tcp(
        &mut self,
        agent: u32,
        act: impl FnOnce(&mut Sender, Time, &mut TcpOutput<'_, F::Header>),
    ) {
        if let Agent::TcpSender { sender, path, flow, stopped: false, application, .. } =
            &mut self.agents[agent as usize]
        {
            let sent_packets = &mut self.unicast_flows[*flow as usize].sent_packets;
            let now = self.engine.now();
            act(sender, now, &mut TcpOutput { engine: &mut self.engine, path: *path, sent_packets });
            if application.is_some() {
                return self.update_application(agent);
            }
            let deadline = sender.deadline();
            self.engine.set_timer(agent, deadline);
        }
    }

    /// Accounts for the copies that links did not carry: each counts as a loss of the flows that it was
    /// sent to.
    pub(super) fn account_drops(&mut self) {
        while let Some(Dropped(copy)) = self.engine.dropped.pop() {
            match (&self.routes[copy.route as usize], self.engine.slab.body_of(&copy)) {
                (Route::Path { agent, .. }, Body::Segment(_)) => {
                    if let Agent::TcpSink { flow, .. } = &self.agents[*agent as usize] {
                        self.unicast_flows[*flow as usize].lost_packets += 1;
                    }
                }
                (Route::Path { agent, .. }, Body::Datagram { .. }) => {
                    if let Agent::UdpSink { flow, .. } = &self.agents[*agent as usize] {
                        self.unicast_flows[*flow as usize].lost_packets += 1;
                    }
                }
                (Route::Path { agent, .. }, Body::Unicast { from, header }) => {
                    self.lose_foreign(*agent, from, header);
                }
                (Route::Data { session }, Body::Channel { channel, header, .. }) if !header.is_repair() => {
                    let session = &mut self.sessions[*session as usize];
                    session.tree.for_each_member_below(copy.position, channel, &mut |receiver| {
                        session.exceptions[receiver as usize].lost_packets += 1;
                    });
                }
                (Route::Membership { session }, Body::Membership(message)) => {
                    self.sessions[*session as usize].tree.message_lost(&mut self.engine, message);
                }
                _ => {}
            }
            self.engine.slab.release_copy(&copy);
        }
    }
}

fn arrival<H>(origin: Origin, header: H, copy: PacketCopy) -> Arrival<H> {
    Arrival { origin, size: Size::from_bytes(copy.size_bytes), ecn: marks_on(&copy), header }
}

/// The ECN information that an endpoint gets with a packet.
fn marks_on(copy: &PacketCopy) -> Ecn {
    match (copy.is_marked(), copy.is_ecn_capable()) {
        (true, _) => Ecn::Marked,
        (false, true) => Ecn::Capable,
        (false, false) => Ecn::NotCapable,
    }
}

fn send_ack<H: Header>(engine: &mut Engine<H>, sink: &Sink, path: UnicastPath, ack: Ack) {
    engine.send_along(path, Body::Ack(ack), sink.ack_size(&ack), EcnField::NotCapable);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{CopyKind, PacketId};

    #[test]
    fn endpoints_see_capability_and_marks() {
        let copy = |ecn: EcnField| {
            let packet = PacketId::from_number(0);
            let (ecn, kind) = (ecn.into(), CopyKind::SESSION);
            PacketCopy { packet, route: 0, position: 0, size_bytes: 1, ecn, kind, channel: 0 }
        };
        assert_eq!(marks_on(&copy(EcnField::NotCapable)), Ecn::NotCapable);
        let mut capable = copy(EcnField::Classic);
        assert_eq!(marks_on(&capable), Ecn::Capable);
        capable.mark();
        assert_eq!(marks_on(&capable), Ecn::Marked);
    }
}
