//! Errors of comparisons.

use std::fmt::Write as _;

use serde::Serialize;
use thiserror::Error;

use crate::results::ResultsError;
use crate::run::RunError;
use crate::scenario::{ScenarioErrors, nearest};

/// Why a comparison could not be made.
#[derive(Debug, Error)]
pub enum CompareError {
    /// The scenario is wrong as it is.
    #[error(transparent)]
    Scenario(#[from] ScenarioErrors),
    /// Several mistakes.
    #[error("{}", joined(.0))]
    Several(Vec<CompareError>),
    /// Some protocols cannot carry the scenario. All their reasons.
    #[error(
        "{}{} of {of} protocols cannot be compared: {}\n  = help: `--with {}.layers={{...}}` or another option suits one of them to the scenario; `--skip-refused` compares the others",
        joined(.refused), .refused.len(), names(.refused).join(", "), names(.refused).first().copied().unwrap_or_default()
    )]
    Rejected {
        /// The errors of each.
        refused: Vec<CompareError>,
        /// How many protocols were asked for.
        of: usize,
    },
    /// The scenario is wrong with one of the protocols.
    #[error("{}", with_protocol(.errors, .protocol))]
    Candidate {
        /// The protocol.
        protocol: String,
        /// The mistakes.
        errors: ScenarioErrors,
    },
    /// There is no such protocol.
    #[error("error: there is no protocol `{name}`\n  = allowed: {known}{}", hint(.meant.as_deref()))]
    Protocol {
        /// The requested name.
        name: String,
        /// The known names.
        known: String,
        /// The one most like it.
        meant: Option<String>,
    },
    /// A protocol is listed twice.
    #[error("error: `{name}` is asked for twice\n  = allowed: each protocol once")]
    Twice {
        /// The protocol.
        name: String,
    },
    /// There is no such session.
    #[error("error: there is no session `{name}`\n  = allowed: {known}{}", hint(.meant.as_deref()))]
    Session {
        /// The requested name.
        name: String,
        /// The known names.
        known: String,
        /// The one most like it.
        meant: Option<String>,
    },
    /// The scenario has no session that a protocol could run.
    #[error("error: the scenario has no session\n  = allowed: a scenario with at least one session")]
    NoSession,
    /// There is no such version of TCP.
    #[error("error: there is no version of TCP `{name}`\n  = allowed: {known}{}", hint(.meant.as_deref()))]
    Tcp {
        /// The requested name.
        name: String,
        /// The known names.
        known: String,
        /// The one most like it.
        meant: Option<String>,
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
    /// The reference is not compared.
    #[error("error: the reference `{name}` is not among those compared\n  = allowed: {known}")]
    Reference {
        /// The requested name.
        name: String,
        /// The protocols compared.
        known: String,
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
    /// There is no protocol of this name.
    #[must_use]
    pub fn unknown_protocol(name: &str, known: &[&str]) -> CompareError {
        let meant = nearest(name, known.iter().copied());
        CompareError::Protocol { name: name.to_owned(), known: known.join(", "), meant }
    }

    /// Whether the user's input is to blame.
    #[must_use]
    pub fn is_input(&self) -> bool {
        !matches!(self, CompareError::Run { .. } | CompareError::Results(_))
    }
}

impl CompareError {
    /// Whether a protocol is refused only since it does not react to the marks of an ECN-capable session. No option
    /// changes that, so the others are compared. Sessions have been read without a protocol, so their key `ecn` has no
    /// other mistake.
    pub(super) fn is_of_marks(&self) -> bool {
        let CompareError::Candidate { errors, .. } = self else { return false };
        errors.0.iter().all(|error| error.path.ends_with(".ecn"))
    }

    /// The protocols that cannot carry the scenario, if nothing else is wrong.
    pub(crate) fn refusals(&self) -> Option<Vec<Rejected>> {
        let CompareError::Rejected { refused, .. } = self else { return None };
        let each = refused.iter().filter_map(|error| match error {
            CompareError::Candidate { protocol, errors } => Some(Rejected::new(protocol, errors)),
            _ => None,
        });
        Some(each.collect())
    }
}

/// What was meant, on a line of its own.
fn hint(meant: Option<&str>) -> String {
    meant.map_or_else(String::new, |name| format!("\n  = help: did you mean `{name}`?"))
}

/// Each on its own, with an empty line after it.
fn joined(errors: &[CompareError]) -> String {
    errors.iter().fold(String::new(), |text, error| format!("{text}{}\n\n", error.to_string().trim_end()))
}

/// The protocols of errors with one.
fn names(errors: &[CompareError]) -> Vec<&str> {
    fn name(error: &CompareError) -> Option<&str> {
        match error {
            CompareError::Candidate { protocol, .. } => Some(protocol),
            _ => None,
        }
    }
    errors.iter().filter_map(name).collect()
}

/// Every mistake, with the protocol that makes it one.
fn with_protocol(errors: &ScenarioErrors, protocol: &str) -> String {
    let mut text = String::new();
    for error in &errors.0 {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{error} {}= in: the scenario with \"{protocol}\"\n",
            " ".repeat(error.line.to_string().len())
        );
    }
    text.truncate(text.trim_end().len());
    text
}

/// A protocol that is not compared, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The protocol.
    pub protocol: String,
    /// What stands against it.
    pub reasons: Vec<String>,
}

impl Rejected {
    /// A protocol with which the scenario has these mistakes.
    pub(crate) fn new(protocol: &str, errors: &ScenarioErrors) -> Rejected {
        let reason = |error: &crate::scenario::ScenarioError| {
            // What a flag says has no path in the file.
            let place = if error.path.is_empty() { String::new() } else { format!("`{}`: ", error.path) };
            match &error.allowed {
                Some(allowed) => format!("{place}{}; allowed: {allowed}", error.message),
                None => format!("{place}{}", error.message),
            }
        };
        Rejected { protocol: protocol.to_owned(), reasons: errors.0.iter().map(reason).collect() }
    }
}
