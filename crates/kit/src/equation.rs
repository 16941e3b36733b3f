//! The throughput of TCP as a function of loss, and its inverse.
//!
//! Four models of TCP's throughput, from the square-root formula to the full model with a receiver's
//! window. Sources: Colussi's thesis, equations 2 and 3; RFC 5348, section 3.1; Padhye, Firoiu, Towsley and
//! Kurose, "Modeling TCP Throughput" (1998) for the full model.
//!
//! Inside, times are seconds, sizes bytes and rates byte/s, as `f64` with the unit in the name.

mod inverse;
mod pftk_full;
mod pftk_simplified;
mod pftk_simplified_clamped;
mod simple;

use core::fmt;

use layercast_core::units::{Duration, Rate, RateEstimate, Size};

pub use pftk_full::expected_window;
pub use pftk_simplified::root as solve_simplified;

/// Makes the names and the dispatch from a list of models. Each entry is a module with `bytes_per_s`, the
/// model for checked inputs and p in (0, 1], and `loss_rate`, its inverse.
macro_rules! formulas {
    ($( $(#[doc = $doc:literal])* $formula:ident = $text:literal in $module:ident, )*) => {
        layercast_core::choices! {
            /// A model of TCP's throughput.
            pub enum Formula {
                $( $(#[doc = $doc])* $formula = $text, )*
            }
        }

        impl Formula {
            /// The model itself, for checked inputs and p in (0, 1]; the unclamped ones for any p above 0.
            pub fn bytes_per_s(self, path: &Path, p: f64) -> f64 {
                match self { $( Formula::$formula => $module::bytes_per_s(path, p), )* }
            }

            /// The model solved for p, for checked inputs.
            fn solved(self, path: &Path, bytes_per_s: f64) -> f64 {
                match self { $( Formula::$formula => $module::loss_rate(path, bytes_per_s), )* }
            }
        }
    };
}

formulas! {
    /// The square-root formula (thesis, equation 2). It has no timeouts and is too high under heavy loss.
    Simple = "simple" in simple,
    /// The equation of TFRC (thesis, equation 3; RFC 5348, section 3.1), timeout term not clamped.
    PftkSimplified = "pftk-simplified" in pftk_simplified,
    /// The same with the timeout term's inner factor at most 1, as ns-2 has it. It differs from
    /// the unclamped form above p = 8/27.
    PftkSimplifiedClamped = "pftk-simplified-clamped" in pftk_simplified_clamped,
    /// The full model with a limit on the window (PFTK 1998).
    PftkFull = "pftk-full" in pftk_full,
}

/// The smallest loss rate that the inverse gives.
pub const MIN_LOSS_RATE: f64 = 1e-8;

/// The largest rate that an equation gives, in byte/s.
pub const MAX_RATE_BYTES_PER_S: f64 = 1e12;

/// The parameters of the path, other than its loss rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// The (mean) size of a packet on the wire, in bytes.
    pub packet_bytes: f64,
    /// The round-trip time, in seconds.
    pub rtt_s: f64,
    /// The retransmission timeout, in seconds. The simple model does not use it.
    pub rto_s: f64,
    /// How many packets one acknowledgement stands for; 1 by default.
    pub packets_per_ack: f64,
    /// The receiver's window, in packets. Only the full model uses it; no limit by default.
    pub window_packets: f64,
}

/// Why an equation has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquationError {
    /// The packet size is not between 0.001 and 10^9 bytes.
    PacketSize,
    /// The round-trip time is not between 1 ns and 10^6 s.
    RoundTripTime,
    /// The retransmission timeout is not between 1 ns and 10^6 s.
    Timeout,
    /// The packets per acknowledgement are not between 0.001 and 1000, or the window is below 0.001
    /// packets.
    Window,
    /// The loss rate is not a number.
    LossRate,
    /// The rate is not a number.
    Rate,
}

impl fmt::Display for EquationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EquationError::PacketSize => "the packet size must be from 0.001 to 10^9 bytes",
            EquationError::RoundTripTime => "the round-trip time must be from 1 ns to 10^6 s",
            EquationError::Timeout => "the retransmission timeout must be from 1 ns to 10^6 s",
            EquationError::Window => {
                "packets per acknowledgement must be from 0.001 to 1000, the window at least 0.001"
            }
            EquationError::LossRate => "the loss rate must be a number",
            EquationError::Rate => "the rate must be a number",
        })
    }
}

impl core::error::Error for EquationError {}

impl Path {
    /// A path with one packet per acknowledgement and no limit on the window.
    pub fn new(packet_size: Size, rtt: Duration, rto: Duration) -> Path {
        Path::from_secs(f64::from(packet_size.as_bytes()), rtt.as_secs_f64(), rto.as_secs_f64())
    }

