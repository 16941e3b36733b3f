//! Errors of sweeps.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use thiserror::Error;

use crate::results::ResultsError;
use crate::run::RunError;
use crate::scenario::ScenarioError;

/// All mistakes in a sweep's scenario and flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepErrors(pub Vec<Mistake>);

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The message, its position, and what is allowed.
    pub error: ScenarioError,
    /// The affected cells as text; none if the position implies them, or all cells are affected.
    pub cells: Option<String>,
}

impl From<ScenarioError> for Mistake {
    fn from(error: ScenarioError) -> Mistake {
        Mistake { error, cells: None }
    }
}

impl fmt::Display for SweepErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Mistake { error, cells } in &self.0 {
            write!(f, "{error}")?;
            if let Some(cells) = cells {
                writeln!(f, "  = in: {cells}")?;
            }
            writeln!(f)?;
        }
        match self.0.len() {
            1 => write!(f, "1 error"),
            count => write!(f, "{count} errors"),
        }
    }
}

impl std::error::Error for SweepErrors {}

/// Why a sweep could not be run.
#[derive(Debug, Error)]
pub enum SweepError {
    /// The scenario or a flag is wrong.
    #[error(transparent)]
    Input(#[from] SweepErrors),
    /// The grid is larger than any machine can run.
    #[error("error: the grid has {cells} cells\n  = allowed: up to {most}; leave out keys or values")]
    TooLarge {
        /// How many cells it has.
        cells: u128,
        /// How many it may have.
        most: usize,
    },
    /// The directory holds another sweep.
    #[error(
        "error: {} holds another sweep: {}\n  = help: give another directory to --out, or remove {} to start again",
        directory.display(), differences.join("; "), directory.join("parts").display()
    )]
    OtherSweep {
        /// The directory.
        directory: PathBuf,
        /// The differences as text.
        differences: Vec<String>,
    },
    /// A cell cannot be built.
    #[error("the cell {cell} cannot be run")]
    Cell {
        /// The cell's values.
        cell: String,
        /// The cause.
        source: RunError,
    },
    /// Another version of Layercast, or other files of the scenario, would run the replication.
    #[error("cell {cell}, replication {replication}: {reason}")]
    OtherMachine {
        /// The number of the cell.
        cell: usize,
        /// The replication.
        replication: u32,
        /// The difference.
        reason: String,
    },
    /// What was to be kept is not the replication that was asked for.
    #[error("what came for cell {cell}, replication {replication}, is not its part")]
    OtherPart {
        /// The number of the cell.
        cell: usize,
        /// The replication.
        replication: u32,
    },
    /// A replication could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A file could not be read or written.
    #[error(transparent)]
    Files(#[from] ResultsError),
}

impl SweepError {
    /// Whether the user's input is wrong; anything else failed.
    #[must_use]
    pub fn is_input(&self) -> bool {
        matches!(self, Self::Input(_) | Self::TooLarge { .. } | Self::OtherSweep { .. })
    }
}

/// A mistake in a flag, at a position in its text.
pub(super) fn in_flag(
    name: &str,
    flag: &str,
    at: Range<usize>,
    message: &str,
    allowed: &str,
) -> ScenarioError {
    let error = ScenarioError {
        origin: String::new(),
        source: 0,
        line: 1,
        column: 1,
        path: String::new(),
        value: None,
        message: message.to_owned(),
        allowed: Some(allowed.to_owned()),
        nearest: None,
        row: None,
        source_line: String::new(),
        width: 1,
    };
    placed(error, name, flag, at)
}

/// An error moved to a position in a flag.
pub(super) fn placed(error: ScenarioError, name: &str, flag: &str, at: Range<usize>) -> ScenarioError {
    let characters = |range: Range<usize>| flag.get(range).map_or(0, |text| text.chars().count());
    ScenarioError {
        origin: name.to_owned(),
        source: 0,
        line: 1,
        column: characters(0..at.start) + 1,
        width: characters(at).max(1),
        source_line: flag.to_owned(),
        ..error
    }
}
