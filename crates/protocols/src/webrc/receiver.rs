//! The receiver: joins the next wave when the equation allows it, and leaves waves as they end.

mod epoch;
mod held;
mod losses;
mod reception;

use alloc::vec::Vec;

use self::held::Held;
use self::losses::Losses;
use super::Header;
use super::artt::RoundTripFilter;
use super::loss_filter::LossFilter;
use super::options::Options;
use super::rates::{Rates, Weights};
use layercast_core::contract::{Action, ActionQueue, Cause, Endpoint, Estimates, Input, Timers, TraceEvent};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Channel, Duration, Layer, Level, Rate, RateEstimate, Size, Time};
use layercast_kit::estimator::SequenceTracker;
use layercast_kit::waves::{BASE, Waves};

timers! {
    /// What the receiver's timers are for.
    enum Timer {
        /// The epoch ends.
        Epoch,
        /// The newest wave has not carried a packet in time.
        Join,
        /// A missing packet is lost by age.
        Late,
        /// No packet came for too long.
        Silence,
        /// The slot did not change for too long.
        Slot,
        /// A receiver that left rejoins.
        Rejoin,
    }
}

/// The receiver of a WEBRC session.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    waves: Waves,
    size: Size,
    max_gap: u32,
    /// The weights during start-up, and after it.
    weights: [Weights; 2],
    phase: Phase,
    /// The channels held: the base, then waves from the lowest.
    held: Vec<Held>,
    /// Trackers of channels that were left, for those to be joined.
    spare: Vec<SequenceTracker>,
    /// When the base channel was joined.
    entered: Time,
    last_packet: Time,
    /// End packets received.
    ends: u32,
    path: Option<Path>,
    timers: Timers<Timer>,
    actions: ActionQueue<Header>,
}

/// The state of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not started.
    Idle,
    /// In the session.
    In,
    /// Out of the session for a while.
    Out,
    /// Stopped, or the session is over.
    Over,
}

/// The state since the first packet of the base channel.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// The slot in the cycle (CTSI), and when it began.
    slot: (u16, Time),
    /// Another slot that packets carried but that was not accepted, and how often in a row.
    doubted: (u16, u32),
    epoch_began: Time,
    /// Packets received and lost in this epoch.
    epoch_packets: (u32, u32),
    /// The rate received in the last epoch, and its maximum since the last join (RR_P).
    received: (f64, f64),
    rates: Rates,
    rtt: RoundTripFilter,
    loss: LossFilter,
    /// Until when losses belong to the loss event that began last.
    event_until: Time,
    /// The slow start rate (SSR_P); none during start-up.
    slow_start: Option<f64>,
    /// The target rate (TRATE) of the last decision.
    target: f64,
    /// When the newest wave was joined, if its first packet has not come (JOINING).
    joining_since: Option<Time>,
    /// When the first packet of the newest channel came.
    newest_first_packet: Time,
    /// The time from the join to the first packet of the last wave, in seconds.
    last_delay_s: Option<f64>,
    /// No join before this time, after the host failed to join.
    blocked_until: Time,
    /// Packets of the base received and lost while it was held alone.
    alone: (u32, u32),
}

impl Receiver {
    /// A receiver of a session. It needs no randomness; the stream is accepted so that all receivers have
    /// the same constructor.
    pub fn new(options: &Options, plan: SessionPlan, _stream: Stream) -> Receiver {
        let waves = options.waves(&plan);
        let max_gap = layercast_kit::estimator::max_gap_for(plan.layers.top_rate(), plan.packet_size);
        Receiver {
            weights: [Weights::new(options, true), Weights::new(options, false)],
            // Short numbers have 16 bits, so a jump by more than a quarter of them is not a loss.
            max_gap: max_gap.min(1 << 14),
            held: Vec::with_capacity(usize::from(waves.active_waves()) + 1),
            spare: Vec::with_capacity(usize::from(waves.active_waves()) + 1),
            waves,
            size: plan.packet_size,
            options: options.clone(),
            phase: Phase::Idle,
            entered: Time::ZERO,
            last_packet: Time::ZERO,
            ends: 0,
            path: None,
            timers: Timers::default(),
            actions: ActionQueue::default(),
        }
    }

    /// How many waves are held (NWC).
    fn waves_held(&self) -> u16 {
        (self.held.len() as u16).saturating_sub(1)
    }

    /// A rate that is known after the first packet, from packets/s.
    fn rate_of(&self, of: impl FnOnce(&Path) -> Option<f64>) -> Option<Rate> {
        let packets_per_s = self.path.as_ref().and_then(of)?;
        Some(Rate::from_bps(packets_per_s * self.size.as_bits() as f64))
    }

    fn level(&self) -> Level {
        Level::from_count(self.held.len() as u16)
    }

    fn join_session(&mut self, now: Time) {
        self.phase = Phase::In;
        (self.entered, self.last_packet) = (now, now);
        self.path = None;
        self.join_channel(BASE, Cause::Start);
        self.timers.arm(Timer::Silence, now + self.silence());
        self.timers.arm(Timer::Slot, now + self.slot_silence());
    }

    fn silence(&self) -> Duration {
        self.options.silence.max(self.waves.slot())
    }

    fn slot_silence(&self) -> Duration {
        self.options.slot_silence.max(self.waves.slot() * 2)
    }

