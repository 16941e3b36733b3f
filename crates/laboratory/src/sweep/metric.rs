//! What a sweep may tell of each cell.

use super::error::in_flag;
use crate::scenario::{ScenarioError, nearest};

/// What a measure is about.
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
#[derive(Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name, with the unit: `throughput_kbps`.
    pub name: &'static str,
    /// What it is about.
    pub kind: Kind,
    /// The heading of its column in tables.
    pub heading: &'static str,
    /// The heading of its plots.
    pub title: &'static str,
}

const fn metric(name: &'static str, kind: Kind, heading: &'static str, title: &'static str) -> Metric {
    Metric { name, kind, heading, title }
}

/// All metrics, in the order in which results tell them.
pub static METRICS: [Metric; 39] = [
    metric("throughput_kbps", Kind::Flow, "kbit/s", "Throughput in kbit/s"),
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
    metric("completion_s", Kind::Flow, "completion, s", "Mean completion time of transfers in s"),
    metric("rate_kbps", Kind::Flow, "own rate, kbit/s", "Calculated rate in kbit/s"),
    metric("smoothed_rate_kbps", Kind::Flow, "smoothed, kbit/s", "Smoothed rate in kbit/s"),
    metric("loss", Kind::Flow, "own loss", "Loss (event) rate that a receiver believes, in %"),
    metric("rtt_ms", Kind::Flow, "RTT, ms", "Round-trip time that a receiver believes, in ms"),
    metric("cwnd_packets", Kind::Flow, "window", "Congestion window in packets"),
    metric("flight_packets", Kind::Flow, "in flight", "Packets in flight"),
    metric("lip_loss", Kind::Flow, "LIP", "Loss event rate (LIP) in %"),
    metric("lap_loss", Kind::Flow, "LAP", "Loss rate by aggregation periods (LAP) in %"),
    metric("packet_loss", Kind::Flow, "fraction", "Packet loss fraction in %"),
    metric("lip_rate_kbps", Kind::Flow, "LIP, kbit/s", "Calculated rate by LIP in kbit/s"),
    metric("lap_rate_kbps", Kind::Flow, "LAP, kbit/s", "Calculated rate by LAP in kbit/s"),
    metric("packets", Kind::Flow, "packets", "Packets that loss estimators took"),
    metric("lip_losses", Kind::Flow, "LIP events", "Loss events (LIP)"),
    metric("lap_losses", Kind::Flow, "LAP losses", "Losses that counted (LAP)"),
    metric("jain_index", Kind::Group, "Jain index", "Jain index"),
    metric("utilisation", Kind::Link, "utilisation", "Utilisation in %"),
    metric("drops", Kind::Link, "drops", "Packets dropped"),
    metric("marks", Kind::Link, "marks", "Packets marked"),
    metric("mean_queue_packets", Kind::Link, "mean queue", "Mean queue in packets"),
];

/// What is told if nothing is chosen.
pub const DEFAULTS: [&str; 5] = ["throughput_kbps", "loss_rate", "level_changes", "mean_level", "jain_index"];

/// The metrics of these names, each once, in the order of [`METRICS`]; the defaults of none.
///
/// # Errors
/// The names that are unknown, each with the nearest.
pub(super) fn choose(names: &[String]) -> Result<Vec<&'static Metric>, Vec<ScenarioError>> {
    let known = || METRICS.iter().map(|metric| metric.name);
    let unknown = names.iter().filter(|name| !known().any(|known| known == name.as_str()));
    let mistakes: Vec<ScenarioError> = unknown
        .map(|name| {
            let allowed = known().collect::<Vec<_>>().join(", ");
            let error = in_flag("--metric", name, 0..name.len(), "there is no such metric", &allowed);
            ScenarioError { nearest: nearest(name, known()), ..error }
        })
        .collect();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let is_chosen = |metric: &&Metric| {
        if names.is_empty() {
            DEFAULTS.contains(&metric.name)
        } else {
            names.iter().any(|name| name == metric.name)
        }
    };
    Ok(METRICS.iter().filter(is_chosen).collect())
}
