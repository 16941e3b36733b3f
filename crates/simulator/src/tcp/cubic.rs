//! CUBIC: after a loss the window grows with the cube of time, towards where it was and beyond.
//!
//! Source: RFC 8312, with the growth of the Reno-friendly region and the rules after a timeout as
//! RFC 9438 changed them. Slow start is plain, or watched by `hystart`.

use layercast_core::math;
use layercast_core::units::Time;

use super::connection::Connection;
use super::hystart::HyStart;
use super::rfc_sack::WindowRule;

/// How fast the cubic grows, in packets per cubic second.
const C: f64 = 0.4;

/// The multiplicative decrease factor.
const BETA: f64 = 0.7;

/// The slope of the Reno-friendly window that makes up for `BETA`.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// The curve of an epoch. Windows in packets, times in seconds.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// When it reaches `plateau`.
    k: f64,
    plateau: f64,
}

impl Curve {
    /// From `cwnd` towards `w_max`; if it is there already, up from where it is.
    fn new(w_max: f64, cwnd: f64) -> Curve {
        Curve { k: math::cbrt((w_max - cwnd).max(0.0) / C), plateau: w_max.max(cwnd) }
    }

    fn at(self, t: f64) -> f64 {
        let x = t - self.k;
        C * x * x * x + self.plateau
    }
}

/// Congestion avoidance since it last began.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    curve: Curve,
    /// What Reno's growth would have given.
    friendly: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Cubic {
    w_max: f64,
    /// The window before the last cut.
    prior: f64,
    epoch: Option<Epoch>,
    /// A timeout came last: the next epoch does not aim for `w_max`.
    after_timeout: bool,
    hystart: HyStart,
}

impl Cubic {
    /// Remembers the window at a loss. A window below its previous maximum gives up some of it (fast
    /// convergence), so that new flows find room. Returns the slow start threshold, before its floor.
    fn remember(&mut self, cwnd: f64, flight: f64) -> f64 {
        self.prior = cwnd;
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        self.epoch = None;
        BETA * flight
    }

    fn start_slowly(&mut self, c: &mut Connection, now: Time) {
        let acked = c.countable();
        if !c.options.hystart || self.hystart.is_over() {
            self.hystart.end();
            c.grow(acked);
            return;
        }
        c.grow(self.hystart.acknowledged(now, c.highest_ack, c.highest_sent, acked));
        if self.hystart.is_over() {
            c.ssthresh = c.cwnd as i64;
        }
    }

    fn avoid_congestion(&mut self, cwnd: f64, now: Time, rtt: f64, acked: f64) -> f64 {
        let (w_max, after_timeout) = (self.w_max, &mut self.after_timeout);
        let epoch = self.epoch.get_or_insert_with(|| {
            let goal = if std::mem::take(after_timeout) { cwnd } else { w_max };
            Epoch { start: now, curve: Curve::new(goal, cwnd), friendly: cwnd }
        });
        let t = now.since(epoch.start).as_secs_f64();
        let slope = if epoch.friendly >= self.prior { 1.0 } else { ALPHA };
        epoch.friendly += friendly_growth(slope, acked, cwnd);
        if epoch.curve.at(t) < epoch.friendly {
            return epoch.friendly;
        }
        let target = epoch.curve.at(t + rtt).clamp(cwnd, 1.5 * cwnd);
        cwnd + acked * (target - cwnd) / cwnd
    }
}

fn friendly_growth(slope: f64, acked: f64, cwnd: f64) -> f64 {
    slope * acked / cwnd
}

impl WindowRule for Cubic {
    /// A window above the receiver's does not limit the sender, so it does not grow.
    fn open(&mut self, c: &mut Connection, now: Time, acked: i64) {
        if c.last_ack == 0 {
            c.open_window();
        } else if c.cwnd < c.ssthresh as f64 {
            self.start_slowly(c, now);
        } else if c.cwnd < f64::from(c.options.window) {
            self.hystart.end();
            c.cwnd = self.avoid_congestion(c.cwnd, now, c.rto.smoothed().as_secs_f64(), acked as f64);
        }
    }

    fn cut(&mut self, c: &mut Connection, flight: i64) {
        self.hystart.end();
        let threshold = self.remember(c.cwnd, flight as f64).max(2.0);
        self.after_timeout = false;
        c.ssthresh = threshold as i64;
        c.cwnd = threshold;
    }

    fn timeout(&mut self, c: &mut Connection, flight: i64) {
        self.hystart.end();
        c.ssthresh = (self.remember(c.cwnd, flight as f64) as i64).max(2);
        self.after_timeout = true;
        c.cwnd = 1.0;
    }

    fn sent(&mut self, seq: i64, now: Time) {
        self.hystart.sent(seq, now);
    }

    fn reset(&mut self) {
        let mut hystart = std::mem::take(&mut self.hystart);
        hystart.reset();
        *self = Cubic { hystart, ..Cubic::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_testkit::golden::{self, Case};
    use serde_json::Value;

    fn case(id: &str) -> Case {
        golden::vector("vectors-active-and-unicast.json", id)
    }

    fn number(value: &Value) -> f64 {
        value.as_f64().unwrap()
    }

    fn assert_near(computed: f64, expected: &Value, case: &Case) {
        let expected = number(expected);
        assert!(
            (computed - expected).abs() <= case.rel_tol * expected.abs().max(1e-3),
            "{computed} not {expected}"
        );
    }

    #[test]
    fn golden_curve() {
        let case = case("cubic-01");
        let curve = Curve::new(number(&case.input["w_max"]), number(&case.input["cwnd_epoch"]));
        assert_near(curve.k, &case.expected["K"], &case);
        let times = case.input["t"].as_array().unwrap();
        for (t, window) in times.iter().zip(case.expected["W"].as_array().unwrap()) {
            assert_near(curve.at(number(t)), window, &case);
        }
    }

    #[test]
    fn golden_cuts() {
        for id in ["cubic-02", "cubic-03"] {
            let case = case(id);
            let mut cubic = Cubic { w_max: number(&case.input["prior_w_max"]), ..Cubic::default() };
            let cwnd = number(&case.input["cwnd"]);
            assert_near(cubic.remember(cwnd, cwnd), &case.expected["ssthresh"], &case);
            assert_near(cubic.w_max, &case.expected["w_max"], &case);
        }
    }

    #[test]
    fn golden_friendly_growth() {
        let case = case("cubic-04");
        let input = |key: &str| number(&case.input[key]);
        assert_near(ALPHA, &case.expected["alpha"], &case);
        let mut window = input("start");
        for expected in case.expected["w_est"].as_array().unwrap() {
            window += friendly_growth(ALPHA, input("acked"), input("cwnd"));
            assert_near(window, expected, &case);
        }
    }
}
