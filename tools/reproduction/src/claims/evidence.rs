//! What the measurement says of one bound at one place, and what that makes of a claim.

use super::statistics::any_by_holm;

/// The significance that is asked for in each direction: a bound holds if the 95 % interval lies beyond it.
pub(crate) const LEVEL: f64 = 0.025;

/// What is said of a claim, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// It is wrong at some place, significantly for all of its places together, or by computation.
    Failed,
    /// A single deterministic run shows the contrary.
    Contrary,
    /// The measurement does not decide.
    Undecided,
    /// A single deterministic run shows it; another could show otherwise.
    Observed,
    /// It is right at all places, significantly at each.
    Held,
}

impl Verdict {
    /// All of them, in the order of tables.
    pub(crate) const ALL: [Verdict; 5] =
        [Verdict::Held, Verdict::Failed, Verdict::Undecided, Verdict::Observed, Verdict::Contrary];

    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Verdict::Held => "held",
            Verdict::Failed => "failed",
            Verdict::Undecided => "undecided",
            Verdict::Observed => "observed",
            Verdict::Contrary => "observed, contrary",
        }
    }
}

/// What the measurement at one place says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Evidence {
    /// Nothing was measured.
    Nothing,
    /// A computed number, without chance: whether it is as claimed.
    Exact(bool),
    /// One run, or runs that do not differ: whether it is as claimed.
    Single(bool),
    /// The probabilities of what was measured if the claim were just not true, and if it were just true.
    Tested {
        /// A small one speaks for the claim.
        if_untrue: f64,
        /// A small one speaks against it.
        if_true: f64,
    },
}

/// The verdict over all places.
///
/// It is an intersection: to hold, a claim must be significant at each place, which needs no correction, since the
/// weakest place decides (Berger 1982). To fail, one place is enough, so that is corrected for their number by Holm.
pub(crate) fn verdict(places: &[Evidence]) -> Verdict {
    let against: Vec<f64> = places
        .iter()
        .filter_map(|place| match place {
            Evidence::Tested { if_true, .. } => Some(*if_true),
            _ => None,
        })
        .collect();
    if any_by_holm(&against, LEVEL) {
        return Verdict::Failed;
    }
    let of = |place: &Evidence| match place {
        Evidence::Exact(false) => Verdict::Failed,
        Evidence::Single(false) => Verdict::Contrary,
        Evidence::Single(true) => Verdict::Observed,
        Evidence::Exact(true) => Verdict::Held,
        Evidence::Tested { if_untrue, .. } if *if_untrue < LEVEL => Verdict::Held,
        Evidence::Nothing | Evidence::Tested { .. } => Verdict::Undecided,
    };
    places.iter().map(of).min().unwrap_or(Verdict::Undecided)
}

/// Both of two verdicts that are needed.
pub(crate) fn both(one: Verdict, other: Verdict) -> Verdict {
    one.min(other)
}
