//! Errors of the laboratory as exceptions of the package.

use std::error::Error;

use layercast_laboratory::compare::CompareError;
use layercast_laboratory::results::ResultsError;
use layercast_laboratory::run::RunError;
use layercast_laboratory::scenario::{ScenarioError, ScenarioErrors};
use layercast_laboratory::sweep::SweepError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// One mistake in a scenario or a setting.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct Mistake {
    /// The scenario's name or file, or the setting.
    origin: String,
    /// The line, from 1.
    line: usize,
    /// The column in characters, from 1.
    column: usize,
    /// The dotted path of the key; empty if the text is not TOML.
    path: String,
    /// The value as it is written, if a value is wrong.
    value: Option<String>,
    /// What is wrong.
    message: String,
    /// What is allowed.
    allowed: Option<String>,
    /// The known name most like the one given.
    nearest: Option<String>,
}

#[pymethods]
impl Mistake {
    fn __repr__(&self) -> String {
        format!("<Mistake {}:{}:{}: {}>", self.origin, self.line, self.column, self.message)
    }
}

impl From<&ScenarioError> for Mistake {
    fn from(error: &ScenarioError) -> Mistake {
        Mistake {
            origin: error.origin.clone(),
            line: error.line,
            column: error.column,
            path: error.path.clone(),
            value: error.value.clone(),
            message: error.message.clone(),
            allowed: error.allowed.clone(),
            nearest: error.nearest.clone(),
        }
    }
}

/// An exception of the package.
fn exception<'py>(py: Python<'py>, class: &str, text: &str, mistakes: &[&ScenarioError]) -> PyErr {
    let made = || -> PyResult<Bound<'py, PyAny>> {
        let class = py.import("layercast.errors")?.getattr(class)?;
        if mistakes.is_empty() {
            return class.call1((text,));
        }
        let mistakes = PyTuple::new(py, mistakes.iter().map(|mistake| Mistake::from(*mistake)))?;
        class.call1((text, mistakes))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

/// The user's input is wrong, in the command's words.
pub(crate) fn input(py: Python<'_>, text: &str) -> PyErr {
    exception(py, "ScenarioError", text.trim_end(), &[])
}

/// Something else failed: what, and each cause.
pub(crate) fn failed(py: Python<'_>, what: &str, error: &dyn Error) -> PyErr {
    let mut text = format!("{what}: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    exception(py, "RunError", &text, &[])
}

/// The mistakes of a scenario.
pub(crate) fn scenario(py: Python<'_>, errors: &ScenarioErrors) -> PyErr {
    exception(py, "ScenarioError", errors.to_string().trim_end(), &errors.0.iter().collect::<Vec<_>>())
}

/// A run that failed.
pub(crate) fn run(py: Python<'_>, error: &RunError) -> PyErr {
    failed(py, "the run failed", error)
}

/// Results that could not be made or written.
pub(crate) fn results(py: Python<'_>, error: &ResultsError) -> PyErr {
    failed(py, "the results could not be written", error)
}

/// A parameter of a transfer is wrong.
#[cfg(target_os = "linux")]
pub(crate) fn argument(py: Python<'_>, text: &str) -> PyErr {
    exception(py, "ArgumentError", text, &[])
}

/// A transfer that is not started.
#[cfg(target_os = "linux")]
pub(crate) fn start(py: Python<'_>, error: &layercast::StartError) -> PyErr {
    match error {
        layercast::StartError::Conflicts(conflicts) => {
            let lines: Vec<String> = conflicts.iter().map(|conflict| conflict.text(parameter)).collect();
            argument(py, &lines.join("\n"))
        }
        error => argument(py, &error.to_string()),
    }
}

/// The parameter for what the command's table calls otherwise.
#[cfg(target_os = "linux")]
fn parameter(name: &'static str) -> &'static str {
    match name {
        "after" => "for_",
        "described" => "description or name",
        "from" => "from_",
        "named" => "url or name",
        "no_announce" => "announce=False",
        "options" => "set",
        "session" => "description",
        "stream" => "live data",
        name => name,
    }
}

/// A transfer that failed.
#[cfg(target_os = "linux")]
pub(crate) fn transfer(py: Python<'_>, error: &layercast::Error) -> PyErr {
    let failed = exception(py, "TransferError", &error.to_string(), &[]);
    // Without its name it is the error all the same.
    let _ = failed.value(py).setattr("name", error.name());
    failed
}

/// There is no outcome, as it was taken, or the transfer has panicked.
#[cfg(target_os = "linux")]
pub(crate) fn no_outcome(py: Python<'_>) -> PyErr {
    exception(py, "TransferError", "the transfer has no outcome", &[])
}

/// Warns of something that ends no transfer.
///
/// # Errors
/// If warnings are errors.
#[cfg(target_os = "linux")]
pub(crate) fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let class = py.import("layercast.errors")?.getattr("TransferWarning")?;
    py.import("warnings")?.call_method1("warn", (text, class)).map(|_| ())
}

/// Something here is of another version.
pub(crate) fn version(py: Python<'_>, text: &str) -> PyErr {
    exception(py, "VersionError", text, &[])
}

/// A sweep that is wrong or failed.
pub(crate) fn sweep(py: Python<'_>, error: &SweepError) -> PyErr {
    match error {
        SweepError::Input(mistakes) => {
            let all: Vec<&ScenarioError> = mistakes.0.iter().map(|mistake| &mistake.error).collect();
            exception(py, "ScenarioError", error.to_string().trim_end(), &all)
        }
        SweepError::OtherMachine { .. } => exception(py, "VersionError", &error.to_string(), &[]),
        _ if error.is_input() => input(py, &error.to_string()),
        _ => failed(py, "the sweep failed", error),
    }
}

/// A comparison that is wrong or failed.
pub(crate) fn compare(py: Python<'_>, error: &CompareError) -> PyErr {
    let mut mistakes = Vec::new();
    mistakes_of(error, &mut mistakes);
    match error.is_input() {
        true => exception(py, "ScenarioError", error.to_string().trim_end(), &mistakes),
        false => failed(py, "the comparison failed", error),
    }
}

fn mistakes_of<'e>(error: &'e CompareError, found: &mut Vec<&'e ScenarioError>) {
    match error {
        CompareError::Scenario(errors) | CompareError::Candidate { errors, .. } => found.extend(&errors.0),
        CompareError::Several(all) | CompareError::Rejected { refused: all, .. } => {
            all.iter().for_each(|error| mistakes_of(error, found));
        }
        _ => {}
    }
}
