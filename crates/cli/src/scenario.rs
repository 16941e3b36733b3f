//! What commands about scenarios share: which scenario, reading it, warnings about it, the directory of results.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::bail;
use clap::Args;
use layercast_laboratory::lint;
use layercast_laboratory::results::Finding;
use layercast_laboratory::results::directory::{self, Claim, Holds};
use layercast_laboratory::run;
use layercast_laboratory::scenario::{self, Catalogue, Scenario as Plan, ScenarioErrors, catalogue};

use crate::failure::Failure;
use crate::output::{complain_lines, prepare};

/// Which scenario, and what to change in it.
#[derive(Debug, Args)]
pub(crate) struct Scenario {
    /// A scenario file, or the name of a built-in scenario such as thesis/simulation-2
    #[arg(value_name = "SCENARIO")]
    pub(crate) name: String,

    /// Change a value of the scenario, such as session.elm.strategy=naive; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,

    /// Treat warnings about the scenario (docs/lints.md) as errors: exit with status 1 before anything runs
    #[arg(long)]
    pub(crate) deny_warnings: bool,
}

/// Finds a scenario.
pub(crate) fn load(name: &str) -> Result<catalogue::Source, Failure> {
    catalogue::load(name).map_err(|error| {
        let hint = match error {
            catalogue::LoadError::Unknown { .. } => {
                "\n  = help: `layercast list` names the built-in scenarios"
            }
            catalogue::LoadError::Unreadable { .. } => "",
        };
        Failure::Input(format!("error: {error}{hint}"))
    })
}

/// A scenario that was read.
pub(crate) struct Reading {
    pub(crate) plan: Plan,
    /// What decides its numbers.
    pub(crate) text: String,
}

/// Reads and checks a scenario with its overrides.
pub(crate) fn read(name: &str, overrides: &[String], catalogue: &Catalogue) -> Result<Reading, Failure> {
    let source = load(name)?;
    let plan =
        scenario::read(&source.name, &source.text, overrides, catalogue).map_err(|errors| wrong(&errors))?;
    Ok(Reading { plan, text: run::as_run(&source.text, overrides) })
}

/// Mistakes in a scenario.
pub(crate) fn wrong(errors: &ScenarioErrors) -> Failure {
    Failure::Input(errors.to_string())
}

/// Checks that results can be written to the directory, and that it holds none of another command. No other process
/// gets the directory before the claim is dropped.
pub(crate) fn prepare_for(wanted: Holds, directory: &Path) -> Result<Claim, Failure> {
    prepare(directory)?;
    directory::claim(directory, wanted).map_err(|error| Failure::Input(error.to_string()))
}

/// Appends the number of replications and the seed to a command line.
pub(crate) fn repeated(mut command: String, replications: Option<u32>, seed: Option<u64>) -> String {
    if let Some(count) = replications {
        let _ = write!(command, " --replications {count}");
    }
    if let Some(seed) = seed {
        let _ = write!(command, " --seed {seed}");
    }
    command
}

/// Prints the findings about a scenario to standard error. With `--deny-warnings` they are an error.
pub(crate) fn warn(arguments: &Scenario, findings: &[Finding]) -> anyhow::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    complain_lines(lint::render(&arguments.name, findings).trim_end());
    deny(arguments, findings)
}

/// With `--deny-warnings`, findings are an error.
pub(crate) fn deny(arguments: &Scenario, findings: &[Finding]) -> anyhow::Result<()> {
    if !arguments.deny_warnings || findings.is_empty() {
        return Ok(());
    }
    let count = findings.len();
    let plural = if count == 1 { "" } else { "s" };
    bail!("{count} warning{plural}, which --deny-warnings makes an error; nothing was run")
}

/// One of several names with commas between, without the spaces around it.
#[allow(clippy::unnecessary_wraps, reason = "the type that a parser of arguments has")]
pub(crate) fn trimmed(name: &str) -> Result<String, std::convert::Infallible> {
    Ok(name.trim().to_owned())
}
