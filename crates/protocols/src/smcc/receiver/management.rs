//! A receiver's level: when it leaves its highest layer, and when it tries the one above.

use super::Receiver;
use crate::smcc::header::{Header, Report};
use layercast_core::cannot_be;
use layercast_core::contract::{Cause, Send, TraceEvent};
use layercast_core::units::{Duration, Layer, Level, Rate, RateEstimate, Time};

impl Receiver {
    /// The fair rate: unbounded before a loss. Before a round-trip time was measured it is based on the
    /// layer's largest one, which makes it too low: good enough for a join, not for a leave.
    pub(super) fn estimate(&self) -> RateEstimate {
        match self.reception.calculated() {
            Some(rate) if self.reception.has_loss() => RateEstimate::Known(Rate::from_bytes_per_s(rate)),
            _ => RateEstimate::Unbounded,
        }
    }

    /// Evaluates the fair rate after a packet. `round` is the length of a feedback round: for this long the
    /// rate must be out of the layer's bounds.
    pub(super) fn manage(&mut self, now: Time, new_loss: bool, round: Duration) {
        if new_loss {
            self.loss_in_attempt(now);
        }
        let Some(top) = self.level.top() else { return cannot_be("a packet that counts is of a layer held") };
        let estimate = self.estimate();
        let enough = estimate.known().is_none_or(|rate| rate >= self.structure.low(top));
        if enough || self.reception.rtt().is_none() {
            self.below_since = None;
        } else {
            let since = now.since(*self.below_since.get_or_insert(now));
            if top == Layer::BASE && since >= self.layer_options.starved_leave {
                self.finish(now, Cause::RateBelow);
                return;
            }
            if top != Layer::BASE && since >= round {
                self.leave_top(now, Cause::RateBelow);
                return;
            }
        }
        let above = top.above();
        let fits = match estimate {
            RateEstimate::Known(rate) => rate >= self.structure.low(above),
            RateEstimate::Unbounded => true,
            RateEstimate::Unknown => false,
        };
        if !fits || self.above.is_none() || !self.structure.contains(above) {
            self.above_since = None;
            return;
        }
        let since = now.since(*self.above_since.get_or_insert(now));
        if self.attempt.is_none() && since >= round && self.back_off.is_over(now) {
            self.begin_attempt(now, top);
        }
    }

    /// Leaves the highest layer; the one below is the one to take part in.
    pub(super) fn leave_top(&mut self, now: Time, cause: Cause) {
        let Some(top) = self.level.top() else { return cannot_be("a layer that is left is held") };
        self.end_attempt(now, false);
        self.set_level(now, Level::from_count(top.0), cause);
        self.joins.taken_back += u64::from(self.back_off.left(now) && cause == Cause::RateBelow);
        self.joins.silent_layers += u64::from(cause == Cause::SilentLayer);
    }

    /// Joins or leaves layers, from the top down, and takes part in the new highest one. A receiver that
    /// limited the layer before reports that it leaves.
    pub(super) fn set_level(&mut self, now: Time, to: Level, cause: Cause) {
        if self.level == to {
            return;
        }
        if self.reporter.is_limiting() {
            self.send_report(now, true);
        }
        for index in (to.layer_count()..self.level.layer_count()).rev() {
            self.actions.leave(Layer(index).channel());
        }
        for index in self.level.layer_count()..to.layer_count() {
            self.reception.reset_stream(Layer(index));
            self.actions.join(Layer(index).channel());
        }
        self.on_level_change(now, to, cause);
    }

    /// The level changed, and the state of the session taken part in belongs to another layer.
    pub(super) fn on_level_change(&mut self, now: Time, to: Level, cause: Cause) {
        self.actions.trace(TraceEvent::LevelChanged { from: self.level, to, cause });
        self.level = to;
        self.reporter.reset();
        self.reporter.begin(now);
        (self.above, self.below_since, self.above_since) = (None, None, None);
        self.silent_at = now + self.layer_options.silence_note;
    }

    /// The host could not join a layer: it and those above it are not held.
    pub(super) fn join_failed(&mut self, now: Time, layer: Layer) {
        if !self.level.holds(layer) {
            return;
        }
        self.counters.join_failed += 1;
        self.end_attempt(now, false);
        for index in (layer.0 + 1..self.level.layer_count()).rev() {
            self.actions.leave(Layer(index).channel());
        }
        self.on_level_change(now, Level::from_count(layer.0), Cause::JoinFailed);
        self.back_off.left(now);
    }

    /// Reports to the session of the highest layer what is known now.
    pub(super) fn send_report(&mut self, now: Time, leaving: bool) {
        let (Some(session), Some(top)) = (self.session.known(), self.level.top()) else {
            return cannot_be("a packet of the highest layer precedes each report");
        };
        let lowest = f64::from(self.packet_size.as_bytes()) / self.layer_options.max_spacing.as_secs_f64();
        let asked = self.reception.asked().max(lowest);
        if let Some(tfmcc) = self.reporter.report(now, session, asked, leaving, &self.reception) {
            self.counters.reports += 1;
            let report = Report { tfmcc, layer: top.0 as u8 };
            self.actions.send(Send::report(Header::Report(report), self.layer_options.report_size));
        }
    }
}
