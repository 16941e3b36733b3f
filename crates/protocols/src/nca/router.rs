//! A repair server at a router: keeps passing packets, repairs links on request, and reports the worst receiver below.

use alloc::vec::Vec;

use super::caller::Caller;
use super::store::{Request, Store};
use super::{Answer, Candidate, Data, Header, Nack, Options, Report};
use layercast_core::contract::{
    Action, ActionQueue, Arrival, ChildLink, ChildSet, Endpoint, Estimates, Input, Origin, Payload, Peer,
    Send, Target,
};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Seq, Size, Time, WireSeq};

/// The most children that are distinguished: those that come later are not reported.
const MOST_CHILDREN: usize = 4096;

/// An active node below.
#[derive(Clone, Copy, Debug)]
struct Child {
    peer: Peer,
    report: Report,
    last_report: Time,
}

/// The active nodes below a router or the source, and what they reported.
#[derive(Clone, Debug, Default)]
pub(super) struct Children {
    list: Vec<Child>,
    timeout: Duration,
}

impl Children {
    pub(super) fn new(timeout: Duration) -> Children {
        Children { list: Vec::new(), timeout }
    }

    /// A child reports.
    pub(super) fn on_report(&mut self, peer: Peer, report: Report, now: Time) {
        match self.list.binary_search_by_key(&peer, |child| child.peer) {
            Ok(index) => self.list[index] = Child { peer, report, last_report: now },
            Err(index) if self.list.len() < MOST_CHILDREN => {
                self.list.insert(index, Child { peer, report, last_report: now });
            }
            Err(_) => {}
        }
    }

    /// Forgets silent children. Returns whether any are left.
    pub(super) fn forget_silent(&mut self, now: Time) -> bool {
        let timeout = self.timeout;
        self.list.retain(|child| now.since(child.last_report) < timeout);
        !self.list.is_empty()
    }

    /// How many packets from the beginning all children have, where the newest is near `near`; none before
    /// the first report.
    pub(super) fn complete(&self, near: Seq) -> Option<Seq> {
        self.list.iter().map(|child| child.report.complete.expand(near)).min()
    }

    /// The worst receiver below; among equal ones the one with the lowest number.
    pub(super) fn worst(&self) -> Option<Candidate> {
        let candidates = self.list.iter().filter_map(|child| child.report.worst);
        candidates.max_by(|a, b| a.badness().total_cmp(&b.badness()).then(b.id.cmp(&a.id)))
    }
}

/// A repair server of a session.
#[derive(Clone, Debug)]
pub struct Router {
    size: Size,
    packet_size: Size,
    interval: Duration,
    store: Store,
    /// The highest number that the host was asked to release.
    released: Option<Seq>,
    children: Children,
    caller: Caller,
    next_report: Option<Time>,
    /// The newest data packet, whose header repairs carry.
    newest: Data,
    started: bool,
    actions: ActionQueue<Header>,
}

impl Router {
    /// A repair server. It draws no random numbers.
    pub fn new(options: &Options, plan: SessionPlan, _stream: Stream) -> Router {
        Router {
            size: options.feedback_size,
            packet_size: plan.packet_size,
            interval: options.report_interval,
            store: Store::new(options.cache, options.repair_hold),
            released: None,
            children: Children::new(options.child_timeout),
            caller: Caller::new(options),
            next_report: None,
            newest: Data::default(),
            started: false,
            actions: ActionQueue::default(),
        }
    }

    fn on_data(&mut self, now: Time, data: Data, is_repair: bool) {
        let next = self.store.next();
        let seq = if next == Seq(0) { Seq(u64::from(data.seq.0)) } else { data.seq.expand(next) };
        if is_repair && seq >= next {
            return;
        }
        let waiting = self.store.insert(seq, now);
        if is_repair {
            self.subcast(waiting, data, Payload::Arrived);
        } else {
            self.newest = data;
            // A loss above is detected here first: the repair is requested before receivers ask.
            if next > Seq(0) && seq > next {
                let others = (seq.0 - next.0 - 1).min(u64::from(u32::BITS));
                (next.0..=next.0 + others).for_each(|missing| self.store.on_missing(Seq(missing), now));
                let more = u32::MAX.checked_shr(u32::BITS - others as u32).unwrap_or(0);
                self.ask(next.wire(), more);
            }
        }
        if let Some(forgotten) = self.store.forgotten().filter(|&seq| Some(seq) > self.released) {
            self.released = Some(forgotten);
            self.actions.release(forgotten);
        }
    }

