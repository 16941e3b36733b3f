//! `layercast sweep`: a scenario in every cell of a grid.

mod cluster;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use layercast_laboratory::lint;
use layercast_laboratory::results::directory::Holds;
use layercast_laboratory::sweep::{
    self, Grid, Progress as Begun, Store, SweepError, SweepRequest, SweepSummary,
};

use crate::failure::Failure;
use crate::output::{complain, counted, print, print_written, width};
use crate::program::Program;
use crate::progress::Progress;
use crate::scenario::{Scenario, load, prepare_for, repeated, trimmed, warn};

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) scenario: Scenario,

    /// Give a key several values: a list, a linear range such as 5s..60s/12, or a geometric range such
    /// as 1..128*2. Every combination of the values of all keys is run; may be repeated
    #[arg(long = "vary", value_name = "KEY=V1,V2,...", required = true)]
    pub(crate) vary: Vec<String>,

    /// Report these metrics from summary.json, or probe averages, instead of throughput_kbps,
    /// loss_rate, level_changes, mean_level and jain_index; may be repeated
    #[arg(long = "metric", value_name = "NAME,...", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) metrics: Vec<String>,

    /// Number of replications of each combination [default: from the scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) replications: Option<u32>,

    /// Seed of all random numbers, the same for all combinations [default: from the scenario]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,

    /// Run replications on the Dask cluster of this scheduler, such as tcp://host:8786, by the Python
    /// package of the same version
    #[arg(long, value_name = "ADDRESS", conflicts_with = "jobs")]
    pub(crate) on: Option<String>,

    /// Write sweep.json, sweep.parquet and report.html to this directory, and the state needed to
    /// resume to DIR/parts
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Print every statistic as comma-separated values in place of the table
    #[arg(long)]
    pub(crate) csv: bool,

    /// Do not show progress (it is shown only if standard error is a terminal)
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Distinguishes wrong input by the user from other failures.
fn failure(error: SweepError) -> Failure {
    if error.is_input() {
        return Failure::Input(error.to_string());
    }
    Failure::Other(anyhow::Error::new(error).context("the sweep failed"))
}

pub(crate) fn sweep(arguments: &Sweep, program: &Program) -> Result<(), Failure> {
    let source = load(&arguments.scenario.name)?;
    let request = SweepRequest {
        id: source.name,
        text: source.text,
        overrides: arguments.scenario.overrides.clone(),
        vary: arguments.vary.clone(),
        metrics: arguments.metrics.clone(),
        replications: arguments.replications,
        seed: arguments.seed,
        command: command_line(arguments, program.name),
    };
    let grid = (program.read_grid)(&request).map_err(failure)?;
    let found = grid.cells.iter().map(|cell| lint::before(&cell.plan, &grid.scenario_text));
    warn(&arguments.scenario, &lint::once(found))?;
    if let Some(foreign) = arguments.on.as_ref().and_then(|_| foreign_protocol(&grid, program)) {
        return Err(Failure::Input(format!(
            "error: --on: the Python package does not know {foreign}, which is none of Layercast's own protocols\n  \
             = help: leave --on out"
        )));
    }
    let _claim = prepare_for(Holds::Sweep, &arguments.out)?;
    let store = Store::open(&arguments.out, &grid).map_err(failure)?;

    let all = grid.cells.len() * grid.replications as usize;
    let mut begun = Begun::load(&grid, &store).map_err(failure)?;
    let done = begun.done();
    if done > 0 {
        complain(&format!("{done} of {} were there already", counted(all, "replication")));
    }
    if let Some(address) = arguments.on.as_ref().filter(|_| done < all) {
        cluster::run(address, &request, &arguments.out)?;
        // What the cluster ran is there now: nothing is left for this process.
        begun = Begun::load(&grid, &store).map_err(failure)?;
    }
    let missing = begun.missing().len();
    let what = format!("{}, {} to run", counted(grid.cells.len(), "cell"), counted(missing, "replication"));
    let progress = Progress::new(what, arguments.quiet);
    let jobs = arguments.jobs.map(|jobs| jobs as usize);
    let outcome = (program.sweep)(begun, jobs, &|share| progress.set(share)).map_err(failure)?;
    progress.finish();

    let summary = SweepSummary::new(&outcome);
    print(&if arguments.csv { summary.to_csv() } else { sweep::table::render(&outcome, width()) })?;
    let written =
        sweep::write_all(&arguments.out, &outcome, &summary).context("the results could not be written")?;
    Ok(print_written(
        arguments.csv,
        &format!(
            "\nReport   {}\nSweep    {}\nValues   {}\n",
            written.report.display(),
            written.summary.display(),
            written.values.display()
        ),
    )?)
}

/// A protocol of a session that other programs do not know.
fn foreign_protocol(grid: &Grid, program: &Program) -> Option<&'static str> {
    let foreign = program.foreign();
    let sessions = grid.cells.iter().flat_map(|cell| &cell.plan.sessions);
    sessions.map(|session| session.protocol.name()).find(|name| foreign.contains(name))
}

/// The command that repeats a sweep.
fn command_line(arguments: &Sweep, program: &str) -> String {
    let mut command = format!("{program} sweep {}", arguments.scenario.name);
    for vary in &arguments.vary {
        let _ = write!(command, " --vary '{vary}'");
    }
    for set in &arguments.scenario.overrides {
        let _ = write!(command, " --set '{set}'");
    }
    if !arguments.metrics.is_empty() {
        let _ = write!(command, " --metric {}", arguments.metrics.join(","));
    }
    repeated(command, arguments.replications, arguments.seed)
}
