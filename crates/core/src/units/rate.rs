//! Rates in bits per second, estimates of rates, and exact pacing.

use core::fmt;
use core::ops::{Add, Sub};
use core::str::FromStr;

use super::parse::{UnitError, split_number, trimmed};
use super::{Duration, Size, Time};

/// A rate in bit/s: finite and not negative. It may be fractional, since some layer structures are.
/// `kbit/s` is 1000 bit/s everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Rate(f64);

impl Rate {
    /// Zero.
    pub const ZERO: Rate = Rate(0.0);

    /// A rate in bit/s. Negative and not-a-number become zero, infinity the largest finite number.
    pub const fn from_bps(bps: f64) -> Rate {
        Rate(if bps > 0.0 { if bps > f64::MAX { f64::MAX } else { bps } } else { 0.0 })
    }

    /// A rate in kbit/s.
    pub const fn from_kbps(kbps: f64) -> Rate {
        Rate::from_bps(kbps * 1e3)
    }

    /// A rate in Mbit/s.
    pub const fn from_mbps(mbps: f64) -> Rate {
        Rate::from_bps(mbps * 1e6)
    }

    /// A rate in byte/s, the unit of the throughput equations.
    pub const fn from_bytes_per_s(bytes_per_s: f64) -> Rate {
        Rate::from_bps(bytes_per_s * 8.0)
    }

    /// bit/s.
    pub const fn as_bps(self) -> f64 {
        self.0
    }

    /// kbit/s.
    pub const fn as_kbps(self) -> f64 {
        self.0 / 1e3
    }

    /// byte/s.
    pub const fn as_bytes_per_s(self) -> f64 {
        self.0 / 8.0
    }

    /// Whether the rate is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0.0
    }

    /// The transmission time of a packet of `size` at this rate; the longest duration at rate zero.
    pub fn time_to_send(self, size: Size) -> Duration {
        if self.is_zero() {
            return Duration::MAX;
        }
        Duration::from_ns((size.as_bits() as f64 * 1e9 / self.0 + 0.5) as u64)
    }

    /// This rate times a factor.
    pub fn scaled(self, factor: f64) -> Rate {
        Rate::from_bps(self.0 * factor)
    }
}

impl Add for Rate {
    type Output = Rate;
    fn add(self, other: Rate) -> Rate {
        Rate::from_bps(self.0 + other.0)
    }
}

impl Sub for Rate {
    type Output = Rate;
    /// The difference, at least zero.
    fn sub(self, other: Rate) -> Rate {
        Rate::from_bps(self.0 - other.0)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bps if bps >= 1e9 => write!(f, "{} Gbit/s", trimmed(bps / 1e9)),
            bps if bps >= 1e6 => write!(f, "{} Mbit/s", trimmed(bps / 1e6)),
            bps if bps >= 1e3 => write!(f, "{} kbit/s", trimmed(bps / 1e3)),
            bps => write!(f, "{} bit/s", trimmed(bps)),
        }
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    /// Parses a number and one of `bit/s`, `kbit/s`, `Mbit/s`, `Gbit/s`, or of `bit`, `kbit`, `mbit`, `gbit`, as `tc`
    /// writes them.
    fn from_str(text: &str) -> Result<Rate, UnitError> {
        let (number, unit) = split_number(text)?;
        let bps_per_unit = match unit {
            "bit/s" | "bit" => 1.0,
            "kbit/s" | "kbit" => 1e3,
            "Mbit/s" | "Mbit" | "mbit" => 1e6,
            "Gbit/s" | "Gbit" | "gbit" => 1e9,
            _ => return Err(UnitError::Unit { allowed: "bit/s, kbit/s, Mbit/s or Gbit/s" }),
        };
        Ok(Rate::from_bps(number * bps_per_unit))
    }
}

/// An estimate of a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RateEstimate {
    /// Unknown so far, since there is no round-trip time.
    #[default]
    Unknown,
    /// The estimate.
    Known(Rate),
    /// No congestion was seen, so nothing bounds the rate.
    Unbounded,
}

impl RateEstimate {
    /// The rate if it is known and bounded.
    pub fn known(self) -> Option<Rate> {
        match self {
            RateEstimate::Known(rate) => Some(rate),
            RateEstimate::Unknown | RateEstimate::Unbounded => None,
        }
    }
}

/// Departure times at a constant spacing, exact over any length of time: the remaining fraction of a
/// nanosecond is carried over to the next spacing.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    next: Time,
    spacing_ns: f64,
    carry_ns: f64,
}

impl Pacer {
    /// A pacer whose first departure is at `first` and whose packets of `size` keep up `rate`. The spacing
    /// is at least one microsecond, so that an extreme rate cannot stall a host.
    pub fn new(first: Time, size: Size, rate: Rate) -> Pacer {
        let spacing_ns = if rate.is_zero() { 1e18 } else { size.as_bits() as f64 * 1e9 / rate.as_bps() };
        Pacer { next: first, spacing_ns: spacing_ns.clamp(1e3, 1e18), carry_ns: 0.0 }
    }

    /// When the next packet departs.
    pub fn next(&self) -> Time {
        self.next
    }

    /// The spacing between two packets, rounded to nanoseconds.
    pub fn spacing(&self) -> Duration {
        Duration::from_ns((self.spacing_ns + 0.5) as u64)
    }

    /// Advances the departure time by one spacing.
    pub fn advance(&mut self) {
        let exact = self.spacing_ns + self.carry_ns;
        let whole = exact as u64;
        self.carry_ns = exact - whole as f64;
        self.next += Duration::from_ns(whole);
    }

    /// Moves the next departure without changing the spacing.
    pub fn reschedule(&mut self, next: Time) {
        self.next = next;
        self.carry_ns = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_they_are_printed_and_as_tc_writes_them() {
        for (text, bps) in [
            ("128 kbit/s", 128e3),
            ("128kbit", 128e3),
            ("1gbit", 1e9),
            ("1.5 Mbit/s", 1.5e6),
            ("20Mbit", 2e7),
            ("9 bit", 9.0),
        ] {
            assert_eq!(text.parse(), Ok(Rate::from_bps(bps)), "{text}");
        }
        for text in ["1", "1 Mbps", "1 MBit", "1 kbit/", "-1 kbit"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }
}
