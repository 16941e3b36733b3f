//! What each replication draws: its seed, times of starts, delays. All worlds draw the same.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

use crate::scenario::{Draw, FlowEnd, FlowPlan, Scenario, SessionPlan};

/// The seed of a replication, counted from 1.
#[must_use]
pub fn seed(scenario: &Scenario, number: u32) -> u64 {
    Stream::new(scenario.seed, &format!("replication/{number}")).bits()
}

/// When a session starts.
#[must_use]
pub fn session_start(plan: &SessionPlan, seed: u64) -> Time {
    draw_time(plan.start, seed, &format!("start/{}", plan.name))
}

/// When a receiver of a session starts.
#[must_use]
pub fn receiver_start(plan: &SessionPlan, end: &FlowEnd, seed: u64) -> Time {
    let own = |draw: Draw<Time>| draw_time(draw, seed, &format!("start/{}", end.flow));
    plan.receivers_start.map_or_else(|| session_start(plan, seed), own)
}

/// When a unicast flow starts.
#[must_use]
pub fn flow_start(plan: &FlowPlan, end: &FlowEnd, seed: u64) -> Time {
    draw_time(plan.start, seed, &format!("start/{}", end.flow))
}

/// When the arrivals of a table of flows begin.
#[must_use]
pub fn arrivals_start(plan: &FlowPlan, seed: u64) -> Time {
    draw_time(plan.start, seed, &format!("start/{}", plan.name))
}

pub(super) fn draw_span(draw: Draw<Duration>, seed: u64, name: &str) -> Duration {
    match draw {
        Draw::Fixed(span) => span,
        Draw::Uniform { low, high } => {
            low + Stream::new(seed, name).uniform_duration(high.saturating_sub(low))
        }
    }
}

fn draw_time(draw: Draw<Time>, seed: u64, name: &str) -> Time {
    Time::ZERO + draw_span(draw.map(|time| time.since(Time::ZERO)), seed, name)
}
