//! What the receiver decides: steps of the start, and joins and leaves at the source's decision points.

use super::{FIRST_PATIENCE, Receiver, Start, Timer};
use crate::tide::options::Marks;
use crate::tide::scalable::Scalable;
use layercast_core::cannot_be;
use layercast_core::contract::{Cause, TraceEvent};
use layercast_core::math::ln;
use layercast_core::units::{Duration, Time};
use layercast_kit::response::MAX_PACKETS_PER_S;
use layercast_kit::waves::channel_of;

/// How long a step of the start lasts at least: long enough for a few packets.
const SHORTEST_STEP: Duration = Duration::from_ms(50);

/// Packets that a step of the start must have brought before it is judged.
pub(super) const STEP_PACKETS: u32 = 8;

/// How long a step takes at least while a queue stands.
const CAUTIOUS_STEP: Duration = Duration::from_ms(250);

/// Steps of one wave after a standing queue.
const CAUTIOUS_STEPS: u32 = 3;

/// What part of the rate must have come in such a step.
const CAUTIOUS_SHARE: f64 = 0.9;

/// Slots between bandwidth probes at most.
const MOST_PATIENCE: u32 = 16;

/// How much longer than between two events of a TCP at the fair rate there must be no loss before a bandwidth probe: random losses
/// leave such a time free once in seven.
const QUIET_INTERVALS: f64 = 2.0;
const LONGEST_QUIET_S: f64 = 3600.0;

/// What part of a slot a recovery may take: joins have to follow the waves on long paths too.
const LONGEST_RECOVERY: f64 = 0.25;

/// What part of a slot's packets the rate may be behind or ahead.
const MOST_DEFICIT: f64 = 0.1;

/// What part of the rate that the source sends must have come for a step to succeed.
const STEP_SHARE: f64 = 0.75;

impl Receiver {
    /// The rate in packets/s that the source sends now on the base and this many waves; none before the first
    /// packet.
    pub(super) fn held_rate(&self, now: Time, waves: u16) -> Option<f64> {
        self.slot.number?;
        let slots = now.since(self.slot.began).as_secs_f64() / self.waves.slot().as_secs_f64();
        Some((self.waves.joined_rate(waves) * self.waves.fallen(slots.min(1.0))).min(self.waves.top_rate()))
    }

    /// How much higher the rate is just after a join than on average, if one wave is joined in each slot.
    fn peak(&self) -> f64 {
        let fall = self.waves.fall();
        -ln(fall) / (1.0 - fall)
    }

    /// Passes the source's decision points: called for each packet.
    pub(super) fn on_decision_point(&mut self, now: Time, phase_us: u32) {
        let point = (u64::from(phase_us) / self.options.decision_interval().as_us().max(1)) as u32;
        let is_new = point != self.slot.decision_point;
        self.slot.decision_point = point;
        if is_new {
            self.note_bottleneck(now);
            self.full_queue.sample(self.delay.last_s());
            self.smooth_rtt();
            self.probe_bandwidth(now);
        }
        if is_new && self.options.reports && self.turn.begin_round(&mut self.stream) {
            self.send_report(now);
        }
        if self.start.is_some() {
            self.step(now);
        } else if is_new {
            self.decide(now);
        }
    }

    /// The round-trip time of the last two slots. A shorter time would make sessions swing with the queue that they
    /// fill together.
    fn smooth_rtt(&mut self) {
        let weight = 0.5 / f64::from(self.options.decision_points);
        self.smooth_rtt_s = 1.0 / ((1.0 - weight) / self.smooth_rtt_s + weight / self.rtt_s());
    }

