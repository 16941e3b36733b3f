//! Sizes of packets.

use core::fmt;
use core::str::FromStr;

use crate::math;

use super::parse::{UnitError, split_number};

/// The size of one packet in bytes, headers included, as the network counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(u32);

impl Size {
    /// A size of `bytes`.
    pub const fn from_bytes(bytes: u32) -> Size {
        Size(bytes)
    }

    /// Bytes.
    pub const fn as_bytes(self) -> u32 {
        self.0
    }

    /// Bits.
    pub const fn as_bits(self) -> u64 {
        self.0 as u64 * 8
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}

impl FromStr for Size {
    type Err = UnitError;

    /// Parses a number and one of `bytes`, `B`, `kB`, `MB` (powers of 1000). Whole bytes only.
    fn from_str(text: &str) -> Result<Size, UnitError> {
        let (number, unit) = split_number(text)?;
        let bytes_per_unit = match unit {
            "bytes" | "byte" | "B" => 1.0,
            "kB" => 1e3,
            "MB" => 1e6,
            _ => return Err(UnitError::Unit { allowed: "bytes, B, kB or MB" }),
        };
        let bytes = number * bytes_per_unit;
        if bytes > f64::from(u32::MAX) {
            return Err(UnitError::TooLarge { most: "4294967295 bytes" });
        }
        // 1.1 kB is 1100.0000000000002 bytes.
        let whole = math::floor(bytes + 0.5);
        if math::abs(bytes - whole) > 1e-9 * bytes {
            return Err(UnitError::Fraction);
        }
        Ok(Size(whole as u32))
    }
}
