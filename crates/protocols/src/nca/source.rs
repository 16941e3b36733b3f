//! The source of NCA: nominates the worst receiver and sends by its acknowledgements.

use super::router::{Children, answer};
use super::store::{Request, Store};
use super::window::Window;
use super::{Ack, Candidate, Data, Header, Nack, Options};
use layercast_core::contract::{
    Action, ActionQueue, Arrival, ChildLink, ChildSet, Endpoint, Estimates, Input, Origin, Payload, Peer,
    Send, Target,
};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Level, Rate, RateEstimate, Seq, Size, Time};

/// The time between packets while there is no nominee, and between repetitions of the last one at the end (CHOICE).
const PROBE_INTERVAL: Duration = Duration::from_ms(500);
/// For how long the last packet is repeated to receivers that make no progress (CHOICE).
const LONGEST_END: Duration = Duration::from_secs(60);
/// For how long the source releases nothing and does not end (CHOICE: AMCA's `opening`): receivers that are there have not all
/// reported yet, and one that misses the first packet would begin after it.
const OPENING: Duration = Duration::from_secs(10);
/// The most packets that one acknowledgement releases.
const MAX_BURST: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Sending,
    /// The application has no data for now.
    Waiting,
    /// There will be no more data; the time of the last progress.
    Ending {
        since: Time,
    },
}

/// The source of a session.
#[derive(Clone, Debug)]
pub struct Source {
    options: Options,
    packet_size: Size,
    state: State,
    started: Time,
    window: Window,
    store: Store,
    children: Children,
    nominee: Option<Candidate>,
    /// When the nominee last acknowledged a packet, or was nominated.
    acknowledged: Time,
    /// How many packets from the beginning all receivers have.
    complete: Seq,
    next: Seq,
    /// When the next packet is sent regardless of the window.
    probe: Option<Time>,
    actions: ActionQueue<Header>,
}

impl Source {
    /// A source. It draws no random numbers.
    pub fn new(options: &Options, plan: SessionPlan, _stream: Stream) -> Source {
        Source {
            packet_size: plan.packet_size,
            state: State::Idle,
            started: Time::ZERO,
            window: Window::new(options),
            store: Store::new(options.buffer, options.repair_hold),
            children: Children::new(options.child_timeout),
            nominee: None,
            acknowledged: Time::ZERO,
            complete: Seq(0),
            next: Seq(0),
            probe: None,
            actions: ActionQueue::default(),
            options: options.clone(),
        }
    }

    /// Whether the session has just begun. One that has sent half of what is kept is no longer at its beginning: a receiver that
    /// begins with the first packet must report before that packet is overwritten.
    fn is_opening(&self, now: Time) -> bool {
        now.since(self.started) < OPENING && self.next.0 <= u64::from(self.options.buffer / 2)
    }

    fn data(&self, seq: Seq, now: Time) -> Data {
        let released = self.complete.0.checked_sub(1).filter(|_| !self.is_opening(now));
        Data {
            seq: seq.wire(),
            released: released.map(|seq| Seq(seq).wire()),
            nominee: self.nominee.map(|nominee| nominee.id),
            sent: now,
        }
    }

    /// Sends a new packet if the slowest receiver is not too far behind.
    fn send_next(&mut self, now: Time) -> bool {
        let ahead = self.next.0.saturating_sub(self.complete.0);
        if ahead >= u64::from(self.options.buffer) {
            return false;
        }
        let header = Header::Data(self.data(self.next, now));
        self.actions.send(Send::data(Channel(0), header, self.packet_size));
        self.store.insert(self.next, now);
        self.window.sent(now);
        self.next = Seq(self.next.0 + 1);
        true
    }

    fn send_allowed(&mut self, now: Time) {
        if self.state != State::Sending || self.nominee.is_none() {
            return;
        }
        for _ in 0..MAX_BURST {
            if !self.window.allows(self.next) || !self.send_next(now) {
                return;
            }
        }
    }

    fn on_child_packet(&mut self, now: Time, link: ChildLink, peer: Peer, header: Header) {
        match header {
            Header::Heartbeat(echo) => {
                self.actions.send(answer(peer, echo, Duration::ZERO, self.options.feedback_size));
            }
            Header::Nack(nack) => self.repair(now, link, nack),
            Header::Report(report) => {
                let complete = report.complete.expand(self.next);
                let sane = report.worst.is_none_or(|worst| worst.loss.is_finite());
                if complete <= self.next && sane {
                    self.children.on_report(peer, report, now);
                    self.advance(now);
                    self.nominate(now);
                }
            }
            Header::Ack(ack) => self.acknowledge(now, ack),
            Header::Data(_) | Header::Repair(_) | Header::Answer(_) => {}
        }
    }

