//! The rules by which a value in a cell is judged.

use serde::{Deserialize, Serialize};

use crate::compare::{FEWEST, Shown, difference, shown};
use crate::results::Statistic;
use crate::scenario::suite::Direction;

/// What came of a protocol in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The best, or not shown to be worse than it.
    Best,
    /// Worse than the best, and at least half as good.
    Behind,
    /// Less than half as good as the best.
    BelowHalf,
    /// Within the band.
    InBand,
    /// Outside of the band.
    OutOfBand,
    /// One side starves the other.
    Starves,
    /// It did not take part.
    NotRun,
}

impl Verdict {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Best => "best, or within the interval of the best",
            Verdict::Behind => "worse than the best, by less than half",
            Verdict::BelowHalf => "below half of the best",
            Verdict::InBand => "in band",
            Verdict::OutOfBand => "out of band",
            Verdict::Starves => "starves, or starves others",
            Verdict::NotRun => "did not take part",
        }
    }
}

/// A protocol against the best: the verdict, and how good it is as a share of the best, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// The verdict.
    pub verdict: Verdict,
    /// Its goodness over that of the best.
    pub of_best: f64,
}

/// How good a value is, such that more is better; of `lower` the cost, such that less is better.
fn goodness(value: f64, direction: Direction, negligible: f64) -> f64 {
    match direction {
        Direction::Higher | Direction::Lower => value.max(negligible),
        Direction::Nearer(to) if value > to => to / value,
        Direction::Nearer(to) => (value / to).max(0.0),
    }
}

/// Judges values against the best of them. A protocol that has no value in a replication is worse than any other.
///
/// A protocol is as good as the best where no difference is shown: the 95 % interval of their paired difference holds
/// zero. With too few replications for that, where its mean lies within the values of the best.
#[must_use]
pub fn rank(values: &[Option<&Statistic>], direction: Direction, negligible: f64) -> Vec<Ranked> {
    let is_cost = direction == Direction::Lower;
    let judged = |statistic: &Statistic| {
        let is_complete = statistic.defined() > 0 && statistic.defined() == statistic.samples.len();
        let samples = statistic.samples.iter().map(|value| Some(goodness((*value)?, direction, negligible)));
        is_complete.then(|| Statistic::new(samples))
    };
    let judged: Vec<Option<Statistic>> = values.iter().map(|value| value.and_then(judged)).collect();
    let better = |one: f64, other: f64| if is_cost { one < other } else { one > other };
    let mut best: Option<&Statistic> = None;
    for candidate in judged.iter().flatten() {
        let (Some(mean), known) = (candidate.mean, best.and_then(|best| best.mean)) else { continue };
        if known.is_none_or(|known| better(mean, known)) {
            best = Some(candidate);
        }
    }
    let last = Ranked { verdict: Verdict::BelowHalf, of_best: 0.0 };
    let ranked = |own: &Option<Statistic>| {
        let (Some(own), Some(best)) = (own, best) else { return last };
        let of_best = share(own, best, is_cost);
        let verdict = match (is_as_good(own, best, is_cost), of_best >= 0.5) {
            (true, _) => Verdict::Best,
            (false, true) => Verdict::Behind,
            (false, false) => Verdict::BelowHalf,
        };
        Ranked { verdict, of_best }
    };
    judged.iter().map(ranked).collect()
}

/// How good one is, as a share of the best.
fn share(own: &Statistic, best: &Statistic, is_cost: bool) -> f64 {
    let (Some(own), Some(best)) = (own.mean, best.mean) else { return 0.0 };
    let (less, more) = if is_cost { (best, own) } else { (own, best) };
    if less >= more { 1.0 } else { (less / more).max(0.0) }
}

fn is_as_good(own: &Statistic, best: &Statistic, is_cost: bool) -> bool {
    let lead = match is_cost {
        true => difference(&own.samples, &best.samples),
        false => difference(&best.samples, &own.samples),
    };
    if lead.defined() >= FEWEST {
        return shown(&lead) != Shown::More;
    }
    let (Some(mean), Some((least, greatest))) = (own.mean, best.extremes()) else { return false };
    if is_cost { mean <= greatest } else { mean >= least }
}

