//! Amounts of data.

use core::fmt;
use core::str::FromStr;

use super::parse::{UnitError, split_number, trimmed};

/// An amount of data in bytes, such as the length of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataSize(u64);

impl DataSize {
    /// An amount of `bytes`.
    pub const fn from_bytes(bytes: u64) -> DataSize {
        DataSize(bytes)
    }

    /// Bytes.
    pub const fn as_bytes(self) -> u64 {
        self.0
    }
}

/// The units by name, powers of 1000.
const UNITS: [(&str, f64); 7] =
    [("bytes", 1.0), ("byte", 1.0), ("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];

impl fmt::Display for DataSize {
    /// In the largest unit that leaves at least 1; what is rounded reads as about as much.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        match UNITS.iter().rev().find(|(_, per_unit)| *per_unit > 1.0 && bytes >= *per_unit) {
            Some((unit, per_unit)) => write!(f, "{} {unit}", trimmed(bytes / per_unit)),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

impl FromStr for DataSize {
    type Err = UnitError;

    /// Parses a number and one of `bytes`, `B`, `kB`, `MB`, `GB`, `TB` (powers of 1000). Parts of a byte are
    /// an error.
    fn from_str(text: &str) -> Result<DataSize, UnitError> {
        /// Beyond this not every whole number has a floating-point form.
        const LIMIT: f64 = 9e15;
        let (number, unit) = split_number(text)?;
        let known = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, per_unit) = known.ok_or(UnitError::Unit { allowed: "bytes, B, kB, MB, GB or TB" })?;
        let bytes = number * per_unit;
        // 0.7 GB is not a whole number of bytes in floating point, but nearly.
        let nearest = (bytes + 0.5) as u64;
        if bytes >= LIMIT {
            return Err(UnitError::TooLarge { most: "9000 TB" });
        }
        if (bytes - nearest as f64).abs() > 1e-9 * bytes {
            return Err(UnitError::Fraction);
        }
        Ok(DataSize(nearest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_in_powers_of_a_thousand() {
        let read = |text: &str| text.parse::<DataSize>().map(DataSize::as_bytes);
        for (text, bytes) in [
            ("2 GB", 2_000_000_000),
            ("0.7 GB", 700_000_000),
            ("1.1 MB", 1_100_000),
            ("700MB", 700_000_000),
            ("3 bytes", 3),
            ("0 B", 0),
            ("9 TB", 9_000_000_000_000),
        ] {
            assert_eq!(read(text), Ok(bytes), "{text}");
        }
        assert_eq!(read("1.5 bytes"), Err(UnitError::Fraction), "half a byte");
        assert_eq!(read("-1 GB"), Err(UnitError::Range));
        assert_eq!(read("1e30 TB"), Err(UnitError::TooLarge { most: "9000 TB" }));
        assert!(matches!(read("2 GiB"), Err(UnitError::Unit { .. })));
    }

    #[test]
    fn amounts_print_what_they_parse() {
        for (bytes, text) in
            [(2_000_000_000, "2 GB"), (1_500_000, "1.5 MB"), (999, "999 bytes"), (0, "0 bytes")]
        {
            let amount = DataSize::from_bytes(bytes);
            assert_eq!(std::string::ToString::to_string(&amount), text);
            assert_eq!(text.parse(), Ok(amount));
        }
    }
}
