//! The directory of a scoreboard: a file for each run that is done.
//!
//! `results/KEY.json` is named after a digest of everything that decides it, so a changed cell is another file and is
//! run again, and everything else is used as it is. Files are written under a partial name and renamed.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::measures::Values;
use super::prepare::{RESULTS as SCHEMA, Run};
use crate::results::files::write_whole;
use crate::results::{ResultsError, Statistic, json};
use crate::scenario::suite::Measure;

/// The results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version.
    pub schema: u32,
    /// The digest of what decides it.
    pub key: String,
    /// The version of Layercast.
    pub layercast: String,
    /// The first cell that asked for it.
    pub cell: String,
    /// The protocol.
    pub protocol: String,
    /// Its options.
    pub options: BTreeMap<String, String>,
    /// The digest of the scenario.
    pub scenario_hash: String,
    /// The seed.
    pub seed: u64,
    /// The command that repeats it alone.
    pub command: String,
    /// By measure, a value for each replication in order; null where there is none.
    pub samples: BTreeMap<String, Vec<Option<f64>>>,
}

impl Record {
    /// The record of a run whose replications gave these values, in order.
    pub(super) fn new(run: &Run, values: &[Values]) -> Record {
        let samples = |measure: Measure| {
            let each = values.iter().map(|values| values.get(&measure).copied().flatten());
            each.map(|value| value.filter(|value| value.is_finite())).collect()
        };
        let measured = Measure::ALL.iter().filter(|measure| measure.relative_to_baseline().is_none());
        Record {
            schema: SCHEMA,
            key: run.key.clone(),
            layercast: env!("CARGO_PKG_VERSION").to_owned(),
            cell: run.cell.clone(),
            protocol: run.candidate.protocol.clone(),
            options: run.options.clone(),
            scenario_hash: run.experiment.scenario_hash.clone(),
            seed: run.experiment.seed,
            command: run.candidate.command.clone(),
            samples: measured.map(|measure| (measure.name().to_owned(), samples(*measure))).collect(),
        }
    }

    /// A measure over the replications. Those relative to a run without multicast need its record.
    pub(super) fn statistic(&self, measure: Measure, baseline: Option<&Record>) -> Statistic {
        let samples = |record: &Record, measure: Measure| {
            record.samples.get(measure.name()).cloned().unwrap_or_default()
        };
        let Some(part) = measure.relative_to_baseline() else {
            return Statistic::new(samples(self, measure));
        };
        let base = baseline.map(|baseline| samples(baseline, part)).unwrap_or_default();
        let ratio = |(own, base): (Option<f64>, &Option<f64>)| Some(own? / base.filter(|base| *base > 0.0)?);
        Statistic::new(samples(self, part).into_iter().zip(&base).map(ratio))
    }

    fn fits(&self, run: &Run) -> bool {
        let count = run.replications() as usize;
        self.schema == SCHEMA
            && self.key == run.key
            && Measure::ALL
                .iter()
                .filter(|measure| measure.relative_to_baseline().is_none())
                .all(|measure| self.samples.get(measure.name()).is_some_and(|samples| samples.len() == count))
    }
}

/// The results in a directory.
#[derive(Debug, Clone)]
pub struct Store {
    results: PathBuf,
}

impl Store {
    /// The results in a directory, which is made if it is missing.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(directory: &Path) -> Result<Store, ResultsError> {
        let results = directory.join("results");
        fs::create_dir_all(&results)
            .map_err(|source| ResultsError::Write { path: results.clone(), source })?;
        Ok(Store { results })
    }

    fn path(&self, run: &Run) -> PathBuf {
        self.results.join(format!("{}.json", run.key))
    }

    /// The results of a run, if they are there. A file that does not fit counts as missing.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub(super) fn load(&self, run: &Run) -> Result<Option<Record>, ResultsError> {
        let path = self.path(run);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ResultsError::Read { path, source }),
        };
        let record = serde_json::from_slice(&bytes).ok().filter(|record: &Record| record.fits(run));
        if record.is_none() {
            tracing::warn!(path = %path.display(), "this result is damaged; it is run again");
        }
        Ok(record)
    }

    /// Keeps the results of a run.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(super) fn save(&self, run: &Run, record: &Record) -> Result<(), ResultsError> {
        let path = self.path(run);
        let text = json::to_string(record)
            .map_err(|source| ResultsError::Write { path: path.clone(), source: source.into() })?;
        write_whole(&path, text.as_bytes())
    }
}
