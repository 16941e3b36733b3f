//! The receiver: joins at points of the layer above, leaves on loss, deaf in between.

use super::{Backoff, Header, Options, PointOrigin, Points};
use layercast_core::contract::{
    Action, ActionQueue, Arrival, Cause, Endpoint, Estimates, Input, Timers, TraceEvent,
};
use layercast_core::gauges;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::timers;
use layercast_core::units::{Channel, Duration, Layer, Level, Seq, Time};
use layercast_kit::estimator::max_gap_for;
use layercast_kit::layers::CumulativeLayers;

/// By how much the source's time may run ahead of ours between two base packets: queues and clocks.
const CLOCK_SLACK: Duration = Duration::from_secs(2);
/// The fastest that the source's clock may run, against ours.
const CLOCK_RATE: f64 = 1.1;

/// The receiver of a session.
#[derive(Clone, Debug)]
pub struct Receiver {
    options: Options,
    plan: SessionPlan,
    points: Points,
    is_running: bool,
    layers: CumulativeLayers,
    deaf_until: Time,
    /// The source's time on the newest base packet, and when that came.
    clock: Option<(u64, Time)>,
    /// The source's time from which points are counted.
    origin: u64,
    /// The last point that was acted on.
    acted: Option<(Layer, Time)>,
    backoff: Backoff,
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
    /// A receiver of a session. It needs no randomness; the stream is taken so that all receivers are
    /// made alike.
    pub fn new(options: &Options, plan: SessionPlan, _stream: Stream) -> Receiver {
        let max_gap = |layer| max_gap_for(plan.layers.rate(layer), plan.packet_size);
        let max_gaps = plan.layers.layers().map(max_gap);
        Receiver {
            layers: CumulativeLayers::new(max_gaps, options.reorder, options.late_limit),
            points: Points::new(options.base_interval, &plan.layers),
            options: options.clone(),
            plan,
            is_running: false,
            deaf_until: Time::ZERO,
            clock: None,
            origin: 0,
            acted: None,
            backoff: Backoff::default(),
            timers: Timers::default(),
            actions: ActionQueue::default(),
        }
    }

    fn on_packet(&mut self, now: Time, arrival: &Arrival<Header>) {
        let header = arrival.header;
        let layer = header.layer;
        if !self.layers.accepts(arrival.origin, layer) {
            return;
        }
        let mut first_lost = None;
        let class = self.layers.on_packet(now, layer, header.seq, &mut self.actions, |lost| {
            first_lost.get_or_insert(lost.seq);
        });
        if let Some(first_lost) = first_lost {
            self.on_loss(now, layer, first_lost);
        }
        // Time is for packets that are new: a repeated or wild one may be a forgery or an echo.
        if layer == Layer::BASE && class.counts() {
            self.on_time(now, header.ticks);
        }
        self.watch_holes();
    }

    fn is_deaf(&self, now: Time) -> bool {
        now < self.deaf_until
    }

    /// Something was lost. Within the deaf period it belongs to the event that began it.
    fn on_loss(&mut self, now: Time, layer: Layer, first_lost: Seq) {
        if self.is_deaf(now) {
            return;
        }
        self.actions.trace(TraceEvent::LossEvent { layer, first_lost });
        self.deaf_until = now + self.options.deaf();
        self.layers.forgive();
        let Some(top) = self.layers.level().top().filter(|&top| top != Layer::BASE) else { return };
        self.judge(now, top);
        self.layers.change(Level::from_count(top.0), Cause::Loss, &mut self.actions);
        self.count_from_here();
    }

    /// The level has changed: where points are counted from the last change, they start again.
    fn count_from_here(&mut self) {
        if self.options.points_from == PointOrigin::Event
            && let Some((ticks, _)) = self.clock
        {
            self.origin = ticks;
        }
    }

    /// Whether the experiment with the layer that is lost now had failed.
    fn judge(&mut self, now: Time, top: Layer) {
        let held_for = self.acted.filter(|&(layer, _)| layer == top).map(|(_, at)| now.since(at));
        if held_for.is_some_and(|held_for| held_for < self.points.spacing(top)) {
            self.backoff.on_failure(top, self.options.backoff_cap);
        } else {
            self.backoff.reset();
        }
    }

    /// A base packet carries the source's time: there may be a point of the layer above.
    fn on_time(&mut self, now: Time, ticks: u64) {
        let Some((before, at)) = self.clock else {
            self.clock = Some((ticks, now));
            if self.options.points_from != PointOrigin::Source {
                self.origin = ticks;
            }
            return;
        };
        if ticks <= before {
            // Older, or of a source that has restarted, which a resynchronisation has shown before.
            if before - ticks > self.points.ticks(CLOCK_SLACK) {
                self.clock = Some((ticks, now));
            }
            return;
        }
        self.clock = Some((ticks, now));
        let possible = now.since(at).scaled(CLOCK_RATE) + CLOCK_SLACK;
        let above = Layer(self.layers.level().layer_count());
        if ticks - before > self.points.ticks(possible)
            || self.is_deaf(now)
            || !self.plan.layers.contains(above)
            || !self.points.is_due(
                above,
                before.saturating_sub(self.origin),
                ticks.saturating_sub(self.origin),
            )
            || self.is_too_early(now, above)
        {
            return;
        }
        if !self.options.backoff || self.backoff.on_point(above) {
            self.acted = Some((above, now));
            self.layers.change(Level::up_to(above), Cause::SynchronisationPoint, &mut self.actions);
            self.count_from_here();
        }
    }

    /// Whether a point is implausibly soon after the last accepted one of the same layer. It is signalled
    /// by the first base packet after its time, so two may be closer by one such packet.
    fn is_too_early(&self, now: Time, layer: Layer) -> bool {
        let Some((_, last)) = self.acted.filter(|&(acted, _)| acted == layer) else { return false };
        let base = self.plan.layers.rate(Layer::BASE).time_to_send(self.plan.packet_size);
        let least = self.points.spacing(layer).scaled(self.options.spacing_guard);
        now.since(last) < least.saturating_sub(base)
    }

    fn on_join_failed(&mut self, channel: Channel) {
        let failed = Layer(channel.0);
        if self.layers.level().holds(failed) {
            self.layers.on_join_failed(failed, &mut self.actions);
            self.backoff.reset();
        }
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
        let mut first = None;
        self.layers.expire(now, |lost| {
            first.get_or_insert((lost.layer, lost.seq));
        });
        if let Some((layer, seq)) = first {
            self.on_loss(now, layer, seq);
        }
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
                self.layers.change(Level::NONE, Cause::Stop, &mut self.actions);
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
        /// Experiments in a row with the same layer that failed.
        value failures in "experiments" = self.backoff.failures();
        /// Whether losses do not count now.
        value is_deaf in "flag" = self.is_deaf(now);
    }
}

#[cfg(test)]
mod tests;
