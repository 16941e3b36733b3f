//! The window of an emulated TCP, as a fluid: growth over seconds and round-trip times, and a cut per event.

use layercast_core::math::cbrt;
use layercast_kit::response::{CUBIC_BETA, CUBIC_C, Response, SHORTEST_TIMEOUT_S, events_at, timeouts_s};

/// The growth in packets a round-trip time with which CUBIC estimates Reno's window (RFC 9438, section 4.3).
const CUBIC_ALPHA: f64 = 3.0 * (1.0 - CUBIC_BETA) / (1.0 + CUBIC_BETA);

/// The rate in packets/s of a TCP with this mean window and `p` events a packet: some of them cost it a timeout
/// (RFC 5348, section 3.1).
pub(super) fn rate(response: Response, window: f64, p: f64, rtt_s: f64) -> f64 {
    let round_s = rtt_s / response.window(p, rtt_s);
    let share = round_s / (round_s + timeouts_s(rtt_s + SHORTEST_TIMEOUT_S, p));
    share * window / rtt_s
}

/// The rate in packets/s of a TCP at `p` events a packet.
pub(super) fn equation(response: Response, p: f64, rtt_s: f64) -> f64 {
    rate(response, response.window(p, rtt_s), p, rtt_s)
}

/// The events a packet at which a TCP has this rate in packets/s.
pub(super) fn events_a_packet(response: Response, packets_per_s: f64, rtt_s: f64) -> f64 {
    events_at(packets_per_s, |p| equation(response, p, rtt_s))
}

/// The window in packets.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    response: Response,
    size: f64,
    /// CUBIC's plateau (W_max), seconds since the epoch began, seconds from there to the plateau (K), and what
    /// Reno would have (W_est).
    plateau: f64,
    since_s: f64,
    to_plateau_s: f64,
    reno: f64,
    /// The window before the last event.
    before: f64,
    /// The part of a round-trip time that recovery from the last cut takes.
    recovery: f64,
}

impl Window {
    /// A window just before an event.
    pub fn new(response: Response, size: f64) -> Window {
        let size = size.max(1.0);
        Window {
            response,
            size,
            plateau: size,
            since_s: 0.0,
            to_plateau_s: 0.0,
            reno: size,
            before: size,
            recovery: 0.0,
        }
    }

    /// Its size.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The window is at most this large: a TCP that did not use more (RFC 7661).
    pub fn limit(&mut self, most: f64) {
        self.size = self.size.min(most.max(1.0));
    }

    /// A congestion event that comes with a chance of `chance`, at most 1: so much of a cut.
    pub fn cut(&mut self, chance: f64) {
        self.recovery = chance;
        match self.response {
            Response::Reno => {
                self.before = self.size;
                self.size = (self.size * (1.0 - 0.5 * chance)).max(1.0);
            }
            Response::Cubic => {
                let is_less = self.size < self.before;
                let lower = if is_less { 0.5 * (1.0 - CUBIC_BETA) * chance } else { 0.0 };
                self.plateau = self.size * (1.0 - lower);
                self.before = self.size;
                self.size = (self.size * (1.0 - (1.0 - CUBIC_BETA) * chance)).max(1.0);
                self.reno = self.size;
                self.since_s = 0.0;
                self.to_plateau_s = cbrt(((self.plateau - self.size) / CUBIC_C).max(0.0));
            }
        }
    }

    /// A time between two events, of which the first round-trip time is recovery, without growth, after a whole cut.
    /// Returns the mean over it.
    pub fn pass(&mut self, seconds: f64, rounds: f64) -> f64 {
        let recovery = rounds.min(self.recovery);
        if rounds <= recovery {
            return self.size;
        }
        let part = (rounds - recovery) / rounds;
        (1.0 - part) * self.size + part * self.grow(part * seconds, rounds - recovery)
    }

    /// Grows over a time, and returns the mean over it.
    fn grow(&mut self, seconds: f64, rounds: f64) -> f64 {
        let before = self.size;
        match self.response {
            Response::Reno => {
                self.size += rounds;
                0.5 * (before + self.size)
            }
            Response::Cubic => {
                let alpha = if self.reno < self.plateau { CUBIC_ALPHA } else { 1.0 };
                let reno_before = self.reno;
                self.reno += alpha * rounds;
                let (from, to) =
                    (self.since_s - self.to_plateau_s, self.since_s + seconds - self.to_plateau_s);
                self.since_s += seconds;
                self.size = self.reno.max(self.plateau + CUBIC_C * to * to * to);
                let area = CUBIC_C * 0.25 * (to * to * to * to - from * from * from * from);
                let mean = if seconds > 0.0 { self.plateau + area / seconds } else { before };
                mean.max(0.5 * (reno_before + self.reno))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean rate with an event every `every_s` seconds.
    fn mean_rate(response: Response, every_s: f64, rtt_s: f64) -> f64 {
        let mut window = Window::new(response, 10.0);
        let mut mean = 0.0;
        for _ in 0..200 {
            window.cut(1.0);
            mean = window.pass(every_s, every_s / rtt_s) / rtt_s;
        }
        mean
    }

    #[test]
    fn regular_events_give_the_response_function() {
        for (response, tolerance) in [(Response::Reno, 0.06), (Response::Cubic, 0.12)] {
            for every_s in [2.0, 5.0, 20.0] {
                let rate = mean_rate(response, every_s, 0.1);
                let formula = response.packets_per_s(1.0 / (rate * every_s), 0.1);
                assert!((rate / formula - 1.0).abs() < tolerance, "{response:?} {every_s}: {rate} {formula}");
            }
        }
    }
}
