//! Points in time and durations in integer nanoseconds.

use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub};
use core::str::FromStr;

use super::parse::{UnitError, split_number, trimmed};

const NS_PER_S: f64 = 1e9;

/// A point in time: nanoseconds since the start of the run or of the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of time in nanoseconds, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

/// A difference of two times in nanoseconds, of either sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignedDuration(i64);

impl Time {
    /// The start of the run or session.
    pub const ZERO: Time = Time(0);
    /// The last representable instant, after about 584 years.
    pub const MAX: Time = Time(u64::MAX);

    /// The time `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns)
    }

    /// The time `seconds` after the start; negative and non-finite values give the start.
    pub fn from_secs_f64(seconds: f64) -> Time {
        Time(Duration::from_secs_f64(seconds).0)
    }

    /// Nanoseconds since the start.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S
    }

    /// Microseconds since the start modulo 2^32, the form of time stamps on the wire.
    pub const fn as_wire_us(self) -> u32 {
        (self.0 / 1000) as u32
    }

    /// Time passed since `earlier`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The signed difference `self - other`, saturating.
    pub fn signed_since(self, other: Time) -> SignedDuration {
        let difference = i128::from(self.0) - i128::from(other.0);
        SignedDuration(difference.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }
}

impl Duration {
    /// Zero.
    pub const ZERO: Duration = Duration(0);
    /// The longest duration.
    pub const MAX: Duration = Duration(u64::MAX);

    /// A duration of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Duration {
        Duration(ns)
    }

    /// A duration of `us` microseconds.
    pub const fn from_us(us: u64) -> Duration {
        Duration(us.saturating_mul(1_000))
    }

    /// A duration of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Duration {
        Duration(ms.saturating_mul(1_000_000))
    }

    /// A duration of `s` whole seconds.
    pub const fn from_secs(s: u64) -> Duration {
        Duration(s.saturating_mul(1_000_000_000))
    }

    /// A duration of `seconds`, rounded to the nearest nanosecond; negative and not-a-number give zero.
    pub fn from_secs_f64(seconds: f64) -> Duration {
        // A float-to-integer cast saturates and maps not-a-number to zero.
        Duration((seconds * NS_PER_S + 0.5) as u64)
    }

    /// Nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Whole microseconds, rounded down.
    pub const fn as_us(self) -> u64 {
        self.0 / 1_000
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S
    }

    /// This duration times a non-negative factor, rounded to the nearest nanosecond.
    pub fn scaled(self, factor: f64) -> Duration {
        Duration((self.0 as f64 * factor + 0.5) as u64)
    }

    /// `self - other`, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// Whether the duration is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl SignedDuration {
    /// A difference of `ns` nanoseconds.
    pub const fn from_ns(ns: i64) -> SignedDuration {
        SignedDuration(ns)
    }

    /// Nanoseconds.
    pub const fn as_ns(self) -> i64 {
        self.0
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, duration: Duration) -> Time {
        Time(self.0.saturating_add(duration.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    /// The time earlier by `duration`, at the earliest the start.
    fn sub(self, duration: Duration) -> Time {
        Time(self.0.saturating_sub(duration.0))
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, count: u64) -> Duration {
        Duration(self.0.saturating_mul(count))
    }
}

/// The standard library's, at most [`Duration::MAX`].
impl From<core::time::Duration> for Duration {
    fn from(std: core::time::Duration) -> Duration {
        Duration(u64::try_from(std.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Duration> for core::time::Duration {
    fn from(duration: Duration) -> core::time::Duration {
        core::time::Duration::from_nanos(duration.as_ns())
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        match self.0 {
            0 => write!(f, "0 s"),
            1..1_000 => write!(f, "{} ns", trimmed(ns)),
            1_000..1_000_000 => write!(f, "{} us", trimmed(ns / 1e3)),
            1_000_000..1_000_000_000 => write!(f, "{} ms", trimmed(ns / 1e6)),
            _ => write!(f, "{} s", trimmed(ns / 1e9)),
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

impl FromStr for Duration {
    type Err = UnitError;

    /// Parses a number and one of `ns`, `us`, `ms`, `s`, `min`, `h`.
    fn from_str(text: &str) -> Result<Duration, UnitError> {
        let (number, unit) = split_number(text)?;
        let seconds_per_unit = match unit {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(UnitError::Unit { allowed: "ns, us, ms, s, min or h" }),
        };
        let seconds = number * seconds_per_unit;
        if seconds * NS_PER_S >= u64::MAX as f64 {
            return Err(UnitError::TooLarge { most: "18446744073 s" });
        }
        Ok(Duration::from_secs_f64(seconds))
    }
}
