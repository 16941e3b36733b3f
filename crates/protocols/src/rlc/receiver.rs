//! The receiver of RLC: joins at clean synchronisation points, leaves on loss, deaf in between.

mod layer;
mod losses;

use alloc::vec;
use alloc::vec::Vec;

use self::layer::{LayerReceiver, NewLosses, widen};
use self::losses::RecentLosses;
use super::points::spacing_factor;
use super::{Header, MAX_LAYERS, Options};
use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Endpoint, Estimates, Input, Timers, TraceEvent,
};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Channel, Layer, Level, Seq, Time, WireSeq};
use layercast_kit::estimator::{Fate, Packet, SendTime, VirtualConfig, max_gap_for};
use layercast_kit::layers::CumulativeLayers;

/// How far a point's number may lie behind the newest and still be a repetition.
const REPEATED_POINTS: i32 = 16;

/// The receiver of an RLC session.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    plan: SessionPlan,
    is_running: bool,
    layers: CumulativeLayers,
    /// The state of points and bursts, by layer.
    per_layer: Vec<LayerReceiver>,
    deaf_until: Time,
    losses: RecentLosses,
    /// Losses of any kind since the last point at this level.
    lost_since_point: u32,
    /// Whether a point has passed from which on losses were watched.
    armed: bool,
    newest_point: Option<WireSeq>,
    /// Points of the top layer at which a join was open, and those at which nothing spoke against it.
    points: (u64, u64),
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
        // Numbers have 16 bits, so a jump by more than a quarter of them is never taken for loss.
        let max_gap = |layer| max_gap_for(plan.layers.rate(layer), plan.packet_size).min(1 << 14);
        let count = plan.layers.count().min(MAX_LAYERS);
        let max_gaps = (0..count).map(Layer).map(max_gap);
        let virtual_packets = VirtualConfig::of(options.virtual_size, options.virtual_loss);
        Receiver {
            layers: CumulativeLayers::new(max_gaps, options.reorder, options.late_limit),
            per_layer: vec![LayerReceiver::default(); usize::from(count)],
            losses: RecentLosses::new(options.loss_limit, options.loss_window, virtual_packets),
            options: options.clone(),
            plan,
            is_running: false,
            deaf_until: Time::ZERO,
            lost_since_point: 0,
            armed: false,
            newest_point: None,
            points: (0, 0),
            timers: Timers::default(),
            actions: ActionQueue::default(),
        }
    }

    fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        let header = arrival.header;
        let layer = header.layer();
        if !self.layers.accepts(arrival.origin, layer) {
            return;
        }
        let wire = widen(header.seq, self.layers.tracker(layer));
        let mut losses = NewLosses::default();
        let burst = self.per_layer[layer.index()].learn_burst(&header, wire);
        let mut process = |packet: &Packet, fate| {
            self.losses.on_packet(packet, fate, || losses.add(packet, burst));
        };
        let class =
            self.layers.on_packet(now, layer, wire, &mut self.actions, |lost| process(lost, Fate::Lost));
        if class.counts() {
            let packet = Packet { layer, seq: Seq(u64::from(wire.0)), sent: SendTime::from(now) };
            process(&packet, Fate::Received(self.plan.packet_size));
        }
        self.on_losses(now, losses);
        // Points are for packets that are new: a repeated or wild one may be a forgery or an echo.
        if header.is_point && class.counts() && self.layers.level().top() == Some(layer) {
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
            self.layers.forgive();
            return;
        }
        self.lost_since_point = self.lost_since_point.saturating_add(losses.in_burst + losses.normal);
        let Some((layer, first_lost)) = losses.first_normal else { return };
        if !self.losses.on_losses(losses.normal) {
            return;
        }
        self.actions.trace(TraceEvent::LossEvent { layer, first_lost });
        self.losses.clear();
        let held = self.layers.level().layer_count();
        if held > 1 {
            self.change_level(Level::from_count(held - 1), Cause::Loss);
            self.lost_since_point = 0;
            self.deaf_until = now + self.options.deaf();
            self.armed &= !self.options.skip_point_after_deaf;
            self.layers.forgive();
        }
    }

    /// A synchronisation point of the highest layer held.
    fn on_point(&mut self, now: Time, layer: Layer, number: WireSeq) {
        let repeated = |newest: WireSeq| (-REPEATED_POINTS..=0).contains(&number.distance(newest));
        if self.newest_point.is_some_and(repeated) || self.is_too_early(now, layer) {
            return;
        }
        self.newest_point = Some(number);
        self.per_layer[layer.index()].point_accepted = Some(now);
        if self.is_deaf(now) {
            return;
        }
        let clean = self.layers.missing() == 0 && self.lost_since_point <= self.options.losses_accepted;
        self.points.0 += 1;
        self.points.1 += u64::from(clean);
        self.lost_since_point = 0;
        let watched = core::mem::replace(&mut self.armed, true);
        if watched && clean && layer.above().0 < self.layers.count() {
            self.change_level(Level::up_to(layer.above()), Cause::SynchronisationPoint);
            self.armed = !self.options.wait_after_join;
        }
    }

    /// Whether a point is implausibly soon after the last one of its layer. A point rides on
    /// the first packet after its time, so two of them may be one packet closer than their times.
    fn is_too_early(&self, now: Time, layer: Layer) -> bool {
        let Some(last) = self.per_layer[layer.index()].point_accepted else { return false };
        let spacing = self.options.sp_spacing * spacing_factor(self.options.spacing_rule, layer);
        let one_packet = self.plan.layers.rate(layer).time_to_send(self.plan.packet_size);
        now.since(last) < spacing.scaled(self.options.spacing_guard).saturating_sub(one_packet)
    }

    fn change_level(&mut self, to: Level, cause: Cause) {
        let from = self.layers.level();
        self.layers.change(to, cause, &mut self.actions);
        self.forget_bursts(from.min(to));
    }

    fn on_join_failed(&mut self, channel: Channel) {
        self.layers.on_join_failed(Layer(channel.0), &mut self.actions);
        self.forget_bursts(self.layers.level());
    }

    /// Forgets the bursts of layers above `held`: they do not apply when these layers are joined again.
    fn forget_bursts(&mut self, held: Level) {
        self.per_layer.iter_mut().skip(usize::from(held.layer_count())).for_each(|layer| layer.burst = None);
    }

    fn watch_holes(&mut self) {
        self.timers.set(Timer::Late, self.layers.late_at());
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
        let per_layer = &self.per_layer;
        self.layers.expire(now, |lost| {
            let burst = per_layer[lost.layer.index()].burst;
            self.losses.on_packet(lost, Fate::Lost, || losses.add(lost, burst));
        });
        self.on_losses(now, losses);
        self.watch_holes();
    }

    fn on_silence_timer(&mut self, now: Time) {
        let next = self.layers.on_silence(now, &mut self.actions);
        self.timers.arm(Timer::Silence, next);
    }
}

impl Endpoint for Receiver {
    type Header = Header;

    fn handle(&mut self, now: Time, input: Input<Header>) {
        match input {
            Input::Start => {
                self.is_running = true;
                self.timers.arm(Timer::Silence, self.layers.begin(now, &mut self.actions));
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
        Estimates { level: self.layers.level(), loss: self.layers.loss(), ..Estimates::default() }
    }

    gauges! { |self, now|
        /// Data packets that counted.
        count received in "packets" = self.layers.counts().0;
        /// Packets found missing.
        count lost in "packets" = self.layers.counts().1;
        /// Synchronisation points of the top layer, outside of deaf periods.
        count sync_points in "points" = self.points.0;
        /// Of these, points before which too few losses came to forbid a join.
        count clean_points in "points" = self.points.1;
        /// Whether losses do not count now.
        value is_deaf in "flag" = self.is_deaf(now);
    }
}

#[cfg(test)]
mod tests;
