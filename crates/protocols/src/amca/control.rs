//! The rate of the source: slow start, avoidance, and what halves it (report, section 4.6).

use super::Options;
use super::estimates::{QueueEstimate, queue_estimate};
use layercast_core::units::{Duration, Rate, Size, Time};

/// The parameters of the rate control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Growth of the queue per packet that is not congestion (epsilon).
    pub epsilon: f64,
    /// From how many unacknowledged packets the rate is held, if alpha_hold is set (alpha).
    pub hold_from: Option<f64>,
    /// From how many unacknowledged packets there is congestion (beta).
    pub beta: f64,
    /// Increase factor at a report without congestion (gamma_inc).
    pub increase: f64,
    /// The largest increase factor while a queue drains (gamma_max).
    pub increase_max: f64,
    /// The lowest rate in bit/s.
    pub least_bps: f64,
    /// The highest rate in bit/s.
    pub most_bps: f64,
    /// The size of a packet in bits.
    pub packet_bits: f64,
    /// Whether slow start begins again after a cut.
    pub restart_after_cut: bool,
    /// Whether a congestion mark counts as congestion.
    pub marks_count: bool,
    /// Whether the standing queue beyond beta is drained.
    pub drains_queue: bool,
    /// Whether estimates change the rate at most once per round-trip time.
    pub once_per_rtt: bool,
}

impl Rules {
    /// The rules that the options make for packets of this size.
    pub fn new(options: &Options, size: Size) -> Rules {
        let packet_bits = size.as_bits().max(1) as f64;
        let least_bps = options.rate_min * packet_bits;
        Rules {
            epsilon: options.epsilon,
            hold_from: options.alpha_hold.then_some(options.alpha),
            beta: options.beta,
            increase: options.increase,
            increase_max: options.increase_max,
            least_bps,
            most_bps: (options.rate_max * packet_bits).max(least_bps),
            packet_bits,
            restart_after_cut: options.restart_after_cut,
            marks_count: options.ce_counts,
            drains_queue: options.drains_queue(),
            once_per_rtt: options.follows_once(),
        }
    }
}

/// Which phase the source is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The rate grows by a packet per round-trip time at each report.
    SlowStart,
    /// The rate follows the estimates.
    Avoidance,
}

/// What a report contributes to the rate control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The period in seconds.
    pub period_s: f64,
    /// The variation of the round-trip time in seconds.
    pub rtt_var_s: f64,
    /// Unacknowledged packets.
    pub unacknowledged: f64,
    /// The rate at which the slowest receiver below received, in bit/s; none if it does not bound the rate.
    pub received_bps: Option<f64>,
    /// The largest round-trip time in seconds, if one is known.
    pub rtt_max_s: Option<f64>,
    /// Whether a packet was marked.
    pub is_marked: bool,
}

/// The largest rate in each of the last seconds.
const PEAKS: usize = 10;
/// Round-trip times below this are rounded up to it.
const LEAST_RTT_S: f64 = 0.001;
/// A gap of this many packets between `lr` and `lo` halves the rate.
const CUT_GAP: u64 = 3;

/// The state of the rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    rules: Rules,
    rate_bps: f64,
    phase: Phase,
    /// Until when NACKs only request repairs.
    hold_until: Option<Time>,
    /// Reports until then refer to the rate before the last change.
    seen_from: Option<Time>,
    peaks: [(u64, f64); PEAKS],
    /// Growth of the queue and unacknowledged packets, by the last report.
    last_report: (Option<f64>, f64),
}

impl Control {
    /// The lowest rate, in slow start.
    pub fn new(rules: Rules) -> Control {
        Control {
            rules,
            rate_bps: rules.least_bps,
            phase: Phase::SlowStart,
            hold_until: None,
            seen_from: None,
            peaks: [(0, 0.0); PEAKS],
            last_report: (None, 0.0),
        }
    }

    /// The same state at another rate.
    #[must_use]
    pub fn at_rate(mut self, rate: Rate) -> Control {
        self.set(rate.as_bps());
        self
    }

