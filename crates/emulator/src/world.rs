//! The emulated world: a scenario of the laboratory between real hosts.
//!
//! Each node with an end of a flow is a host, or several. TCP and UDP flows are sockets of the kernel's in these hosts
//! (`traffic`), protocols are processes in them (`endpoints`), and the laboratory measures the links and what
//! receivers report by the code that measures simulated worlds. Replications run one after the other, each in the time
//! that it emulates.

mod bare;
mod endpoints;
mod hosts;
mod refusal;
mod relays;
mod running;
mod sessions;
mod traffic;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use layercast_core::units::Duration;
use layercast_laboratory::lint;
use layercast_laboratory::results::Replication;
use layercast_laboratory::run::{Outcome, RunError, RunRequest, World, outside};
use layercast_laboratory::scenario::Scenario;

use crate::emulation::{Emulation, Options, ReadRelayed};
use layercast_simulator::outside::Foreign;

pub use bare::{Bare, Carried};
pub use refusal::{Refused, congestion_controls};

/// What the emulated world needs besides a scenario.
pub struct WorldOptions<'a> {
    /// The program whose command `endpoint` runs an end of a session.
    pub program: PathBuf,
    /// Why that program cannot run an endpoint with these arguments, which follow `endpoint`.
    pub check: &'a dyn Fn(&[String]) -> Result<(), String>,
    /// How that program reads what its relays send.
    pub read_relayed: ReadRelayed,
    /// How late 99 % of the packets may be.
    pub limit: Duration,
}

/// Why a scenario could not be run in the emulated world.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// It has what the emulated world has not.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The emulation could not be made.
    #[error(transparent)]
    Emulation(#[from] crate::Error),
    /// It could not be run or measured.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Checks that the emulated world has all that a scenario asks for.
///
/// # Errors
/// All that it has not.
pub fn check(scenario: &Scenario, options: &WorldOptions<'_>) -> Result<(), Refused> {
    refusal::check(scenario, options)
}

/// Runs all replications of a scenario, one after the other. `progress` is called with the fraction done, from 0 to 1.
///
/// # Errors
/// [`WorldError`].
pub fn run(
    scenario: &Scenario,
    request: &RunRequest,
    options: &WorldOptions<'_>,
    progress: &dyn Fn(f64),
) -> Result<Outcome, WorldError> {
    check(scenario, options)?;
    let begun = Instant::now();
    let mut experiment = outside::experiment(scenario, request);
    experiment.world = "emulated";
    experiment.remarks.extend(refusal::remarks(scenario));
    let steps = outside::step_count(scenario) * scenario.replications as usize;
    let done = std::cell::Cell::new(0);
    let step = || {
        done.set(done.get() + 1);
        progress(f64::from(done.get()) / steps.max(1) as f64);
        ControlFlow::Continue(())
    };
    let mut replications = Vec::new();
    for number in 1..=scenario.replications {
        replications.push(replicate(scenario, number, options, &step)?);
    }
    experiment.findings = lint::emulated(lint::before(scenario, &request.text));
    experiment.findings.extend(lint::after(scenario, &request.text, &experiment.links, &replications));
    Ok(Outcome { experiment, replications, wall_s: begun.elapsed().as_secs_f64() })
}

fn replicate(
    scenario: &Scenario,
    number: u32,
    options: &WorldOptions<'_>,
    step: &dyn Fn() -> ControlFlow<()>,
) -> Result<Replication, WorldError> {
    let seed = outside::seed(scenario, number);
    let (network, nodes, links) = outside::network(scenario, seed)?;
    let hosts = hosts::Hosts::of(scenario);
    let mtu = refusal::largest_packet(scenario).max(1500);
    let carried =
        Options { mtu: u16::try_from(mtu).unwrap_or(u16::MAX), strangers: None, ..Options::default() };
    let mut emulation = Emulation::new(network, hosts.plans(scenario, &nodes), carried, seed)?;
    for edge in &scenario.edges {
        emulation.simulation_mut().set_edge(nodes[edge.node], edge.config);
    }
    hosts.allow_ecn(&emulation)?;
    let mut flows = Vec::new();
    let mut channels = Vec::new();
    let mut plans = Vec::new();
    for (index, session) in scenario.sessions.iter().enumerate() {
        let added =
            sessions::add(&mut emulation, options.read_relayed, scenario, index, seed, &hosts, &mut flows)?;
        channels.push(added.channels);
        plans.extend(added.endpoints);
        tracing::debug!(session = session.name, "session added");
    }
    let traffic = traffic::plan(&mut emulation, scenario, seed, &hosts, &mut flows)?;
    let endpoints = endpoints::Endpoints::start(&emulation, options, plans).map_err(RunError::Outside)?;
    let traffic = traffic::Traffic::open(traffic).map_err(RunError::Outside)?;
    let running = running::Emulated::start(emulation, endpoints, traffic, options.limit)?;
    let mut world = World::<Foreign> { running: Box::new(running), flows, links, channels };
    Ok(outside::measured(scenario, number, &mut world, step)?)
}
