//! The source: paces data and repairs, releases packets that all have, and controls its rate.

mod feedback;
mod repairs;

use self::feedback::Feedback;
use self::repairs::Repairs;
use super::dyram::{ChildKey, Children, wire_before};
use super::{Answer, Body, Control, Data, Header, Nack, Options, Phase, Profile, Report, Rules};
use layercast_core::cannot_be;
use layercast_core::contract::{
    Action, ActionQueue, Arrival, ChildLink, Endpoint, Estimates, Input, Payload, Peer, Send, Target, Timers,
    TraceEvent,
};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Channel, Duration, Level, RateEstimate, Seq, Size, Time};

/// The only channel.
const CHANNEL: Channel = Channel(0);
/// How often the source looks for silent children.
const SWEEP: Duration = Duration::from_secs(1);
/// The shortest time between repetitions of the last packet.
const REPEAT: Duration = Duration::from_ms(500);
/// While the source only waits, the time to the next repetition doubles up to this.
const LONGEST_REPEAT: Duration = Duration::from_secs(10);

timers! {
    /// The timers, in the order in which they are served.
    enum Timer {
        Send,
        Repeat,
        Round,
        Silence,
        Sweep,
    }
}

/// The source of a session.
#[derive(Clone, Debug)]
pub struct Source {
    options: Options,
    size: Size,
    session: u32,
    is_running: bool,
    is_exhausted: bool,
    is_finishing: bool,
    started: Time,
    /// The number of the next new packet.
    next: u64,
    last_sent: Option<Time>,
    repeat: Duration,
    /// All receivers have the packets before this one.
    group_below: u64,
    children: Children,
    had_children: bool,
    repairs: Repairs,
    control: Control,
    feedback: Feedback,
    timers: Timers<Timer>,
    actions: ActionQueue<Header>,
}

impl Source {
    /// A source of a session. It draws the session's number from `stream`.
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Source {
        let control = Control::new(Rules::new(options, plan.packet_size));
        Source {
            options: options.clone(),
            size: plan.packet_size,
            // 0 stands for an unknown session.
            session: (stream.bits() as u32).max(1),
            is_running: false,
            is_exhausted: false,
            is_finishing: false,
            started: Time::ZERO,
            next: 0,
            last_sent: None,
            repeat: REPEAT,
            group_below: 0,
            children: Children::new(options),
            had_children: false,
            repairs: Repairs::default(),
            control,
            feedback: Feedback::new(options, plan.packet_size),
            timers: Timers::default(),
            actions: ActionQueue::default(),
        }
    }

    /// The session's number.
    pub fn session(&self) -> u32 {
        self.session
    }

    /// The state of its rate.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The number of packets that all receivers have: those from 0 on.
    pub fn group_below(&self) -> u64 {
        self.group_below
    }

    /// How many new packets it has sent.
    pub fn sent(&self) -> u64 {
        self.next
    }

    /// The number of entries in all tables, which memory grows with.
    pub fn state_size(&self) -> usize {
        self.children.len() + self.repairs.state_size()
    }

    /// The number after the last packet for which all receivers have room.
    fn limit(&self) -> u64 {
        let own = self.group_below + u64::from(self.options.buffer_packets);
        self.children.standing(self.group_below).map_or(own, |standing| standing.limit.min(own))
    }

    fn may_send_new(&self) -> bool {
        self.is_running && !self.is_exhausted && !self.is_finishing && self.next < self.limit()
    }

    fn is_done(&self) -> bool {
        self.is_finishing && self.group_below >= self.next
    }

    fn data(&self, seq: u64, is_repair: bool) -> Header {
        let body = Body::Data(Data {
            seq: Seq(seq).wire(),
            group_lo: wire_before(self.group_below),
            rate_bps: self.control.rate().as_bps() as u64,
            is_repair,
            is_last: self.is_finishing && seq + 1 == self.next,
            is_literal: self.options.profile == Profile::Literal,
        });
        Header { session: self.session, originator: self.session, body }
    }

    fn send(&mut self, target: Target, header: Header, payload: Payload) {
        self.actions.send(Send { target, header, size: self.size, payload, count: 1 });
    }

