//! The AMCA report: the experiments of section 5, and what the values do that it leaves open.

mod bottlenecks;
mod convergence;
mod factors;
mod runs;
mod sharing;
mod studies;
mod transfer;

use crate::frame::figure::{Paper, Variant};

/// All that is regenerated.
pub(crate) fn paper() -> Paper {
    let variant = |name, with, replaced: fn(&studies::TimeSeries) -> &'static str| Variant {
        name,
        with,
        replaced: studies::COURSES
            .iter()
            .map(|time_series| (time_series.backlog, replaced(time_series)))
            .collect(),
    };
    let mut figures = vec![convergence::figure()];
    figures.extend(sharing::figures());
    figures.push(transfer::figure());
    figures.extend(bottlenecks::figures());
    figures.extend(factors::figures());
    Paper {
        name: "amca",
        title: "The AMCA report",
        claims: include_str!("../../claims/amca.toml"),
        prose: include_str!("../../claims/amca.txt"),
        studies: studies::studies(),
        // Queues never fill: Vegas and AMCA keep a few packets each in one of 50.
        readings: Vec::new(),
        variants: vec![
            variant("known", "the empty path known", |time_series| time_series.known),
            variant("count", "the profile `count`", |time_series| time_series.count),
            variant("literal", "the profile `literal`", |time_series| time_series.literal),
        ],
        figures,
    }
}

#[cfg(test)]
mod tests;
