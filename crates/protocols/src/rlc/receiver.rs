//! The receiver of RLC: joins at clean synchronisation points, leaves on loss, deaf in between.

mod layer;
mod losses;

use alloc::vec::Vec;

use self::layer::{LayerReceiver, NewLosses};
use self::losses::RecentLosses;
use super::points::spacing_factor;
use super::{Header, MAX_LAYERS, Options};
use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Endpoint, Estimates, Input, Origin, Timers, TraceEvent,
};
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Channel, Layer, Level, Time, WireSeq};
use layercast_kit::estimator::{ArrivalClass, SendTime, SequenceTracker, max_gap_for};
use layercast_kit::silence::{SILENCE, after_silence};

/// How far a point's number may lie behind the newest and still be a repetition.
const REPEATED_POINTS: i32 = 16;

/// The receiver of an RLC session.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    plan: SessionPlan,
    is_running: bool,
    level: Level,
    layers: Vec<LayerReceiver>,
    deaf_until: Time,
    losses: RecentLosses,
    /// Losses of any kind since the last point at this level.
    lost_since_point: u32,
    /// Whether a point has passed from which on losses were watched.
    armed: bool,
    newest_point: Option<WireSeq>,
    last_heard: Time,
    timers: Timers<Timer>,
    actions: ActionQueue<Header>,
}

timers! {
    /// What the receiver's timers are for.
    enum Timer {
        Late,
        Silence,
    }
}

impl Receiver {
    /// A receiver for the layers of `plan`, at most [`MAX_LAYERS`] of them. It needs no randomness; the
    /// stream is taken so that all receivers are made alike.
    pub fn new(options: &Options, plan: SessionPlan, _stream: Stream) -> Receiver {
        let layer_receiver = |layer: Layer| {
            // Numbers have 16 bits, so a jump by more than a quarter of them is never taken for loss.
            let max_gap = max_gap_for(plan.layers.rate(layer), plan.packet_size).min(1 << 14);
            let tracker = SequenceTracker::new(layer, options.reorder, max_gap);
            LayerReceiver { tracker, burst: None, point_accepted: None }
        };
        let count = plan.layers.count().min(MAX_LAYERS);
        Receiver {
            layers: (0..count).map(Layer).map(layer_receiver).collect(),
            losses: RecentLosses::new(options.loss_limit, options.loss_window),
            options: options.clone(),
            plan,
            is_running: false,
            level: Level::NONE,
            deaf_until: Time::ZERO,
            lost_since_point: 0,
            armed: false,
            newest_point: None,
            last_heard: Time::ZERO,
            timers: Timers::default(),
            actions: ActionQueue::default(),
        }
    }

    fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        let header = arrival.header;
        let layer = header.layer();
        // A packet that came on another channel than it says, or that still arrives after a leave.
        if arrival.origin != Origin::Channel(layer.channel()) || !self.level.holds(layer) {
            return;
        }
        let Some(receiver) = self.layers.get_mut(layer.index()) else { return };
        self.last_heard = now;
        let wire = receiver.widen(header.seq);
        let mut losses = NewLosses::default();
        let burst = receiver.learn_burst(&header, wire);
        let (_, class) =
            receiver.tracker.on_packet(wire, SendTime::from(now), now, |lost| losses.add(lost, burst));
        if class.counts() {
            self.losses.on_packet();
        }
        if class == ArrivalClass::Resynchronised {
            self.actions.trace(TraceEvent::Resynchronised { layer });
        }
        self.on_losses(now, losses);
        // Points are for packets that are new: a repeated or wild one may be a forgery or an echo.
        if header.is_point && class.counts() && self.level.top() == Some(layer) {
            self.on_point(now, layer, header.point);
        }
        self.watch_holes();
    }

    fn is_deaf(&self, now: Time) -> bool {
        now < self.deaf_until
    }

    fn on_losses(&mut self, now: Time, losses: NewLosses) {
        if self.is_deaf(now) {
            // Losses do not count now, and holes of now must not count later.
            self.layers.iter_mut().for_each(|layer| layer.tracker.forgive());
            return;
        }
        self.lost_since_point = self.lost_since_point.saturating_add(losses.in_burst + losses.normal);
        let Some((layer, first_lost)) = losses.first_normal else { return };
        if !self.losses.on_losses(losses.normal) {
            return;
        }
        self.actions.trace(TraceEvent::LossEvent { layer, first_lost });
        self.losses.clear();
        if self.level.layer_count() > 1 {
            self.change_level(Level::from_count(self.level.layer_count() - 1), Cause::Loss);
            self.lost_since_point = 0;
            self.deaf_until = now + self.options.deaf();
            self.armed &= !self.options.skip_point_after_deaf;
            self.layers.iter_mut().for_each(|layer| layer.tracker.forgive());
        }
    }

    /// A synchronisation point of the highest layer held.
    fn on_point(&mut self, now: Time, layer: Layer, number: WireSeq) {
        let repeated = |newest: WireSeq| (-REPEATED_POINTS..=0).contains(&number.distance(newest));
        if self.newest_point.is_some_and(repeated) || self.is_too_early(now, layer) {
            return;
        }
        self.newest_point = Some(number);
        if let Some(receiver) = self.layers.get_mut(layer.index()) {
            receiver.point_accepted = Some(now);
        }
        if self.is_deaf(now) {
            return;
        }
        let held = usize::from(self.level.layer_count());
        let missing: u64 = self.layers.iter().take(held).map(|layer| layer.tracker.missing()).sum();
        let clean = missing == 0 && self.lost_since_point <= self.options.losses_accepted;
        self.lost_since_point = 0;
        let watched = core::mem::replace(&mut self.armed, true);
        if watched && clean && held < self.layers.len() {
            self.change_level(Level::up_to(layer.above()), Cause::SynchronisationPoint);
            self.armed = !self.options.wait_after_join;
        }
    }

    /// Whether a point comes too soon after the last one of its layer to be true. A point rides on
    /// the first packet after its time, so two of them may be one packet closer than their times.
    fn is_too_early(&self, now: Time, layer: Layer) -> bool {
        let Some(last) = self.layers.get(layer.index()).and_then(|layer| layer.point_accepted) else {
            return false;
        };
        let spacing = self.options.sp_spacing * spacing_factor(self.options.spacing_rule, layer);
        let one_packet = self.plan.layers.rate(layer).time_to_send(self.plan.packet_size);
        now.since(last) < spacing.scaled(self.options.spacing_guard).saturating_sub(one_packet)
    }

    /// Joins or leaves layers until `to` is held.
    fn change_level(&mut self, to: Level, cause: Cause) {
        let from = self.level;
        if from == to {
            return;
        }
        for layer in (to.layer_count()..from.layer_count()).rev() {
            self.actions.leave(Channel(layer));
            self.forget(Layer(layer));
        }
        for layer in from.layer_count()..to.layer_count() {
            self.actions.join(Channel(layer));
            self.forget(Layer(layer));
        }
        self.level = to;
        self.actions.trace(TraceEvent::LevelChanged { from, to, cause });
    }

    fn forget(&mut self, layer: Layer) {
        if let Some(receiver) = self.layers.get_mut(layer.index()) {
            receiver.tracker.reset();
            receiver.burst = None;
        }
    }

    fn on_join_failed(&mut self, channel: Channel) {
        let failed = Layer(channel.0);
        if !self.level.holds(failed) {
            return;
        }
        // The failed channel is not held, so it must not be left; those above it have no use now.
        self.change_level(Level::up_to(failed), Cause::JoinFailed);
        let (from, to) = (self.level, Level::from_count(channel.0));
        self.forget(failed);
        self.level = to;
        self.actions.trace(TraceEvent::LevelChanged { from, to, cause: Cause::JoinFailed });
    }

    /// With `reorder` above 1 a missing packet may become lost by age alone.
    fn watch_holes(&mut self) {
        if self.options.reorder == 1 {
            return;
        }
        let due = |layer: &LayerReceiver| layer.tracker.deadline(self.options.late_limit);
        self.timers.set(Timer::Late, self.layers.iter().filter_map(due).min());
    }

    fn on_timers(&mut self, now: Time) {
        while let Some(timer) = self.timers.take_expired(now) {
            match timer {
                Timer::Late => self.on_late(now),
                Timer::Silence => self.on_silence_timer(now),
            }
        }
    }

    fn on_late(&mut self, now: Time) {
        let mut losses = NewLosses::default();
        for receiver in &mut self.layers {
            let burst = receiver.burst;
            receiver.tracker.expire(now, self.options.late_limit, |lost| losses.add(lost, burst));
        }
        self.on_losses(now, losses);
        self.watch_holes();
    }

    fn on_silence_timer(&mut self, now: Time) {
        if self.level == Level::NONE {
            self.change_level(Level::up_to(Layer::BASE), Cause::Start);
        }
        let next = after_silence(now, self.last_heard, &mut self.actions);
        self.timers.arm(Timer::Silence, next);
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => {
                self.is_running = true;
                self.last_heard = now;
                self.timers.arm(Timer::Silence, now + SILENCE);
                self.change_level(Level::up_to(Layer::BASE), Cause::Start);
            }
            _ if !self.is_running => {}
            Input::Packet(arrival) => self.on_packet(now, &arrival),
            Input::JoinFailed(channel, _) => self.on_join_failed(channel),
            Input::Stop => {
                self.change_level(Level::NONE, Cause::Stop);
                self.is_running = false;
                self.timers.clear();
            }
            Input::Timer
            | Input::SendRefused(_)
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
        let counts = self.layers.iter().map(|layer| layer.tracker.counts());
        let (lost, received) = counts.fold((0, 0), |sum, layer| (sum.0 + layer.lost, sum.1 + layer.received));
        let loss = (lost + received > 0).then(|| lost as f64 / (lost + received) as f64);
        Estimates { level: self.level, loss, ..Estimates::default() }
    }
}

#[cfg(test)]
mod tests;
