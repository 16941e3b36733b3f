//! What a replication of a run gives: a value for each measure.

use std::collections::BTreeMap;

use super::prepare::Run;
use crate::compare::row_alone;
use crate::results::statistics::mean;
use crate::results::summary::FlowSummary;
use crate::results::{Replication, ResultsError, Role, RunCost, Statistic, Summary};
use crate::scenario::naming::matches;
use crate::scenario::suite::Measure;

/// The values of one replication; none where a measure has no value.
pub(super) type Values = BTreeMap<Measure, Option<f64>>;

/// The measures that a replication gives. Those relative to a run without multicast are made of two runs later.
pub(super) fn of(run: &Run, replication: &Replication) -> Result<Values, ResultsError> {
    let summary = Summary::new(&run.experiment, std::slice::from_ref(replication), RunCost::default())?;
    let row = row_alone(&run.candidate, &summary, (&run.experiment, std::slice::from_ref(replication)));
    let looked = Looked { run, summary: &summary, replication };
    let own = if run.against.is_empty() {
        row.receivers.iter().map(|receiver| receiver.share_of_tcp.mean).collect()
    } else {
        looked.shares()
    };
    let shares: Option<Vec<f64>> = own.into_iter().collect();
    let shares = shares.unwrap_or_default();
    let closeness: Vec<f64> = shares.iter().map(|&share| share.min(1.0 / share)).collect();
    let levels: Vec<f64> =
        row.receivers.iter().filter_map(|receiver| receiver.mean_level.as_ref()?.mean).collect();
    let spread = extreme(&levels, f64::max).zip(extreme(&levels, f64::min)).map(|(high, low)| high - low);
    let fair_level = looked
        .own()
        .map(|flow| flow.measures.movement.as_ref().and_then(|movement| movement.fair_level_after_s.mean));
    let settled = looked.own().map(|flow| flow.measures.settled_after_s.as_ref()?.mean);
    let values = [
        (Measure::Share, mean(&shares)),
        (Measure::LeastShare, extreme(&shares, f64::min)),
        (Measure::GreatestShare, extreme(&shares, f64::max)),
        (Measure::Closeness, mean(&closeness)),
        (Measure::Throughput, row.throughput_kbps.mean),
        (Measure::Jain, row.jain_index.mean),
        (Measure::Loss, row.loss_rate.mean),
        (Measure::Utilisation, row.utilisation.mean),
        (Measure::LevelChanges, row.level_changes_per_min.mean),
        (Measure::ChannelJoins, row.channel_joins_per_s.mean),
        (Measure::FairLevel, mean_of_all(fair_level)),
        (Measure::Settled, mean_of_all(settled)),
        (Measure::LevelSpread, spread),
        (Measure::ToTarget, mean_of_all(looked.own_series().map(|series| looked.to_target(series)))),
        (Measure::OthersLoss, mean_of(looked.others().map(|flow| &flow.measures.loss_rate))),
        (Measure::OthersThroughput, looked.others_throughput()),
        (Measure::OthersWorstSecond, looked.others_worst_second()),
        (Measure::OthersHalf, looked.others_half_after()),
        (Measure::OthersCompletion, looked.others_completion()),
    ];
    Ok(values.into_iter().collect())
}

/// The least or the greatest of some values.
fn extreme(values: &[f64], of_two: fn(f64, f64) -> f64) -> Option<f64> {
    values.iter().copied().reduce(of_two)
}

/// The mean, if all have a value.
fn mean_of_all(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    mean(&values.collect::<Option<Vec<f64>>>()?)
}

/// The mean of those that have a value.
fn mean_of<'a>(statistics: impl Iterator<Item = &'a Statistic>) -> Option<f64> {
    mean(&statistics.filter_map(|statistic| statistic.mean).collect::<Vec<f64>>())
}

/// One replication of a run.
struct Looked<'a> {
    run: &'a Run,
    summary: &'a Summary,
    replication: &'a Replication,
}

impl<'a> Looked<'a> {
    fn is_own(&self, session: Option<&String>) -> bool {
        session.is_some_and(|name| self.run.candidate.sessions.contains(name))
    }

