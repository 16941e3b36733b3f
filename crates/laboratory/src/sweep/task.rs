//! One replication of one cell as a task for another process or machine.

use layercast_core::family::Family;
use serde::{Deserialize, Serialize};

use super::error::SweepError;
use super::grid::{self, Cell, Grid};
use super::part::Part;
use crate::results::{ResultsError, json};
use crate::run;
use crate::scenario::Catalogue;

/// All that a process needs which knows nothing of the sweep. The part that it gives is, byte for byte, the file
/// that the sweep itself would have written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// What made the task, see [`Task::made_by`].
    made_by: String,
    scenario: String,
    text: String,
    /// What is changed in this cell.
    overrides: Vec<String>,
    scenario_hash: String,
    cell: usize,
    replication: u32,
}

impl Grid {
    /// The task of one replication of a cell of this grid.
    #[must_use]
    pub fn task(&self, cell: &Cell, replication: u32) -> Task {
        Task {
            made_by: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: self.scenario.clone(),
            text: self.text.clone(),
            overrides: [self.common.clone(), grid::own(&self.axes, &cell.at)].concat(),
            scenario_hash: cell.experiment.scenario_hash.clone(),
            cell: cell.number,
            replication,
        }
    }
}

impl Task {
    /// The task, made by a build that this text distinguishes from others.
    #[must_use]
    pub fn made_by(self, build: &str) -> Task {
        Task { made_by: build.to_owned(), ..self }
    }

    /// Runs the replication on this thread and gives the bytes of its part, for [`Store::take`](super::Store::take).
    /// `build` is that of this process.
    ///
    /// # Errors
    /// [`SweepError::OtherMachine`] if another build made the task, or a file that the scenario names differs here;
    /// a replication that cannot be run.
    pub fn run<F: Family>(&self, build: &str) -> Result<Vec<u8>, SweepError> {
        let (cell, replication) = (self.cell, self.replication);
        let other = |reason: String| SweepError::OtherMachine { cell, replication, reason };
        if self.made_by != build {
            return Err(other(format!(
                "the sweep is of Layercast {}, this process of {build}",
                self.made_by
            )));
        }
        let deciding: Vec<String> = self.overrides.iter().filter(|set| grid::decides(set)).cloned().collect();
        let (plan, experiment) =
            grid::planned(&self.scenario, &self.text, &self.overrides, &deciding, "", &Catalogue::of::<F>())
                .map_err(|errors| other(format!("the scenario cannot be read here\n{errors}")))?;
        if experiment.scenario_hash != self.scenario_hash {
            return Err(other("a file that the scenario names differs here".to_owned()));
        }
        let go_on = || std::ops::ControlFlow::Continue(());
        let measured = run::replicate::<F>(&plan, replication, None, &go_on)?;
        let text = json::to_string(&Part::new(&experiment, &plan.probes, &measured))
            .map_err(|source| ResultsError::Write { path: "the part".into(), source: source.into() })?;
        Ok(text.into_bytes())
    }
}
