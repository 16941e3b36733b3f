//! Errors of the scoreboard.

use std::path::PathBuf;

use thiserror::Error;

use crate::compare::CompareError;
use crate::results::ResultsError;
use crate::run::RunError;
use crate::scenario::ScenarioErrors;

/// Why there is no scoreboard.
#[derive(Debug, Error)]
pub enum ScoreboardError {
    /// The suite is wrong.
    #[error(transparent)]
    Suite(#[from] ScenarioErrors),
    /// The suite's file cannot be read.
    #[error("error: the suite `{}` cannot be read: {reason}\n  = allowed: a suite file; without one the built-in suite is run", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system says.
        reason: std::io::Error,
    },
    /// A cell's scenario is wrong with its changes, or a setting of a protocol is.
    #[error("{}\n\nin the cell `{cell}` of {file}, line {line}", .error.to_string().trim_end())]
    Cell {
        /// The cell.
        cell: String,
        /// The suite.
        file: String,
        /// The line of the suite where the cell begins.
        line: usize,
        /// What is wrong.
        error: Box<CompareError>,
    },
    /// A cell sets the protocol of a session that is judged.
    #[error(
        "error: `set` gives the session `{session}` a protocol, which every protocol is to run in turn\n  = allowed: \
         layers and options for all by `with = [\"*.layers={{...}}\"]`\n\nin the cell `{cell}` of {file}, line {line}"
    )]
    OtherProtocol {
        /// The cell.
        cell: String,
        /// The suite.
        file: String,
        /// The line of the suite where the cell begins.
        line: usize,
        /// The session.
        session: String,
    },
    /// No cell fits the pattern.
    #[error(
        "error: no cell fits `{pattern}`\n  = allowed: a name in which `*` stands for any characters, of {known}"
    )]
    NoCell {
        /// The pattern.
        pattern: String,
        /// The names of the cells.
        known: String,
    },
    /// The brief version has no cell.
    #[error(
        "error: no cell of the suite has `brief`\n  = allowed: `brief = []` or a list of changes in at least one cell"
    )]
    NotBrief,
    /// A protocol is not known, or given twice.
    #[error(transparent)]
    Protocols(CompareError),
    /// The runs could not be started.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Results cannot be read or written, or do not fit.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

impl ScoreboardError {
    /// Whether the user's input is to blame.
    #[must_use]
    pub fn is_input(&self) -> bool {
        match self {
            ScoreboardError::Suite(_)
            | ScoreboardError::Unreadable { .. }
            | ScoreboardError::OtherProtocol { .. }
            | ScoreboardError::NoCell { .. }
            | ScoreboardError::NotBrief
            | ScoreboardError::Protocols(_) => true,
            ScoreboardError::Cell { error, .. } => error.is_input(),
            ScoreboardError::Run(_) | ScoreboardError::Results(_) => false,
        }
    }
}