    /// Some receiver may have advanced: packets that all have are released.
    fn advance(&mut self, now: Time) {
        let Some(complete) = self.children.complete(self.next) else { return };
        if complete > self.complete {
            self.complete = complete.min(self.next);
            self.actions.release(Seq(self.complete.0 - 1));
            if let State::Ending { since } = &mut self.state {
                *since = now;
            }
        }
    }

    /// Nominates the worst receiver, if it is clearly worse than the present nominee or that one is silent.
    fn nominate(&mut self, now: Time) {
        let Some(worst) = self.children.worst() else { return };
        let silent = now.since(self.acknowledged) >= self.options.nominee_timeout;
        let changes = match &mut self.nominee {
            Some(nominee) if nominee.id == worst.id => {
                *nominee = worst;
                false
            }
            Some(nominee) => silent || worst.badness() > self.options.hysteresis * nominee.badness(),
            None => true,
        };
        if changes {
            if self.nominee.replace(worst).is_none() {
                self.window.begin(self.next);
            }
            self.acknowledged = now;
            // At the end it repeats the last packet, whoever is the nominee.
            if self.state == State::Sending {
                self.probe = None;
            }
            self.window.change_nominee(self.complete, self.next, now);
        }
    }

    fn acknowledge(&mut self, now: Time, ack: Ack) {
        let complete = ack.complete.expand(self.next);
        let known = self.nominee.is_some_and(|nominee| nominee.id == ack.nominee.id);
        if !known || complete > self.next || ack.echo > now || !ack.nominee.loss.is_finite() {
            return;
        }
        self.nominee = Some(ack.nominee);
        self.acknowledged = now;
        self.window.acknowledge(complete, self.next, ack.echo, now);
    }

    fn repair(&mut self, now: Time, link: ChildLink, nack: Nack) {
        for wire in nack.packets() {
            let seq = wire.expand(self.next);
            if self.store.request(seq, link, now) == Request::Repair {
                let header = Header::Repair(self.data(seq, now));
                let target = Target::Children(ChildSet(link.bit()));
                let (size, payload) = (self.packet_size, Payload::Stored(seq));
                self.actions.send(Send { target, header, size, payload, count: 1 });
            }
        }
    }

    /// A deadline has come.
    fn expire(&mut self, now: Time) {
        if self.probe.is_some_and(|probe| probe <= now) {
            self.probe = Some(now + PROBE_INTERVAL);
            match self.state {
                State::Sending if self.nominee.is_none() => drop(self.send_next(now)),
                State::Ending { since } => self.repeat_last(now, since),
                _ => self.probe = None,
            }
        }
        if self.window.expires().is_some_and(|expires| expires <= now) {
            self.children.forget_silent(now);
            self.advance(now);
            self.nominate(now);
            self.window.expire(self.next, now);
            self.send_allowed(now);
        }
    }

    /// Repeats the last packet, so that receivers that missed it request it, until all have it or none makes progress.
    fn repeat_last(&mut self, now: Time, since: Time) {
        self.children.forget_silent(now);
        self.advance(now);
        let have_all = self.complete >= self.next && !self.is_opening(now);
        if have_all || now.since(since) >= LONGEST_END {
            return self.stop();
        }
        let header = Header::Data(self.data(Seq(self.next.0 - 1), now));
        let (size, payload) = (self.packet_size, Payload::Stored(Seq(self.next.0 - 1)));
        self.actions.send(Send { target: Target::Channel(Channel(0)), header, size, payload, count: 1 });
    }

