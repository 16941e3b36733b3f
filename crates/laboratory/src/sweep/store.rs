//! The directory of a sweep: what it is, and a file for each replication that is done.
//!
//! `parts/plan.json` says which sweep this is; `parts/cell-C-replication-R.json` is written under a
//! partial name and then renamed, so a file under its final name is complete, even if the process is killed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::SweepError;
use super::grid::{Cell, Grid};
use super::part::Part;
use crate::results::files::write_whole;
use crate::results::{ResultsError, json};

/// The version of `plan.json`.
const SCHEMA: u32 = 1;

/// The parts of a sweep.
#[derive(Debug, Clone)]
pub struct Store {
    parts: PathBuf,
}

/// What identifies a sweep.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Identity {
    schema: u32,
    layercast: String,
    scenario: String,
    scenario_hash: String,
    seed: u64,
    overrides: Vec<String>,
    keys: Vec<Key>,
    cells: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Key {
    key: String,
    values: Vec<String>,
}

impl Identity {
    fn of(grid: &Grid) -> Identity {
        let keys = grid.axes.iter().map(|axis| Key { key: axis.key.clone(), values: axis.values.clone() });
        Identity {
            schema: SCHEMA,
            layercast: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: grid.scenario.clone(),
            scenario_hash: grid.scenario_hash.clone(),
            seed: grid.seed,
            overrides: grid.overrides.clone(),
            keys: keys.collect(),
            cells: grid.cells.iter().map(|cell| cell.experiment.scenario_hash.clone()).collect(),
        }
    }

    /// The differences as text; empty if there are none.
    fn differences(&self, new: &Identity) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |what: &str, old: String, new: String| {
            if old != new {
                found.push(format!("its {what} was {old}, now it is {new}"));
            }
        };
        let sets = |sets: &[String]| if sets.is_empty() { "nothing".to_owned() } else { sets.join(" and ") };
        let keys = |keys: &[Key]| {
            let keys: Vec<String> =
                keys.iter().map(|key| format!("{}={}", key.key, key.values.join(","))).collect();
            sets(&keys)
        };
        compare("layercast", self.layercast.clone(), new.layercast.clone());
        compare("scenario", self.scenario.clone(), new.scenario.clone());
        compare("seed", self.seed.to_string(), new.seed.to_string());
        compare("--set", sets(&self.overrides), sets(&new.overrides));
        compare("--vary", keys(&self.keys), keys(&new.keys));
        if found.is_empty() && self.scenario_hash != new.scenario_hash {
            found.push("the scenario has another text now".to_owned());
        }
        if found.is_empty() && self != new {
            found.push("a file that the scenario names has changed".to_owned());
        }
        found
    }
}

impl Store {
    /// Opens the directory of a sweep, which is made if it is missing.
    ///
    /// # Errors
    /// When it holds another sweep, or nothing can be written there.
    pub fn open(directory: &Path, grid: &Grid) -> Result<Store, SweepError> {
        let store = Store { parts: directory.join("parts") };
        let (plan, new) = (store.parts.join("plan.json"), Identity::of(grid));
        match fs::read(&plan) {
            Ok(bytes) => {
                let differences = match serde_json::from_slice::<Identity>(&bytes) {
                    Ok(old) => old.differences(&new),
                    Err(reason) => vec![format!("parts/plan.json cannot be parsed ({reason})")],
                };
                if differences.is_empty() {
                    return Ok(store);
                }
                Err(SweepError::OtherSweep { directory: directory.to_owned(), differences })
            }
            Err(reason) if reason.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(&store.parts)
                    .map_err(|source| ResultsError::Write { path: store.parts.clone(), source })?;
                let text = json::to_string(&new)
                    .map_err(|source| ResultsError::Write { path: plan.clone(), source: source.into() })?;
                write_whole(&plan, text.as_bytes())?;
                Ok(store)
            }
            Err(source) => Err(ResultsError::Read { path: plan, source }.into()),
        }
    }

    /// Keeps the bytes of a part that a [`Task`](super::Task) gave elsewhere.
    ///
    /// # Errors
    /// They are not that replication of the cell, or cannot be written.
    pub fn take(&self, cell: &Cell, replication: u32, bytes: &[u8]) -> Result<(), SweepError> {
        let part = serde_json::from_slice(bytes).ok().filter(|part: &Part| part.fits(cell, replication));
        match part {
            Some(part) => Ok(self.save(cell, &part)?),
            None => Err(SweepError::OtherPart { cell: cell.number, replication }),
        }
    }

    fn path(&self, cell: &Cell, replication: u32) -> PathBuf {
        self.parts.join(format!("cell-{}-replication-{replication}.json", cell.number))
    }

    /// The part of a replication, if it is done. A part that does not fit is treated as missing: it
    /// is run and written again.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub(super) fn load(&self, cell: &Cell, replication: u32) -> Result<Option<Part>, ResultsError> {
        let path = self.path(cell, replication);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ResultsError::Read { path, source }),
        };
        let part = serde_json::from_slice(&bytes).ok().filter(|part: &Part| part.fits(cell, replication));
        if part.is_none() {
            tracing::warn!(path = %path.display(), "this part is damaged; its replication is run again");
        }
        Ok(part)
    }

    /// Keeps a part.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn save(&self, cell: &Cell, part: &Part) -> Result<(), ResultsError> {
        let path = self.path(cell, part.replication);
        let text = json::to_string(part)
            .map_err(|source| ResultsError::Write { path: path.clone(), source: source.into() })?;
        write_whole(&path, text.as_bytes())
    }
}
