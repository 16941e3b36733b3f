//! The receiver: requests missing packets, reports, and repairs what others miss.

mod reception;
mod replier;
mod reports;

use self::reception::{DataOutcome, Reception};
use self::replier::Replier;
use self::reports::Reports;
use super::dyram::{Heartbeats, wire_before, wire_us};
use super::{Body, Data, Header, Nack, Options};
use layercast_core::cannot_be;
use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Ecn, Endpoint, Estimates, Input, Origin, Payload, Send, Target,
    Timers, TraceEvent,
};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Channel, Duration, Level, Rate, RateEstimate, Seq, Size, Time};
use layercast_kit::silence::{SILENCE, after_silence};

/// The only channel.
const CHANNEL: Channel = Channel(0);
/// The time between heartbeats while no data comes or none has been answered.
const BEAT: Duration = Duration::from_secs(1);
/// How long an answer to a NACK may take before a round-trip time is known.
const UNKNOWN_PATIENCE: Duration = Duration::from_secs(1);
/// The longest timeout of a NACK.
const LONGEST_PATIENCE: Duration = Duration::from_secs(10);
/// How often that timeout doubles.
const MOST_DOUBLINGS: u32 = 8;
/// After this many NACKs without data or an answer to a heartbeat the session counts as gone.
const MOST_FRUITLESS: u32 = 32;
/// Periods at the lowest rate with more than half of the packets lost, after which a receiver leaves.
const MOST_HOPELESS: u32 = 10;
/// The shortest time between reports that answer a repeated packet.
const REPEATED: Duration = Duration::from_ms(500);

timers! {
    /// The timers, in the order in which they are served.
    enum Timer {
        Beat,
        Nack,
        Tail,
        Repair,
        Silence,
    }
}

/// The receiver of a session.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    size: Size,
    originator: u32,
    session: Option<u32>,
    is_running: bool,
    reception: Option<Reception>,
    reports: Reports,
    replier: Replier,
    beats: Heartbeats,
    rate_bps: u64,
    last_message: Time,
    last_data: Option<Time>,
    /// How often the NACK for packets that should have arrived was repeated.
    tail_retries: u32,
    /// NACKs since the last data packet or answer to a heartbeat.
    fruitless: u32,
    hopeless: u32,
    has_ended: bool,
    timers: Timers<Timer>,
    actions: ActionQueue<Header>,
}

impl Receiver {
    /// A receiver of a session. It draws its number from `stream`.
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Receiver {
        Receiver {
            options: options.clone(),
            size: plan.packet_size,
            originator: stream.bits() as u32,
            session: None,
            is_running: false,
            reception: None,
            reports: Reports::new(options, plan.packet_size),
            replier: Replier::default(),
            beats: Heartbeats::default(),
            rate_bps: 0,
            last_message: Time::ZERO,
            last_data: None,
            tail_retries: 0,
            fruitless: 0,
            hopeless: 0,
            has_ended: false,
            timers: Timers::default(),
            actions: ActionQueue::default(),
        }
    }

    /// The number of entries in all tables, which memory grows with.
    pub fn state_size(&self) -> usize {
        self.reception.as_ref().map_or(0, Reception::state_size) + self.replier.state_size()
    }

    /// Whether it has all packets that the source sent.
    pub fn is_complete(&self) -> bool {
        self.has_ended
    }

    fn send_up(&mut self, body: Body, size: Size, payload: Payload) {
        let header = Header { session: self.session.unwrap_or(0), originator: self.originator, body };
        self.actions.send(Send { target: Target::Source, header, size, payload, count: 1 });
    }

    fn send_beat(&mut self, now: Time) {
        let sent_ns = self.beats.send(now);
        self.send_up(Body::Heartbeat { sent_ns }, self.options.control_size, Payload::None);
        self.timers.arm(Timer::Beat, now + BEAT);
    }

    fn packet_spacing(&self) -> Duration {
        Rate::from_bps((self.rate_bps as f64).max(1.0)).time_to_send(self.size)
    }

    fn patience(&self, retries: u32) -> Duration {
        let first = self.beats.patience().unwrap_or(UNKNOWN_PATIENCE).max(Duration::from_ms(1));
        (first * (1 << retries.min(MOST_DOUBLINGS))).min(LONGEST_PATIENCE)
    }

