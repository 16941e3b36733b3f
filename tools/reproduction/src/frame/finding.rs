//! What was measured of a claim, and whether it holds.

use super::samples::{Samples, format_samples, number};

/// What is said of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// It does not hold.
    Fails,
    /// The measurement does not decide it.
    Open,
    /// It holds.
    Holds,
}

impl Verdict {
    /// All of them, in the order of tables.
    pub(crate) const ALL: [Verdict; 3] = [Verdict::Holds, Verdict::Fails, Verdict::Open];

    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "does not hold",
            Verdict::Open => "cannot be decided",
        }
    }
}

/// What a measured number is asked to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// Above this.
    Above(f64),
    /// Below this.
    Below(f64),
    /// Between these.
    Within(f64, f64),
}

impl Bound {
    /// What an interval of confidence says: all of it must lie where it is asked to, or nothing of it.
    fn verdict(self, samples: &Samples) -> Verdict {
        let statistic = samples.statistic();
        let Some(mean) = statistic.mean else { return Verdict::Open };
        let half = statistic.ci95.unwrap_or(0.0);
        let (low, high) = (mean - half, mean + half);
        let (least, most) = match self {
            Bound::Above(bound) => (bound, f64::INFINITY),
            Bound::Below(bound) => (f64::NEG_INFINITY, bound),
            Bound::Within(least, most) => (least, most),
        };
        if low > least && high < most {
            Verdict::Holds
        } else if high <= least || low >= most {
            Verdict::Fails
        } else {
            Verdict::Open
        }
    }

    fn words(self) -> String {
        match self {
            Bound::Above(bound) => format!("above {}", number(bound)),
            Bound::Below(bound) => format!("below {}", number(bound)),
            Bound::Within(least, most) => format!("{} to {}", number(least), number(most)),
        }
    }
}

/// A number at a position in a grid.
pub(crate) type Placed = (String, Samples);

/// The verdict on a claim, and the numbers that led to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// A sentence of numbers.
    pub(crate) numbers: String,
}

impl Finding {
    /// What nothing can be measured of, and why.
    pub(crate) fn open(why: &str) -> Finding {
        Finding { verdict: Verdict::Open, numbers: why.to_owned() }
    }

    /// A number with a bound, at each of some positions. It holds if the bound holds at all of them; it
    /// does not if it fails at one.
    pub(crate) fn each(what: &str, bound: Bound, positions: Vec<Placed>) -> Finding {
        let verdicts: Vec<Verdict> = positions.iter().map(|(_, samples)| bound.verdict(samples)).collect();
        let Some(&verdict) = verdicts.iter().min() else {
            return Finding::open(&format!("{what}: nothing was measured."));
        };
        let count = |wanted: Verdict| verdicts.iter().filter(|found| **found == wanted).count();
        let position = |(name, samples): &Placed| format!("{} at {name}", format_samples(samples));
        let by_mean = |(_, one): &&Placed, (_, other): &&Placed| one.mean().total_cmp(&other.mean());
        let numbers = match positions.as_slice() {
            few if few.len() <= 3 => few.iter().map(position).collect::<Vec<_>>().join(", "),
            many => {
                let ends = [many.iter().min_by(by_mean), many.iter().max_by(by_mean)];
                let ends: Vec<String> = ends.into_iter().flatten().map(position).collect();
                format!("from {}", ends.join(" to "))
            }
        };
        let all = positions.len();
        let how_many = match (count(Verdict::Holds), count(Verdict::Fails)) {
            _ if all == 1 => String::new(),
            (holding, _) if holding == all => format!("; holds at all {all} points"),
            (holding, failing) => format!("; holds at {holding} of {all} points, fails at {failing}"),
        };
        Finding { verdict, numbers: format!("{what}: {numbers} (asked: {}{how_many}).", bound.words()) }
    }

    /// Both must hold.
    pub(crate) fn and(self, other: Finding) -> Finding {
        Finding {
            verdict: self.verdict.min(other.verdict),
            numbers: format!("{} {}", self.numbers, other.numbers),
        }
    }

    /// With a further sentence that explains.
    pub(crate) fn because(self, why: &str) -> Finding {
        Finding { numbers: format!("{} {why}", self.numbers), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str, values: &[f64]) -> Placed {
        (name.to_owned(), Samples::of(values.iter().copied()))
    }

    #[test]
    fn an_interval_decides_or_does_not() {
        let verdict = |bound, values: &[f64]| bound_verdict(bound, values);
        // The mean 10 and half of the interval 12.7.
        let wide = [9.0, 11.0];
        assert_eq!(verdict(Bound::Above(0.0), &wide), Verdict::Open);
        assert_eq!(verdict(Bound::Above(-3.0), &wide), Verdict::Holds);
        assert_eq!(verdict(Bound::Above(23.0), &wide), Verdict::Fails);
        assert_eq!(verdict(Bound::Below(23.0), &wide), Verdict::Holds);
        assert_eq!(verdict(Bound::Below(-3.0), &wide), Verdict::Fails);
        assert_eq!(verdict(Bound::Within(-3.0, 23.0), &wide), Verdict::Holds);
        assert_eq!(verdict(Bound::Within(9.0, 11.0), &wide), Verdict::Open);
        assert_eq!(verdict(Bound::Within(30.0, 40.0), &wide), Verdict::Fails);
        assert_eq!(verdict(Bound::Within(0.5, 2.0), &[]), Verdict::Open);
    }

    fn bound_verdict(bound: Bound, values: &[f64]) -> Verdict {
        Finding::each("x", bound, vec![at("here", values)]).verdict
    }

    #[test]
    fn one_place_that_fails_decides() {
        let positions = vec![at("a", &[1.0]), at("b", &[2.0]), at("c", &[3.0]), at("d", &[9.0])];
        let finding = Finding::each("ratio", Bound::Below(5.0), positions.clone());
        assert_eq!(finding.verdict, Verdict::Fails);
        assert_eq!(
            finding.numbers,
            "ratio: from 1.00 at a to 9.00 at d (asked: below 5.00; holds at 3 of 4 points, fails at 1)."
        );
        let holds = Finding::each("ratio", Bound::Below(10.0), positions);
        assert_eq!(holds.verdict, Verdict::Holds);
        assert_eq!(holds.clone().and(finding).verdict, Verdict::Fails);
        assert_eq!(holds.and(Finding::open("unseen.")).verdict, Verdict::Open);
        assert_eq!(Finding::each("ratio", Bound::Below(1.0), Vec::new()).verdict, Verdict::Open);
    }
}