    /// Joins a channel above those that are held.
    fn join_channel(&mut self, channel: Channel, cause: Cause) {
        let from = self.level();
        let layer = Layer(channel.0);
        let tracker = match self.spare.pop() {
            Some(tracker) => tracker.recycled(layer),
            None => SequenceTracker::new(layer, self.options.reorder, self.max_gap),
        };
        self.held.push(Held::new(&self.options, &self.waves, channel, tracker));
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
        self.actions.trace(TraceEvent::LevelChanged { from, to: self.level(), cause });
    }

    /// Undoes the join of the newest wave, as if it had never happened.
    fn undo_join(&mut self, leaves: bool, cause: Cause) {
        self.release(self.held.len().saturating_sub(1), leaves, cause);
        let held = self.waves_held();
        if let Some(path) = &mut self.path {
            path.rates.undo_join(&self.waves, held);
            path.joining_since = None;
        }
        self.timers.disarm(Timer::Join);
    }

    fn leave_all(&mut self, cause: Cause) {
        while !self.held.is_empty() {
            self.release(self.held.len() - 1, true, cause);
        }
        self.path = None;
        self.timers.clear();
    }

    /// Leaves the session for a temporary reason (RFC 3738, section 3.2.3.8).
    fn go_out(&mut self, now: Time, cause: Cause) {
        self.leave_all(cause);
        self.phase = Phase::Out;
        let wait = self.options.rejoin_after;
        if !wait.is_zero() {
            self.timers.arm(Timer::Rejoin, now + wait);
        }
    }

    fn finish(&mut self, cause: Cause) {
        self.leave_all(cause);
        self.phase = Phase::Over;
    }

    fn on_join_failed(&mut self, now: Time, channel: Channel) {
        let Some(place) = self.held.iter().position(|held| held.channel == channel) else { return };
        if place == 0 {
            // Without the base there is no session. It is not held, so it must not be left.
            while self.held.len() > 1 {
                self.undo_join(true, Cause::JoinFailed);
            }
            self.release(0, false, Cause::JoinFailed);
            self.go_out(now, Cause::JoinFailed);
            return;
        }
        while self.held.len() > place + 1 {
            self.undo_join(true, Cause::JoinFailed);
        }
        self.undo_join(false, Cause::JoinFailed);
        if let Some(path) = &mut self.path {
            path.blocked_until = now + self.waves.slot();
        }
    }

    fn on_timers(&mut self, now: Time) {
        while let Some(timer) = self.timers.take_expired(now) {
            match timer {
                Timer::Epoch => self.end_epoch(now),
                Timer::Join => self.undo_join(true, Cause::SilentLayer),
                Timer::Late => self.expire_holes(now),
                Timer::Silence => self.on_silence(now),
                Timer::Slot => self.go_out(now, Cause::Silence),
                Timer::Rejoin => self.join_session(now),
            }
        }
    }

    fn on_silence(&mut self, now: Time) {
        let (waited, limit) = (now.since(self.last_packet), self.silence());
        if waited < limit {
            self.timers.arm(Timer::Silence, self.last_packet + limit);
            return;
        }
        self.actions.trace(TraceEvent::Silent { waited });
        self.go_out(now, Cause::Silence);
    }

    /// A missing packet may become lost by age alone.
    fn arm_hole_timer(&mut self) {
        let late_limit = self.options.late_limit;
        self.timers
            .set(Timer::Late, self.held.iter().filter_map(|held| held.tracker.deadline(late_limit)).min());
    }

    fn expire_holes(&mut self, now: Time) {
        let mut losses = Losses::default();
        for held in &mut self.held {
            held.tracker.expire(now, self.options.late_limit, |lost| losses.add(lost));
        }
        self.on_losses(now, losses);
        self.arm_hole_timer();
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start if self.phase == Phase::Idle => self.join_session(now),
            _ if matches!(self.phase, Phase::Idle | Phase::Over) => return,
            Input::Packet(arrival) if self.phase == Phase::In => self.on_packet(now, &arrival),
            Input::JoinFailed(channel, _) => self.on_join_failed(now, channel),
            Input::Stop => {
                self.finish(Cause::Stop);
                return;
            }
            Input::Start
            | Input::Packet(_)
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
        let Some(path) = &self.path else {
            return Estimates { level: self.level(), ..Estimates::default() };
        };
        let rate = RateEstimate::Known(Rate::from_bps(path.target * self.size.as_bits() as f64));
        Estimates {
            level: self.level(),
            rate,
            smoothed_rate: rate,
            // During start-up the loss rate is unknown.
            loss: path.slow_start.map(|_| path.loss.loss()),
            rtt: Some(Duration::from_secs_f64(path.rtt.average_s())),
        }
    }

    gauges! { |self, _now|
        /// Waves held (NWC).
        value waves in "waves" = self.waves_held();
        /// True reception rate (TRR_P).
        value true_rate_kbps in "kbit/s" = self.rate_of(|path| Some(path.rates.true_rate));
        /// Anticipated rate: that of all channels held, lost packets included (ARR_P).
        value anticipated_rate_kbps in "kbit/s" = self.rate_of(|path| Some(path.rates.anticipated));
        /// The slow start rate (SSR_P); none during start-up.
        value slow_start_rate_kbps in "kbit/s" = self.rate_of(|path| path.slow_start);
    }
}
