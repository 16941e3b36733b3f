//! A receiver's level: how it is decided, and the consequences of a change.

use super::{Phase, Receiver, Timer};
use crate::elm::slow_start::SlowStartStep;
use crate::elm::strategy::{RateBounds, Step};
use layercast_core::cannot_be;
use layercast_core::contract::{Cause, TraceEvent};
use layercast_core::units::{Layer, Level, RateEstimate, Time};

impl Receiver {
    /// Evaluates the rate after a packet.
    pub(super) fn evaluate(&mut self, now: Time) {
        let deaf = matches!(self.phase, Phase::SlowStart(slow_start) if slow_start.is_deaf(now));
        self.reception.update_rate(now, !deaf || self.options.smooth_while_deaf);
        self.poll_slow_start(now);
        if self.phase == Phase::Managed
            && let Some(bounds) = self.rate_bounds(now)
        {
            let rate = self.reception.smoothed_rate();
            if rate == RateEstimate::Unknown {
                // Before the first round-trip time a rate calculated with the initial value may lead to a
                // leave, never to a join (docs/protocols/elm.md).
                self.manager.on_rate(now, self.reception.rate(), &RateBounds { above: None, ..bounds });
            } else {
                self.manager.on_rate(now, rate, &bounds);
            }
        }
    }

    /// Performs the steps of slow start and of the manager that are due.
    pub(super) fn run_management(&mut self, now: Time) {
        self.poll_slow_start(now);
        if self.phase == Phase::Managed
            && let Some(step) = self.manager.poll(now)
        {
            match step {
                Step::Join => self.join_next(now, Cause::RateAbove),
                Step::Leave => {
                    if let Some(lower) = self.one_down() {
                        self.leave_down_to(now, lower, Cause::RateBelow);
                    }
                }
            }
        }
    }

    pub(super) fn next_management(&self) -> Option<Time> {
        match self.phase {
            Phase::SlowStart(slow_start) => {
                let bounds = self.table.rate_bounds(self.level)?;
                slow_start.next_deadline(self.reception.smoothed_rate(), &bounds, self.layers_above_base())
            }
            Phase::Managed => self.manager.next_deadline(),
            Phase::Idle | Phase::Waiting | Phase::Over => None,
        }
    }

    fn poll_slow_start(&mut self, now: Time) {
        while let Phase::SlowStart(slow_start) = self.phase {
            let Some(bounds) = self.table.rate_bounds(self.level) else {
                return cannot_be("slow start holds a layer");
            };
            let rate = self.reception.smoothed_rate();
            match slow_start.poll(now, rate, &bounds, self.layers_above_base()) {
                Some(SlowStartStep::Join) => {
                    self.join_next(now, Cause::SlowStart);
                    self.phase = self.next_climb(now);
                }
                Some(SlowStartStep::End) => self.end_slow_start(),
                None => return,
            }
        }
    }

    /// Begins slow start at the present level, or the strategy at once if slow start is off.
    pub(super) fn begin_climbing(&mut self, now: Time) {
        self.manager.clear();
        self.phase = if self.options.slow_start { self.next_climb(now) } else { Phase::Managed };
    }

    fn next_climb(&self, now: Time) -> Phase {
        let Some(bounds) = self.table.rate_bounds(self.level) else {
            cannot_be::<()>("a receiver that climbs holds a layer");
            return Phase::Managed;
        };
        let rtt = self.reception.rtt_or_initial();
        Phase::SlowStart(self.slow_start.after_join(now, rtt, self.table.base_rate(), bounds.here))
    }

    pub(super) fn end_slow_start(&mut self) {
        if self.in_slow_start() {
            self.phase = Phase::Managed;
            self.actions.trace(TraceEvent::SlowStartEnded { level: self.level });
        }
    }

    fn layers_above_base(&self) -> u16 {
        self.level.layer_count().saturating_sub(1)
    }

    /// The rate bounds of the present level, without the one above while joins are held back.
    fn rate_bounds(&self, now: Time) -> Option<RateBounds> {
        let bounds = self.table.rate_bounds(self.level)?;
        Some(if now < self.no_join_before { RateBounds { above: None, ..bounds } } else { bounds })
    }

    /// The level one layer down; none at the base layer, which is kept.
    pub(super) fn one_down(&self) -> Option<Level> {
        match self.level.layer_count() {
            0 | 1 => None,
            count => Some(Level::from_count(count - 1)),
        }
    }

    fn join_next(&mut self, now: Time, cause: Cause) {
        let count = self.level.layer_count();
        if usize::from(count) >= self.table.layer_count() {
            return;
        }
        self.join_up_to(Level::from_count(count + 1), cause);
        self.manager.level_changed(now, Step::Join);
        self.reception.on_level_change();
        self.watch_join(now, Layer(count));
    }

    /// Joins the top layer of a level one above the present one.
    pub(super) fn join_up_to(&mut self, to: Level, cause: Cause) {
        if let Some(layer) = to.top() {
            self.reception.layer_changed(layer);
            self.actions.join(layer.channel());
        }
        self.actions.trace(TraceEvent::LevelChanged { from: self.level, to, cause });
        self.level = to;
    }

    /// Leaves all layers above a level, from the top.
    pub(super) fn leave_down_to(&mut self, now: Time, to: Level, cause: Cause) {
        if self.level <= to {
            return;
        }
        for index in (to.layer_count()..self.level.layer_count()).rev() {
            self.actions.leave(Layer(index).channel());
        }
        self.lowered_to(now, to, cause);
    }

    /// The host could not join a layer: it and those above it are not held, and those above are left.
    pub(super) fn join_failed(&mut self, now: Time, layer: Layer) {
        if !self.level.holds(layer) {
            return;
        }
        self.counters.join_failed += 1;
        for index in (layer.0 + 1..self.level.layer_count()).rev() {
            self.actions.leave(Layer(index).channel());
        }
        self.end_slow_start();
        self.no_join_before = now + self.options.join_failed_hold;
        self.lowered_to(now, Level::from_count(layer.0), Cause::JoinFailed);
        if self.level == Level::NONE {
            // Without the base layer nothing arrives, so its join is retried.
            self.phase = Phase::Waiting;
            self.timers.clear();
            self.timers.arm(Timer::Start, now + self.options.start_timeout);
        }
    }

    fn lowered_to(&mut self, now: Time, to: Level, cause: Cause) {
        for index in to.layer_count()..self.level.layer_count() {
            self.reception.layer_changed(Layer(index));
        }
        self.actions.trace(TraceEvent::LevelChanged { from: self.level, to, cause });
        self.level = to;
        self.watch = None;
        self.timers.disarm(Timer::Join);
        self.manager.level_changed(now, Step::Leave);
        self.reception.on_level_change();
    }
}
