//! What stands in a cell of a table: a measure of a session's receivers, or of the TCP flows that compete with them.

use layercast_laboratory::results::Statistic;
use layercast_laboratory::sweep::{CellSummary, SubjectSummary, WindowSummary};

use super::marker::Marker;

/// The samples of one node, a value for each replication.
type Samples = Vec<Option<f64>>;

/// Where a column's numbers come from.
enum Source {
    /// A metric of the receiver.
    Receiver(&'static str),
    /// A metric of the TCP flows that last, their mean.
    Tcp(&'static str),
    /// A metric of the group of both.
    Group(&'static str),
    /// The receiver's throughput over TCP's mean.
    Ratio,
}

/// A column: its name in markers, its heading, what a value is multiplied with, decimals.
struct Column(&'static str, &'static str, Source, f64, usize);

const COLUMNS: [Column; 14] = [
    Column("jain", "Jain index", Source::Group("jain_index"), 1.0, 4),
    Column("ratio", "throughput over TCP's", Source::Ratio, 1.0, 2),
    Column("kbps", "kbit/s", Source::Receiver("throughput_kbps"), 1.0, 0),
    Column("level", "mean level", Source::Receiver("mean_level"), 1.0, 2),
    Column("changes", "level changes/min", Source::Receiver("level_changes_per_min"), 1.0, 2),
    Column("joins", "joins/min", Source::Receiver("joins_per_min"), 1.0, 2),
    Column("fair", "fair level after, s", Source::Receiver("fair_level_after_s"), 1.0, 1),
    Column("fell", "fell after, s", Source::Receiver("fell_after_s"), 1.0, 1),
    Column("recovered", "recovered after, s", Source::Receiver("recovered_after_s"), 1.0, 1),
    Column("loss", "loss, %", Source::Receiver("loss_rate"), 100.0, 2),
    Column("lost", "lost packets", Source::Receiver("lost_packets"), 1.0, 0),
    Column("tcp-kbps", "TCP, kbit/s", Source::Tcp("throughput_kbps"), 1.0, 0),
    Column("tcp-loss", "TCP's loss, %", Source::Tcp("loss_rate"), 100.0, 2),
    Column("tcp-lost", "lost packets of a TCP", Source::Tcp("lost_packets"), 1.0, 0),
];

fn column(name: &str) -> Result<&'static Column, String> {
    COLUMNS.iter().find(|column| column.0 == name).ok_or_else(|| format!("there is no column `{name}`"))
}

/// The heading of a column.
pub(crate) fn heading(name: &str) -> Result<&'static str, String> {
    column(name).map(|column| column.1)
}

/// The mean with half its interval, and of how many receivers and replications if not of all.
pub(crate) fn value(marker: &Marker, cell: &CellSummary, name: &str) -> Result<String, String> {
    let Column(_, _, source, factor, decimals) = column(name)?;
    let window = cell.windows.get(marker.window).ok_or("there is no such window")?;
    let receivers: Vec<&SubjectSummary> =
        window.flows.iter().filter(|flow| flow.name.starts_with(&format!("{}@", marker.flow))).collect();
    let nodes = receivers.iter().filter_map(|receiver| receiver.node.as_deref());
    let nodes: Vec<&str> =
        nodes.filter(|node| marker.node.as_deref().is_none_or(|only| only == *node)).collect();
    if nodes.is_empty() {
        return Err(format!("{}: no receiver of {}", marker.sweep, marker.flow));
    }
    let samples: Vec<Samples> =
        nodes.iter().map(|node| samples(source, marker, window, node)).collect::<Result<_, _>>()?;
    let all: usize = samples.iter().map(Vec::len).sum();
    let defined = samples.iter().flatten().flatten().count();
    let statistic = mean(&samples);
    let Some(mean) = statistic.mean else { return Ok(format!("– (0/{all})")) };
    let mut text = format!("{:.decimals$}", mean * factor);
    if let Some(half) = statistic.ci95 {
        text.push_str(&format!(" ± {:.decimals$}", half * factor));
    }
    if defined < all {
        text.push_str(&format!(" ({defined}/{all})"));
    }
    Ok(text)
}

/// In each replication the mean over those that have a value; then over the replications.
fn mean(of: &[Samples]) -> Statistic {
    let count = of.iter().map(Vec::len).max().unwrap_or(0);
    Statistic::new((0..count).map(|replication| {
        let values: Vec<f64> = of.iter().filter_map(|samples| *samples.get(replication)?).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }))
}

fn samples(source: &Source, marker: &Marker, window: &WindowSummary, node: &str) -> Result<Samples, String> {
    let flow = &marker.flow;
    let of = |subject: &SubjectSummary, metric: &str| {
        let found = subject.measures.get(metric).map(|statistic| statistic.samples.clone());
        found.ok_or_else(|| format!("{}: `{metric}` of {} was not reported", marker.sweep, subject.name))
    };
    let named = |subjects: &[SubjectSummary], name: String, metric: &str| {
        let subject = subjects.iter().find(|subject| subject.name == name);
        of(subject.ok_or_else(|| format!("{}: there is no {name}", marker.sweep))?, metric)
    };
    let tcp = |metric: &str| {
        let lasting = window
            .flows
            .iter()
            .filter(|flow| flow.node.as_deref() == Some(node) && flow.name.starts_with("tcp"));
        let each = lasting.map(|flow| of(flow, metric)).collect::<Result<Vec<_>, _>>()?;
        Ok::<_, String>(mean(&each).samples)
    };
    match source {
        Source::Receiver(metric) => named(&window.flows, format!("{flow}@{node}"), metric),
        Source::Group(metric) => named(&window.groups, format!("{node}/{flow}"), metric),
        Source::Tcp(metric) => tcp(metric),
        Source::Ratio => {
            let ours = named(&window.flows, format!("{flow}@{node}"), "throughput_kbps")?;
            let theirs = tcp("throughput_kbps")?;
            let ratio = |(ours, theirs): (Option<f64>, Option<f64>)| Some(ours? / theirs?);
            Ok(ours.into_iter().zip(theirs).map(ratio).collect())
        }
    }
}
