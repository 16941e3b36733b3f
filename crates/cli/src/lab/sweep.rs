//! `layercast sweep`: a scenario in every cell of a grid.

pub(crate) mod cluster;

use layercast_protocols::registry::Registry;
use std::fmt::Write as _;

use anyhow::Context;
use layercast_laboratory::lint;
use layercast_laboratory::results::directory::Holds;
use layercast_laboratory::sweep::{
    self, Grid, Progress as Begun, Store, SweepError, SweepRequest, SweepSummary,
};

use crate::arguments::Sweep;
use crate::commands::{Failure, counted, load, prepare_for, repeated};
use crate::lab::warnings;
use crate::output::{complain, print, print_written, width};
use crate::progress::Progress;

/// Distinguishes wrong input by the user from other failures.
fn failure(error: SweepError) -> Failure {
    if error.is_input() {
        return Failure::Input(error.to_string());
    }
    Failure::Other(anyhow::Error::new(error).context("the sweep failed"))
}

pub(crate) fn sweep(arguments: &Sweep) -> Result<(), Failure> {
    let source = load(&arguments.scenario.name)?;
    let request = SweepRequest {
        id: source.name,
        text: source.text,
        overrides: arguments.scenario.overrides.clone(),
        vary: arguments.vary.clone(),
        metrics: arguments.metrics.clone(),
        replications: arguments.replications,
        seed: arguments.seed,
        command: command_line(arguments),
    };
    let grid = Grid::read::<Registry>(&request).map_err(failure)?;
    let found = grid.cells.iter().map(|cell| lint::before(&cell.plan, &grid.scenario_text));
    warnings::warn(&arguments.scenario, &lint::once(found))?;
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
    let outcome = begun.finish::<Registry>(jobs, &|share| progress.set(share)).map_err(failure)?;
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

/// The command that repeats a sweep.
fn command_line(arguments: &Sweep) -> String {
    let mut command = format!("layercast sweep {}", arguments.scenario.name);
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