    fn stop(&mut self) {
        self.state = State::Idle;
        self.probe = None;
        self.window.stop();
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => {
                (self.state, self.started) = (State::Sending, now);
                self.probe = Some(now + PROBE_INTERVAL);
                self.send_next(now);
            }
            Input::Stop => self.stop(),
            _ if self.state == State::Idle => {}
            Input::Packet(Arrival { origin: Origin::Child(link, peer), header, .. }) => {
                self.on_child_packet(now, link, peer, header);
                self.send_allowed(now);
            }
            Input::Timer => self.expire(now),
            Input::DataExhausted if self.state == State::Sending => self.state = State::Waiting,
            Input::DataAvailable if self.state == State::Waiting => {
                self.state = State::Sending;
                self.probe = self.nominee.is_none().then(|| now + PROBE_INTERVAL);
                self.send_allowed(now);
            }
            Input::Finish if !matches!(self.state, State::Ending { .. }) => {
                if self.next == Seq(0) {
                    return self.stop();
                }
                self.state = State::Ending { since: now };
                self.probe = Some(now + PROBE_INTERVAL);
                self.window.stop();
            }
            Input::Packet(_)
            | Input::JoinFailed(..)
            | Input::SendRefused(_)
            | Input::Demand(_)
            | Input::DataExhausted
            | Input::DataAvailable
            | Input::Finish => {}
        }
        if matches!(self.state, State::Idle | State::Ending { .. }) {
            self.window.stop();
        }
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        [self.probe, self.window.expires()].into_iter().flatten().min()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let rate = self.window.rtt().filter(|rtt| !rtt.is_zero()).map(|rtt| {
            let bits = self.packet_size.as_bits() as f64 * self.window.size();
            Rate::from_bps(bits / rtt.as_secs_f64())
        });
        Estimates {
            level: if self.state == State::Idle { Level::NONE } else { Level::from_count(1) },
            rate: rate.map_or(RateEstimate::default(), RateEstimate::Known),
            loss: self.nominee.map(|nominee| nominee.loss.clamp(0.0, 1.0)),
            rtt: self.window.rtt(),
            ..Estimates::default()
        }
    }

    gauges! { |self, _now|
        /// The window.
        value window in "packets" = self.window.size();
        /// Packets that all receivers have.
        count complete in "packets" = self.complete.0;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use layercast_core::contract::Ecn;
    use layercast_core::layers::LayerTable;
    use layercast_core::units::WireSeq;

    use super::super::Report;
    use super::*;

    const SIZE: Size = Size::from_bytes(1000);

    fn source(options: &Options) -> Source {
        let layers = LayerTable::from_rates([Rate::from_mbps(1.0)]).expect("a layer");
        let mut source =
            Source::new(options, SessionPlan { layers, packet_size: SIZE }, Stream::new(1, "source"));
        source.handle(at(1.0), Input::Start);
        source
    }

    fn at(seconds: f64) -> Time {
        Time::ZERO + Duration::from_secs_f64(seconds)
    }

    /// The one child that has reported, which is the nominee, has so many packets.
    fn report(source: &mut Source, now: Time, complete: u32) {
        let nominee = Candidate { id: 1, loss: 0.0, rtt: Duration::from_ms(10) };
        let complete = WireSeq(complete);
        let origin = Origin::Child(ChildLink(0), Peer(1));
        let report = Header::Report(Report { worst: Some(nominee), complete });
        for header in [report, Header::Ack(Ack { nominee, complete, echo: now })] {
            source.handle(now, Input::Packet(Arrival { origin, size: SIZE, ecn: Ecn::NotCapable, header }));
        }
    }

    /// The packets that the source sends until then, with what they say is released, and whether it is still there.
    fn sent(source: &mut Source, until: Time) -> (Vec<(WireSeq, Option<WireSeq>)>, bool) {
        let mut sent = Vec::new();
        loop {
            while let Some(action) = source.poll_action() {
                if let Action::Send(Send { header: Header::Data(data), .. }) = action {
                    sent.push((data.seq, data.released));
                }
            }
            match source.deadline().filter(|at| *at <= until) {
                Some(at) => source.handle(at, Input::Timer),
                None => return (sent, source.deadline().is_some()),
            }
        }
    }

    #[test]
    fn a_receiver_that_has_not_reported_yet_gets_the_beginning() {
        let mut source = source(&Options::default());
        report(&mut source, at(1.2), 1);
        source.handle(at(1.3), Input::Finish);
        let all = source.next.0 as u32;
        report(&mut source, at(1.4), all);
        let (sent_first, is_there) = sent(&mut source, at(10.9));
        assert!(sent_first.iter().all(|(_, released)| released.is_none()), "{sent_first:?}");
        assert!(is_there, "it is not the end that one child has all");
        assert!(!sent(&mut source, at(12.0)).1);
    }

    #[test]
    fn what_all_have_is_released_once_half_of_what_is_kept_was_sent() {
        let mut source = source(&Options { buffer: 8, ..Options::default() });
        (1..=5).for_each(|complete| report(&mut source, at(1.2), complete));
        let (sent, _) = sent(&mut source, at(1.2));
        assert!(sent.len() > 5, "{sent:?}");
        assert!(sent.iter().all(|(seq, released)| released.is_some() == (seq.0 > 4)), "{sent:?}");
    }
}