    /// As [`Path::new`], from plain numbers: bytes and seconds.
    pub const fn from_secs(packet_bytes: f64, rtt_s: f64, rto_s: f64) -> Path {
        Path { packet_bytes, rtt_s, rto_s, packets_per_ack: 1.0, window_packets: f64::INFINITY }
    }

    pub(crate) fn check(&self) -> Result<(), EquationError> {
        // Far outside of what a network has, quotients overflow and products have no value. Each
        // comparison is false for not-a-number.
        if !(1e-3..=1e9).contains(&self.packet_bytes) {
            return Err(EquationError::PacketSize);
        }
        if !(1e-9..=1e6).contains(&self.rtt_s) {
            return Err(EquationError::RoundTripTime);
        }
        if !(1e-9..=1e6).contains(&self.rto_s) {
            return Err(EquationError::Timeout);
        }
        // An infinite window is fine.
        if !((1e-3..=1e3).contains(&self.packets_per_ack) && self.window_packets >= 1e-3) {
            return Err(EquationError::Window);
        }
        Ok(())
    }
}

impl Formula {
    /// The rate that TCP reaches on `path` at loss rate `p` (0 to 1).
    ///
    /// `p <= 0` gives [`RateEstimate::Unbounded`]; `p > 1` counts as 1. The result is at most
    /// [`MAX_RATE_BYTES_PER_S`].
    ///
    /// # Errors
    /// [`EquationError`] if `p` is not a number, or an input of the path is out of its range.
    pub fn rate(self, path: &Path, p: f64) -> Result<RateEstimate, EquationError> {
        path.check()?;
        if p.is_nan() {
            return Err(EquationError::LossRate);
        }
        if p <= 0.0 {
            return Ok(RateEstimate::Unbounded);
        }
        // At a p near the smallest number, 1/p would overflow; the rate is capped long before.
        let bytes_per_s = self.bytes_per_s(path, p.clamp(1e-100, 1.0)).clamp(0.0, MAX_RATE_BYTES_PER_S);
        Ok(RateEstimate::Known(Rate::from_bytes_per_s(bytes_per_s)))
    }

    /// The loss rate at which TCP reaches `bytes_per_s` on `path`, in [[`MIN_LOSS_RATE`], 1].
    ///
    /// A rate that even p = 1 exceeds gives 1; a rate above what the smallest loss rate allows
    /// gives that smallest one.
    ///
    /// # Errors
    /// [`EquationError`] if the rate is not a number, or an input of the path is out of its range.
    pub fn loss_rate(self, path: &Path, bytes_per_s: f64) -> Result<f64, EquationError> {
        path.check()?;
        if bytes_per_s.is_nan() {
            return Err(EquationError::Rate);
        }
        if bytes_per_s <= 0.0 {
            return Ok(1.0);
        }
        Ok(self.solved(path, bytes_per_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Path = Path::from_secs(1000.0, 0.1, 0.4);

    #[test]
    fn no_loss_bounds_nothing() {
        assert_eq!(Formula::PftkSimplified.rate(&PATH, 0.0), Ok(RateEstimate::Unbounded));
        assert_eq!(Formula::Simple.rate(&PATH, -1.0), Ok(RateEstimate::Unbounded));
    }

    #[test]
    fn bad_inputs_are_named() {
        let formula = Formula::PftkFull;
        assert_eq!(formula.rate(&PATH, f64::NAN), Err(EquationError::LossRate));
        assert_eq!(formula.loss_rate(&PATH, f64::NAN), Err(EquationError::Rate));
        let path = Path { rto_s: 0.0, ..PATH };
        assert_eq!(formula.rate(&path, 0.1), Err(EquationError::Timeout));
        let path = Path { packet_bytes: f64::INFINITY, ..PATH };
        assert_eq!(formula.rate(&path, 0.1), Err(EquationError::PacketSize));
        let path = Path { rtt_s: 1e-300, ..PATH };
        assert_eq!(formula.loss_rate(&path, 1e300), Err(EquationError::RoundTripTime));
        let path = Path { window_packets: 0.0, ..PATH };
        assert_eq!(formula.rate(&path, 0.1), Err(EquationError::Window));
    }

    #[test]
    fn the_result_is_capped() {
        let path = Path::from_secs(1e9, 1e-9, 1e-9);
        let rate = Formula::Simple.rate(&path, 1e-12).unwrap();
        assert_eq!(rate, RateEstimate::Known(Rate::from_bytes_per_s(MAX_RATE_BYTES_PER_S)));
    }

    #[test]
    fn typed_and_plain_inputs_agree() {
        let typed = Path::new(Size::from_bytes(1000), Duration::from_ms(100), Duration::from_ms(400));
        assert_eq!(typed, PATH);
    }
}