    /// The receivers of the judged sessions.
    fn own(&self) -> impl Iterator<Item = &'a FlowSummary> {
        self.summary.flows.iter().filter(|flow| self.is_own(flow.session.as_ref()))
    }

    /// All other flows.
    fn others(&self) -> impl Iterator<Item = &'a FlowSummary> {
        self.summary.flows.iter().filter(|flow| !self.is_own(flow.session.as_ref()))
    }

    /// Shares of the mean of all flows that the cell names: one of them alone may starve, and its share says little.
    fn shares(&self) -> Vec<Option<f64>> {
        let is_named = |flow: &&FlowSummary| self.run.against.iter().any(|one| matches(one, &flow.name));
        let throughput = |flow: &FlowSummary| flow.measures.throughput_kbps.mean;
        let named: Vec<f64> = self.others().filter(is_named).filter_map(throughput).collect();
        let tcp = mean(&named).filter(|tcp| *tcp > 0.0);
        self.own().map(|receiver| Some(throughput(receiver)? / tcp?)).collect()
    }

    fn own_series(&self) -> impl Iterator<Item = &'a [f64]> {
        self.series(true)
    }

    /// The throughputs in bins, of the judged receivers or of the sinks of other flows.
    fn series(&self, own: bool) -> impl Iterator<Item = &'a [f64]> {
        let flows = self.run.experiment.flows.iter().zip(&self.replication.series.flows);
        let wanted = flows.filter(move |(info, _)| match own {
            true => self.is_own(info.session.as_ref()),
            false => info.role == Role::Sink,
        });
        wanted.map(|(_, series)| series.throughput_kbps.as_slice())
    }

    /// From a receiver's first bin to its first with 80 % of the target.
    fn to_target(&self, throughput: &[f64]) -> Option<f64> {
        let wanted = 0.8 * self.run.target_kbps?;
        let first = throughput.iter().position(|value| value.is_finite())?;
        let reached = throughput.iter().position(|value| *value >= wanted)?;
        Some((reached + 1 - first) as f64 * self.run.experiment.series_bin_s)
    }

    fn others_throughput(&self) -> Option<f64> {
        let all: Vec<f64> = self.others().filter_map(|flow| flow.measures.throughput_kbps.mean).collect();
        (!all.is_empty()).then(|| all.iter().sum())
    }

    /// The throughput of the other flows together in each second of the window, over an equal share of the target. Only flows that carry
    /// something in the window share it.
    fn others_seconds(&self) -> Option<Vec<f64>> {
        let (bin_s, [from, to]) = (self.run.experiment.series_bin_s, self.run.experiment.main_window_s());
        let first = ((from / bin_s) - 1e-6).ceil().max(0.0) as usize;
        let end = ((to / bin_s) + 1e-6).floor() as usize;
        let in_window = |series: &'a [f64]| series.get(first..end.min(series.len()));
        let carries = |bins: &&[f64]| bins.iter().any(|&value| value > 0.0);
        let all: Vec<&[f64]> = self.series(false).filter_map(in_window).filter(carries).collect();
        let count = all.len() as f64;
        let equal = self.run.target_kbps? * count / (count + 1.0);
        let bins = all.iter().map(|series| series.len()).max()?;
        let total = |at: usize| -> f64 {
            let values = all.iter().filter_map(|series| series.get(at).copied());
            values.filter(|value| value.is_finite()).sum()
        };
        let totals: Vec<f64> = (0..bins).map(total).collect();
        let a_second = ((1.0 / bin_s).round() as usize).max(1);
        Some(totals.windows(a_second).filter_map(mean).map(|kbps| kbps / equal).collect())
    }

    fn others_worst_second(&self) -> Option<f64> {
        self.others_seconds()?.into_iter().reduce(f64::min)
    }

    /// From the beginning of the window to the end of the first second in which the others have half of their share.
    fn others_half_after(&self) -> Option<f64> {
        let place = self.others_seconds()?.iter().position(|&share| share >= 0.5)?;
        Some(place as f64 * self.run.experiment.series_bin_s + 1.0)
    }

    fn others_completion(&self) -> Option<f64> {
        let (mut time, mut transfers) = (0.0, 0.0);
        for flow in self.others() {
            let of = |statistic: &Option<Statistic>| statistic.as_ref().and_then(|statistic| statistic.mean);
            let weight = of(&flow.measures.transfers).unwrap_or_default();
            let Some(took) = of(&flow.measures.completion_s).filter(|_| weight > 0.0) else { continue };
            time += took * weight;
            transfers += weight;
        }
        (transfers > 0.0).then(|| time / transfers)
    }
}
