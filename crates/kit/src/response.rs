//! Response functions: the rate that a TCP has at a rate of congestion events.
//!
//! The sources are RFC 5348, section 3.1, for Reno, and RFC 9438, section 5.1, for CUBIC, which is Reno where that
//! is faster (the Reno-friendly region). Here events are counted per packet of the TCP: p events a packet.

use layercast_core::math::{pow, sqrt};

/// The largest rate that a response gives, in packets/s.
pub const MAX_PACKETS_PER_S: f64 = 1e9;

/// The smallest probability of an event that the inverse gives.
const MIN_EVENTS: f64 = 1e-12;

/// C of RFC 9438, section 5, in packets/s^3.
pub const CUBIC_C: f64 = 0.4;
/// beta_cubic of RFC 9438, section 4.6.
pub const CUBIC_BETA: f64 = 0.7;

/// Halvings of an interval in the inverse: enough for a relative error below 1e-9.
const HALVINGS: u32 = 60;

/// The floor of today's stacks for the variance in the retransmission timeout, in seconds (RFC 6298 has one second).
pub const SHORTEST_TIMEOUT_S: f64 = 0.2;

layercast_core::choices! {
    /// Whose rate is fair.
    pub enum Response {
        /// Reno, by the equation of TFRC (RFC 5348, section 3.1).
        Reno = "reno",
        /// CUBIC with its Reno-friendly region (RFC 9438, section 5.1).
        Cubic = "cubic",
    }
}

impl Response {
    /// The mean rate in packets/s at `p` events a packet, 0 to 1, and a round-trip time in seconds. No events
    /// give the largest rate.
    pub fn packets_per_s(self, p: f64, rtt_s: f64) -> f64 {
        if p <= 0.0 {
            return MAX_PACKETS_PER_S;
        }
        let p = p.min(1.0);
        let round_s = rtt_s / self.window(p, rtt_s);
        let timeout_s = match self {
            Response::Reno => 4.0 * rtt_s,
            Response::Cubic => rtt_s + SHORTEST_TIMEOUT_S,
        };
        (1.0 / (round_s + timeouts_s(timeout_s, p))).min(MAX_PACKETS_PER_S)
    }

    /// The mean window in packets without timeouts.
    pub fn window(self, p: f64, rtt_s: f64) -> f64 {
        let reno = sqrt(1.5 / p);
        match self {
            Response::Reno => reno,
            Response::Cubic => cubic_window(p, rtt_s).max(reno),
        }
    }

    /// The events a packet at which the rate in packets/s is this one: the inverse.
    pub fn events_a_packet(self, packets_per_s: f64, rtt_s: f64) -> f64 {
        events_at(packets_per_s, |p| self.packets_per_s(p, rtt_s))
    }
}

/// The events a packet, 0 to 1, at which a rate that falls with them is this one, in packets/s.
pub fn events_at(packets_per_s: f64, rate: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (MIN_EVENTS, 1.0);
    for _ in 0..HALVINGS {
        let middle = sqrt(low * high);
        if rate(middle) > packets_per_s {
            low = middle;
        } else {
            high = middle;
        }
    }
    sqrt(low * high)
}

/// Seconds a packet spent in timeouts of `timeout_s` at `p` events a packet, 0 to 1 (RFC 5348, section 3.1).
pub fn timeouts_s(timeout_s: f64, p: f64) -> f64 {
    timeout_s * (3.0 * sqrt(0.375 * p)).min(1.0) * p * (1.0 + 32.0 * p * p)
}

/// The mean window of CUBIC outside of its Reno-friendly region, in packets (RFC 9438, figure 6).
fn cubic_window(p: f64, rtt_s: f64) -> f64 {
    let factor = CUBIC_C * (3.0 + CUBIC_BETA) / (4.0 * (1.0 - CUBIC_BETA));
    sqrt(sqrt(factor)) * pow(rtt_s / p, 0.75)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Response; 2] = [Response::Reno, Response::Cubic];

    /// RFC 9438, table 2 (C = 0.4, RTT = 0.1 s): windows of 12, 120, 263 for Reno and CUBIC at 1e-2, 1e-4, 1e-5.
    #[test]
    fn cubic_windows_are_those_of_the_rfc() {
        for (p, window) in [(1e-3, 38.7), (1e-4, 187.0), (1e-6, 5927.0), (1e-8, 187_429.0)] {
            let rate = Response::Cubic.packets_per_s(p, 0.1);
            let expected = window / 0.1;
            assert!((rate / expected - 1.0).abs() < 0.04, "{p}: {rate} for {expected}");
        }
    }

    /// CUBIC has Reno's window (RFC 9438, figure 6) where p is above (1.054 / 1.2247)^4 RTT^3: 5.5e-4 at 0.1 s.
    #[test]
    fn small_windows_are_those_of_reno() {
        for (p, rtt_s) in [(5.6e-4, 0.1), (0.03, 0.1), (0.5, 0.3), (1e-5, 0.02)] {
            assert_eq!(Response::Cubic.window(p, rtt_s), sqrt(1.5 / p), "{p} {rtt_s}");
        }
        assert!(Response::Cubic.window(5.4e-4, 0.1) > sqrt(1.5 / 5.4e-4));
    }

    #[test]
    fn more_events_and_longer_rounds_give_no_higher_rate() {
        for response in BOTH {
            let mut rates = [1e-9, 1e-6, 5e-4, 1e-3, 0.02, 0.3, 1.0].map(|p| response.packets_per_s(p, 0.08));
            assert!(rates.is_sorted_by(|one, other| one > other), "{response:?} {rates:?}");
            for p in [1e-6, 1e-3, 0.1] {
                rates = [0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0].map(|rtt_s| response.packets_per_s(p, rtt_s));
                assert!(rates.is_sorted_by(|one, other| one > other), "{response:?} {p} {rates:?}");
            }
        }
    }

    #[test]
    fn the_inverse_is_one() {
        for response in BOTH {
            for p in [1e-7, 1e-4, 0.01, 0.1] {
                let rate = response.packets_per_s(p, 0.05);
                assert!((response.events_a_packet(rate, 0.05) / p - 1.0).abs() < 1e-6);
            }
        }
    }
}
