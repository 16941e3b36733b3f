//! When the receivers of a protocol had the object of their session.

use serde::Serialize;

use crate::results::Statistic;
use crate::results::summary::FlowSummary;

/// The completion of all receivers of a protocol.
#[derive(Debug, Clone, Serialize)]
pub struct Completion {
    /// The share of receivers that had the object at the end of a replication.
    pub complete: Statistic,
    /// The median over receivers of the time from a receiver's start, in seconds; a replication in which half of
    /// them never had it has none.
    pub median_s: Statistic,
    /// The longest of those times; a replication in which a receiver never had it has none.
    pub worst_s: Statistic,
}

/// The completion of these receivers; none if their sessions have no object.
pub(super) fn of(receivers: &[&FlowSummary], replications: usize) -> Option<Completion> {
    let completions: Vec<&Statistic> = receivers
        .iter()
        .filter(|flow| flow.measures.complete.is_some())
        .filter_map(|flow| flow.measures.completion_s.as_ref())
        .collect();
    if completions.is_empty() {
        return None;
    }
    // Rising; a receiver that never had it comes last.
    let sorted = |number: usize| {
        let sample = |one: &&Statistic| one.samples.get(number).copied().flatten().unwrap_or(f64::INFINITY);
        let mut times: Vec<f64> = completions.iter().map(sample).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let each = |measure: &dyn Fn(&[f64]) -> Option<f64>| {
        Statistic::new((0..replications).map(|number| measure(&sorted(number))))
    };
    let finite = |time: f64| Some(time).filter(|time| time.is_finite());
    Some(Completion {
        complete: each(&|times| {
            let complete = times.iter().filter(|time| time.is_finite()).count();
            Some(complete as f64 / times.len() as f64)
        }),
        median_s: each(&|times| {
            let (low, high) = (times.get((times.len() - 1) / 2)?, times.get(times.len() / 2)?);
            finite((low + high) / 2.0)
        }),
        worst_s: each(&|times| finite(*times.last()?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Receivers of which each replication has these completion times.
    fn receivers(samples: &[&[Option<f64>]]) -> Vec<FlowSummary> {
        let flow = |samples: &&[Option<f64>]| {
            let complete = samples.iter().map(|sample| Some(f64::from(u8::from(sample.is_some()))));
            let statistic = |samples: &Statistic| serde_json::to_value(samples).unwrap();
            let zero = statistic(&Statistic::new(samples.iter().map(|_| Some(0.0))));
            serde_json::from_value(serde_json::json!({
                "name": "elm@R", "protocol": "elm", "role": "receiver", "node": "R",
                "throughput_kbps": zero, "loss_rate": zero,
                "complete": statistic(&Statistic::new(complete)),
                "completion_s": statistic(&Statistic::new(samples.iter().copied())),
            }))
            .unwrap()
        };
        samples.iter().map(flow).collect()
    }

    #[test]
    fn a_receiver_that_never_completes_counts_as_the_slowest() {
        let flows = receivers(&[&[Some(10.0), Some(10.0)], &[Some(30.0), None], &[Some(20.0), Some(40.0)]]);
        let completion = of(&flows.iter().collect::<Vec<_>>(), 2).unwrap();
        assert_eq!(completion.median_s.samples, [Some(20.0), Some(40.0)]);
        assert_eq!(completion.worst_s.samples, [Some(30.0), None]);
        assert_eq!(completion.complete.samples, [Some(1.0), Some(2.0 / 3.0)]);
    }

    #[test]
    fn sessions_without_an_object_have_no_completion() {
        assert!(of(&[], 2).is_none());
        let mut flows = receivers(&[&[Some(10.0)]]);
        flows[0].measures.complete = None;
        assert!(of(&[&flows[0]], 1).is_none(), "a transfer is no object");
    }
}
