//! Judges claims: each test at each place, and the verdict over all.

use std::collections::BTreeMap;

use super::book::{Book, Claim, Kind, Relation, Test};
use super::evidence::{Evidence, Verdict, both, verdict};
use super::statistics::{above, below, differs, kendall, rises};
use crate::samples::{Placed, Samples, format_samples, number};

/// What the code supplies of a paper's figures.
#[derive(Debug, Default)]
pub(crate) struct Supplies {
    /// By figure and name.
    quantities: BTreeMap<(String, String), Vec<Placed>>,
    /// Figures of computed numbers, without chance.
    exact: Vec<String>,
    /// What was added again, which is a mistake.
    twice: Vec<(String, String)>,
}

impl Supplies {
    /// Adds a quantity.
    pub(crate) fn add(&mut self, figure: &str, name: &str, places: Vec<Placed>) {
        let key = (figure.to_owned(), name.to_owned());
        if self.quantities.insert(key.clone(), places).is_some() {
            self.twice.push(key);
        }
    }

    /// From now on the figure's numbers count as computed.
    pub(crate) fn mark_exact(&mut self, figure: &str) {
        self.exact.push(figure.to_owned());
    }

    /// What was added more than once.
    #[cfg(test)]
    pub(crate) fn twice(&self) -> &[(String, String)] {
        &self.twice
    }

    /// The names of all.
    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &(String, String)> {
        self.quantities.keys()
    }

    fn find(&self, claim: &Claim, name: &str) -> Result<&[Placed], JudgeError> {
        let found = self.quantities.get(&(claim.figure.clone(), name.to_owned()));
        let all = || {
            let names = self.quantities.keys().filter(|(figure, _)| *figure == claim.figure);
            names.map(|(_, name)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
        };
        found.map(Vec::as_slice).ok_or_else(|| JudgeError::Quantity {
            claim: claim.id.clone(),
            name: name.to_owned(),
            figure: claim.figure.clone(),
            all: all(),
        })
    }
}

/// A claim that asks for what is not there.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum JudgeError {
    /// A quantity.
    #[error("claim {claim}: {figure} supplies no \"{name}\": use one of {all}, or supply it")]
    Quantity {
        /// The claim.
        claim: String,
        /// What it asks for.
        name: String,
        /// Of which figure.
        figure: String,
        /// What there is.
        all: String,
    },
    /// A place.
    #[error("claim {claim}: \"{name}\" has no place \"{place}\": use one of {all}")]
    Place {
        /// The claim.
        claim: String,
        /// The quantity.
        name: String,
        /// What it asks for.
        place: String,
        /// What there is.
        all: String,
    },
}

/// A claim's verdict and the numbers that led to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judged {
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// The numbers of each test, in short.
    pub(crate) short: Vec<String>,
    /// The same with the quantities' names, places and what is asked.
    pub(crate) long: Vec<String>,
}

/// Judges all claims of a paper, in their order.
pub(crate) fn judge(book: &Book, supplies: &Supplies) -> Result<Vec<Judged>, JudgeError> {
    book.claims.iter().map(|claim| judge_claim(claim, supplies)).collect()
}

fn judge_claim(claim: &Claim, supplies: &Supplies) -> Result<Judged, JudgeError> {
    let exact = supplies.exact.contains(&claim.figure);
    let mut judged = Judged { verdict: Verdict::Held, short: Vec::new(), long: Vec::new() };
    for test in &claim.tests {
        let all = measured(claim, test, supplies)?;
        let evidence = evidence(test, &all, exact);
        judged.verdict = both(judged.verdict, verdict(&evidence));
        judged.short.push(short(test, &all));
        judged.long.push(long(test, &all));
    }
    Ok(judged)
}