    /// Arms the timer for the next packet: a repair, new data, or a repetition of the last packet.
    fn plan_next(&mut self, now: Time) {
        let has_work = self.is_running && (self.repairs.has_waiting() || self.may_send_new());
        let waits = self.is_running && !has_work && self.next > 0 && self.group_below < self.next;
        self.timers.disarm(Timer::Send);
        if has_work {
            self.repeat = REPEAT;
            self.timers.disarm(Timer::Repeat);
            let spacing = self.control.rate().time_to_send(self.size).max(Duration::from_us(1));
            let at = self.last_sent.map_or(now, |last| last + spacing);
            self.timers.arm(Timer::Send, at.max(now));
        } else if waits {
            if self.timers.at(Timer::Repeat).is_none() {
                let path_rtt = self.feedback.repair_time();
                let at = now + self.repeat.max(path_rtt);
                self.timers.arm(Timer::Repeat, at);
            }
        } else {
            self.timers.disarm(Timer::Repeat);
        }
        if self.is_done() {
            self.timers.clear();
        }
    }

    fn send_next(&mut self, now: Time) {
        if let Some(repair) = self.repairs.take_next(now, self.feedback.repair_time()) {
            let target =
                if repair.to_all { Target::Channel(CHANNEL) } else { Target::Children(repair.links) };
            let header = self.data(repair.seq, true);
            self.send(target, header, Payload::Stored(Seq(repair.seq)));
        } else if self.may_send_new() {
            let header = self.data(self.next, false);
            self.next += 1;
            self.feedback.on_new();
            self.send(Target::Channel(CHANNEL), header, Payload::Next);
        } else {
            return;
        }
        self.last_sent = Some(now);
    }

    /// Repeats the last packet: receivers that miss it, or one before it, notice; those that have all report so.
    fn send_again(&mut self, now: Time) {
        let Some(last) = self.next.checked_sub(1) else {
            return cannot_be("the timer runs after the first packet");
        };
        let header = self.data(last, false);
        self.send(Target::Channel(CHANNEL), header, Payload::Stored(Seq(last)));
        self.last_sent = Some(now);
        if !self.is_finishing {
            self.repeat = (self.repeat * 2).min(LONGEST_REPEAT);
        }
    }

    /// Checks whether all receivers have advanced.
    fn release(&mut self, now: Time) {
        if now.since(self.started) < self.options.opening {
            return;
        }
        let nobody = (self.had_children || self.is_finishing).then_some(self.next);
        let all = self.children.standing(self.group_below).map(|standing| standing.below).or(nobody);
        let Some(below) = all.filter(|&below| below > self.group_below) else { return };
        self.group_below = below;
        self.repairs.forget(below);
        self.actions.release(Seq(below - 1));
    }

    fn on_report(&mut self, now: Time, key: ChildKey, report: &Report) {
        let expected = self.feedback.expected_period(self.control.rate());
        let Some(child) = self.children.entry(now, key) else { return };
        let summary = child.on_report(now, report, self.next, Some(expected));
        self.on_message(now);
        if !self.options.aggregate_at_source {
            if let Some(summary) = summary {
                self.feedback.on_summary(now, &summary, self.next, &mut self.control);
            }
        } else if self.children.have_all_reported(now) {
            self.end_round(now);
        } else if self.timers.at(Timer::Round).is_none() {
            let period = Duration::from_us(u64::from(report.period_us)).max(Duration::from_us(1));
            self.timers.arm(Timer::Round, now + period.scaled(1.5).min(Duration::from_secs(600)));
        }
    }

    fn end_round(&mut self, now: Time) {
        self.timers.disarm(Timer::Round);
        let summary = self.children.summary(now, self.group_below);
        self.children.begin_round();
        if let Some(summary) = summary {
            self.feedback.on_summary(now, &summary, self.next, &mut self.control);
        }
    }

    fn on_nack(&mut self, now: Time, key: ChildKey, nack: &Nack) {
        let end = self.next;
        let Some(nack) = self.children.entry(now, key).and_then(|child| child.on_nack(now, nack, end)) else {
            return;
        };
        self.on_message(now);
        if nack.is_ahead || nack.seq < self.group_below {
            return;
        }
        let link = key.link.map_or(0, ChildLink::bit);
        // A receiver that lacks the first packet still kept may have begun after it: that is not a loss.
        let is_late = nack.standing.below <= self.group_below;
        if self.repairs.ask(now, nack.seq, link) && !is_late {
            let gap = nack.standing.end - nack.standing.below;
            self.control.on_nack(now, gap, self.feedback.ignore());
        }
    }

