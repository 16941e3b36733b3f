//! The receiver: joins up to the smallest estimate of a check period, leaves at the first estimate below its
//! level.

use alloc::vec::Vec;

use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Endpoint, Estimates, Input, Origin, Timers, TraceEvent,
};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Layer, Level, Rate, RateEstimate, Time};
use layercast_kit::estimator::{ArrivalClass, Packet, SendTime, SequenceTracker, max_gap_for};

use layercast_kit::silence::{SILENCE, after_silence};

use super::{Arrived, CheckPeriod, Header, LossWatch, Options, PairMeter};

/// A number that is passed over is lost at once: fair queues keep the order of a flow.
const REORDER: u32 = 1;

/// The receiver of a session.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    plan: SessionPlan,
    is_running: bool,
    level: Level,
    layers: Vec<LayerReceiver>,
    /// The bytes that have arrived of the session.
    session_bytes: u64,
    check: CheckPeriod,
    losses: LossWatch,
    last_estimate: RateEstimate,
    last_decision: RateEstimate,
    last_packet: Time,
    timers: Timers<Timer>,
    actions: ActionQueue<Header>,
}

/// What it knows of a layer.
#[derive(Clone, Debug)]
struct LayerReceiver {
    tracker: SequenceTracker,
    pairs: PairMeter,
}

layercast_core::timers! {
    /// What the receiver's timers are for.
    enum Timer {
        /// The base layer is joined again after all layers were left.
        Rejoin,
        /// No packet of the session for a while.
        Silence,
    }
}

/// The level whose cumulative rate is the highest below `rate`.
fn level_below(layers: &LayerTable, rate: Rate) -> Level {
    Level::from_count(layers.layers().take_while(|&layer| layers.cumulative(layer) < rate).count() as u16)
}

impl Receiver {
    /// A receiver for the layers of `plan`. It needs no randomness; the stream is taken so that all receivers
    /// are made alike.
    pub fn new(options: &Options, plan: SessionPlan, _stream: Stream) -> Receiver {
        let layer_receiver = |layer: Layer| LayerReceiver {
            tracker: SequenceTracker::new(
                layer,
                REORDER,
                max_gap_for(plan.layers.rate(layer), plan.packet_size),
            ),
            pairs: PairMeter::new(options.counted),
        };
        Receiver {
            layers: plan.layers.layers().map(layer_receiver).collect(),
            check: CheckPeriod::new(options.check_period, options.least_estimates),
            losses: LossWatch::new(options),
            options: options.clone(),
            plan,
            is_running: false,
            level: Level::NONE,
            session_bytes: 0,
            last_estimate: RateEstimate::Unknown,
            last_decision: RateEstimate::Unknown,
            last_packet: Time::ZERO,
            timers: Timers::default(),
            actions: ActionQueue::default(),
        }
    }

    fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        let Header { layer, seq, is_first } = arrival.header;
        // A packet that came on another channel than it says.
        if arrival.origin != Origin::Channel(layer.channel()) || !self.plan.layers.contains(layer) {
            return;
        }
        // What still arrives after a leave takes its time at the bottleneck too.
        self.session_bytes = self.session_bytes.saturating_add(u64::from(arrival.size.as_bytes()));
        if !self.level.holds(layer) {
            return;
        }
        let Some(receiver) = self.layers.get_mut(layer.index()) else { return };
        self.last_packet = now;
        let (mut lost, mut first_lost) = (0, None);
        let on_lost = |packet: &Packet| {
            lost += 1;
            first_lost.get_or_insert(packet.seq);
        };
        let (seq, class) = receiver.tracker.on_packet(seq, SendTime::from(now), now, on_lost);
        if !class.counts() {
            return;
        }
        let session_bytes = self.session_bytes;
        let packet = Arrived { seq, at: now, size: arrival.size, session_bytes, is_first };
        let estimate = receiver.pairs.on_packet(packet);
        if class == ArrivalClass::Resynchronised {
            self.actions.trace(TraceEvent::Resynchronised { layer });
        }
        if let Some(first_lost) = first_lost.filter(|_| !self.losses.is_measuring(now)) {
            self.actions.trace(TraceEvent::LossEvent { layer, first_lost });
        }
        if self.losses.on_packet(now, lost) {
            self.change_level(
                now,
                Level::from_count(self.level.layer_count().saturating_sub(1)),
                Cause::Loss,
            );
        }
        // A layer that was left for its losses has no say.
        if let Some(estimate) = estimate.filter(|_| self.level.holds(layer)) {
            self.on_estimate(now, estimate);
        }
    }

    fn on_estimate(&mut self, now: Time, estimate: Rate) {
        self.last_estimate = RateEstimate::Known(estimate);
        let bearable = level_below(&self.plan.layers, estimate);
        if bearable.layer_count() < self.level.layer_count() {
            self.losses.restart();
            self.check.restart(now);
            self.change_level(now, bearable, Cause::RateBelow);
            return;
        }
        let Some(smallest) = self.check.on_estimate(now, estimate) else { return };
        self.last_decision = RateEstimate::Known(smallest);
        // Estimates adjust the level better than losses do.
        self.losses.restart();
        let wanted = level_below(&self.plan.layers, smallest);
        if wanted.layer_count() > self.level.layer_count() {
            self.change_level(now, wanted, Cause::RateAbove);
        }
    }

    /// Joins or leaves layers until `to` is held, or the base layer where that is kept.
    fn change_level(&mut self, now: Time, to: Level, cause: Cause) {
        let keeps_base = self.options.keep_base && cause != Cause::Stop;
        let to = if keeps_base && to == Level::NONE { Level::up_to(Layer::BASE) } else { to };
        let from = self.level;
        for layer in (to.layer_count()..from.layer_count()).rev() {
            self.actions.leave(Channel(layer));
            self.forget(Layer(layer));
        }
        for layer in from.layer_count()..to.layer_count() {
            self.actions.join(Channel(layer));
            self.forget(Layer(layer));
        }
        self.hold(now, to, cause);
    }

    /// Notes the level that is held from now on.
    fn hold(&mut self, now: Time, to: Level, cause: Cause) {
        let from = core::mem::replace(&mut self.level, to);
        if from == to {
            return;
        }
        self.actions.trace(TraceEvent::LevelChanged { from, to, cause });
        if to == Level::NONE {
            self.check.reset();
            self.losses.restart();
            self.timers.arm(Timer::Rejoin, now + self.options.rejoin_after);
        }
    }

    fn forget(&mut self, layer: Layer) {
        if let Some(receiver) = self.layers.get_mut(layer.index()) {
            receiver.tracker.reset();
            receiver.pairs.reset();
        }
    }

    fn on_join_failed(&mut self, now: Time, channel: Channel) {
        let failed = Layer(channel.0);
        if !self.level.holds(failed) {
            return;
        }
        // The failed channel is not held, so it must not be left; those above it have no use now.
        for layer in (failed.above().0..self.level.layer_count()).rev() {
            self.actions.leave(Channel(layer));
            self.forget(Layer(layer));
        }
        self.forget(failed);
        self.hold(now, Level::from_count(channel.0), Cause::JoinFailed);
    }

    fn on_timers(&mut self, now: Time) {
        while let Some(timer) = self.timers.take_expired(now) {
            match timer {
                Timer::Rejoin if self.level == Level::NONE => {
                    self.change_level(now, Level::up_to(Layer::BASE), Cause::Start);
                }
                Timer::Rejoin => {}
                Timer::Silence => {
                    let next = after_silence(now, self.last_packet, &mut self.actions);
                    self.timers.arm(Timer::Silence, next);
                }
            }
        }
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => {
                self.is_running = true;
                self.last_packet = now;
                self.timers.arm(Timer::Silence, now + SILENCE);
                self.change_level(now, Level::up_to(Layer::BASE), Cause::Start);
            }
            _ if !self.is_running => {}
            Input::Packet(arrival) => self.on_packet(now, &arrival),
            Input::JoinFailed(channel, _) => self.on_join_failed(now, channel),
            Input::Stop => {
                self.change_level(now, Level::NONE, Cause::Stop);
                self.is_running = false;
                self.timers = Timers::default();
            }
            Input::Timer
            | Input::SendRefused(_)
            | Input::Demand(_)
            | Input::DataExhausted
            | Input::DataAvailable
            | Input::Finish => {}
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
        Estimates {
            level: self.level,
            rate: self.last_estimate,
            smoothed_rate: self.last_decision,
            loss: self.losses.share(),
            ..Estimates::default()
        }
    }
}

#[cfg(test)]
mod tests;
