//! `layercast compare`: a scenario with each of several protocols.

use std::fmt::Write as _;

use anyhow::Context;
use layercast_laboratory::compare::{self, CompareError, CompareRequest, Comparison};
use layercast_laboratory::run::RegistryCatalogue;

use crate::arguments::Compare;
use crate::commands::{Failure, counted, load, prepare, repeated};
use crate::output::tell;
use crate::progress::Progress;

/// What is wrong with the user's input is told apart from what failed.
fn failure(error: CompareError) -> Failure {
    if error.is_input() {
        return Failure::Input(error.to_string());
    }
    Failure::Other(anyhow::Error::new(error).context("the comparison failed"))
}

pub(crate) fn compare(arguments: &Compare) -> Result<(), Failure> {
    let source = load(&arguments.scenario.name)?;
    let request = CompareRequest {
        id: source.name,
        text: source.text,
        overrides: arguments.scenario.overrides.clone(),
        protocols: arguments.protocols.clone(),
        sessions: arguments.sessions.clone(),
        with: arguments.with.clone(),
        replications: arguments.replications,
        seed: arguments.seed,
    };
    let contenders = compare::read(&request, &RegistryCatalogue).map_err(failure)?;
    if let Some(directory) = &arguments.out {
        prepare(directory)?;
    }
    let jobs = arguments.jobs.map(|jobs| jobs as usize);
    let mut ran = Vec::with_capacity(contenders.len());
    for contender in contenders {
        let replications = counted(contender.plan.replications as usize, "replication");
        let progress = Progress::new(format!("{}, {replications}", contender.protocol), arguments.quiet);
        ran.push(compare::run(contender, jobs, &|share| progress.tell(share)).map_err(failure)?);
        progress.finish();
    }
    let command = command_line(arguments);
    let Some(comparison) = Comparison::new(&ran, &command) else { return Ok(()) };
    tell(&compare::table::render(&comparison))?;
    let Some(directory) = &arguments.out else { return Ok(()) };
    let written =
        compare::write_all(directory, &ran, &comparison).context("the results could not be written")?;
    Ok(tell(&format!(
        "\nReport      {}\nComparison  {}\n",
        written.report.display(),
        written.comparison.display()
    ))?)
}

/// The command that repeats a comparison.
fn command_line(arguments: &Compare) -> String {
    let mut command = format!(
        "layercast compare {} --protocols {}",
        arguments.scenario.name,
        arguments.protocols.join(",")
    );
    for (flag, values) in [
        ("--session", &arguments.sessions),
        ("--with", &arguments.with),
        ("--set", &arguments.scenario.overrides),
    ] {
        for value in values {
            let _ = write!(command, " {flag} '{value}'");
        }
    }
    repeated(command, arguments.replications, arguments.seed)
}
