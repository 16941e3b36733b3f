//! Running a scenario: replications on all cores, each a world of its own.
//!
//! A replication depends on the scenario, the seed and its number alone, so the results are the same
//! whatever the number of threads.

mod applications;
mod build;
mod completions;
mod draws;
mod growth;
mod levels;
mod limits;
mod loss_events;
mod measure;
mod movement;
mod observe;
pub mod outside;
mod probe;
mod queue_delays;
mod stop;
mod values;
mod why;
mod world;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use layercast_core::family::Family;
use layercast_simulator::NetworkError;
use rayon::prelude::*;

use crate::lint;
use crate::results::{Experiment, Replication, ResultsError};
use crate::scenario::Scenario;

pub use build::BuildError;
pub use growth::UnboundedQueue;
pub use observe::Observation;
use observe::Observer;
pub use stop::Stop;
pub use world::{OutsideFlow, Running, World, WorldFlow, WorldFlowId};

/// What is run, besides the scenario itself.
#[derive(Clone, Debug, Default)]
pub struct RunRequest {
    /// The scenario's id (`thesis/simulation-2`) or file name.
    pub id: String,
    /// The scenario's text as it was run.
    pub text: String,
    /// The command line that repeats the run.
    pub command: String,
    /// How many threads; none for one per core.
    pub jobs: Option<usize>,
    /// What is written while it runs; nothing if absent.
    pub observation: Option<Observation>,
    /// A wish to stop while it runs.
    pub stop: Stop,
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was run.
    pub experiment: Experiment,
    /// What each replication measured, in order; of a run that was stopped, those that were done.
    pub replications: Vec<Replication>,
    /// Wall-clock time, in seconds.
    pub wall_s: f64,
}

/// Why a scenario could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The network does not connect the ends of a flow.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A queue without a limit has grown without end.
    #[error(transparent)]
    Grew(#[from] UnboundedQueue),
    /// What is observed could not be written.
    #[error(transparent)]
    Observe(#[from] ResultsError),
    /// What advances a world from outside could not go on; the text says why.
    #[error("{0}")]
    Outside(String),
    /// [`Stop::wish`] was called before any replication was done.
    #[error("stopped")]
    Stopped,
    /// Threads could not be started.
    #[error("cannot start {jobs} threads; ask for fewer with --jobs")]
    Threads {
        /// How many were asked for.
        jobs: usize,
    },
}

/// Runs all replications of a scenario. `progress` is called with the fraction done, from 0 to 1, on any
/// thread.
///
/// # Errors
/// [`RunError`].
pub fn run<F: Family>(
    scenario: &Scenario,
    request: &RunRequest,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Outcome, RunError> {
    #[allow(
        clippy::disallowed_methods,
        reason = "what a run cost is reported; its results do not depend on it"
    )]
    let begun = Instant::now();
    let mut experiment = build::experiment(scenario, request);
    let jobs = request.jobs.unwrap_or(0);
    tracing::info!(scenario = request.id, replications = scenario.replications, jobs, "run starts");
    let pool = pool(request.jobs)?;
    let steps_done = AtomicU64::new(0);
    let total = measure::step_count(scenario) as u64 * u64::from(scenario.replications);
    let step = || {
        let done = steps_done.fetch_add(1, Ordering::Relaxed) + 1;
        progress(done as f64 / total.max(1) as f64);
        request.stop.flow()
    };
    let replications = pool.install(|| {
        (1..=scenario.replications)
            .into_par_iter()
            .map(|number| {
                if request.stop.is_wished() {
                    return Ok(None);
                }
                match replicate::<F>(scenario, number, request.observation.as_ref(), &step) {
                    Err(RunError::Stopped) => Ok(None),
                    done => done.map(Some),
                }
            })
            .collect::<Result<Vec<_>, RunError>>()
    })?;
    let replications: Vec<Replication> = replications.into_iter().flatten().collect();
    if replications.is_empty() && request.stop.is_wished() {
        return Err(RunError::Stopped);
    }
    if let Some(observation) = request.observation.as_ref().filter(|observation| observation.notes) {
        observe::join_notes(&observation.directory, scenario.replications)?;
    }
    experiment.findings = lint::before(scenario, &request.text);
    experiment.findings.extend(lint::after(scenario, &request.text, &experiment.links, &replications));
    Ok(Outcome { experiment, replications, wall_s: begun.elapsed().as_secs_f64() })
}

/// The built-in family is simulated by code of this crate, so that builds with little optimisation, which share
/// generic code between crates, do not generate it again in each program and test.
#[used]
static BUILT_IN: Run = run::<layercast_builtin::BuiltIn>;

/// [`run()`] for one family.
type Run = fn(&Scenario, &RunRequest, &(dyn Fn(f64) + Sync)) -> Result<Outcome, RunError>;

/// Runs one replication, counted from 1. `step` is called after each bin of the time series, and may stop it.
pub(crate) fn replicate<F: Family>(
    scenario: &Scenario,
    number: u32,
    observation: Option<&Observation>,
    step: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> Result<Replication, RunError> {
    F::hosting(|| replicate_here::<F>(scenario, number, observation, step))
}

fn replicate_here<F: Family>(
    scenario: &Scenario,
    number: u32,
    observation: Option<&Observation>,
    step: &dyn Fn() -> ControlFlow<()>,
) -> Result<Replication, RunError> {
    let seed = draws::seed(scenario, number);
    let cpu = cpu_time::ThreadTime::now();
    let mut world = build::world::<F>(scenario, seed)?;
    tracing::debug!(number, seed, "replication starts");
    let mut observer = Observer::start(scenario, &mut world, number, observation)?;
    let mut replication = measure::measure(scenario, &mut world, &mut observer, step)?;
    observer.finish()?;
    why::add_receivers(scenario, &world, &build::flow_infos(scenario), &mut replication);
    replication.paths = why::paths(&world);
    if number == 1 {
        why::add_changes(&world, &mut replication);
    }
    replication.number = number;
    replication.engine.cpu_s = cpu.elapsed().as_secs_f64();
    let engine = &replication.engine;
    tracing::debug!(number, engine.events, engine.packet_hops, engine.cpu_s, "replication done");
    Ok(replication)
}

/// What a scenario is to the results.
pub(crate) fn experiment(scenario: &Scenario, request: &RunRequest) -> Experiment {
    build::experiment(scenario, request)
}

/// The text of a scenario with its overrides, which distinguishes runs.
#[must_use]
pub fn as_run(text: &str, overrides: &[String]) -> String {
    overrides.iter().fold(text.to_owned(), |text, set| format!("{text}\n# --set {set}"))
}

/// A digest of a scenario's text alone.
pub(crate) fn text_hash(text: &str) -> String {
    build::hash(text, &Scenario::default())
}

/// How many times a replication of the scenario calls its `step`.
pub(crate) fn step_count(scenario: &Scenario) -> usize {
    measure::step_count(scenario)
}

/// Builds a world and throws it away, to find out whether that can be done.
pub(crate) fn try_build<F: Family>(scenario: &Scenario) -> Result<(), RunError> {
    build::world::<F>(scenario, scenario.seed).map(|_| ())
}

/// Starts the threads that replications run on: none is one per core.
pub(crate) fn pool(jobs: Option<usize>) -> Result<rayon::ThreadPool, RunError> {
    let jobs = jobs.unwrap_or(0);
    rayon::ThreadPoolBuilder::new().num_threads(jobs).build().map_err(|_| RunError::Threads { jobs })
}

/// The largest resident memory of this process so far, where the system reports it (Linux does).
pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
