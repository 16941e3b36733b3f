//! The fair rate on a path: by a model of Reno's throughput, or by another response function in its place.

use layercast_core::units::{Rate, RateEstimate};

use crate::equation::{EquationError, Formula, MAX_RATE_BYTES_PER_S, MIN_LOSS_RATE, Path};
use crate::response::Response;

/// Whose rate is fair, and by which model of it if that is Reno.
///
/// Reno's rate is that of the formula, unchanged. The other responses take the packet size and the round-trip time of
/// a path; its timeout, packets per acknowledgement and window belong to the models of Reno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairEquation {
    /// Whose rate is fair.
    pub fair_to: Response,
    /// The model of Reno's throughput.
    pub formula: Formula,
}

impl FairEquation {
    /// The rate on `path` at loss rate `p` (0 to 1): [`RateEstimate::Unbounded`] at 0 and below, at most
    /// [`MAX_RATE_BYTES_PER_S`].
    ///
    /// # Errors
    /// [`EquationError`] if `p` is not a number, or an input of the path is out of its range.
    pub fn rate(&self, path: &Path, p: f64) -> Result<RateEstimate, EquationError> {
        if self.fair_to == Response::Reno {
            return self.formula.rate(path, p);
        }
        path.check()?;
        if p.is_nan() {
            return Err(EquationError::LossRate);
        }
        if p <= 0.0 {
            return Ok(RateEstimate::Unbounded);
        }
        let bytes_per_s = path.packet_bytes * self.fair_to.packets_per_s(p, path.rtt_s);
        Ok(RateEstimate::Known(Rate::from_bytes_per_s(bytes_per_s.min(MAX_RATE_BYTES_PER_S))))
    }

    /// The loss rate at which that rate is `bytes_per_s`, in [[`MIN_LOSS_RATE`], 1]: the inverse, of the same
    /// response.
    ///
    /// # Errors
    /// [`EquationError`] if the rate is not a number, or an input of the path is out of its range.
    pub fn loss_rate(&self, path: &Path, bytes_per_s: f64) -> Result<f64, EquationError> {
        if self.fair_to == Response::Reno {
            return self.formula.loss_rate(path, bytes_per_s);
        }
        path.check()?;
        if bytes_per_s.is_nan() {
            return Err(EquationError::Rate);
        }
        if bytes_per_s <= 0.0 {
            return Ok(1.0);
        }
        let p = self.fair_to.events_a_packet(bytes_per_s / path.packet_bytes, path.rtt_s);
        Ok(p.max(MIN_LOSS_RATE))
    }

    /// A rate in byte/s that was calculated on `path` as it would be with another round-trip time, in seconds, at
    /// the same loss rate. None if the inputs are out of their range.
    pub fn rate_at_rtt(&self, path: &Path, bytes_per_s: f64, rtt_s: f64) -> Option<f64> {
        let p = self.loss_rate(path, bytes_per_s).ok()?;
        Some(self.rate(&Path { rtt_s, ..*path }, p).ok()?.known()?.as_bytes_per_s())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Path = Path::from_secs(1500.0, 0.1, 0.4);

    fn equation(fair_to: Response) -> FairEquation {
        FairEquation { fair_to, formula: Formula::PftkSimplified }
    }

    fn kbps(fair_to: Response, rtt_s: f64, p: f64) -> f64 {
        let path = Path { rtt_s, ..PATH };
        equation(fair_to).rate(&path, p).unwrap().known().unwrap().as_kbps()
    }

    #[test]
    fn reno_is_the_formula_itself() {
        for formula in [Formula::Simple, Formula::PftkSimplifiedClamped, Formula::PftkFull] {
            let equation = FairEquation { fair_to: Response::Reno, formula };
            for p in [0.0, 1e-6, 0.01, 0.7] {
                assert_eq!(equation.rate(&PATH, p), formula.rate(&PATH, p));
            }
            assert_eq!(equation.loss_rate(&PATH, 1e5), formula.loss_rate(&PATH, 1e5));
        }
    }

    /// RFC 9438, figure 6, with C = 0.4: at p = 1e-5 and 0.2 s the window is 1.054 (0.2 / 1e-5)^(3/4) = 1772 packets,
    /// or 106.3 Mbit/s with packets of 1500 bytes.
    #[test]
    fn cubic_is_the_response_function() {
        let rate = kbps(Response::Cubic, 0.2, 1e-5);
        assert!((rate / 106_340.0 - 1.0).abs() < 0.002, "{rate}");
        assert!(rate > 3.0 * kbps(Response::Reno, 0.2, 1e-5));
    }

    #[test]
    fn bad_inputs_are_named() {
        let cubic = equation(Response::Cubic);
        assert_eq!(cubic.rate(&PATH, f64::NAN), Err(EquationError::LossRate));
        assert_eq!(cubic.loss_rate(&PATH, f64::NAN), Err(EquationError::Rate));
        assert_eq!(cubic.rate(&PATH, 0.0), Ok(RateEstimate::Unbounded));
        assert_eq!(cubic.loss_rate(&PATH, 0.0), Ok(1.0));
        let path = Path { rtt_s: 0.0, ..PATH };
        assert_eq!(cubic.rate(&path, 0.1), Err(EquationError::RoundTripTime));
        assert_eq!(cubic.loss_rate(&path, 1e5), Err(EquationError::RoundTripTime));
    }

    /// Reno's rate goes with 1 / RTT, CUBIC's in its own region with RTT^(-1/4).
    #[test]
    fn rates_follow_the_round_trip_time_of_their_response() {
        let rate = |fair_to, rtt_s| equation(fair_to).rate_at_rtt(&PATH, 2e7, rtt_s).unwrap();
        assert!((rate(Response::Cubic, 0.2) / 2e7 - 0.841).abs() < 0.01);
        let simple = FairEquation { fair_to: Response::Reno, formula: Formula::Simple };
        assert!((simple.rate_at_rtt(&PATH, 2e6, 0.2).unwrap() / 2e6 - 0.5).abs() < 1e-9);
    }
}