    /// Joins or leaves by the fair rate.
    fn decide(&mut self, now: Time) {
        self.update_fair();
        let rate_of = |receiver: &Receiver, waves| receiver.held_rate(now, waves).unwrap_or(0.0);
        let peak = self.fair * self.peak() * self.rate_correction(now, rate_of(self, self.waves_held()));
        while self.waves_held() > 0 && rate_of(self, self.waves_held()) > self.options.excess * peak {
            self.release(self.held.len() - 1, true, Cause::RateBelow);
        }
        // A TCP that recovers does not grow either.
        let recovery_s = self.rtt_s().min(LONGEST_RECOVERY * self.waves.slot().as_secs_f64());
        let recovery_ends = self.history.end().plus_us((recovery_s * 1e6) as u64);
        if self.joining.is_some() || now < self.blocked_until || self.last_sent < recovery_ends {
            return;
        }
        let held = self.waves_held();
        let most = 2.0 * rate_of(self, held);
        let mut joins = 0;
        while held + joins < self.waves.active_waves() {
            let next = rate_of(self, held + joins + 1);
            if next > peak || (joins > 0 && next > most) {
                break;
            }
            joins += 1;
        }
        self.join_waves(now, joins, Cause::RateAbove);
    }

    /// By which factor to aim higher, since the rate was less than the fair rate until now: joins come late.
    fn rate_correction(&mut self, now: Time, held: f64) -> f64 {
        let a_slot = self.fair * self.waves.slot().as_secs_f64();
        let passed_s = now.since(self.rate_deficit_at).as_secs_f64().min(self.waves.slot().as_secs_f64());
        self.rate_deficit = if a_slot.is_finite() {
            let deficit = self.rate_deficit + (self.fair - held) * passed_s;
            deficit.clamp(-MOST_DEFICIT * a_slot, MOST_DEFICIT * a_slot)
        } else {
            0.0
        };
        self.rate_deficit_at = now;
        if a_slot > 0.0 && a_slot.is_finite() { 1.0 + 0.5 * self.rate_deficit / a_slot } else { 1.0 }
    }

    fn join_waves(&mut self, now: Time, count: u16, cause: Cause) {
        let Some(slot) = self.slot.number else {
            return cannot_be("a packet, which names the slot, precedes each decision");
        };
        for _ in 0..count {
            let place = self.waves_held() + 1;
            let channel = channel_of(self.waves.wave_at(slot, place));
            self.join_channel(channel, cause);
        }
        if count > 0 {
            self.joining = Some(now);
            let gap_s = self.waves.mean_gap_s(self.waves_held());
            let patience_s = (4.0 * self.rtt_s() + 4.0 * gap_s).max(1.0);
            self.timers.arm(Timer::Join, now + Duration::from_secs_f64(patience_s));
        }
    }

    /// A step of the start, if the last one is complete.
    fn step(&mut self, now: Time) {
        let Some(start) = self.start else { return cannot_be("steps belong to a start") };
        let round_s = self.rtt_s() * if start.cautious > 0 { 2.0 } else { 1.0 };
        let shortest = if start.cautious > 0 { CAUTIOUS_STEP } else { SHORTEST_STEP };
        let round = Duration::from_secs_f64(round_s).max(shortest);
        // A round of slow start takes a round-trip time, in which the join is answered.
        let from = if start.cautious > 0 { start.began } else { start.joined };
        let is_early = now.since(from) < round || now.since(start.began) < shortest;
        if self.joining.is_some() || is_early || start.packets < STEP_PACKETS {
            return;
        }
        let held = self.waves_held();
        let Some(sent) = self.held_rate(now, held) else {
            return cannot_be("a packet, which names the slot, precedes each decision");
        };
        let received = f64::from(start.packets) / now.since(start.began).as_secs_f64();
        let stands = self.delay.take_lowest_s() > self.options.start_delay.as_secs_f64();
        let is_queueing = self.options.delay_start && start.step > 0 && stands;
        let share = if start.cautious > 0 { CAUTIOUS_SHARE } else { STEP_SHARE };
        // Two packets more or less are chance.
        let is_short = f64::from(start.packets + 2) < share * sent * now.since(start.began).as_secs_f64();
        if is_short || (is_queueing && start.before.is_some()) {
            return self.end_start(now, received.min(sent));
        }
        if is_queueing && start.cautious == 0 {
            // Perhaps a queue of others: the same rate once more, then smaller steps.
            self.start = Some(Start { packets: 0, began: now, cautious: CAUTIOUS_STEPS, ..start });
            return;
        }
        // The first step goes as far as TCP's initial window.
        let first = if start.successes == 0 && start.step == 0 && start.before.is_none() {
            f64::from(self.options.initial_window) / self.rtt_s()
        } else {
            0.0
        };
        let most = first.max(self.options.start_factor * sent);
        let mut joins = 0;
        while held + joins < self.waves.active_waves()
            && (joins == 0
                || start.cautious == 0 && self.held_rate(now, held + joins + 1).unwrap_or(0.0) <= most)
        {
            joins += 1;
        }
        let cautious = if is_queueing { CAUTIOUS_STEPS } else { start.cautious.saturating_sub(1) };
        let successes = start.successes + u32::from(start.step > 0);
        self.start =
            Some(Start { step: joins, packets: 0, joined: now, began: now, cautious, successes, ..start });
        self.join_waves(now, joins, Cause::SlowStart);
    }

