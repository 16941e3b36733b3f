//! One number per replication.

use layercast_laboratory::results::Statistic;

/// One number per replication; none where it is undefined. Studies are run under equal luck, so samples
/// of two quantities belong together in pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Samples(pub(crate) Vec<Option<f64>>);

/// Samples at a place in a grid.
pub(crate) type Placed = (String, Samples);

impl Samples {
    /// Values that are the same in all replications, or not from an experiment.
    pub(crate) fn exactly(value: f64) -> Samples {
        Samples(vec![Some(value)])
    }

    /// Samples that are all defined.
    #[cfg(test)]
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Samples {
        Samples(values.into_iter().map(Some).collect())
    }

    /// Each by the other's of the same replication; undefined where that is zero.
    pub(crate) fn over(&self, other: &Samples) -> Samples {
        let pairs = self.0.iter().zip(&other.0);
        Samples(
            pairs
                .map(|(one, other)| match (one, other) {
                    (Some(one), Some(other)) if *other != 0.0 => Some(one / other),
                    _ => None,
                })
                .collect(),
        )
    }

    /// The mean over several of each replication; undefined where one of them is.
    pub(crate) fn average(all: &[Samples]) -> Samples {
        let replications = all.iter().map(|samples| samples.0.len()).min().unwrap_or(0);
        let mean = |index: usize| {
            let values = all.iter().map(|samples| samples.0.get(index).copied().flatten());
            values.sum::<Option<f64>>().map(|sum| sum / all.len() as f64)
        };
        Samples((0..replications).map(mean).collect())
    }

    /// Those of all in turn, the first of each first.
    pub(crate) fn in_turn(all: &[Samples]) -> Samples {
        let longest = all.iter().map(|samples| samples.0.len()).max().unwrap_or(0);
        let round = |index: usize| all.iter().filter_map(move |samples| samples.0.get(index).copied());
        Samples((0..longest).flat_map(round).collect())
    }

    /// Each times a number.
    pub(crate) fn times(&self, factor: f64) -> Samples {
        self.each(|value| value * factor)
    }

    /// Each less the other's of the same replication.
    pub(crate) fn less(&self, other: &Samples) -> Samples {
        let pairs = self.0.iter().zip(&other.0);
        Samples(pairs.map(|(one, other)| one.zip(*other).map(|(one, other)| one - other)).collect())
    }

    /// What a function makes of each.
    pub(crate) fn each(&self, change: impl Fn(f64) -> f64) -> Samples {
        Samples(self.0.iter().map(|sample| sample.map(&change)).collect())
    }

    /// The mean and its 95 % interval.
    pub(crate) fn statistic(&self) -> Statistic {
        Statistic::new(self.0.iter().copied())
    }

    /// The mean; NaN of nothing.
    pub(crate) fn mean(&self) -> f64 {
        self.statistic().mean.unwrap_or(f64::NAN)
    }
}

/// How many decimals leave about three digits.
fn decimals(value: f64) -> usize {
    match value.abs() {
        size if size >= 99.5 || size == 0.0 => 0,
        size if size >= 9.95 => 1,
        size if size >= 0.995 => 2,
        size if size >= 0.0995 => 3,
        _ => 4,
    }
}

/// A number with about three digits.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.*}", decimals(value));
    // What rounds to nothing is nothing.
    if text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'-')) { "0".to_owned() } else { text }
}

/// The mean ± half of its interval.
pub(crate) fn format_samples(samples: &Samples) -> String {
    let statistic = samples.statistic();
    match (statistic.mean, statistic.ci95) {
        (Some(mean), Some(half)) => format!("{} ± {half:.*}", number(mean), decimals(mean)),
        (Some(mean), None) => number(mean),
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_stay_together() {
        let one = Samples(vec![Some(2.0), None, Some(9.0), Some(1.0)]);
        let other = Samples(vec![Some(4.0), Some(1.0), Some(3.0), Some(0.0)]);
        assert_eq!(one.over(&other).0, [Some(0.5), None, Some(3.0), None]);
        assert_eq!(one.less(&other).0, [Some(-2.0), None, Some(6.0), Some(1.0)]);
        assert_eq!(Samples::average(&[one, other]).0, [Some(3.0), None, Some(6.0), Some(0.5)]);
        assert_eq!(Samples::average(&[]), Samples::default());
        let [long, short] = [Samples::of([1.0, 2.0, 3.0]), Samples(vec![None])];
        assert_eq!(Samples::in_turn(&[long, short]).0, [Some(1.0), None, Some(2.0), Some(3.0)]);
    }

    #[test]
    fn numbers_have_about_three_digits() {
        assert_eq!(
            [0.01234, 0.1234, 1.234, 12.34, 1234.0].map(number),
            ["0.0123", "0.123", "1.23", "12.3", "1234"]
        );
        assert_eq!([0.0, -1e-9].map(number), ["0", "0"]);
        assert_eq!(format_samples(&Samples::exactly(2.0)), "2.00");
        assert_eq!(format_samples(&Samples::of([2.0, 2.0])), "2.00 ± 0.00");
        assert_eq!(format_samples(&Samples(vec![None])), "–");
    }
}