    /// The rate.
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.rate_bps)
    }

    /// The phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Growth of the queue, by the last report; none before a report that contains it.
    pub fn growth(&self) -> Option<f64> {
        self.last_report.0
    }

    /// Unacknowledged packets, by the last report.
    pub fn unacknowledged(&self) -> f64 {
        self.last_report.1
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// A report came.
    pub fn on_report(&mut self, now: Time, step: Step) {
        let estimate = queue_estimate(step.period_s, step.rtt_var_s, self.rules.increase_max);
        self.last_report = (estimate.growth, step.unacknowledged);
        if self.phase == Phase::Avoidance && self.may_restart(now) {
            self.phase = Phase::SlowStart;
        }
        if self.phase == Phase::SlowStart && self.is_congested(&estimate, &step) {
            self.phase = Phase::Avoidance;
        }
        match self.phase {
            Phase::SlowStart => self.climb(&estimate, &step),
            Phase::Avoidance => self.apply_estimate(now, &estimate, &step),
        }
        self.remember(now);
    }

    fn is_marked(&self, step: &Step) -> bool {
        self.rules.marks_count && step.is_marked
    }

    fn is_congested(&self, estimate: &QueueEstimate, step: &Step) -> bool {
        estimate.growth.is_some_and(|growth| growth > self.rules.epsilon)
            || step.unacknowledged > self.rules.beta
            || self.is_marked(step)
    }

    fn climb(&mut self, estimate: &QueueEstimate, step: &Step) {
        let is_calm = estimate.growth.is_none_or(|growth| growth < self.rules.epsilon)
            && step.unacknowledged < self.rules.beta;
        // Without a round-trip time the step would be a jump.
        if let Some(rtt_s) = step.rtt_max_s.filter(|_| is_calm) {
            self.set(self.rate_bps + self.rules.packet_bits / rtt_s.max(LEAST_RTT_S));
        }
    }

    fn apply_estimate(&mut self, now: Time, estimate: &QueueEstimate, step: &Step) {
        if self.rules.once_per_rtt {
            if self.seen_from.is_some_and(|from| now < from) {
                return;
            }
            self.seen_from = step.rtt_max_s.map(|rtt_s| now + Duration::from_secs_f64(rtt_s));
        }
        let in_bounds = estimate.growth.is_some_and(|growth| (0.0..=self.rules.epsilon).contains(&growth));
        if in_bounds && step.unacknowledged < self.rules.beta && !self.is_marked(step) {
            if self.rules.hold_from.is_some_and(|alpha| step.unacknowledged >= alpha) {
                return;
            }
            self.grow(self.rules.increase, step);
        } else {
            self.grow(estimate.gamma, step);
            if self.rules.drains_queue && in_bounds && step.unacknowledged > self.rules.beta {
                self.drain_standing_queue(step);
            }
        }
    }

    /// Reduces the rate so that the queue beyond beta drains within the next period or round-trip time; by half at most.
    fn drain_standing_queue(&mut self, step: &Step) {
        let span_s = step.period_s.max(step.rtt_max_s.unwrap_or(LEAST_RTT_S));
        let beyond_bps = (step.unacknowledged - self.rules.beta) * self.rules.packet_bits / span_s;
        self.set((self.rate_bps - beyond_bps).max(self.rate_bps / 2.0));
    }

    /// Multiplies the rate. It does not grow beyond the bound set by the receivers' own rate.
    fn grow(&mut self, factor: f64, step: &Step) {
        let most = step.received_bps.map_or(f64::INFINITY, |received| received * self.rules.increase_max);
        self.set((self.rate_bps * factor).min(most.max(self.rate_bps)));
    }

    /// A NACK for a packet that was sent came from a node that has all up to `lo` and has seen `lr`, this far
    /// above it. If it halves the rate, further NACKs have no effect on the rate for `ignore`.
    pub fn on_nack(&mut self, now: Time, gap: u64, ignore: Duration) {
        if self.is_holding(now) {
            return;
        }
        self.phase = Phase::Avoidance;
        if gap >= CUT_GAP {
            self.remember(now);
            self.set(self.rate_bps / 2.0);
            self.hold_until = Some(now + ignore);
        }
    }

    /// No message came for too long, or there are no children left.
    pub fn on_silence(&mut self) {
        self.rate_bps = self.rules.least_bps;
        self.phase = Phase::SlowStart;
    }

    fn is_holding(&self, now: Time) -> bool {
        self.hold_until.is_some_and(|until| now < until)
    }

    /// Sets the rate, within its limits.
    pub(super) fn set(&mut self, rate_bps: f64) {
        self.rate_bps = rate_bps.clamp(self.rules.least_bps, self.rules.most_bps);
    }

    fn may_restart(&self, now: Time) -> bool {
        let second = now.as_ns() / 1_000_000_000;
        let recent = self.peaks.iter().filter(|(of, _)| of + PEAKS as u64 > second);
        let peak = recent.fold(0.0, |peak: f64, &(_, rate)| peak.max(rate));
        self.rules.restart_after_cut && !self.is_holding(now) && self.rate_bps < peak / 2.0
    }

    fn remember(&mut self, now: Time) {
        let second = now.as_ns() / 1_000_000_000;
        let slot = &mut self.peaks[(second % PEAKS as u64) as usize];
        *slot = match *slot {
            (of, peak) if of == second => (of, peak.max(self.rate_bps)),
            _ => (second, self.rate_bps),
        };
    }
}

#[cfg(test)]
mod tests;
