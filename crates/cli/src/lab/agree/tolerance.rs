//! How far two values may be apart.

/// A share, from per cent (`15 %`) or as a fraction (`0.15`).
///
/// # Errors
/// What is wrong, and what would be right.
pub(crate) fn tolerance(text: &str) -> Result<f64, String> {
    let (number, divisor) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().ok().map(|number| number / divisor);
    share.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
        "a tolerance is a part of the simulated value such as '15 %' or 0.15, from 0 to 1".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::tolerance;

    #[test]
    fn tolerances_are_shares() {
        assert_eq!(tolerance("15 %"), Ok(0.15));
        assert_eq!(tolerance("20%"), Ok(0.2));
        assert_eq!(tolerance("0.1"), Ok(0.1));
        for wrong in ["15", "-1 %", "much", "101 %", "NaN"] {
            assert!(tolerance(wrong).unwrap_err().contains("'15 %' or 0.15"), "{wrong}");
        }
    }
}
