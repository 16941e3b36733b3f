//! Comparison of measured values with those that the paper reports.

use super::experiment::Experiment;
use super::reported::{Metric, PaperValue, Relation};
use super::statistics::Statistic;
use super::summary::{FlowStatistics, Summary};

/// Within this fraction of an exact figure of the paper we say that we agree with it.
pub const CLOSE: f64 = 0.10;
/// The same for a figure that the paper itself only gives as "about".
pub const ROUGHLY: f64 = 0.25;
/// A Jain index lies close under 1 whatever happens, so there we ask for this distance.
pub const CLOSE_INDEX: f64 = 0.02;

/// The criterion of agreement as text.
#[must_use]
pub fn criterion() -> String {
    format!(
        "figures within {:.0} %, approximate ones within {:.0} %, fairness indices within {CLOSE_INDEX}, \
         bounds kept",
        CLOSE * 100.0,
        ROUGHLY * 100.0
    )
}

/// One number of the paper and ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison<'a> {
    /// What the paper says.
    pub paper: &'a PaperValue,
    /// What we measured in the main window.
    pub ours: &'a Statistic,
}

impl Comparison<'_> {
    /// Ours over the paper's; none where the paper gives only a bound, or either is missing or zero.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        match self.paper.relation {
            Relation::Below | Relation::Above => None,
            Relation::Equal | Relation::About => {
                self.ours.mean.map(|mean| mean / self.paper.value).filter(|ratio| ratio.is_finite())
            }
        }
    }

    /// Whether we agree: on the paper's side of a bound, or as near to a figure as [`CLOSE`],
    /// [`ROUGHLY`] and [`CLOSE_INDEX`] say.
    #[must_use]
    pub fn agrees(&self) -> Option<bool> {
        let (mean, value) = (self.ours.mean?, self.paper.value);
        let within = |fraction: f64| (mean - value).abs() <= fraction * value.abs();
        let index = self.paper.metric == Metric::JainIndex;
        Some(match self.paper.relation {
            Relation::Equal if index => (mean - value).abs() <= CLOSE_INDEX,
            Relation::Equal => within(CLOSE),
            Relation::About => within(ROUGHLY),
            Relation::Below => mean < value,
            Relation::Above => mean > value,
        })
    }
}

/// Every number of the paper for which we have one of our own, in the scenario's order.
#[must_use]
pub fn compare<'a>(experiment: &'a Experiment, summary: &'a Summary) -> Vec<Comparison<'a>> {
    experiment.paper.iter().filter_map(|paper| of(paper, summary)).collect()
}

/// The comparison for one subject and metric, if the paper has that number.
#[must_use]
pub fn find<'a>(
    experiment: &'a Experiment,
    summary: &'a Summary,
    subject: &str,
    metric: &str,
) -> Option<Comparison<'a>> {
    let paper =
        experiment.paper.iter().find(|paper| paper.subject == subject && paper.metric.name() == metric)?;
    of(paper, summary)
}

fn of<'a>(paper: &'a PaperValue, summary: &'a Summary) -> Option<Comparison<'a>> {
    let flow = summary.flows.iter().find(|flow| flow.name == paper.subject);
    let ours = match flow {
        Some(flow) => metric_of(&flow.measures, paper.metric)?,
        None if paper.metric == Metric::JainIndex => {
            &summary.groups.iter().find(|group| group.name == paper.subject)?.jain_index
        }
        None => return None,
    };
    Some(Comparison { paper, ours })
}

/// What was measured of a flow; none of a group's metric, or of a flow without levels.
fn metric_of(measures: &FlowStatistics, metric: Metric) -> Option<&Statistic> {
    match metric {
        Metric::ThroughputKbps => Some(&measures.throughput_kbps),
        Metric::LossRate => Some(&measures.loss_rate),
        Metric::LevelChanges => measures.level_changes.as_ref(),
        Metric::MeanLevel => measures.mean_level.as_ref(),
        Metric::SettledAfterS => measures.settled_after_s.as_ref(),
        Metric::JainIndex => None,
    }
}
