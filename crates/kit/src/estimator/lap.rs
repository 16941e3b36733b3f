//! LAP, the loss aggregation period (thesis, sections 5.1.3 and 6.2.2).
//!
//! A loss opens a period of one round-trip time, as in LIP, but the losses inside the period are
//! counted: its impact. An interval ends with its period, and the loss rate is the average impact
//! over the average interval. Unlike LIP's, it does not depend on how fast packets are sent.

use super::loss_config::{FirstInterval, ImpactAverage, LossConfig};
use super::loss_event::{Boundary, LossOutcome, Packet, Period};
use super::{LossIntervals, LossWindow};
use layercast_core::units::Duration;

/// The loss rate by aggregation periods.
#[derive(Clone, Debug)]
pub struct Lap {
    intervals: LossIntervals,
    window: LossWindow,
    boundary: Boundary,
    first_interval: FirstInterval,
    impact: ImpactAverage,
    discount_impact: bool,
    rtt: Duration,
    length: u64,
    open: Option<OpenPeriod>,
    /// The periods of the two newest intervals, newest first, for losses that become known late.
    closed: [Option<Period>; 2],
    closed_impact: f64,
    /// Weighted impact and weight of the closed intervals, each shifted to the next older weight.
    aged_impact: (f64, f64),
    events: u64,
    counted: u64,
}

#[derive(Clone, Copy, Debug)]
struct OpenPeriod {
    period: Period,
    impact: u64,
}

impl Lap {
    /// An estimator without packets.
    pub fn new(config: &LossConfig) -> Lap {
        Lap {
            intervals: LossIntervals::new(config.history as usize, config.discounting),
            window: LossWindow::new(config.window, config.scope),
            boundary: config.boundary,
            first_interval: config.first_interval,
            impact: config.impact,
            discount_impact: config.discount_impact,
            rtt: config.initial_rtt,
            length: 0,
            open: None,
            closed: [None; 2],
            closed_impact: 0.0,
            aged_impact: (0.0, 0.0),
            events: 0,
            counted: 0,
        }
    }

    /// The round-trip time to use from the next period on. Zero is refused.
    pub fn set_rtt(&mut self, rtt: Duration) {
        if !rtt.is_zero() {
            self.rtt = rtt;
        }
    }

    /// A packet was received.
    pub fn on_received(&mut self, packet: &Packet) {
        self.close_before(packet);
        self.length += 1;
        self.window.on_packet(packet);
    }

    /// A packet was lost.
    pub fn on_lost(&mut self, packet: &Packet) -> LossOutcome {
        self.close_before(packet);
        self.length += 1;
        let outcome = self.classify(packet);
        self.counted += u64::from(outcome != LossOutcome::Ignored);
        self.window.on_packet(packet);
        outcome
    }

    fn classify(&mut self, lost: &Packet) -> LossOutcome {
        let newest = self.closed[0];
        let Some(open) = &mut self.open else {
            return match newest {
                Some(newest) if lost.sent < newest.end => self.classify_late(lost),
                _ => self.open_period(lost),
            };
        };
        if newest.is_some_and(|newest| lost.sent < newest.end) {
            return self.classify_late(lost);
        }
        if lost.sent < open.period.start {
            // This loss was sent earlier. The period moves back if it then still contains its trigger.
            let earlier = open.period.moved_to(lost.sent);
            if open.period.start < earlier.end {
                open.period = earlier;
            }
        }
        if !self.window.counts(lost) {
            return LossOutcome::Ignored;
        }
        open.impact += 1;
        LossOutcome::Counted
    }

    fn open_period(&mut self, lost: &Packet) -> LossOutcome {
        let period = Period::starting(lost.sent, self.rtt, self.boundary);
        self.open = Some(OpenPeriod { period, impact: 1 });
        self.window.open(lost);
        self.events += 1;
        LossOutcome::NewEvent
    }

    /// A loss at a time whose interval is closed: it counts for the two newest intervals. A loss between
    /// their periods counts for the newer one, as it would have while that one was open.
    fn classify_late(&mut self, lost: &Packet) -> LossOutcome {
        let index = match self.closed {
            [_, Some(older)] if lost.sent < older.start => return LossOutcome::Ignored,
            [_, Some(older)] if lost.sent < older.end => 1,
            [Some(newer), None] if lost.sent < newer.start => return LossOutcome::Ignored,
            _ => 0,
        };
        if !self.window.counts(lost) {
            return LossOutcome::Ignored;
        }
        self.intervals.add_impact(index, 1.0);
        self.refresh_impact();
        LossOutcome::Counted
    }

