//! When receivers had the object of their session: the share of them over time.

use std::collections::BTreeMap;

use super::chart::{Chart, Named};
use super::distributions::distribution;
use super::palette::Palette;
use crate::results::error::ResultsError;
use crate::results::summary::{FlowSummary, Summary};

/// When the receivers of one session had the object, in seconds since the start of the source, and how many could
/// have had it, over all replications.
struct Times<'a> {
    session: &'a str,
    protocol: &'a str,
    times: Vec<f64>,
    total: usize,
}

/// The share of each session's receivers that have the object, over time since the source's start. None if no
/// session has one.
pub(super) fn cdf(summary: &Summary, palette: &Palette) -> Result<Option<String>, ResultsError> {
    let sessions = sessions(summary);
    if sessions.is_empty() {
        return Ok(None);
    }
    let last = sessions.iter().flat_map(|session| &session.times).copied().fold(0.0, f64::max);
    // To the end where some never have it, else a little beyond the last.
    let all = sessions.iter().all(|session| session.times.len() == session.total);
    let end = if all && last > 0.0 { (last * 1.05).min(summary.duration_s) } else { summary.duration_s };
    let named = |Times { session, protocol, times, total }: Times<'_>| Named {
        name: session.to_owned(),
        ink: palette.ink(protocol),
        curve: distribution(times, total).into_iter().map(|(time, share)| (time, share * 100.0)).collect(),
    };
    let chart = Chart {
        label: "Share of receivers with the object over time",
        axes: ("s since the source’s start", "share of receivers with the object, %"),
        x: 0.0..end,
        y: Some(0.0..100.0),
        measured: None,
        is_steps: true,
        curves: sessions.into_iter().map(named).collect(),
    };
    chart.svg().map(Some)
}

fn sessions<'a>(summary: &'a Summary) -> Vec<Times<'a>> {
    let mut sessions: BTreeMap<&str, Vec<&FlowSummary>> = BTreeMap::new();
    for flow in summary.flows.iter().filter(|flow| flow.measures.complete.is_some()) {
        sessions.entry(flow.session.as_deref().unwrap_or_default()).or_default().push(flow);
    }
    let times = |(session, flows): (&'a str, Vec<&'a FlowSummary>)| {
        let all = flows.iter().filter_map(|flow| flow.measures.completion_since_source_s.as_ref());
        let samples: Vec<Option<f64>> = all.flat_map(|statistic| statistic.samples.iter().copied()).collect();
        let total = samples.len();
        let protocol = flows.first().map_or("", |flow| flow.protocol.as_str());
        Times { session, protocol, times: samples.into_iter().flatten().collect(), total }
    };
    sessions.into_iter().map(times).collect()
}