/// The samples that a test is about: a list of places for each of its quantities.
fn measured(claim: &Claim, test: &Test, supplies: &Supplies) -> Result<Vec<Vec<Placed>>, JudgeError> {
    let at = |name: &str, all: &[Placed], place: &str| -> Result<Samples, JudgeError> {
        let found = all.iter().find(|(other, _)| other == place).map(|(_, samples)| samples.clone());
        found.ok_or_else(|| JudgeError::Place {
            claim: claim.id.clone(),
            name: name.to_owned(),
            place: place.to_owned(),
            all: all.iter().map(|(place, _)| format!("\"{place}\"")).collect::<Vec<_>>().join(", "),
        })
    };
    let mut lists = Vec::new();
    for name in &test.quantities {
        let mut places = supplies.find(claim, name)?.to_vec();
        if let Some(over) = &test.over {
            let others = supplies.find(claim, over)?;
            for (place, samples) in &mut places {
                *samples = samples.over(&at(over, others, place)?);
            }
        }
        if let Some([from, to]) = &test.change {
            let change = at(name, &places, to)?.over(&at(name, &places, from)?);
            places = vec![(format!("{to} over {from}"), change)];
        }
        if !test.at.is_empty() {
            let wanted = test.at.iter().map(|place| Ok((place.clone(), at(name, &places, place)?)));
            places = wanted.collect::<Result<_, JudgeError>>()?;
        }
        lists.push(places);
    }
    Ok(lists)
}

fn evidence(test: &Test, all: &[Vec<Placed>], exact: bool) -> Vec<Evidence> {
    let first = all.first().map_or(&[][..], Vec::as_slice);
    match &test.relation {
        Some(relation @ (Relation::Rises | Relation::Falls)) => {
            vec![trend(first, *relation == Relation::Rises, exact)]
        }
        Some(relation) => {
            first.iter().map(|(_, samples)| bound(relation, &defined(samples), exact)).collect()
        }
        None => all.windows(2).flat_map(|pair| order(&pair[0], &pair[1], test.unpaired, exact)).collect(),
    }
}