    /// How long there must be no loss before a bandwidth probe. A TCP at the fair rate goes without an event for long where its
    /// window is large, or where others leave the path empty.
    fn quiet(&self) -> Duration {
        let interval_s = self.options.fair_to.interval_s(self.fair.min(MAX_PACKETS_PER_S), self.smooth_rtt_s);
        let intervals = Duration::from_secs_f64((QUIET_INTERVALS * interval_s).min(LONGEST_QUIET_S));
        intervals.max(self.waves.slot() * u64::from(self.probe_patience))
    }

    /// A decision point passes: if there was no loss and no queue for long, the receiver probes for more bandwidth.
    pub(super) fn probe_bandwidth(&mut self, now: Time) {
        let was_empty = self.delay.take_highest_s() < self.options.idle_delay.as_secs_f64();
        let since_loss_us = self.last_sent.as_us().saturating_sub(self.history.end().as_us());
        if !was_empty || since_loss_us < self.quiet().as_us() {
            self.next_probe = self.next_probe.max(now + self.waves.slot());
        }
        // Marks that come before a queue stands show better than a probe whether there is more, and so do trains where
        // each channel has a queue.
        let is_known = self.scalable.is_some() || self.is_one_share;
        let waits = self.start.is_some() || now < self.next_probe || self.joining.is_some();
        if waits || is_known || self.fair.is_infinite() {
            return;
        }
        let before = Some(self.fair);
        self.delay.take_lowest_s();
        self.start = Some(Start::new(now, CAUTIOUS_STEPS, before));
    }

    /// The start is over: the last step is undone, and the history begins at the rate that came.
    pub(super) fn end_start(&mut self, now: Time, packets_per_s: f64) {
        let Some(start) = self.start.take() else { return cannot_be("what ends is a start") };
        let floor = self.waves.joined_rate(0);
        self.actions.trace(TraceEvent::SlowStartEnded { level: self.level() });
        if start.step > 0 {
            self.leaving_until = now + self.options.leave_bound;
        }
        for _ in 0..start.step.min(self.waves_held()) {
            self.release(self.held.len() - 1, true, Cause::Loss);
        }
        if start.before.is_some() {
            let doubled = (2 * self.probe_patience).min(MOST_PATIENCE);
            self.probe_patience = if start.successes > 0 { FIRST_PATIENCE } else { doubled };
            self.next_probe = now + self.waves.slot() * u64::from(self.probe_patience);
            if start.successes == 0 {
                return;
            }
        }
        // In a short start the moving mean is still far from the path's time, which it will soon have: the window of this rate is
        // that of the path at least.
        self.smooth_rtt_s = self.smooth_rtt_s.max(self.empty_rtt_s());
        // The rate just after a join shall be the one that came.
        let rate = packets_per_s.max(floor) / self.peak();
        // Losses of the step that are known later belong to what ended it.
        let end = self.last_sent.plus_us((self.rtt_s() * 1e6) as u64);
        self.history.reset(end, rate, self.smooth_rtt_s);
        if self.options.marks == Marks::Fraction {
            self.scalable = Some((Scalable::new(rate * self.smooth_rtt_s), self.last_sent));
        }
        (self.rate_deficit, self.rate_deficit_at) = (0.0, now);
        self.bottleneck_rate = None;
        self.update_fair();
    }
}