    fn close_before(&mut self, packet: &Packet) {
        let Some(open) = self.open else { return };
        if packet.sent < open.period.end {
            return;
        }
        if self.keeps_open_interval() {
            self.intervals.push(self.length as f64, open.impact as f64);
            self.closed = [Some(open.period), self.closed[0]];
            self.refresh_impact();
        }
        self.open = None;
        self.length = 0;
    }

    /// Whether the open interval will enter the history: not if it is the first and is to be discarded.
    fn keeps_open_interval(&self) -> bool {
        self.events > 1 || self.first_interval != FirstInterval::Discard
    }

    fn refresh_impact(&mut self) {
        let weight = |i: usize, discount: f64| match self.impact {
            ImpactAverage::Mean => 1.0,
            ImpactAverage::Weighted if self.discount_impact => self.intervals.weights()[i] * discount,
            ImpactAverage::Weighted => self.intervals.weights()[i],
        };
        let (mut sum, mut total) = (0.0, 0.0);
        let (mut aged_sum, mut aged_total) = (0.0, 0.0);
        for (i, interval) in self.intervals.closed().enumerate() {
            let own = weight(i, interval.discount);
            sum += own * interval.impact;
            total += own;
            if i + 1 < self.intervals.weights().len() {
                let aged = weight(i + 1, interval.discount);
                aged_sum += aged * interval.impact;
                aged_total += aged;
            }
        }
        self.closed_impact = if total > 0.0 { sum / total } else { 0.0 };
        self.aged_impact = (aged_sum, aged_total);
    }

    /// The average impact of the periods, the open one included.
    pub fn average_impact(&self) -> f64 {
        let Some(open) = self.open.filter(|_| self.keeps_open_interval()) else { return self.closed_impact };
        let discounts = self.discount_impact && self.impact == ImpactAverage::Weighted;
        let discount = if discounts { self.intervals.discount_factor(self.length as f64) } else { 1.0 };
        let (sum, weight) = self.aged_impact;
        (open.impact as f64 + discount * sum) / (1.0 + discount * weight)
    }

    /// The loss rate, 0 to 1; 0 while no interval is known. While a period is open its interval
    /// counts as if it closed now, so the estimate reacts to the first loss.
    pub fn loss_rate(&self) -> f64 {
        let length = self.length as f64;
        let average = if self.open.is_some() && self.keeps_open_interval() {
            self.intervals.average_after_push(length)
        } else {
            match self.intervals.average(length) {
                Some(average) => average,
                None => return 0.0,
            }
        };
        (self.average_impact() / average).clamp(0.0, 1.0)
    }

    /// The closed intervals with their impacts.
    pub fn intervals(&self) -> &LossIntervals {
        &self.intervals
    }

    /// The closed intervals, to set or rescale the first one.
    pub fn intervals_mut(&mut self) -> &mut LossIntervals {
        &mut self.intervals
    }

    /// Packets since the last period ended, or 0 while one is open.
    pub fn open_length(&self) -> u64 {
        if self.open.is_some() { 0 } else { self.length }
    }

    /// Length and impact of the interval whose period is open.
    pub fn provisional(&self) -> Option<(u64, u64)> {
        self.open.map(|open| (self.length, open.impact))
    }

    /// How many periods there were.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How many losses counted: the impacts of all periods, the open one included.
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// The sender's clock has restarted: an open period ends, closed ones accept no more losses.
    pub fn forget_times(&mut self) {
        if let Some(open) = &mut self.open {
            open.period = Period::default();
        }
        self.closed = [None; 2];
        self.window.clear();
    }

    /// Forgets everything but the round-trip time.
    pub fn reset(&mut self) {
        self.intervals.clear();
        self.window.clear();
        self.length = 0;
        self.open = None;
        self.closed = [None; 2];
        self.events = 0;
        self.counted = 0;
        self.refresh_impact();
    }
}

#[cfg(test)]
mod tests;
