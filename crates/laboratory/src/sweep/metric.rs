//! The metrics that a sweep can report for each cell.

use std::borrow::Cow;

use super::error::in_flag;
use crate::results::text::Style;
use crate::scenario::{Catalogue, Gauge, ScenarioError, nearest};

/// The kind of subject that a metric measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One receiver's reception or one connection.
    Flow,
    /// Flows that should share fairly.
    Group,
    /// A link in one direction.
    Link,
}

impl Kind {
    /// `flow`, `group` or `link`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Group => "group",
            Self::Link => "link",
        }
    }
}

/// A measure of the summary or the mean of a probe, described in `docs/results.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Its name, with the unit: `throughput_kbps`.
    pub name: &'static str,
    /// The kind of its subject.
    pub kind: Kind,
    /// The heading of its column in tables.
    pub heading: &'static str,
    /// The heading of its plots.
    pub title: Cow<'static, str>,
}

const fn metric(name: &'static str, kind: Kind, heading: &'static str, title: &'static str) -> Metric {
    Metric { name, kind, heading, title: Cow::Borrowed(title) }
}

/// All metrics but gauges, in the order of the results.
pub static METRICS: [Metric; 47] = [
    metric("throughput_kbps", Kind::Flow, "kbit/s", "Throughput in kbit/s"),
    metric("share_of_tcp", Kind::Flow, "of TCP", "Throughput over that of the TCP next to it"),
    metric("loss_rate", Kind::Flow, "loss", "Loss in %"),
    metric("lost_packets", Kind::Flow, "lost", "Packets lost"),
    metric("late_kbps", Kind::Flow, "late, kbit/s", "Late data in kbit/s"),
    metric("level_changes", Kind::Flow, "level changes", "Level changes"),
    metric("mean_level", Kind::Flow, "mean level", "Mean level"),
    metric("settled_after_s", Kind::Flow, "settled, s", "Settled after, in s"),
    metric("joins_per_min", Kind::Flow, "joins/min", "Joins a minute"),
    metric("leaves_per_min", Kind::Flow, "leaves/min", "Leaves a minute"),
    metric("level_changes_per_min", Kind::Flow, "changes/min", "Level changes a minute"),
    metric("fair_level_after_s", Kind::Flow, "fair level, s", "Fair level first held after, in s"),
    metric("fell_after_s", Kind::Flow, "fell, s", "Level fell after, in s"),
    metric("recovered_after_s", Kind::Flow, "recovered, s", "Level recovered after, in s"),
    metric("channel_joins_per_s", Kind::Flow, "joins/s", "Joins of channels a second"),
    metric("channel_leaves_per_s", Kind::Flow, "leaves/s", "Leaves of channels a second"),
    metric("loss_events_per_min", Kind::Flow, "events/min", "Loss events caused, a minute"),
    metric("own_lost_per_event", Kind::Flow, "own lost", "Own packets lost in a loss event caused"),
    metric(
        "others_lost_per_event",
        Kind::Flow,
        "others' lost",
        "Others' packets lost in a loss event caused",
    ),
    metric("transfers", Kind::Flow, "transfers", "Transfers that ended"),
    metric(
        "completion_s",
        Kind::Flow,
        "completion, s",
        "Mean completion time of transfers or an object in s",
    ),
    metric(
        "completion_since_source_s",
        Kind::Flow,
        "since source, s",
        "Completion of an object since the source's start in s",
    ),
    metric("complete", Kind::Flow, "complete", "Receivers that had the object, in %"),
    metric("object_received", Kind::Flow, "received", "Part of the object received, in %"),
    metric("rebuffering", Kind::Flow, "stalled", "Time in which a video stood still, in %"),
    metric("video_kbps", Kind::Flow, "video, kbit/s", "Bit rate of a video in kbit/s"),
    metric("startup_s", Kind::Flow, "began, s", "Start-up delay of a video in s"),
    metric("delay_ms", Kind::Flow, "delay, ms", "One-way delay of a call in ms"),
    metric(
        "delay_p99_ms",
        Kind::Flow,
        "99 % under, ms",
        "One-way delay of a call not exceeded by 99 %, in ms",
    ),
    metric("over_150ms", Kind::Flow, "over 150 ms", "Packets of a call later than 150 ms, in %"),
    metric("limited_by_window", Kind::Flow, "by window", "Time limited by the receiver's window, in %"),
    metric("limited_by_application", Kind::Flow, "by application", "Time limited by the application, in %"),
    metric("limited_by_network", Kind::Flow, "by network", "Time limited by the network, in %"),
    metric("rate_kbps", Kind::Flow, "own rate, kbit/s", "Calculated rate in kbit/s"),
    metric("smoothed_rate_kbps", Kind::Flow, "smoothed, kbit/s", "Smoothed rate in kbit/s"),
    metric("loss", Kind::Flow, "own loss", "Loss (event) rate that a receiver estimates, in %"),
    metric("rtt_ms", Kind::Flow, "RTT, ms", "Round-trip time that a receiver estimates, in ms"),
    metric("cwnd_packets", Kind::Flow, "window", "Congestion window in packets"),
    metric("flight_packets", Kind::Flow, "in flight", "Packets in flight"),
    metric("jain_index", Kind::Group, "Jain index", "Jain index"),
    metric("utilisation", Kind::Link, "utilisation", "Utilisation in %"),
    metric("drops", Kind::Link, "drops", "Packets dropped"),
    metric("marks", Kind::Link, "marks", "Packets marked"),
    metric("mean_queue_packets", Kind::Link, "mean queue", "Mean queue in packets"),
    metric("queue_delay_ms", Kind::Link, "queue, ms", "Mean queueing delay in ms"),
    metric(
        "queue_delay_p95_ms",
        Kind::Link,
        "95 % under, ms",
        "Queueing delay not exceeded for 95 % of the time, in ms",
    ),
    metric(
        "queue_delay_p99_ms",
        Kind::Link,
        "99 % under, ms",
        "Queueing delay not exceeded for 99 % of the time, in ms",
    ),
];

