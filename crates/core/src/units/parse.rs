//! Shared by the text forms of the units: a number, white space, a unit.

use alloc::format;
use alloc::string::String;
use core::fmt;

/// Why a text is not a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitError {
    /// There is no number at the start.
    Number,
    /// The number is negative, not finite, or too large.
    Range,
    /// The quantity is larger than the type holds.
    TooLarge {
        /// The largest, in words.
        most: &'static str,
    },
    /// It is a part of what can only be whole.
    Fraction,
    /// The unit is missing or unknown.
    Unit {
        /// The units that are understood, in words.
        allowed: &'static str,
    },
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnitError::Number => write!(f, "it does not start with a number"),
            UnitError::Range => write!(f, "the number must be finite and not negative"),
            UnitError::TooLarge { most } => write!(f, "the most is {most}"),
            UnitError::Fraction => write!(f, "there are only whole bytes"),
            UnitError::Unit { allowed } => write!(f, "the unit must be {allowed}"),
        }
    }
}

impl core::error::Error for UnitError {}

/// Splits `"1.5 Mbit/s"` into `(1.5, "Mbit/s")`. White space between the two is optional.
pub(super) fn split_number(text: &str) -> Result<(f64, &str), UnitError> {
    let text = text.trim();
    let is_number = |(i, c): (usize, char)| {
        c.is_ascii_digit()
            || matches!(c, '.' | '_')
            || (matches!(c, '+' | '-') && (i == 0 || text[..i].ends_with(['e', 'E'])))
            || (matches!(c, 'e' | 'E')
                && text[i + 1..].starts_with(|d: char| d.is_ascii_digit() || matches!(d, '+' | '-')))
    };
    let end = text.char_indices().find(|&at| !is_number(at)).map_or(text.len(), |(i, _)| i);
    let digits: String = text[..end].chars().filter(|&c| c != '_').collect();
    let number: f64 = digits.parse().map_err(|_| UnitError::Number)?;
    if !(number.is_finite() && number >= 0.0) {
        return Err(UnitError::Range);
    }
    Ok((number, text[end..].trim_start()))
}

/// The shortest decimal text of `value` with at most six significant decimals.
pub(super) fn trimmed(value: f64) -> String {
    let text = format!("{value:.6}");
    String::from(text.trim_end_matches('0').trim_end_matches('.'))
}
