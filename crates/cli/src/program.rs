//! A program with the protocols of a family: what its commands need that is compiled for them.

use clap::Command;
use layercast_core::family::{AnyProtocol as _, Family};
use layercast_laboratory::BuiltIn;
use layercast_laboratory::compare::{self, Candidate, CompareError, Prepared};
use layercast_laboratory::run::{self, Outcome, RunError, RunRequest};
use layercast_laboratory::scenario::{Catalogue, Scenario};
use layercast_laboratory::scoreboard::{self, ScoreboardError};
use layercast_laboratory::sweep::{self, Grid, SweepError, SweepRequest};

/// Called with the fraction done, on any thread.
type Progress<'a> = &'a (dyn Fn(f64) + Sync);

/// A program. All code of the commands is compiled once; what simulates is compiled for each family and called through these
/// functions of the laboratory.
#[allow(clippy::type_complexity, reason = "each type is that of one function")]
pub(crate) struct Program {
    /// What the commands that its results name begin with.
    pub(crate) name: &'static str,
    /// Its protocols.
    pub(crate) catalogue: Catalogue,
    pub(crate) run: fn(&Scenario, &RunRequest, Progress<'_>) -> Result<Outcome, RunError>,
    pub(crate) read_grid: fn(&SweepRequest) -> Result<Grid, SweepError>,
    pub(crate) sweep: for<'g> fn(
        sweep::Progress<'g>,
        Option<usize>,
        Progress<'_>,
    ) -> Result<sweep::Outcome<'g>, SweepError>,
    pub(crate) compare: fn(
        Prepared,
        Option<usize>,
        &(dyn Fn(&Candidate, f64) + Sync),
    ) -> Result<compare::Results, CompareError>,
    pub(crate) scoreboard: fn(
        scoreboard::Progress<'_>,
        Option<usize>,
        Progress<'_>,
    ) -> Result<Vec<scoreboard::Done>, ScoreboardError>,
    /// Describes its command line.
    pub(crate) description: fn() -> Command,
    /// The flags that modes of its commands refuse, as text.
    pub(crate) modes: fn() -> String,
}

impl Program {
    /// The program of a family.
    pub(crate) fn of<F: Family>(
        name: &'static str,
        description: fn() -> Command,
        modes: fn() -> String,
    ) -> Program {
        Program {
            name,
            catalogue: Catalogue::of::<F>(),
            run: run::run::<F>,
            read_grid: Grid::read::<F>,
            sweep: |begun, jobs, progress| begun.finish::<F>(jobs, progress),
            compare: compare::run_all::<F>,
            scoreboard: |begun, jobs, progress| begun.finish::<F>(jobs, progress),
            description,
            modes,
        }
    }

    /// Its protocols that are not Layercast's own, which other programs know nothing of.
    pub(crate) fn foreign(&self) -> Vec<&'static str> {
        let own = <BuiltIn as Family>::Protocol::names();
        self.catalogue.names().into_iter().filter(|name| !own.contains(name)).collect()
    }
}
