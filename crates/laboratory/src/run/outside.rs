//! Worlds that something outside of the laboratory builds and advances: the parts of a scenario that they have in
//! common with simulated ones, and the same measuring.

use layercast_core::family::Family;
use layercast_core::session::SessionPlan as Session;
use layercast_core::stream::Stream;
use layercast_core::units::Time;
use layercast_simulator::{
    LinkId, Network, NodeId, ObjectConfig, ReceiverConfig, ReceiverId, ReceiverList, SessionConfig,
    Simulation,
};

use super::observe::Observer;
use super::world::{Advance, World};
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

/// Adds a session with its latencies, starts and object; the endpoints are the caller's. Returns the receivers in
/// the order of the scenario, and the number of channels.
///
/// # Errors
/// If the network does not connect its ends.
pub fn add_session<F: Family>(
    simulation: &mut Simulation<F>,
    plan: &SessionPlan,
    seed: u64,
    nodes: &[NodeId],
    source: F::Source,
    receiver: &mut dyn FnMut(&FlowEnd) -> F::Receiver,
) -> Result<(Vec<ReceiverId>, u16), RunError> {
    let requirements = plan.protocol.requirements();
    let session = Session { layers: plan.layers.clone(), packet_size: plan.packet_size };
    let channels = requirements.channels(&session);
    let mut receivers = ReceiverList::default();
    for end in &plan.receivers {
        receivers.push(ReceiverConfig {
            node: nodes[end.node],
            receiver: receiver(end),
            start: receiver_start(plan, end, seed),
            stop: plan.stop,
            join_latency: latency(plan.join_latency),
            leave_latency: latency(plan.leave_latency),
        });
    }
    let config = SessionConfig {
        source_node: nodes[plan.source],
        source,
        channels,
        ecn: plan.ecn,
        observes_late_packets: requirements.observes_late_packets(),
        name: plan.name.clone(),
        start: session_start(plan, seed),
        stop: plan.stop,
        receivers,
        packets: None,
        routers: None,
    };
    let ids = simulation.add_session(config)?;
    if let (Some(object), Some(id)) = (plan.object, ids.first()) {
        let packets = object.packets(plan.packet_size, false);
        let leave_when_complete = object.leave_when_complete;
        simulation.distribute(id.session(), ObjectConfig { packets, leave_when_complete });
    }
    Ok((ids, channels))
}

/// Runs a world to its end by `advance` and measures it as a simulated one. `step` is called
/// [`step_count`] times.
///
/// # Errors
/// What `advance` returns, and [`RunError::Grew`].
pub fn measured<F: Family>(
    scenario: &Scenario,
    number: u32,
    world: &mut World<F>,
    advance: &mut Advance<'_, F>,
    step: &dyn Fn(),
) -> Result<Replication, RunError> {
    let mut observer = Observer::start(scenario, world, number, None)?;
    let mut replication = measure::measure(scenario, world, &mut observer, advance, step)?;
    why::add_receivers(scenario, world, &build::flow_infos(scenario), &mut replication);
    if number == 1 {
        replication.paths = why::paths(world);
        why::add_changes(world, &mut replication);
    }
    replication.number = number;
    Ok(replication)
}
