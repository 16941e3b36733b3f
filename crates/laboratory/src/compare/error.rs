//! Errors of comparisons.

use thiserror::Error;

use crate::results::ResultsError;
use crate::run::RunError;
use crate::scenario::ScenarioErrors;

/// Why a comparison could not be made.
#[derive(Debug, Error)]
pub enum CompareError {
    /// The scenario is wrong as it is.
    #[error(transparent)]
    Scenario(#[from] ScenarioErrors),
    /// The scenario is wrong with one of the protocols.
    #[error("{errors}\n  = in: the scenario with \"{protocol}\"")]
    Contender {
        /// The protocol.
        protocol: String,
        /// The mistakes.
        errors: ScenarioErrors,
    },
    /// There is no such protocol.
    #[error("error: there is no protocol `{name}`\n  = allowed: {known}")]
    Protocol {
        /// The requested name.
        name: String,
        /// The known names.
        known: String,
    },
    /// A protocol is listed twice.
    #[error("error: `{name}` is asked for twice\n  = allowed: each protocol once")]
    Twice {
        /// The protocol.
        name: String,
    },
    /// There is no such session.
    #[error("error: there is no session `{name}`\n  = allowed: {known}")]
    Session {
        /// The requested name.
        name: String,
        /// The known names.
        known: String,
    },
    /// The scenario has no session that a protocol could run.
    #[error("error: the scenario has no session\n  = allowed: a scenario with at least one session")]
    NoSession,
    /// There is no such version of TCP.
    #[error("error: there is no version of TCP `{name}`\n  = allowed: {known}")]
    Tcp {
        /// The requested name.
        name: String,
        /// The known names.
        known: String,
    },
    /// The scenario has no TCP that another version could replace.
    #[error(
        "error: the scenario has no TCP to put others in place of\n  = allowed: a scenario with at least one TCP flow"
    )]
    NoTcp,
    /// An option of one protocol is not written as it should be.
    #[error(
        "error: `{flag}` is not an option of a protocol\n  = allowed: PROTOCOL.OPTION=VALUE, with one of the protocols compared"
    )]
    With {
        /// The flag as given.
        flag: String,
    },
    /// A protocol could not be run.
    #[error("{protocol} could not be run")]
    Run {
        /// The protocol.
        protocol: String,
        /// Why.
        source: RunError,
    },
    /// The results do not fit or cannot be written.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

impl CompareError {
    /// Whether the user's input is to blame.
    #[must_use]
    pub fn is_input(&self) -> bool {
        !matches!(self, CompareError::Run { .. } | CompareError::Results(_))
    }
}
