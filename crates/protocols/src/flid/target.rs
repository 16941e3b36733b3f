//! The throughput that FLID aims at: TCP's, for a round-trip time fixed in advance.

use layercast_core::math::{exp, ln};
use layercast_core::units::Duration;
use layercast_kit::equation::{Formula, Path};
use layercast_kit::response::Response;

/// The range in which the inverse searches for a loss rate.
const LOSS_RANGE: (f64, f64) = (1e-15, 1e6);
/// How often the inverse halves that range, in its logarithm.
const HALVINGS: u32 = 200;

/// TCP's throughput in packets/s over the packet loss rate: Reno's with a retransmission timeout of four
/// round-trip times (FLID-DL paper, eq. 1), or that of another response function. It falls strictly for all loss
/// rates above 0; those above 1 are an extrapolation of the equation, which the inverse needs for slow layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    path: Path,
    fair_to: Response,
}

impl Target {
    /// The curve of Reno for a nominal round-trip time, of at least 1 us: that of the paper.
    pub fn new(nominal_rtt: Duration) -> Target {
        Target::of(Response::Reno, nominal_rtt)
    }

    /// The curve of a response for a nominal round-trip time, of at least 1 us.
    pub fn of(fair_to: Response, nominal_rtt: Duration) -> Target {
        let rtt_s = nominal_rtt.as_secs_f64().max(1e-6);
        Target { path: Path::from_secs(1.0, rtt_s, 4.0 * rtt_s), fair_to }
    }

    /// The rate at a loss rate above 0.
    pub fn rate(&self, loss: f64) -> f64 {
        let loss = loss.max(LOSS_RANGE.0);
        match self.fair_to {
            Response::Reno => Formula::PftkSimplified.bytes_per_s(&self.path, loss),
            // Where the timeouts are the rate, it goes with the third power of the loss rate.
            other if loss > 1.0 => other.packets_per_s(1.0, self.path.rtt_s) / (loss * loss * loss),
            other => other.packets_per_s(loss, self.path.rtt_s),
        }
    }

    /// The loss rate at which the curve has this rate: from 1e-15 to 1e6.
    pub fn loss(&self, packets_per_s: f64) -> f64 {
        let (mut low, mut high) = (ln(LOSS_RANGE.0), ln(LOSS_RANGE.1));
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.rate(exp(middle)) > packets_per_s {
                low = middle;
            } else {
                high = middle;
            }
        }
        exp(0.5 * (low + high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_falls_and_its_inverse_leads_back() {
        for fair_to in [Response::Reno, Response::Cubic] {
            let target = Target::of(fair_to, Duration::from_ms(200));
            let rates = [1e-7, 1e-4, 0.01, 0.3, 1.0, 3.0, 100.0].map(|loss| target.rate(loss));
            assert!(rates.is_sorted_by(|one, other| one > other), "{fair_to:?} {rates:?}");
            for rate in rates {
                assert!((target.rate(target.loss(rate)) / rate - 1.0).abs() < 1e-6, "{fair_to:?} {rate}");
            }
        }
    }

    #[test]
    fn at_rare_losses_the_target_of_cubic_is_higher() {
        let rate = |fair_to, loss| Target::of(fair_to, Duration::from_ms(200)).rate(loss);
        assert_eq!(rate(Response::Reno, 1e-3), Target::new(Duration::from_ms(200)).rate(1e-3));
        assert!(rate(Response::Cubic, 1e-4) > 2.0 * rate(Response::Reno, 1e-4));
    }
}