/// Judges a value by its band. `extremes` are the least and the greatest value of single receivers, where there are
/// such.
#[must_use]
pub fn place(
    value: &Statistic,
    extremes: Option<(f64, f64)>,
    band: [f64; 2],
    starve: Option<[f64; 2]>,
) -> Verdict {
    let Some(mean) = value.mean.filter(|_| value.defined() == value.samples.len()) else {
        return Verdict::OutOfBand;
    };
    let (least, greatest) = extremes.unwrap_or((mean, mean));
    if starve.is_some_and(|[low, high]| least < low || greatest > high) {
        Verdict::Starves
    } else if (band[0]..=band[1]).contains(&mean) {
        Verdict::InBand
    } else {
        Verdict::OutOfBand
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(samples: &[f64]) -> Statistic {
        Statistic::new(samples.iter().copied().map(Some))
    }

    fn verdicts(values: &[&Statistic], direction: Direction) -> Vec<Verdict> {
        let values: Vec<Option<&Statistic>> = values.iter().map(|value| Some(*value)).collect();
        rank(&values, direction, 0.0).iter().map(|ranked| ranked.verdict).collect()
    }

    #[test]
    fn what_is_not_shown_to_be_worse_is_as_good_as_the_best() {
        let best = of(&[10.0, 12.0, 14.0]);
        // Differences 0, 1, -0.5: the interval holds zero. Differences 1, 1.1, 0.9: it does not.
        let (same, behind) = (of(&[10.0, 11.0, 14.5]), of(&[9.0, 10.9, 13.1]));
        let half = of(&[4.0, 5.0, 6.0]);
        assert_eq!(
            verdicts(&[&behind, &best, &same, &half], Direction::Higher),
            [Verdict::Behind, Verdict::Best, Verdict::Best, Verdict::BelowHalf]
        );
    }

    #[test]
    fn two_replications_of_the_best_span_its_range() {
        let (best, within, behind) = (of(&[10.0, 20.0]), of(&[10.0, 10.5]), of(&[9.0, 9.5]));
        assert_eq!(
            verdicts(&[&best, &within, &behind], Direction::Higher),
            [Verdict::Best, Verdict::Best, Verdict::Behind]
        );
    }

    #[test]
    fn twice_as_much_is_as_far_from_a_target_as_half() {
        let (exact, twice, half, quarter) = (of(&[1.0; 3]), of(&[2.0; 3]), of(&[0.5; 3]), of(&[0.25; 3]));
        let values = [Some(&exact), Some(&twice), Some(&half), Some(&quarter), None];
        let ranked = rank(&values, Direction::Nearer(1.0), 0.0);
        let of_best: Vec<f64> = ranked.iter().map(|ranked| ranked.of_best).collect();
        assert_eq!(of_best, [1.0, 0.5, 0.5, 0.25, 0.0]);
        assert_eq!(ranked[1].verdict, Verdict::Behind);
        assert_eq!(ranked[4].verdict, Verdict::BelowHalf);
    }

    #[test]
    fn negligible_costs_are_the_same() {
        let (none, little, much) = (of(&[0.0; 3]), of(&[0.001; 3]), of(&[0.02; 3]));
        let values = [Some(&none), Some(&little), Some(&much)];
        let strict: Vec<Verdict> =
            rank(&values, Direction::Lower, 0.0).iter().map(|ranked| ranked.verdict).collect();
        assert_eq!(strict, [Verdict::Best, Verdict::BelowHalf, Verdict::BelowHalf]);
        let ranked = rank(&values, Direction::Lower, 0.01);
        let verdicts: Vec<Verdict> = ranked.iter().map(|ranked| ranked.verdict).collect();
        assert_eq!(verdicts, [Verdict::Best, Verdict::Best, Verdict::Behind]);
        assert_eq!(ranked[2].of_best, 0.5);
    }

    #[test]
    fn a_value_that_is_missing_once_is_not_good() {
        let value = Statistic::new([Some(1.0), None]);
        assert_eq!(place(&value, None, [0.5, 2.0], None), Verdict::OutOfBand);
        assert_eq!(rank(&[Some(&value)], Direction::Higher, 0.0)[0].verdict, Verdict::BelowHalf);
    }

    #[test]
    fn one_receiver_may_starve_though_the_mean_is_in_band() {
        let (band, starve) = ([0.7, 1.4], Some([0.3, 3.0]));
        assert_eq!(place(&of(&[1.0, 1.0]), Some((0.5, 1.5)), band, starve), Verdict::InBand);
        assert_eq!(place(&of(&[1.0, 1.0]), Some((0.1, 1.5)), band, starve), Verdict::Starves);
        assert_eq!(place(&of(&[1.0, 1.0]), Some((0.5, 3.5)), band, starve), Verdict::Starves);
        assert_eq!(place(&of(&[1.5, 1.5]), None, band, starve), Verdict::OutOfBand);
        assert_eq!(place(&of(&[5.0, 5.0]), None, band, None), Verdict::OutOfBand);
    }

    fn values() -> impl Strategy<Value = Vec<Vec<f64>>> {
        (1_usize..6, 2_usize..6).prop_flat_map(|(protocols, replications)| {
            proptest::collection::vec(proptest::collection::vec(0.001_f64..100.0, replications), protocols)
        })
    }

    fn directions() -> impl Strategy<Value = Direction> {
        prop_oneof![
            Just(Direction::Higher),
            Just(Direction::Lower),
            (0.1_f64..10.0).prop_map(Direction::Nearer)
        ]
    }

    proptest! {
        #[test]
        fn someone_is_best_and_verdicts_follow_the_order(values in values(), direction in directions()) {
            let statistics: Vec<Statistic> = values.iter().map(|samples| of(samples)).collect();
            let given: Vec<Option<&Statistic>> = statistics.iter().map(Some).collect();
            let ranked = rank(&given, direction, 0.0);
            prop_assert!(ranked.iter().any(|one| one.verdict == Verdict::Best && one.of_best == 1.0));
            for one in &ranked {
                prop_assert!((0.0..=1.0).contains(&one.of_best));
                match one.verdict {
                    Verdict::Best => {}
                    Verdict::Behind => prop_assert!(one.of_best >= 0.5),
                    Verdict::BelowHalf => prop_assert!(one.of_best < 0.5),
                    other => prop_assert!(false, "{other:?}"),
                }
            }
        }

        #[test]
        fn the_order_of_protocols_does_not_matter(values in values(), direction in directions()) {
            let statistics: Vec<Statistic> = values.iter().map(|samples| of(samples)).collect();
            let forward: Vec<Option<&Statistic>> = statistics.iter().map(Some).collect();
            let backward: Vec<Option<&Statistic>> = statistics.iter().rev().map(Some).collect();
            let mut turned = rank(&backward, direction, 0.0);
            turned.reverse();
            prop_assert_eq!(rank(&forward, direction, 0.0), turned);
        }

        #[test]
        fn a_wider_band_takes_in_no_less(mean in 0.0_f64..10.0, low in 0.1_f64..1.0, high in 1.1_f64..5.0, more in 0.0_f64..2.0) {
            let value = of(&[mean, mean]);
            let narrow = place(&value, None, [low, high], None);
            let wide = place(&value, None, [low - more, high + more], None);
            prop_assert!(narrow != Verdict::InBand || wide == Verdict::InBand);
        }
    }
}
