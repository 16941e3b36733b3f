//! What commands share, and the short ones.

use layercast_laboratory::scenario::Catalogue;
use layercast_protocols::registry::Registry;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use layercast_laboratory::lint;
use layercast_laboratory::results::directory::{self, Claim, Holds};
use layercast_laboratory::run;
use layercast_laboratory::scenario::{self, Scenario as Plan, catalogue, default_queue};

use crate::arguments::Check;
use crate::lab::run::observe;
use crate::lab::warnings;
use crate::output::print;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is wrong; the text says what, where and what would be right.
    Input(String),
    /// A program that was run for the user has failed, with this exit status, and has said why.
    Status(u8),
    /// Anything else.
    Other(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Other(error)
    }
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

/// Reads and checks a scenario with its overrides and those that add probes. The text returned is what
/// decides the numbers, which probes do not.
pub(crate) fn read(
    name: &str,
    overrides: &[String],
    probes: &[observe::ProbeSetting],
) -> Result<(Plan, String), Failure> {
    let source = load(name)?;
    let settings = overrides.iter().chain(probes.iter().map(|probe| &probe.set));
    let settings: Vec<String> = settings.cloned().collect();
    let plan = scenario::read(&source.name, &source.text, &settings, &Catalogue::of::<Registry>())
        .map_err(|errors| Failure::Input(observe::in_flags(errors, overrides.len(), probes).to_string()))?;
    Ok((plan, run::as_run(&source.text, overrides)))
}

/// Checks that results can be written to the directory, and that it holds none of another command. No other process
/// gets the directory before the claim is dropped.
pub(crate) fn prepare_for(wanted: Holds, directory: &Path) -> Result<Claim, Failure> {
    prepare(directory)?;
    directory::claim(directory, wanted).map_err(|error| Failure::Input(error.to_string()))
}

/// Checks that results can be written to the directory. A long run should not start if they cannot.
pub(crate) fn prepare(directory: &Path) -> Result<(), Failure> {
    let probe = directory.join(".layercast-probe");
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(&probe, ""))
        .and_then(|()| std::fs::remove_file(&probe))
        .with_context(|| format!("nothing can be written to the directory {}", directory.display()))?;
    Ok(())
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

pub(crate) fn check(arguments: &Check) -> Result<(), Failure> {
    let (plan, text) = read(&arguments.scenario.name, &arguments.scenario.overrides, &[])?;
    let findings = lint::before(&plan, &text);
    let remark = default_queue::remark(&plan).map_or(String::new(), |remark| format!("{remark}\n"));
    print(&format!(
        "{}: fine ({}, {}, {}, {} of {})\n{remark}{}",
        arguments.scenario.name,
        counted(plan.nodes.len(), "node"),
        counted(plan.links.len(), "link"),
        counted(plan.flow_names().len(), "flow"),
        counted(plan.replications as usize, "replication"),
        plan.duration,
        lint::render(&arguments.scenario.name, &findings),
    ))?;
    Ok(warnings::deny(&arguments.scenario, &findings)?)
}

pub(crate) fn expand(arguments: &Check) -> Result<(), Failure> {
    let source = load(&arguments.scenario.name)?;
    let flat = scenario::expand(
        &source.name,
        &source.text,
        &arguments.scenario.overrides,
        &Catalogue::of::<Registry>(),
    )
    .map_err(|errors| Failure::Input(errors.to_string()))?;
    Ok(print(&flat)?)
}

pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
