//! Runs what a directory does not have yet, on all cores.

use layercast_core::family::Family;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::error::SweepError;
use super::grid::{Cell, Grid};
use super::part::Part;
use super::store::Store;
use crate::run::{self, Stop};

/// The results of a sweep.
#[derive(Debug, Clone)]
pub struct Outcome<'g> {
    /// The grid.
    pub grid: &'g Grid,
    /// By cell, in the order of the grid's; then by replication.
    pub parts: Vec<Vec<Part>>,
}

/// A sweep of which some replications may be done.
#[derive(Debug)]
pub struct Progress<'g> {
    grid: &'g Grid,
    store: &'g Store,
    /// By cell, then by replication.
    parts: Vec<Vec<Option<Part>>>,
    stop: Stop,
}

impl<'g> Progress<'g> {
    /// Reads what the store has.
    ///
    /// # Errors
    /// A part that cannot be read.
    pub fn load(grid: &'g Grid, store: &'g Store) -> Result<Progress<'g>, SweepError> {
        let of_cell = |cell: &Cell| {
            (1..=grid.replications).map(|number| store.load(cell, number)).collect::<Result<Vec<_>, _>>()
        };
        let parts = grid.cells.iter().map(of_cell).collect::<Result<_, _>>()?;
        Ok(Progress { grid, store, parts, stop: Stop::default() })
    }

    /// How many replications are done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.parts.iter().flatten().flatten().count()
    }

    /// Which are not: the index of the cell in the grid, and the replication's number.
    #[must_use]
    pub fn missing(&self) -> Vec<(usize, u32)> {
        let cells = self.parts.iter().enumerate();
        let of_cell = |(cell, parts): (usize, &'_ Vec<Option<Part>>)| {
            let numbered = (1..).zip(parts).filter(|(_, part)| part.is_none());
            numbered.map(|(number, _)| (cell, number)).collect::<Vec<_>>()
        };
        cells.flat_map(of_cell).collect()
    }

    /// What is done, by cell, in the order of the grid's; then by replication.
    #[must_use]
    pub fn into_done(self) -> Outcome<'g> {
        let parts = self.parts.into_iter().map(|parts| parts.into_iter().flatten().collect()).collect();
        Outcome { grid: self.grid, parts }
    }

    /// The same, with a wish to stop: [`finish`](Progress::finish) then ends with [`RunError::Stopped`].
    ///
    /// [`RunError::Stopped`]: crate::run::RunError::Stopped
    #[must_use]
    pub fn stopped_by(self, stop: &Stop) -> Progress<'g> {
        Progress { stop: stop.clone(), ..self }
    }

    /// Runs the others. Each is in the store as soon as it is done. `progress` is called with the fraction
    /// done of the remaining ones, from 0 to 1, on any thread. None for `jobs` is a thread for each core.
    ///
    /// # Errors
    /// A replication that cannot be run, a part that cannot be written. The replications completed before
    /// that are in the store.
    pub fn finish<F: Family>(
        mut self,
        jobs: Option<usize>,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Outcome<'g>, SweepError> {
        let (grid, store, done, stop) = (self.grid, self.store, self.done(), self.stop.clone());
        let mut missing: Vec<(&Cell, u32, &mut Option<Part>)> = Vec::new();
        for (cell, parts) in grid.cells.iter().zip(&mut self.parts) {
            let numbered = (1..).zip(parts).filter(|(_, part)| part.is_none());
            missing.extend(numbered.map(|(number, part)| (cell, number, part)));
        }
        tracing::info!(cells = grid.cells.len(), done, missing = missing.len(), "sweep starts");
        let total: u64 = missing.iter().map(|(cell, _, _)| run::step_count(&cell.plan) as u64).sum();
        let steps = AtomicU64::new(0);
        let step = || {
            let steps = steps.fetch_add(1, Ordering::Relaxed) + 1;
            progress(steps as f64 / total.max(1) as f64);
            stop.flow()
        };
        // One at a time: cells may differ much in what they cost.
        run::pool(jobs)?.install(|| {
            missing.into_par_iter().with_max_len(1).try_for_each(|(cell, number, part)| {
                let replication = run::replicate::<F>(&cell.plan, number, None, &step)?;
                let made = Part::new(&cell.experiment, &cell.plan.probes, &replication);
                store.save(cell, &made)?;
                *part = Some(made);
                Ok::<(), SweepError>(())
            })
        })?;
        Ok(self.into_done())
    }
}
