//! Worlds that something outside of the laboratory builds and advances: the parts of a scenario that they have in
//! common with simulated ones, and the same measuring.

use std::ops::ControlFlow;

use layercast_core::family::Family;
use layercast_simulator::{LinkId, Network, NodeId};

use super::observe::Observer;
use super::world::World;
use super::{RunError, build, measure, why};
use crate::results::Replication;
use crate::scenario::Scenario;

pub use super::build::{experiment, latency};
pub use super::draws::{arrivals_start, flow_start, receiver_start, seed, session_start};
pub use super::measure::step_count;

/// The network of a replication, its nodes in the order of the scenario and its links in the order of the results.
///
/// # Errors
/// If links contradict each other.
pub fn network(scenario: &Scenario, seed: u64) -> Result<(Network, Vec<NodeId>, Vec<LinkId>), RunError> {
    build::network(scenario, seed)
}

/// Runs a world to its end and measures it as a simulated one. `step` is called [`step_count`] times,
/// and may stop it.
///
/// # Errors
/// What [`Running::run_until`](super::Running::run_until) returns, [`RunError::Grew`], and [`RunError::Stopped`].
pub fn measured<F: Family>(
    scenario: &Scenario,
    number: u32,
    world: &mut World<F>,
    step: &dyn Fn() -> ControlFlow<()>,
) -> Result<Replication, RunError> {
    let cpu = cpu_time::ThreadTime::now();
    let mut observer = Observer::start(scenario, world, number, None)?;
    let mut replication = measure::measure(scenario, world, &mut observer, step)?;
    why::add_receivers(scenario, world, &build::flow_infos(scenario), &mut replication);
    replication.paths = why::paths(world);
    if number == 1 {
        why::add_changes(world, &mut replication);
    }
    replication.number = number;
    replication.engine.cpu_s = cpu.elapsed().as_secs_f64();
    Ok(replication)
}
