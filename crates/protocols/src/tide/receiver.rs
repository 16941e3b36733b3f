//! The receiver: how it enters, leaves and keeps time. What it decides is in `decision`, what it measures in
//! `reception`.

mod decision;
mod reception;

use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::delay::QueueDelay;
use super::full_queue::FullQueue;
use super::header::{Header, Report};
use super::history::History;
use super::options::Options;
use super::rtt::RoundTrip;
use super::scalable::Scalable;
use super::suppression::ReportTurn;
use super::train::Trains;
use layercast_core::contract::{
    Action, ActionQueue, Cause, Endpoint, Estimates, Input, Send, Timers, TraceEvent,
};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Channel, Duration, Layer, Level, Rate, RateEstimate, Size, Time};
use layercast_kit::estimator::{SendTime, SenderClock, SequenceTracker, max_gap_for};
use layercast_kit::feedback::ReceiverId;
use layercast_kit::waves::{BASE, Waves};

/// How long a wave may take to come: so many round-trip times and gaps between its packets, and so many seconds at least.
const JOIN_PATIENCE: f64 = 4.0;
const SHORTEST_PATIENCE_S: f64 = 1.0;

/// Age of a later packet of its channel after which a packet is lost.
const LATE_LIMIT: Duration = Duration::from_ms(100);

/// The size of a report on the wire.
const REPORT_SIZE: Size = Size::from_bytes(64);

timers! {
    /// What the receiver's timers are for.
    enum Timer {
        /// The newest wave has not carried a packet in time.
        Join,
        /// A missing packet is lost by age.
        Late,
        /// No packet came for too long.
        Silence,
    }
}

/// The receiver of a Tide session.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    waves: Waves,
    size: Size,
    max_gap: u32,
    phase: Phase,
    /// The channels held: the base, then waves from the lowest.
    held: Vec<Held>,
    /// Trackers of channels that were left, for those to be joined.
    spare: Vec<SequenceTracker>,
    last_packet: Time,
    /// When the newest packet was sent.
    last_sent: SendTime,
    /// End packets received.
    ends: u32,
    clock: SenderClock,
    delay: QueueDelay,
    full_queue: FullQueue,
    trains: Trains,
    /// Whether trains limit the fair rate.
    is_one_share: bool,
    /// The window by the fraction of marks, if that counts, and when it was updated.
    scalable: Option<(Scalable, SendTime)>,
    rtt: RoundTrip,
    id: ReceiverId,
    turn: ReportTurn,
    stream: Stream,
    reports: u64,
    echoes: u64,
    slot: Slot,
    start: Option<Start>,
    /// Until when waves may still arrive that the start left.
    leaving_until: Time,
    /// The round-trip time of the last slots, a moving harmonic mean, in seconds.
    smooth_rtt_s: f64,
    /// What was counted since the last decision point.
    interval: Interval,
    /// The highest rate that came between two decision points lately, in packets/s; it fades.
    came: f64,
    history: History,
    /// No join before this time, after a join failed.
    blocked_until: Time,
    fair: f64,
    /// When the next bandwidth probe may begin.
    next_probe: Time,
    /// Periods with losses so far, and packets lost.
    periods: u64,
    lost: u64,
    timers: Timers<Timer>,
    actions: ActionQueue<Header>,
}

/// A channel that is held.
#[derive(Clone, Debug)]
struct Held {
    channel: Channel,
    tracker: SequenceTracker,
    /// When it was joined, until it has come: with a packet of it or of a channel above.
    coming_since: Option<Time>,
}

/// The state of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not started.
    Idle,
    /// In the session.
    In,
    /// Stopped, or the session is over.
    Over,
}

/// The source's slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Its number in the cycle; none before the first packet.
    number: Option<u16>,
    /// When it began, as packets arrive here.
    began: Time,
    /// The decision point that was used last.
    decision_point: u32,
}

/// Packets between two decision points.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    began: Time,
    received: u32,
    lost: u32,
    /// Whether a wave was left because an overflow lasts.
    has_left: bool,
}

/// The start: the rate grows by a factor in each step.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// Waves joined in the last step.
    step: u16,
    /// When these were joined.
    joined: Time,
    /// Packets received in this step, and when it began.
    packets: u32,
    began: Time,
    /// The rate with which it began, in packets/s.
    rate: f64,
    /// The rate of the step before.
    before: f64,
    /// Whether it is a bandwidth probe: the queue has been empty for long, and the receiver tries whether there is more.
    is_probe: bool,
    /// Steps that succeeded.
    successes: u32,
}

impl Start {
    /// A start, or a bandwidth probe, that begins now.
    fn new(now: Time, rate: f64, is_probe: bool) -> Start {
        Start { step: 0, joined: now, packets: 0, began: now, rate, before: rate, is_probe, successes: 0 }
    }
}

