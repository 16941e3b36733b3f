//! Worlds that something outside of the laboratory builds and advances: the parts of a scenario that they have in
//! common with simulated ones, and the same measuring.

use layercast_core::family::Family;
use layercast_core::stream::Stream;
use layercast_core::units::Time;
use layercast_simulator::{LinkId, Network, NodeId};

use super::observe::Observer;
use super::world::World;
use super::{RunError, build, measure, why};
use crate::results::Replication;
use crate::scenario::{Draw, FlowEnd, FlowPlan, Scenario, SessionPlan};

pub use super::build::{experiment, latency};
pub use super::measure::step_count;

/// The seed of a replication, counted from 1.
#[must_use]
pub fn seed(scenario: &Scenario, number: u32) -> u64 {
    Stream::new(scenario.seed, &format!("replication/{number}")).bits()
}

/// The network of a replication, its nodes in the order of the scenario and its links in the order of the results.
///
/// # Errors
/// If links contradict each other.
pub fn network(scenario: &Scenario, seed: u64) -> Result<(Network, Vec<NodeId>, Vec<LinkId>), RunError> {
    build::network(scenario, seed)
}

/// When a session starts.
#[must_use]
pub fn session_start(plan: &SessionPlan, seed: u64) -> Time {
    build::draw_time(plan.start, seed, &format!("start/{}", plan.name))
}

/// When a receiver of a session starts.
#[must_use]
pub fn receiver_start(plan: &SessionPlan, end: &FlowEnd, seed: u64) -> Time {
    let own = |draw: Draw<Time>| build::draw_time(draw, seed, &format!("start/{}", end.flow));
    plan.receivers_start.map_or_else(|| session_start(plan, seed), own)
}

/// When a unicast flow starts.
#[must_use]
pub fn flow_start(plan: &FlowPlan, end: &FlowEnd, seed: u64) -> Time {
    build::draw_time(plan.start, seed, &format!("start/{}", end.flow))
}

/// When the arrivals of a table of flows begin.
#[must_use]
pub fn arrivals_start(plan: &FlowPlan, seed: u64) -> Time {
    build::draw_time(plan.start, seed, &format!("start/{}", plan.name))
}

/// Runs a world to its end and measures it as a simulated one. `step` is called [`step_count`] times.
///
/// # Errors
/// What [`Running::run_until`](super::Running::run_until) returns, and [`RunError::Grew`].
pub fn measured<F: Family>(
    scenario: &Scenario,
    number: u32,
    world: &mut World<F>,
    step: &dyn Fn(),
) -> Result<Replication, RunError> {
    let cpu = cpu_time::ThreadTime::now();
    let mut observer = Observer::start(scenario, world, number, None)?;
    let mut replication = measure::measure(scenario, world, &mut observer, step)?;
    why::add_receivers(scenario, world, &build::flow_infos(scenario), &mut replication);
    if number == 1 {
        replication.paths = why::paths(world);
        why::add_changes(world, &mut replication);
    }
    replication.number = number;
    replication.engine.cpu_s = cpu.elapsed().as_secs_f64();
    Ok(replication)
}
