//! Runs what a directory does not have yet, on all cores.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use layercast_core::family::Family;
use rayon::prelude::*;

use super::error::ScoreboardError;
use super::measures::{self, Values};
use super::prepare::{Prepared, Run};
use super::store::{Record, Store};
use crate::run::{self, RunError};

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Done {
    /// Its results.
    Record(Box<Record>),
    /// Why it could not be run.
    Failed(String),
}

/// A scoreboard of which some runs may be done.
#[derive(Debug)]
pub struct Progress<'p> {
    prepared: &'p Prepared,
    store: &'p Store,
    /// In the order of the runs.
    done: Vec<Option<Done>>,
}

impl<'p> Progress<'p> {
    /// Reads what the store has, but nothing of the protocols that are to be run again.
    ///
    /// # Errors
    /// Results that cannot be read.
    pub fn load(
        prepared: &'p Prepared,
        store: &'p Store,
        again: &[String],
    ) -> Result<Progress<'p>, ScoreboardError> {
        let load = |run: &Run| {
            if again.contains(&run.candidate.protocol) {
                return Ok(None);
            }
            Ok(store.load(run)?.map(|record| Done::Record(Box::new(record))))
        };
        let done = prepared.runs.iter().map(load).collect::<Result<_, ScoreboardError>>()?;
        Ok(Progress { prepared, store, done })
    }

    /// How many runs are done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.done.iter().flatten().count()
    }

    /// Runs the others. Each is in the store as soon as its last replication is done. `progress` is called with the
    /// fraction done of the remaining work, from 0 to 1, on any thread. None for `jobs` is a thread for each core.
    ///
    /// # Errors
    /// Results that cannot be written. A run that fails is no error: its reason is in its place.
    pub fn finish<F: Family>(
        self,
        jobs: Option<usize>,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Vec<Done>, ScoreboardError> {
        let Progress { prepared, store, mut done } = self;
        let missing: Vec<(usize, Unfinished<'_>)> = (done.iter().zip(&prepared.runs).enumerate())
            .filter(|(_, (done, _))| done.is_none())
            .map(|(index, (_, run))| (index, Unfinished::new(run)))
            .collect();
        tracing::info!(runs = prepared.runs.len(), missing = missing.len(), "scoreboard starts");
        let tasks: Vec<(&Unfinished<'_>, u32)> = missing
            .iter()
            .flat_map(|(_, one)| (1..=one.run.replications()).map(move |number| (one, number)))
            .collect();
        let total: f64 = tasks.iter().map(|(one, _)| one.cost()).sum();
        let worked = Mutex::new(0.0_f64);
        let step = |weight: f64| {
            let mut worked = worked.lock().unwrap_or_else(PoisonError::into_inner);
            *worked += weight;
            progress(*worked / total.max(1.0));
            ControlFlow::Continue(())
        };
        run::pool(jobs)?.install(|| {
            tasks
                .into_par_iter()
                .with_max_len(1)
                .try_for_each(|(one, number)| one.replicate::<F>(number, store, &|| step(one.run.weight())))
        })?;
        for (index, one) in missing {
            done[index] = one.into_done();
        }
        Ok(done.into_iter().flatten().collect())
    }
}

/// A run of which replications are missing.
struct Unfinished<'p> {
    run: &'p Run,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By replication.
    values: Vec<Option<Values>>,
    done: Option<Done>,
}

impl<'p> Unfinished<'p> {
    fn new(run: &'p Run) -> Unfinished<'p> {
        let values = vec![None; run.replications() as usize];
        Unfinished { run, state: Mutex::new(State { values, done: None }) }
    }

    /// What a replication costs, in the unit of the progress.
    fn cost(&self) -> f64 {
        self.run.weight() * run::step_count(&self.run.candidate.plan) as f64
    }

    fn replicate<F: Family>(
        &self,
        number: u32,
        store: &Store,
        step: &(dyn Fn() -> ControlFlow<()> + Sync),
    ) -> Result<(), ScoreboardError> {
        let replication = match run::replicate::<F>(&self.run.candidate.plan, number, None, step) {
            Ok(replication) => replication,
            Err(reason @ RunError::Observe(_)) => return Err(reason.into()),
            Err(reason) => {
                self.state().done = Some(Done::Failed(reason.to_string()));
                return Ok(());
            }
        };
        let values = measures::of(self.run, &replication)?;
        let mut state = self.state();
        state.values[number as usize - 1] = Some(values);
        let all: Option<Vec<Values>> = state.values.iter().cloned().collect();
        if let Some(all) = all {
            let record = Record::new(self.run, &all);
            store.save(self.run, &record)?;
            state.done = Some(Done::Record(Box::new(record)));
        }
        Ok(())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn into_done(self) -> Option<Done> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).done
    }
}