impl Receiver {
    /// A receiver of a session; `stream` gives its number and decides when it reports.
    pub fn new(options: &Options, plan: SessionPlan, mut stream: Stream) -> Receiver {
        let waves = options.waves(&plan);
        let room = usize::from(waves.channels());
        Receiver {
            max_gap: max_gap_for(plan.layers.top_rate(), plan.packet_size),
            held: Vec::with_capacity(room),
            spare: Vec::with_capacity(room),
            waves,
            size: plan.packet_size,
            history: History::new(options.fair_to),
            options: options.clone(),
            phase: Phase::Idle,
            last_packet: Time::ZERO,
            last_sent: SendTime::default(),
            ends: 0,
            clock: SenderClock::default(),
            delay: QueueDelay::default(),
            full_queue: FullQueue::default(),
            trains: Trains::default(),
            is_one_share: false,
            scalable: None,
            rtt: RoundTrip::default(),
            id: ReceiverId(NonZeroU64::new(stream.bits()).unwrap_or(NonZeroU64::MIN)),
            turn: ReportTurn::default(),
            stream,
            reports: 0,
            echoes: 0,
            slot: Slot::default(),
            start: None,
            leaving_until: Time::ZERO,
            smooth_rtt_s: options.assumed_rtt.as_secs_f64().max(1e-3),
            interval: Interval::default(),
            came: 0.0,
            blocked_until: Time::ZERO,
            fair: f64::INFINITY,
            next_probe: Time::ZERO,
            periods: 0,
            lost: 0,
            timers: Timers::default(),
            actions: ActionQueue::default(),
        }
    }

    /// How many waves are held.
    fn waves_held(&self) -> u16 {
        (self.held.len() as u16).saturating_sub(1)
    }

    fn level(&self) -> Level {
        Level::from_count(self.held.len() as u16)
    }

    /// The round-trip time without queueing, in seconds.
    fn empty_rtt_s(&self) -> f64 {
        self.rtt.without_queue_s(self.options.assumed_rtt.as_secs_f64())
    }

    /// The round-trip time with the queueing delay, in seconds.
    fn rtt_s(&self) -> f64 {
        self.empty_rtt_s() + self.delay.mean_s()
    }

    fn enter(&mut self, now: Time) {
        self.phase = Phase::In;
        self.last_packet = now;
        self.join_channel(now, BASE, Cause::Start);
        self.begin_start(now);
        self.timers.arm(Timer::Silence, now + self.options.silence);
    }

    fn begin_start(&mut self, now: Time) {
        self.start = Some(Start::new(now, self.held_rate(now), false));
        self.fair = f64::INFINITY;
    }

    /// Joins a channel above those that are held.
    fn join_channel(&mut self, now: Time, channel: Channel, cause: Cause) {
        let from = self.level();
        let layer = Layer(channel.0);
        let tracker = match self.spare.pop() {
            Some(tracker) => tracker.recycled(layer),
            None => SequenceTracker::new(layer, self.options.reorder, self.max_gap),
        };
        self.held.push(Held { channel, tracker, coming_since: Some(now) });
        self.actions.join(channel);
        self.actions.trace(TraceEvent::LevelChanged { from, to: self.level(), cause });
    }

    /// Stops holding the channel at an index; `leaves` unless the host does not hold it.
    fn release(&mut self, place: usize, leaves: bool, cause: Cause) {
        if place >= self.held.len() {
            return;
        }
        let from = self.level();
        let Held { channel, tracker, .. } = self.held.remove(place);
        self.spare.push(tracker);
        if leaves {
            self.actions.leave(channel);
        }
        self.arm_join_timer();
        self.actions.trace(TraceEvent::LevelChanged { from, to: self.level(), cause });
    }

    /// The place of the lowest wave that has not come, and since when it is joined.
    fn coming(&self) -> Option<(usize, Time)> {
        let mut waves = self.held.iter().enumerate().skip(1);
        waves.find_map(|(place, held)| Some((place, held.coming_since?)))
    }

    /// When the lowest wave that has not come is given up.
    fn arm_join_timer(&mut self) {
        let deadline = self.coming().map(|(place, since)| {
            let wait_s = self.rtt_s() + self.waves.mean_gap_s(place as u16);
            since + Duration::from_secs_f64((JOIN_PATIENCE * wait_s).max(SHORTEST_PATIENCE_S))
        });
        self.timers.set(Timer::Join, deadline);
    }

    /// The lowest wave that has not come and those above are left, and none is joined for a slot.
    fn give_up(&mut self, now: Time) {
        let Some((place, _)) = self.coming() else { return };
        self.leave_from(place, Cause::SilentLayer);
        self.blocked_until = now + self.waves.slot();
    }

