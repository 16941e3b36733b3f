//! Ranges among the values of a key: `5s..60s/12` has equal steps, `1..128*2` equal factors.

/// More values than this in one range are probably a mistake.
pub(super) const MOST_VALUES: usize = 1000;

/// The values of a range as they would be written one by one; none if the text is not a range. The error
/// says what is wrong with a range.
pub(super) fn expand(text: &str) -> Option<Result<Vec<String>, String>> {
    let (low, rest) = text.split_once("..")?;
    // A path may have two dots too: without a number before them it is not a range.
    let (low, unit) = quantity(low)?;
    Some(between(low, unit, rest))
}

fn between(low: f64, low_unit: &str, rest: &str) -> Result<Vec<String>, String> {
    if let Some((high, factor)) = rest.rsplit_once('*') {
        let (high, unit) = upper(high, low_unit)?;
        let factor: f64 =
            factor.trim().parse().map_err(|_| format!("`{}` is not a factor", factor.trim()))?;
        return geometric(low, high, factor).map(|values| written(&values, unit));
    }
    let steps = rest.rsplit_once('/').and_then(|(high, count)| Some((high, count.trim().parse().ok()?)));
    let (high, count): (&str, usize) =
        steps.ok_or("a range needs the number of its values, or a factor, at its end")?;
    let (high, unit) = upper(high, low_unit)?;
    linear(low, high, count).map(|values| written(&values, unit))
}

/// The upper end, and the unit of both.
fn upper<'t>(text: &'t str, low_unit: &str) -> Result<(f64, &'t str), String> {
    let (high, unit) = quantity(text).ok_or(format!("`{}` is not a number", text.trim()))?;
    if low_unit.is_empty() || low_unit == unit {
        return Ok((high, unit));
    }
    Err("both ends of a range need the same unit".to_owned())
}

/// Splits `5 Mbit/s` into its number and its unit.
pub(super) fn quantity(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let is_number = |(at, c): (usize, char)| {
        c.is_ascii_digit()
            || matches!(c, '.' | '_')
            || (matches!(c, '+' | '-') && (at == 0 || text[..at].ends_with(['e', 'E'])))
            || (matches!(c, 'e' | 'E')
                && text[at + 1..].starts_with(|next: char| next.is_ascii_digit() || next == '-'))
    };
    let end = text.char_indices().find(|&at| !is_number(at)).map_or(text.len(), |(at, _)| at);
    let digits: String = text[..end].chars().filter(|&c| c != '_').collect();
    let number: f64 = digits.parse().ok().filter(|number: &f64| number.is_finite())?;
    Some((number, text[end..].trim_start()))
}

fn linear(low: f64, high: f64, count: usize) -> Result<Vec<f64>, String> {
    if !(2..=MOST_VALUES).contains(&count) {
        return Err(format!("a range has 2 to {MOST_VALUES} values"));
    }
    if low >= high {
        return Err("a range must increase".to_owned());
    }
    Ok((0..count).map(|step| low + (high - low) * step as f64 / (count - 1) as f64).collect())
}

fn geometric(low: f64, high: f64, factor: f64) -> Result<Vec<f64>, String> {
    if low <= 0.0 || low >= high {
        return Err("a range of factors must start above zero and increase".to_owned());
    }
    if !(factor.is_finite() && factor > 1.0) {
        return Err("a factor is above 1".to_owned());
    }
    // Products stray from round numbers, so the upper end has some room.
    let top = high * (1.0 + 1e-9);
    let values: Vec<f64> = std::iter::successors(Some(low), |value| Some(value * factor))
        .take_while(|value| *value <= top)
        .take(MOST_VALUES + 1)
        .collect();
    if values.len() > MOST_VALUES {
        return Err(format!("a range has 2 to {MOST_VALUES} values"));
    }
    Ok(values)
}

fn written(values: &[f64], unit: &str) -> Vec<String> {
    let space = if unit.is_empty() { "" } else { " " };
    values.iter().map(|value| format!("{}{space}{unit}", rounded(*value))).collect()
}

/// Twelve digits are enough for any value, and hide what sums leave behind.
fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        expand(text).unwrap().unwrap()
    }

    #[test]
    fn equal_steps_include_both_ends() {
        assert_eq!(values("5s..60s/12")[..3], ["5 s", "10 s", "15 s"]);
        assert_eq!(values("5s..60s/12").len(), 12);
        assert_eq!(values("0..0.3/4"), ["0", "0.1", "0.2", "0.3"]);
        assert_eq!(values("1 Mbit/s..3 Mbit/s/2"), ["1 Mbit/s", "3 Mbit/s"]);
        assert_eq!(values("10 .. 50 packets / 3"), ["10 packets", "30 packets", "50 packets"]);
    }

    #[test]
    fn equal_factors_stay_below_the_upper_end() {
        assert_eq!(values("1..128*2"), ["1", "2", "4", "8", "16", "32", "64", "128"]);
        assert_eq!(values("1..100*2").len(), 7);
        assert_eq!(values("0.001..0.1*10"), ["0.001", "0.01", "0.1"]);
        assert_eq!(values("64kbit/s..256kbit/s*2"), ["64 kbit/s", "128 kbit/s", "256 kbit/s"]);
    }

    #[test]
    fn what_is_not_a_range_is_left_alone() {
        for text in ["5s", "naive", "../trace.csv", "[1, 2]", "1.5", ""] {
            assert_eq!(expand(text), None, "{text}");
        }
    }

    #[test]
    fn a_wrong_range_says_why() {
        for (text, reason) in [
            ("1..10", "a range needs the number of its values, or a factor, at its end"),
            ("1 s..10 Mbit/s", "a range needs the number of its values, or a factor, at its end"),
            ("1 ms..10 s/4", "both ends of a range need the same unit"),
            ("1..x/4", "`x` is not a number"),
            ("10..1/4", "a range must increase"),
            ("1..10/1", "a range has 2 to 1000 values"),
            ("0..10*2", "a range of factors must start above zero and increase"),
            ("1..10*1", "a factor is above 1"),
            ("1..10*x", "`x` is not a factor"),
            ("1..10*1.0001", "a range has 2 to 1000 values"),
        ] {
            assert_eq!(expand(text), Some(Err(reason.to_owned())), "{text}");
        }
    }
}