/// The metrics reported by default.
pub const DEFAULTS: [&str; 5] = ["throughput_kbps", "loss_rate", "level_changes", "mean_level", "jain_index"];

/// The metric that comes from probes of a gauge.
fn of_gauge(gauge: Gauge) -> Metric {
    let (name, spec) = (gauge.name(), gauge.spec);
    let unit = if Style::of(name) == Style::Percent { "%" } else { spec.unit };
    let title = format!("{} In {unit}.", spec.doc);
    Metric { name, kind: Kind::Flow, heading: name, title: Cow::Owned(title) }
}

/// All metrics, in the order of the results: what protocols show of flows comes after what all flows
/// have.
pub fn all(catalogue: &Catalogue) -> Vec<Metric> {
    let of_flows = METRICS.iter().take_while(|metric| metric.kind == Kind::Flow);
    let mut all: Vec<Metric> = of_flows.cloned().collect();
    let rest = METRICS.get(all.len()..).unwrap_or_default();
    for gauge in catalogue.names().into_iter().flat_map(|name| catalogue.gauges(name).iter()) {
        if all.iter().all(|known| known.name != gauge.name()) {
            all.push(of_gauge(gauge));
        }
    }
    all.extend_from_slice(rest);
    all
}

/// The metrics of these names, each once, in the order of [`all`]; the defaults of none.
///
/// # Errors
/// The names that are unknown, each with the nearest.
pub(super) fn choose(names: &[String], catalogue: &Catalogue) -> Result<Vec<Metric>, Vec<ScenarioError>> {
    let all = all(catalogue);
    let known = || all.iter().map(|metric| metric.name);
    let unknown = names.iter().filter(|name| !known().any(|known| known == name.as_str()));
    let mistakes: Vec<ScenarioError> = unknown
        .map(|name| {
            let common = METRICS.iter().map(|metric| metric.name).collect::<Vec<_>>().join(", ");
            let allowed = format!("{common}, or a gauge of a protocol (`layercast list PROTOCOL`)");
            let error = in_flag("--metric", name, 0..name.len(), "there is no such metric", &allowed);
            ScenarioError { nearest: nearest(name, known()), ..error }
        })
        .collect();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let is_chosen = |metric: &Metric| {
        if names.is_empty() {
            DEFAULTS.contains(&metric.name)
        } else {
            names.iter().any(|name| name == metric.name)
        }
    };
    Ok(all.into_iter().filter(is_chosen).collect())
}