    fn on_beat(&mut self, now: Time, key: ChildKey, sent_ns: u64) {
        let Some(child) = self.children.entry(now, key) else { return };
        if !child.on_beat(now) {
            return;
        }
        self.on_message(now);
        let body = Body::Answer(Answer { echo_ns: sent_ns, rtt_to_source_us: 0, is_from_source: true });
        self.actions.send(Send {
            target: Target::Peer(key.peer),
            header: Header { session: self.session, originator: self.session, body },
            size: self.options.control_size,
            payload: Payload::None,
            count: 1,
        });
    }

    /// A message came from below.
    fn on_message(&mut self, now: Time) {
        self.had_children = true;
        self.feedback.on_children(self.children.changes);
        if self.is_done() {
            return;
        }
        let patience = self.feedback.patience(self.control.rate());
        self.feedback.on_message();
        self.timers.arm(Timer::Silence, now + patience);
        if self.timers.at(Timer::Sweep).is_none() {
            self.timers.arm(Timer::Sweep, now + SWEEP);
        }
    }

    fn sweep(&mut self, now: Time) {
        let actions = &mut self.actions;
        self.children.sweep(now, self.next, |child: Peer, waited| {
            actions.trace(TraceEvent::LeftBehind { child, waited });
        });
        self.feedback.on_children(self.children.changes);
        if self.children.len() == 0 && self.had_children {
            self.control.on_silence();
            self.feedback.on_no_children();
        }
        self.timers.arm(Timer::Sweep, now + SWEEP);
    }

    fn on_packet(&mut self, now: Time, arrival: Arrival<Header>) {
        let Header { session, body, .. } = arrival.header;
        let is_known = session == self.session;
        // A child that has received no data yet does not know the session.
        let Some(key) = ChildKey::of(arrival.origin).filter(|_| is_known || session == 0) else { return };
        match body {
            Body::Nack(nack) if is_known => self.on_nack(now, key, &nack),
            Body::Report(report) if is_known => self.on_report(now, key, &report),
            Body::Heartbeat { sent_ns } => self.on_beat(now, key, sent_ns),
            _ => {}
        }
    }

    fn on_timers(&mut self, now: Time) {
        while let Some(timer) = self.timers.take_expired(now) {
            match timer {
                Timer::Send => self.send_next(now),
                Timer::Repeat => self.send_again(now),
                Timer::Round => self.end_round(now),
                Timer::Silence => {
                    if self.feedback.is_severe() {
                        self.control.on_silence();
                    }
                }
                Timer::Sweep => self.sweep(now),
            }
            self.release(now);
            self.plan_next(now);
        }
    }
}

impl Endpoint for Source {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start if !self.is_running => {
                (self.is_running, self.started) = (true, now);
                self.timers.arm(Timer::Sweep, now + SWEEP);
            }
            Input::Stop => {
                self.is_running = false;
                self.timers.clear();
            }
            Input::DataExhausted => self.is_exhausted = true,
            Input::DataAvailable => self.is_exhausted = false,
            Input::Finish => self.is_finishing = true,
            Input::Packet(arrival) if self.is_running => self.on_packet(now, arrival),
            _ => {}
        }
        if self.is_running {
            self.release(now);
            self.plan_next(now);
            self.on_timers(now);
        }
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.timers.next()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let level = Level::from_count(u16::from(self.is_running && !self.is_done()));
        let rate = RateEstimate::Known(self.control.rate());
        Estimates { level, rate, rtt: self.feedback.longest(), ..Estimates::default() }
    }

    fn session_number(&self) -> Option<u32> {
        Some(self.session())
    }

    gauges! { |self, _now|
        /// Growth of the queue in packets per packet sent, by the last report.
        value growth in "packets/packet" = self.control.growth();
        /// Unacknowledged packets, by the last report: those queued in the buffers.
        value unacknowledged in "packets" = self.control.unacknowledged();
        /// The round-trip time that it takes for that of the empty path.
        value base_rtt_ms in "ms" = self.feedback.base();
        /// Whether the source is in slow start.
        value in_slow_start in "flag" = self.control.phase() == Phase::SlowStart;
        /// Packets that all receivers have.
        count complete in "packets" = self.group_below;
        /// Live children.
        value children in "children" = self.children.len();
    }
}