    fn ask(&mut self, first: WireSeq, more: u32) {
        self.actions.send(Send::report(Header::Nack(Nack { first, more }), self.size));
    }

    fn subcast(&mut self, links: ChildSet, data: Data, payload: Payload) {
        if links.0 != 0 {
            let (target, size) = (Target::Children(links), self.packet_size);
            self.actions.send(Send { target, header: Header::Repair(data), size, payload, count: 1 });
        }
    }

    fn on_nack(&mut self, now: Time, link: ChildLink, nack: Nack) {
        let next = self.store.next();
        if next == Seq(0) {
            return;
        }
        let mut above: Option<Nack> = None;
        for wire in nack.packets() {
            let seq = wire.expand(next);
            match self.store.request(seq, link, now) {
                Request::Repair => {
                    let data = Data { seq: wire, ..self.newest };
                    self.subcast(ChildSet(link.bit()), data, Payload::Stored(seq));
                }
                Request::Ask => match &mut above {
                    None => above = Some(Nack { first: wire, more: 0 }),
                    Some(above) => {
                        let offset = wire.distance(above.first);
                        if let Some(bit) = u32::try_from(offset - 1).ok().filter(|bit| *bit < u32::BITS) {
                            above.more |= 1 << bit;
                        }
                    }
                },
                Request::Nothing => {}
            }
        }
        if let Some(Nack { first, more }) = above {
            self.ask(first, more);
        }
    }

    fn on_child_packet(&mut self, now: Time, link: ChildLink, peer: Peer, header: Header) {
        match header {
            Header::Nack(nack) => self.on_nack(now, link, nack),
            Header::Report(report) => {
                self.children.on_report(peer, report, now);
                if self.next_report.is_none() {
                    self.report(now);
                }
            }
            Header::Ack(_) => self.actions.send(Send::report(header, self.size)),
            Header::Heartbeat(echo) => {
                // A child that asks before the path above is known asks again soon.
                if let Some(rtt) = self.caller.rtt() {
                    self.actions.send(answer(peer, echo, rtt, self.size));
                }
            }
            Header::Data(_) | Header::Repair(_) | Header::Answer(_) => {}
        }
    }

    /// Reports the worst and the slowest receiver below. Without children there is nothing to report.
    fn report(&mut self, now: Time) {
        self.next_report = None;
        let near = self.store.next();
        if self.children.forget_silent(now)
            && let Some(complete) = self.children.complete(near)
        {
            let report = Report { worst: self.children.worst(), complete: complete.wire() };
            self.actions.send(Send::report(Header::Report(report), self.size));
            self.next_report = Some(now + self.interval);
        }
    }
}

/// The answer to a heartbeat.
pub(super) fn answer(peer: Peer, echo: Time, rtt: Duration, size: Size) -> Send<Header> {
    let header = Header::Answer(Answer { echo, rtt });
    Send { target: Target::Peer(peer), header, size, payload: Payload::None, count: 1 }
}

impl Endpoint for Router {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => {
                self.started = true;
                self.caller.beat(now, &mut self.actions);
            }
            Input::Stop => {
                self.started = false;
                self.next_report = None;
                self.caller.stop();
            }
            _ if !self.started => {}
            Input::Packet(Arrival { origin: Origin::Child(link, peer), header, .. }) => {
                self.on_child_packet(now, link, peer, header);
            }
            Input::Packet(Arrival { origin: Origin::Channel(_), header: Header::Data(data), .. }) => {
                self.on_data(now, data, false);
            }
            Input::Packet(Arrival { origin: Origin::Channel(_), header: Header::Repair(data), .. }) => {
                self.on_data(now, data, true);
            }
            Input::Packet(Arrival { origin: Origin::Peer(_), header: Header::Answer(answer), .. }) => {
                self.caller.on_answer(now, answer);
            }
            Input::Timer => {
                if self.caller.next().is_some_and(|next| next <= now) {
                    self.caller.beat(now, &mut self.actions);
                }
                if self.next_report.is_some_and(|next| next <= now) {
                    self.report(now);
                }
            }
            Input::Packet(_)
            | Input::JoinFailed(..)
            | Input::SendRefused(_)
            | Input::Demand(_)
            | Input::DataExhausted
            | Input::DataAvailable
            | Input::Finish => {}
        }
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        [self.next_report, self.caller.next()].into_iter().flatten().min()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        Estimates { rtt: self.caller.rtt(), ..Estimates::default() }
    }
}
