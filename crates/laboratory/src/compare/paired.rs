//! Paired differences. Replications of one number have the same seed in every column, so the same network and
//! traffic: what differs between them is the protocol. The differences vary less than the numbers do.

use crate::results::Statistic;
use crate::results::statistics::mean;

/// Fewer replications than these show nothing: the 95 % interval of two spans 25 standard errors.
pub const FEWEST: usize = 3;

/// One sample for each replication.
pub(crate) type Samples = [Option<f64>];

/// What is left of a difference once its interval is taken into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The whole interval is above zero.
    More,
    /// The whole interval is below zero.
    Less,
    /// The interval holds zero.
    Nothing,
    /// There are too few replications for an interval.
    TooFew,
}

/// What a paired difference shows.
#[must_use]
pub fn shown(difference: &Statistic) -> Shown {
    let (Some(mean), Some(half)) = (difference.mean, difference.ci95) else { return Shown::TooFew };
    if difference.defined() < FEWEST {
        Shown::TooFew
    } else if mean - half > 0.0 {
        Shown::More
    } else if mean + half < 0.0 {
        Shown::Less
    } else {
        Shown::Nothing
    }
}

/// By how much one is above the other in each replication.
pub(crate) fn difference(one: &Samples, other: &Samples) -> Statistic {
    Statistic::new(one.iter().zip(other).map(|(one, other)| Some((*one)? - (*other)?)))
}

/// By how much one is above the other in each replication, in per cent of the other. Each is given at several
/// places (receivers, nodes) that count the same, and the change is the mean of theirs, over those where it is
/// defined: where the other is not zero.
pub(super) fn percent_over_places(places: &[(&Samples, &Samples)], replications: usize) -> Statistic {
    Statistic::new((0..replications).map(|number| {
        let changes: Vec<f64> = places
            .iter()
            .filter_map(|(one, other)| {
                let (one, other) = (one.get(number).copied()??, other.get(number).copied()??);
                (other > 0.0).then(|| (one - other) / other * 100.0)
            })
            .collect();
        mean(&changes)
    }))
}

/// By how much one share is above the other in each replication, in percentage points: the mean over places.
pub(super) fn points_over_places(places: &[(&Samples, &Samples)], replications: usize) -> Statistic {
    Statistic::new((0..replications).map(|number| {
        let change = |(one, other): &(&Samples, &Samples)| {
            let (one, other) = (one.get(number).copied()??, other.get(number).copied()??);
            Some((one - other) * 100.0)
        };
        mean(&places.iter().filter_map(change).collect::<Vec<f64>>())
    }))
}

/// The same at one place.
pub(super) fn percent(one: &Samples, other: &Samples) -> Statistic {
    percent_over_places(&[(one, other)], one.len().min(other.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    fn close(value: Option<f64>, expected: f64) {
        let value = value.unwrap_or(f64::NAN);
        assert!((value - expected).abs() < 1e-3, "{value} is not {expected}");
    }

    #[test]
    fn a_difference_is_paired() {
        // Differences 1, 2, 3: mean 2, standard deviation 1, half width 4.3027 / sqrt(3).
        let paired = difference(&samples(&[101.0, 52.0, 13.0]), &samples(&[100.0, 50.0, 10.0]));
        close(paired.mean, 2.0);
        close(paired.ci95, 2.4841);
        assert_eq!(shown(&paired), Shown::Nothing);
        // 9, 10, 11: the interval 7.516 to 12.484 is above zero, though the numbers themselves overlap.
        let paired = difference(&samples(&[109.0, 60.0, 21.0]), &samples(&[100.0, 50.0, 10.0]));
        assert_eq!(shown(&paired), Shown::More);
        let paired = difference(&samples(&[100.0, 50.0, 10.0]), &samples(&[109.0, 60.0, 21.0]));
        assert_eq!(shown(&paired), Shown::Less);
    }

    #[test]
    fn a_change_in_per_cent_counts_each_place_the_same() {
        // -50 % and +10 % in the first replication, -25 % and +5 % in the second: means -20 % and -10 %.
        let (slow, slow_base) = (samples(&[1.0, 3.0]), samples(&[2.0, 4.0]));
        let (fast, fast_base) = (samples(&[110.0, 105.0]), samples(&[100.0, 100.0]));
        let change = percent_over_places(&[(&slow, &slow_base), (&fast, &fast_base)], 2);
        assert_eq!(change.samples, samples(&[-20.0, -10.0]));
        close(change.mean, -15.0);
    }

    #[test]
    fn a_share_may_rise_from_zero() {
        // +2 and +4 points in the first replication, none and +1 in the second.
        let (one, zero) = (samples(&[0.02, 0.0]), samples(&[0.0, 0.0]));
        let (other, base) = (samples(&[0.05, 0.02]), samples(&[0.01, 0.01]));
        let change = points_over_places(&[(&one, &zero), (&other, &base)], 2);
        close(change.samples[0], 3.0);
        close(change.samples[1], 0.5);
    }

    #[test]
    fn what_has_no_base_counts_for_nothing() {
        let change =
            percent(&[Some(1.0), Some(2.0), None, Some(3.0)], &[Some(0.0), None, Some(1.0), Some(2.0)]);
        assert_eq!(change.samples, [None, None, None, Some(50.0)]);
    }

    #[test]
    fn two_replications_show_nothing() {
        assert_eq!(shown(&Statistic::new([Some(5.0), Some(5.0)])), Shown::TooFew);
        assert_eq!(shown(&Statistic::new([Some(5.0), Some(5.0), None])), Shown::TooFew);
        assert_eq!(shown(&Statistic::new([Some(5.0), Some(5.0), Some(5.0)])), Shown::More);
        assert_eq!(shown(&Statistic::new([])), Shown::TooFew);
    }
}
