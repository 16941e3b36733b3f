//! What an experiment's runs gave.

use layercast_laboratory::results::Statistic;
use layercast_laboratory::results::statistics::jain_index;
use layercast_laboratory::sweep::{Measured, Part};

use super::experiment::{Experiment, Measure, What};
use super::rhythm::Rhythm;
use crate::samples::Samples;

/// A measure under every rhythm.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// What the row is called.
    pub(crate) label: String,
    /// In what it counts.
    pub(crate) unit: Unit,
    /// The samples, one a replication, by rhythm.
    pub(crate) samples: Vec<(Rhythm, Samples)>,
}

/// In what a row counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Throughput over the mean of TCP.
    OfTcp,
    /// Throughput in kbit/s.
    Kbps,
    /// Lost packets in percent of those sent.
    LossPercent,
    /// The same of the competing TCP.
    TcpLossPercent,
    /// Jain's index.
    Index,
}

impl Unit {
    /// Its name in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::OfTcp => "of TCP",
            Unit::Kbps => "kbit/s",
            Unit::LossPercent => "loss, %",
            Unit::TcpLossPercent => "TCP's loss, %",
            Unit::Index => "index",
        }
    }
}

/// A reading: the mean of the phases' means, the least and the most of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    pub(crate) mean: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Row {
    /// The plain reading; none where a phase has no value.
    pub(crate) fn plain(&self) -> Option<Reading> {
        self.reading(|rhythm| matches!(rhythm, Rhythm::Plain(_)))
    }

    /// The jittered reading.
    pub(crate) fn jittered(&self) -> Option<Reading> {
        self.reading(|rhythm| matches!(rhythm, Rhythm::Jittered(_)))
    }

    /// The reading whose layers begin together.
    pub(crate) fn together(&self) -> Option<Reading> {
        self.reading(|rhythm| matches!(rhythm, Rhythm::Together(_)))
    }

    fn reading(&self, is_of: impl Fn(Rhythm) -> bool) -> Option<Reading> {
        let phases = self.samples.iter().filter(|(rhythm, _)| is_of(*rhythm));
        let means: Vec<f64> = phases.map(|(_, samples)| samples.statistic().mean).collect::<Option<_>>()?;
        let least = means.iter().copied().reduce(f64::min)?;
        let most = means.iter().copied().reduce(f64::max)?;
        Some(Reading { mean: means.iter().sum::<f64>() / means.len() as f64, least, most })
    }

    /// What was measured under a rhythm.
    pub(crate) fn statistic(&self, rhythm: Rhythm) -> Option<Statistic> {
        let found = self.samples.iter().find(|(other, _)| *other == rhythm);
        found.map(|(_, samples)| samples.statistic())
    }
}

/// The rows of an experiment.
pub(crate) fn rows(experiment: &Experiment, parts: &[(Rhythm, Vec<Part>)]) -> Vec<Row> {
    let of_measure = |measure: &Measure| match &measure.what {
        What::Rate { of, over } => rates(measure, of, over.as_deref(), parts),
        What::Index(of) => vec![row(measure, Unit::Index, parts, |part| index(part, of))],
    };
    experiment.measures.iter().flat_map(of_measure).collect()
}

/// Throughput and losses.
fn rates(measure: &Measure, of: &str, over: Option<&str>, parts: &[(Rhythm, Vec<Part>)]) -> Vec<Row> {
    let kbps = |part: &Part, pattern: &str| mean(part, pattern, "throughput_kbps");
    let throughput = |part: &Part| {
        let own = kbps(part, of)?;
        match over {
            None => Some(own),
            Some(over) => kbps(part, over).filter(|over| *over > 0.0).map(|over| own / over),
        }
    };
    let unit = if over.is_some() { Unit::OfTcp } else { Unit::Kbps };
    let loss = |part: &Part, pattern: &str| mean(part, pattern, "loss_rate").map(|loss| loss * 100.0);
    let own_loss = |part: &Part| loss(part, of);
    let tcp_loss = |part: &Part| loss(part, over?);
    let mut rows =
        vec![row(measure, unit, parts, throughput), row(measure, Unit::LossPercent, parts, own_loss)];
    if over.is_some() {
        rows.push(row(measure, Unit::TcpLossPercent, parts, tcp_loss));
    }
    rows
}

/// Jain's index of the throughput of all flows that match; none if one has none.
fn index(part: &Part, of: &[(String, usize)]) -> Option<f64> {
    let mut kbps = Vec::new();
    for (pattern, window) in of {
        kbps.extend(values(part, *window, pattern, "throughput_kbps")?);
    }
    jain_index(&kbps)
}

fn row(
    measure: &Measure,
    unit: Unit,
    parts: &[(Rhythm, Vec<Part>)],
    of: impl Fn(&Part) -> Option<f64>,
) -> Row {
    let samples = |(rhythm, parts): &(Rhythm, Vec<Part>)| (*rhythm, Samples(parts.iter().map(&of).collect()));
    Row { label: measure.label.clone(), unit, samples: parts.iter().map(samples).collect() }
}

/// The mean over the flows that match, in the main window; none if there is none.
fn mean(part: &Part, pattern: &str, metric: &str) -> Option<f64> {
    let values = values(part, 0, pattern, metric)?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The values of the flows that match in a window; none if one has none.
fn values(part: &Part, window: usize, pattern: &str, metric: &str) -> Option<Vec<f64>> {
    let flows = &part.windows.get(window)?.flows;
    let is_meant = |flow: &&Measured| pattern.split(' ').any(|one| matches(one, &flow.name));
    let value = |flow: &Measured| flow.values.get(metric).copied().flatten();
    flows.iter().filter(is_meant).map(value).collect()
}

/// Whether a name is that of a pattern, in which `*` stands for anything.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, rest)) => name.strip_prefix(before).is_some_and(|name| {
            (0..=name.len()).any(|at| name.is_char_boundary(at) && matches(rest, &name[at..]))
        }),
    }
}
