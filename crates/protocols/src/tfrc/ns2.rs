//! The rate of a source by the rules of ns-2's TFRC agent (`tcp/tfrc.cc`, 2004).
//!
//! Rates are in byte/s, times in seconds.

use super::FairRate;
use super::feedback::Feedback;
use super::rfc::{MAX_SPACING_S, damped};
use layercast_core::math::sqrt;
use layercast_core::units::{Duration, Time};

/// The rate before the first report (`InitRate_`).
const INITIAL: f64 = 300.0;
/// The maximum increase at once, in round trips' worth.
const MOST_ROUND_TRIPS: f64 = 2.0;
/// Reports in a row that may leave the rate above twice the receive rate (`maxHeavyRounds_`).
const HEAVY_ROUNDS: u32 = 1;

/// Rates this near are equal: a receive rate of exactly the sending rate comes back rounded, and the
/// rules of slow start turn on which is larger.
const SLACK: f64 = 1.001;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    Steady,
}

/// The rate of a source.
#[derive(Clone, Debug)]
pub(super) struct Ns2Rate {
    packet_bytes: f64,
    equation: FairRate,
    damping: Option<f64>,
    phase: Phase,
    rate: f64,
    /// In slow start the rate to send at climbs from here by `step` with each packet.
    climbing: f64,
    step: f64,
    rtt_s: f64,
    root_mean: f64,
    sample_s: f64,
    last_change: Time,
    heavy_rounds: u32,
}

impl Ns2Rate {
    /// A source that begins. `damping` is what the old root of the round-trip time weighs in
    /// its mean, if rates are damped.
    pub(super) fn new(now: Time, packet_bytes: f64, equation: FairRate, damping: Option<f64>) -> Ns2Rate {
        Ns2Rate {
            packet_bytes,
            equation,
            damping,
            phase: Phase::SlowStart,
            rate: INITIAL,
            climbing: INITIAL,
            step: 0.0,
            rtt_s: 0.0,
            root_mean: 1.0,
            sample_s: 1.0,
            last_change: now,
            heavy_rounds: 0,
        }
    }

    pub(super) fn allowed(&self) -> f64 {
        self.rate
    }

    /// The rate to send at.
    pub(super) fn sending(&self) -> f64 {
        let rate = match self.phase {
            Phase::SlowStart if self.climbing < self.rate => self.climbing,
            _ if self.damping.is_some() => damped(self.rate, self.root_mean, self.sample_s),
            _ => self.rate,
        };
        rate.max(self.packet_bytes / MAX_SPACING_S)
    }

    /// A packet is sent: in slow start the rate increases by a step.
    pub(super) fn on_sent(&mut self) {
        if self.phase == Phase::SlowStart && self.climbing < self.rate {
            self.climbing += self.step;
        }
    }

    /// A report came. Returns whether to send a packet at once: one for each report of slow start.
    pub(super) fn on_report(&mut self, now: Time, report: &Feedback) -> bool {
        let first = self.rtt_s == 0.0;
        self.rtt_s = report.rtt_s;
        self.sample_s = report.sample_s;
        let root = sqrt(report.sample_s);
        let weight = self.damping.unwrap_or(0.0);
        self.root_mean = if first { root } else { weight * self.root_mean + (1.0 - weight) * root };
        let calculated = self.equation.rate(report);
        // A first report may contain no rate.
        let cap = (!first && report.receive_rate > 0.0).then_some(2.0 * report.receive_rate);
        match (self.phase, calculated) {
            (Phase::SlowStart, Some(calculated)) if !first => {
                self.phase = Phase::Steady;
                self.rate = calculated;
            }
            (Phase::SlowStart, _) => {
                self.slow_start(now, cap);
                return true;
            }
            (Phase::Steady, Some(calculated)) if calculated <= self.rate => {
                self.decrease(now, calculated, cap);
            }
            (Phase::Steady, calculated) => self.increase(now, calculated, cap),
        }
        false
    }

    fn one_packet(&self) -> f64 {
        self.packet_bytes / self.rtt_s
    }

    fn slow_start(&mut self, now: Time, cap: Option<f64>) {
        let one_packet = self.one_packet();
        let elapsed = now.since(self.last_change) > Duration::from_secs_f64(self.rtt_s);
        let target = match cap {
            _ if self.rate < one_packet => {
                self.climbing = self.rate;
                one_packet
            }
            None => 2.0 * self.rate,
            Some(cap) if 2.0 * self.rate < cap && elapsed => 2.0 * self.rate,
            Some(cap) if self.climbing > SLACK * cap => {
                self.climbing = 0.5 * cap;
                0.5 * cap
            }
            Some(cap) if self.rate > SLACK * cap || elapsed => cap,
            Some(_) => return,
        };
        self.rate = target;
        self.step = (target - self.climbing) * one_packet / target;
        self.last_change = now;
    }