    /// Leaves the channel at an index and those above, the highest first.
    fn leave_from(&mut self, place: usize, cause: Cause) {
        while self.held.len() > place {
            self.leave_highest(cause);
        }
    }

    fn leave_highest(&mut self, cause: Cause) {
        self.release(self.held.len().saturating_sub(1), true, cause);
    }

    fn finish(&mut self, cause: Cause) {
        self.leave_from(0, cause);
        self.timers.clear();
        self.phase = Phase::Over;
    }

    fn on_join_failed(&mut self, now: Time, channel: Channel) {
        let Some(place) = self.held.iter().position(|held| held.channel == channel) else { return };
        self.leave_from(place + 1, Cause::JoinFailed);
        self.release(place, false, Cause::JoinFailed);
        self.blocked_until = now + self.waves.slot();
    }

    fn on_timers(&mut self, now: Time) {
        while let Some(timer) = self.timers.take_expired(now) {
            match timer {
                Timer::Join => self.give_up(now),
                Timer::Late => self.expire_holes(now),
                Timer::Silence => self.on_silence(now),
            }
        }
    }

    fn on_silence(&mut self, now: Time) {
        let waited = now.since(self.last_packet);
        let next = if waited < self.options.silence { self.last_packet } else { now };
        self.timers.arm(Timer::Silence, next + self.options.silence);
        if waited < self.options.silence {
            return;
        }
        self.actions.trace(TraceEvent::Silent { waited });
        self.leave_from(1, Cause::Silence);
        if self.held.is_empty() {
            self.join_channel(now, BASE, Cause::Start);
        }
        self.slot = Slot::default();
        self.begin_start(now);
    }

    /// A missing packet may become lost by age alone.
    fn arm_hole_timer(&mut self) {
        let deadlines = self.held.iter().filter_map(|held| held.tracker.deadline(LATE_LIMIT));
        self.timers.set(Timer::Late, deadlines.min());
    }

    fn send_report(&mut self, now: Time) {
        let fair = self.rate(self.fair.min(1e9)).as_bytes_per_s() / 100.0;
        let report = Report {
            receiver: self.id,
            timestamp_us: now.as_wire_us(),
            waves: self.waves_held(),
            rtt_us: if self.echoes > 0 { (self.rtt_s() * 1e6) as u32 } else { 0 },
            fair_rate: if self.fair.is_finite() { (fair as u32).min(u32::MAX - 1) } else { u32::MAX },
        };
        self.reports += 1;
        self.actions.send(Send::report(Header::Report(report), REPORT_SIZE));
    }

    fn rate(&self, packets_per_s: f64) -> Rate {
        Rate::from_bps(packets_per_s * self.size.as_bits() as f64)
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start if self.phase == Phase::Idle => self.enter(now),
            _ if matches!(self.phase, Phase::Idle | Phase::Over) => return,
            Input::Packet(arrival) => {
                if let Header::Data(data) = arrival.header {
                    self.on_data(now, &arrival, data);
                }
            }
            Input::JoinFailed(channel, _) => self.on_join_failed(now, channel),
            Input::Stop => {
                self.finish(Cause::Stop);
                return;
            }
            Input::Start
            | Input::Timer
            | Input::SendRefused(_)
            | Input::Demand(_)
            | Input::DataExhausted
            | Input::Finish
            | Input::DataAvailable => {}
        }
        self.on_timers(now);
    }

    fn poll_action(&mut self) -> Option<Action<Header>> {
        self.actions.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.timers.next()
    }

    fn estimates(&self, _now: Time) -> Estimates {
        let rate = if self.fair.is_finite() {
            RateEstimate::Known(self.rate(self.fair))
        } else if self.slot.number.is_some() {
            RateEstimate::Unbounded
        } else {
            RateEstimate::default()
        };
        Estimates {
            level: self.level(),
            rate,
            smoothed_rate: rate,
            loss: None,
            rtt: self.slot.number.map(|_| Duration::from_secs_f64(self.rtt_s())),
        }
    }

    gauges! { |self, now|
        /// Waves held.
        value waves in "waves" = self.waves_held();
        /// The rate that the source sends on the channels held.
        value held_rate_kbps in "kbit/s" = self.slot.number.map(|_| self.rate(self.held_rate(now)));
        /// Periods with losses so far.
        count loss_periods in "periods" = self.periods;
        /// Packets lost so far.
        count lost in "packets" = self.lost;
        /// Reports sent.
        count reports in "reports" = self.reports;
        /// Echoes received.
        count echoes in "echoes" = self.echoes;
        /// The mean queueing delay.
        value queueing_delay_ms in "ms" = self.delay.mean_s() * 1e3;
        /// The round-trip time without queueing.
        value empty_rtt_ms in "ms" = self.empty_rtt_s() * 1e3;
    }
}
