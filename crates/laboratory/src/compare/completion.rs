//! When receivers have the object of their session.

use serde::Serialize;

use crate::results::Statistic;
use crate::results::statistics::mean;

/// The completion of all receivers of a protocol.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Completion {
    /// How many receivers there are.
    pub receivers: usize,
    /// How many of them had the object at the end of a replication.
    pub completed: Statistic,
    /// The share of them that had it.
    pub complete: Statistic,
    /// The median over receivers of the time from a receiver's start, in seconds; a replication in which half of
    /// them never had it has none.
    pub median_s: Statistic,
    /// The longest of those times; a replication in which a receiver never had it has none.
    pub worst_s: Statistic,
    /// The longest time of those receivers that had it, in seconds.
    pub last_s: Statistic,
    /// Whether all receivers had it in all replications.
    pub all_complete: bool,
    /// Receivers that had it in no replication.
    pub never: Vec<String>,
    /// Receivers that had it in some replications alone.
    pub not_always: Vec<String>,
}

/// The completion of receivers: their labels and their times. None if no session has an object.
pub(super) fn of(receivers: &[(&str, Option<&Statistic>)], replications: usize) -> Option<Completion> {
    if receivers.is_empty() || receivers.iter().all(|(_, times)| times.is_none()) {
        return None;
    }
    let at = |number: usize| {
        let times = receivers
            .iter()
            .filter_map(move |(_, times)| times.and_then(|one| one.samples.get(number).copied()?));
        let mut times: Vec<f64> = times.collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let each: Vec<Vec<f64>> = (0..replications).map(at).collect();
    let named = |wanted: fn(usize, usize) -> bool| {
        let done = |times: Option<&Statistic>| times.map_or(0, Statistic::defined);
        let some = receivers.iter().filter(|(_, times)| wanted(done(*times), replications));
        some.map(|(label, _)| (*label).to_owned()).collect::<Vec<String>>()
    };
    Some(Completion {
        receivers: receivers.len(),
        completed: Statistic::new(each.iter().map(|times| Some(times.len() as f64))),
        complete: Statistic::new(each.iter().map(|times| Some(times.len() as f64 / receivers.len() as f64))),
        median_s: Statistic::new(each.iter().map(|times| median(times, receivers.len()))),
        worst_s: Statistic::new(each.iter().map(|times| times.get(receivers.len() - 1).copied())),
        last_s: Statistic::new(each.iter().map(|times| times.last().copied())),
        all_complete: each.iter().all(|times| times.len() == receivers.len()),
        never: named(|done, _| done == 0),
        not_always: named(|done, all| done > 0 && done < all),
    })
}

/// The median of so many, of which only the sorted least ones are known.
fn median(sorted: &[f64], all: usize) -> Option<f64> {
    let (below, above) = ((all - 1) / 2, all / 2);
    mean(&[*sorted.get(below)?, *sorted.get(above)?])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn receivers_that_never_complete_count_as_the_slowest() {
        let times = |samples: [Option<f64>; 2]| Statistic::new(samples);
        let (a, b, c) = (times([Some(10.0), Some(12.0)]), times([Some(30.0), None]), times([None, None]));
        let completion = of(&[("A", Some(&a)), ("B", Some(&b)), ("C", Some(&c))], 2).unwrap();
        assert_eq!(completion.completed.samples, [Some(2.0), Some(1.0)]);
        assert_eq!(completion.complete.samples, [Some(2.0 / 3.0), Some(1.0 / 3.0)]);
        assert_eq!(completion.worst_s.samples, [None, None], "C never had it");
        assert_eq!(completion.median_s.samples, [Some(30.0), None], "the second of three");
        assert_eq!(completion.last_s.samples, [Some(30.0), Some(12.0)]);
        assert_eq!((completion.never, completion.not_always), (vec!["C".to_owned()], vec!["B".to_owned()]));
        assert!(!completion.all_complete);
        assert_eq!(median(&[1.0, 3.0, 9.0], 4), Some(6.0));
        assert_eq!(of(&[("A", None)], 2), None, "nothing to complete");
    }
}