fn defined(samples: &Samples) -> Vec<f64> {
    samples.0.iter().copied().flatten().filter(|value| value.is_finite()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A fact without a spread.
fn certain(holds: bool, exact: bool) -> Evidence {
    if exact { Evidence::Exact(holds) } else { Evidence::Single(holds) }
}

fn bound(relation: &Relation, values: &[f64], exact: bool) -> Evidence {
    if values.is_empty() {
        return Evidence::Nothing;
    }
    let (least, most) = match *relation {
        Relation::Above(bound) => (bound, f64::INFINITY),
        Relation::Below(bound) => (f64::NEG_INFINITY, bound),
        Relation::Within(least, most) => (least, most),
        Relation::Rises | Relation::Falls => return Evidence::Nothing,
    };
    let tested = |bound: f64| Some((above(values, bound)?, below(values, bound)?));
    match (least.is_finite().then(|| tested(least)), most.is_finite().then(|| tested(most))) {
        (Some(Some((if_low, if_enough))), None) => Evidence::Tested { if_untrue: if_low, if_true: if_enough },
        (None, Some(Some((if_little, if_high)))) => {
            Evidence::Tested { if_untrue: if_high, if_true: if_little }
        }
        // Two one-sided tests: both must reject.
        (Some(Some((if_low, if_enough))), Some(Some((if_little, if_high)))) => {
            Evidence::Tested { if_untrue: if_low.max(if_high), if_true: if_enough.min(if_little) }
        }
        _ => {
            let value = mean(values);
            certain(value > least && value < most, exact)
        }
    }
}

/// A trend over the places, a block for each replication that has them all.
fn trend(places: &[Placed], is_rise: bool, exact: bool) -> Evidence {
    let sign = if is_rise { 1.0 } else { -1.0 };
    let replications = places.iter().map(|(_, samples)| samples.0.len()).min().unwrap_or(0);
    let block = |index: usize| -> Option<Vec<f64>> {
        places
            .iter()
            .map(|(_, samples)| samples.0.get(index).copied().flatten().map(|value| sign * value))
            .collect()
    };
    let blocks: Vec<Vec<f64>> = (0..replications).filter_map(block).collect();
    if blocks.is_empty() || places.len() < 2 {
        return Evidence::Nothing;
    }
    let opposite: Vec<Vec<f64>> =
        blocks.iter().map(|block| block.iter().map(|value| -value).collect()).collect();
    match (rises(&blocks), rises(&opposite)) {
        (Some(if_none), Some(if_rising)) => Evidence::Tested { if_untrue: if_none, if_true: if_rising },
        _ => {
            let means: Vec<f64> = (0..places.len())
                .map(|at| mean(&blocks.iter().map(|block| block[at]).collect::<Vec<_>>()))
                .collect();
            let pairs = (means.len() * (means.len() - 1) / 2) as i64;
            // A computed sequence must have no exception; of a single run the direction counts.
            let holds = if exact { kendall(&means) == pairs } else { kendall(&means) > 0 };
            certain(holds, exact)
        }
    }
}

/// The second above the first at each place that both have.
fn order(smaller: &[Placed], greater: &[Placed], unpaired: bool, exact: bool) -> Vec<Evidence> {
    let at = |(place, low): &Placed| {
        let Some((_, high)) = greater.iter().find(|(other, _)| other == place) else {
            return Evidence::Nothing;
        };
        if !unpaired {
            return bound(&Relation::Above(0.0), &defined(&high.less(low)), exact);
        }
        let (low, high) = (defined(low), defined(high));
        match (differs(&high, &low), differs(&low, &high)) {
            (Some(if_untrue), Some(if_true)) => Evidence::Tested { if_untrue, if_true },
            _ if low.is_empty() || high.is_empty() => Evidence::Nothing,
            _ => certain(mean(&high) > mean(&low), exact),
        }
    };
    smaller.iter().map(at).collect()
}

/// From the least to the greatest mean; over the places in their order for a trend.
fn range(places: &[Placed], is_trend: bool) -> String {
    let known: Vec<f64> =
        places.iter().map(|(_, samples)| samples.mean()).filter(|mean| mean.is_finite()).collect();
    let ends = if is_trend {
        known.first().copied().zip(known.last().copied())
    } else {
        let least = known.iter().copied().reduce(f64::min);
        least.zip(known.iter().copied().reduce(f64::max))
    };
    match ends {
        None => "–".to_owned(),
        Some((low, high)) if number(low) == number(high) => number(low),
        Some((first, last)) if is_trend => format!("{}→{}", number(first), number(last)),
        Some((low, high)) => span(low, high),
    }
}

/// Two ends, in one word unless a sign would be taken for a dash.
fn span(low: f64, high: f64) -> String {
    let dash = if low < 0.0 { " to " } else { "–" };
    format!("{}{dash}{}", number(low), number(high))
}

fn short(test: &Test, all: &[Vec<Placed>]) -> String {
    let is_trend = matches!(test.relation, Some(Relation::Rises | Relation::Falls));
    let ranges: Vec<String> = all.iter().map(|places| range(places, is_trend)).collect();
    match &test.relation {
        None => ranges.join(" < "),
        Some(Relation::Rises | Relation::Falls) => ranges.concat(),
        Some(relation) => format!("{} ({})", ranges.concat(), asked(relation)),
    }
}

fn asked(relation: &Relation) -> String {
    match relation {
        Relation::Above(bound) => format!(">{}", number(*bound)),
        Relation::Below(bound) => format!("<{}", number(*bound)),
        Relation::Within(least, most) => span(*least, *most),
        Relation::Rises => "rises".to_owned(),
        Relation::Falls => "falls".to_owned(),
    }
}

fn long(test: &Test, all: &[Vec<Placed>]) -> String {
    let over = test.over.as_ref().map_or_else(String::new, |over| format!(" over {over}"));
    let one = |(name, places): (&String, &Vec<Placed>)| {
        let each = places.iter().map(|(place, samples)| format!("{} at {place}", format_samples(samples)));
        format!("{name}{over}: {}", each.collect::<Vec<_>>().join(", "))
    };
    let numbers = test.quantities.iter().zip(all).map(one).collect::<Vec<_>>().join("; ");
    let asked = test.relation.as_ref().map_or_else(|| "ascending".to_owned(), asked);
    format!("{numbers} (asked: {asked}).")
}

/// How many claims of a kind have each verdict, in the order of [`Verdict::ALL`].
pub(crate) fn counts(book: &Book, judged: &[Judged], kind: Kind) -> [usize; 5] {
    let of_kind = || book.claims.iter().zip(judged).filter(|(claim, _)| claim.kind == kind);
    Verdict::ALL.map(|verdict| of_kind().filter(|(_, judged)| judged.verdict == verdict).count())
}
