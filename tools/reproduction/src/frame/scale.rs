//! How values lie along an axis.

/// How values lie along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// By steps.
    Linear,
    /// By factors.
    Logarithmic,
}

impl Scale {
    /// The position of a value on the scale.
    pub(crate) fn position(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Logarithmic => libm::log10(value.max(f64::MIN_POSITIVE)),
        }
    }

    /// Round values between two ends.
    pub(crate) fn ticks(self, low: f64, high: f64) -> Vec<f64> {
        match self {
            Scale::Linear => linear_ticks(low, high),
            Scale::Logarithmic => logarithmic_ticks(low, high),
        }
    }
}

/// About five values in steps of 1, 2 or 5 of some power of ten.
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return vec![low];
    }
    let power = libm::pow(10.0, libm::floor(libm::log10(span / 5.0)));
    let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|step| span / step <= 6.0);
    let step = step.unwrap_or(span);
    let (first, last) = (libm::ceil(low / step - 1e-9), libm::floor(high / step + 1e-9));
    (0..=(last - first).max(0.0) as u32).map(|index| (first + f64::from(index)) * step).collect()
}

/// Powers of ten, and what lies between them if these are few.
fn logarithmic_ticks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (libm::floor(libm::log10(low)) as i32, libm::ceil(libm::log10(high)) as i32);
    let within = |steps: &[f64]| -> Vec<f64> {
        let all = (first..=last)
            .flat_map(|power| steps.iter().map(move |step| step * libm::pow(10.0, f64::from(power))));
        all.filter(|value| *value >= low * 0.999 && *value <= high * 1.001).collect()
    };
    let choices = [within(&[1.0]), within(&[1.0, 3.0]), within(&[1.0, 2.0, 5.0])];
    let enough = choices.iter().position(|ticks| ticks.len() >= 4).unwrap_or(2);
    choices[enough].clone()
}

/// A tick's number without needless zeros.
pub(crate) fn tick_label(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Scale::Linear.ticks(0.0, 10.3), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(Scale::Linear.ticks(0.0, 300.0), [0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0]);
        let of = |low, high| -> Vec<String> {
            Scale::Logarithmic.ticks(low, high).into_iter().map(tick_label).collect()
        };
        assert_eq!(of(0.5, 20_000.0), ["1", "10", "100", "1000", "10000"]);
        assert_eq!(of(90.0, 4000.0), ["100", "300", "1000", "3000"]);
        assert_eq!(of(90.0, 600.0), ["100", "200", "500"]);
    }
}