    /// Increases by at most a packet per round trip for each round trip since the last change.
    fn increase(&mut self, now: Time, calculated: Option<f64>, cap: Option<f64>) {
        let elapsed_s = now.since(self.last_change).as_secs_f64();
        let round_trips = (elapsed_s / self.rtt_s).min(MOST_ROUND_TRIPS);
        let most = cap.unwrap_or(0.0).max(self.one_packet());
        let most = calculated.map_or(most, |calculated| most.min(calculated));
        self.rate = (self.rate + round_trips * self.one_packet()).min(most);
        self.last_change = now;
        self.heavy_rounds = 0;
    }

    /// Sets the rate of the equation at once.
    fn decrease(&mut self, now: Time, calculated: f64, cap: Option<f64>) {
        let most = cap.unwrap_or(0.0).max(self.one_packet());
        self.rate = calculated;
        self.heavy_rounds = if calculated > most { self.heavy_rounds + 1 } else { 0 };
        if self.heavy_rounds > HEAVY_ROUNDS {
            self.rate = calculated.min(most);
        }
        self.last_change = now;
    }

    pub(super) fn patience_s(&self) -> f64 {
        (2.0 * self.rtt_s).max(2.0 * self.packet_bytes / self.rate)
    }

    /// No report came: half the rate, and slow start is over.
    pub(super) fn on_no_feedback(&mut self) {
        self.phase = Phase::Steady;
        self.rate = (0.5 * self.rate).max(self.packet_bytes / MAX_SPACING_S);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_kit::equation::Formula;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn report(loss: f64, receive_rate: f64) -> Feedback {
        Feedback { sample_s: 0.1, rtt_s: 0.1, rto_s: 0.3, loss, receive_rate, data_limited: false }
    }

    fn source() -> Ns2Rate {
        let equation = FairRate::plain(Formula::PftkSimplifiedClamped, 1000.0);
        Ns2Rate::new(ms(0), 1000.0, equation, Some(0.95))
    }

    #[test]
    fn slow_start_doubles_by_steps_and_ends_with_a_loss() {
        let mut rate = source();
        assert!(rate.on_report(ms(100), &report(0.0, 10_000.0)));
        assert_eq!(rate.allowed(), 10_000.0);
        assert_eq!(rate.sending(), 300.0);
        rate.on_sent();
        assert_eq!(rate.sending(), 10_000.0);
        rate.on_report(ms(201), &report(0.0, 15_000.0));
        assert_eq!(rate.allowed(), 20_000.0);
        rate.on_sent();
        assert_eq!(rate.sending(), 15_000.0);
        assert!(!rate.on_report(ms(302), &report(0.01, 15_000.0)));
        let steady = rate.allowed();
        assert!(steady > 100_000.0, "{steady}");
    }

    #[test]
    fn a_steady_rate_rises_by_one_packet_and_falls_at_once() {
        let mut rate = source();
        rate.on_report(ms(100), &report(0.0, 10_000.0));
        rate.on_report(ms(200), &report(0.1, 10_000.0));
        let low = rate.allowed();
        // Two round trips have passed since the last change: the end of slow start counts as none.
        rate.on_report(ms(300), &report(0.01, 1e6));
        assert_eq!(rate.allowed(), low + 20_000.0);
        rate.on_report(ms(400), &report(0.01, 1e6));
        assert_eq!(rate.allowed(), low + 30_000.0);
        rate.on_report(ms(800), &report(0.01, 1e6));
        assert_eq!(rate.allowed(), low + 50_000.0);
        rate.on_report(ms(900), &report(0.1, 1e6));
        assert_eq!(rate.allowed(), low);
    }

    #[test]
    fn twice_the_receive_rate_binds_after_one_round_of_grace() {
        let mut rate = source();
        rate.on_report(ms(100), &report(0.0, 10_000.0));
        rate.on_report(ms(200), &report(0.01, 10_000.0));
        rate.on_report(ms(300), &report(0.02, 10_000.0));
        assert!(rate.allowed() > 20_000.0);
        rate.on_report(ms(400), &report(0.03, 10_000.0));
        assert_eq!(rate.allowed(), 20_000.0);
    }

    #[test]
    fn silence_halves_the_rate() {
        let mut rate = source();
        assert_eq!(rate.patience_s(), 2000.0 / 300.0);
        rate.on_no_feedback();
        assert_eq!(rate.allowed(), 150.0);
    }
}