    fn nack(&mut self, seq: u64) {
        let Some(reception) = &self.reception else { return cannot_be("a packet precedes each NACK") };
        let standing = reception.standing();
        let body = Body::Nack(Nack {
            seq: Seq(seq).wire(),
            lo: wire_before(standing.below),
            lr: wire_before(standing.end),
            max_seq: wire_before(standing.limit),
            rtt_to_source_us: self.beats.to_source_us(),
            rtt_to_parent_us: self.beats.to_parent().map_or(0, wire_us),
        });
        self.send_up(body, self.options.control_size, Payload::None);
    }

    fn report(&mut self, now: Time) {
        let Some(reception) = &self.reception else { return cannot_be("a packet precedes each report") };
        let hopeless = self.reports.is_hopeless(self.rate_bps);
        self.hopeless = if hopeless { self.hopeless + 1 } else { 0 };
        let report = self.reports.report(now, reception.standing(), &mut self.beats, self.rate_bps);
        self.send_up(Body::Report(report), self.options.control_size, Payload::None);
    }

    fn on_data(&mut self, now: Time, session: u32, origin: Origin, data: Data, is_marked: bool) {
        // Data comes down a channel, or at the end of a path whose routers know this receiver alone.
        if matches!(origin, Origin::Child(..)) || *self.session.get_or_insert(session) != session {
            return;
        }
        if self.reception.is_none() && data.is_repair {
            return;
        }
        let (buffer, older) = (u64::from(self.options.buffer_packets), self.options.older_data);
        let reception = self.reception.get_or_insert_with(|| Reception::new(&data, buffer, older));
        let Some(outcome) = reception.accept(&data) else { return };
        self.rate_bps = data.rate_bps;
        (self.last_message, self.last_data) = (now, Some(now));
        (self.tail_retries, self.fruitless) = (0, 0);
        self.reports.on_mark(is_marked);
        self.on_outcome(now, outcome, &data);
    }

    /// Acts on what a data packet showed.
    fn on_outcome(&mut self, now: Time, outcome: DataOutcome, data: &Data) {
        if outcome.is_beyond_repair {
            self.leave(Cause::Loss);
            return;
        }
        if let Some(seq) = outcome.deliver {
            self.actions.deliver(Seq(seq));
        }
        if let Some(seq) = outcome.release {
            self.actions.release(Seq(seq));
        }
        self.ask(now);
        if outcome.is_new && self.reports.is_counted(data) {
            let due = self.reports.on_packet(data, outcome.lost);
            if due.heartbeat {
                self.send_beat(now);
            }
            if due.report {
                self.report(now);
            }
        } else if outcome.is_repeated && self.reports.since_last(now) >= REPEATED {
            self.report(now);
        }
        if self.hopeless >= MOST_HOPELESS {
            self.leave(Cause::Loss);
            return;
        }
        self.arm_tail(now);
    }

    /// Requests packets newly found missing.
    fn ask(&mut self, now: Time) {
        let due = now + self.patience(0);
        while let Some(seq) = self.reception.as_mut().and_then(|reception| reception.ask_next(due)) {
            self.nack(seq);
        }
        self.arm_nacks();
    }

    fn arm_nacks(&mut self) {
        self.timers.set(Timer::Nack, self.reception.as_ref().and_then(Reception::next_due));
    }

    fn ask_again(&mut self, now: Time) {
        while let Some((seq, retries)) = self.reception.as_ref().and_then(|reception| reception.due(now)) {
            let due = now + self.patience(retries + 1);
            self.nack(seq);
            if let Some(reception) = &mut self.reception {
                reception.asked_again(seq, due);
            }
        }
        self.arm_nacks();
    }

    /// How long without data until the next packet counts as lost.
    fn arm_tail(&mut self, now: Time) {
        let Some(reception) = &self.reception else { return cannot_be("a packet precedes the timer") };
        if !reception.is_complete() {
            let path_rtt = self.beats.to_source().unwrap_or(UNKNOWN_PATIENCE);
            self.timers
                .arm(Timer::Tail, now + (self.packet_spacing() * 3).max(path_rtt).max(Duration::from_ms(1)));
            return;
        }
        for timer in [Timer::Tail, Timer::Nack, Timer::Beat, Timer::Silence] {
            self.timers.disarm(timer);
        }
        if !core::mem::replace(&mut self.has_ended, true) {
            self.report(now);
            self.actions.trace(TraceEvent::SessionEnded);
        }
    }

    fn on_tail(&mut self, now: Time) {
        let Some(end) = self.reception.as_ref().map(|reception| reception.standing().end) else {
            return cannot_be("a packet precedes the timer");
        };
        self.nack(end);
        self.fruitless += 1;
        if self.fruitless >= MOST_FRUITLESS {
            self.leave(Cause::Silence);
            return;
        }
        self.tail_retries += 1;
        self.timers.arm(Timer::Tail, now + self.patience(self.tail_retries));
    }

    fn on_beat_due(&mut self, now: Time) {
        let silent = self.last_data.is_none_or(|at| now.since(at) >= BEAT);
        if silent || self.beats.to_source().is_none() {
            self.send_beat(now);
        } else if let Some(at) = self.last_data {
            self.timers.arm(Timer::Beat, at + BEAT);
        }
    }

    fn on_nack(&mut self, now: Time, nack: &Nack) {
        let Some(reception) = &self.reception else { return };
        let window = self.beats.to_parent();
        let Some(seq) = reception.held(nack.seq) else { return };
        let gap = u64::from(nack.lr.distance(nack.lo).unsigned_abs());
        self.replier.on_nack(now, seq, window, gap, self.rate_bps, self.size);
        self.repair(now);
    }

    fn repair(&mut self, now: Time) {
        while let Some(seq) = self.replier.take_due(now) {
            let Some(reception) = &self.reception else { return cannot_be("what is repaired was received") };
            if !reception.holds(seq) {
                continue;
            }
            let body = Body::Data(Data {
                seq: Seq(seq).wire(),
                group_lo: wire_before(reception.group_below()),
                rate_bps: self.rate_bps,
                is_repair: true,
                is_last: reception.is_last(seq),
                is_literal: self.reports.is_literal(),
            });
            self.send_up(body, self.size, Payload::Stored(Seq(seq)));
        }
        self.timers.set(Timer::Repair, self.replier.next());
    }

    fn on_packet(&mut self, now: Time, arrival: Arrival<Header>) {
        let Arrival { origin, ecn, header, .. } = arrival;
        let is_own = self.session.is_none_or(|session| session == header.session);
        match (header.body, origin) {
            (Body::Data(data), _) => self.on_data(now, header.session, origin, data, ecn == Ecn::Marked),
            (Body::Nack(nack), Origin::Peer(_)) if is_own => self.on_nack(now, &nack),
            (Body::Answer(answer), Origin::Peer(from)) if self.beats.on_answer(now, from, answer) => {
                self.last_message = now;
                self.fruitless = 0;
            }
            _ => {}
        }
    }

    fn on_timers(&mut self, now: Time) {
        while let Some(timer) = self.timers.take_expired(now) {
            match timer {
                Timer::Beat => self.on_beat_due(now),
                Timer::Nack => self.ask_again(now),
                Timer::Tail => self.on_tail(now),
                Timer::Repair => self.repair(now),
                Timer::Silence => {
                    let at = after_silence(now, self.last_message, &mut self.actions);
                    self.timers.arm(Timer::Silence, at);
                }
            }
        }
    }

    fn leave(&mut self, cause: Cause) {
        if !core::mem::replace(&mut self.is_running, false) {
            return;
        }
        self.timers.clear();
        self.actions.leave(CHANNEL);
        self.actions.trace(TraceEvent::LevelChanged {
            from: Level::from_count(1),
            to: Level::from_count(0),
            cause,
        });
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start if !self.is_running => {
                self.is_running = true;
                self.last_message = now;
                self.actions.join(CHANNEL);
                let (from, to) = (Level::from_count(0), Level::from_count(1));
                self.actions.trace(TraceEvent::LevelChanged { from, to, cause: Cause::Start });
                self.timers.arm(Timer::Silence, now + SILENCE);
                self.send_beat(now);
            }
            Input::Stop => self.leave(Cause::Stop),
            Input::JoinFailed(CHANNEL, _) if self.is_running => {
                self.is_running = false;
                self.timers.clear();
                let (from, to) = (Level::from_count(1), Level::from_count(0));
                self.actions.trace(TraceEvent::LevelChanged { from, to, cause: Cause::JoinFailed });
            }
            Input::Packet(arrival) if self.is_running => self.on_packet(now, arrival),
            _ => {}
        }
        if self.is_running {
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
        let level = Level::from_count(u16::from(self.is_running));
        let known = self.last_data.map(|_| RateEstimate::Known(Rate::from_bps(self.rate_bps as f64)));
        Estimates {
            level,
            rate: known.unwrap_or_default(),
            rtt: self.beats.to_source(),
            ..Estimates::default()
        }
    }

    gauges! { |self, _now|
        /// Packets missing or kept for repairs, which memory grows with.
        value buffer in "packets" = self.state_size();
        /// Requests for repairs in a row since the last data or answer.
        value fruitless_nacks in "requests" = self.fruitless;
    }
}
