//! `layercast compare`: a scenario with each of several protocols.

use layercast_laboratory::scenario::Catalogue;
use layercast_protocols::registry::Registry;
use std::fmt::Write as _;

use anyhow::Context;
use layercast_laboratory::compare::against::{self, Against, Version};
use layercast_laboratory::compare::{self, CompareError, CompareRequest, Comparison, Contender, Ran};
use layercast_laboratory::lint;
use layercast_laboratory::results::Finding;
use layercast_laboratory::results::directory::Holds;

use crate::arguments::Compare;
use crate::commands::{Failure, counted, load, prepare_for, repeated};
use crate::output::print;
use crate::progress::Progress;
use crate::warnings;

/// Distinguishes wrong input by the user from other failures.
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
    if arguments.against.is_empty() {
        against_its_own(arguments, &request)
    } else {
        against_each(arguments, &request)
    }
}

/// With the scenario's own TCP.
fn against_its_own(arguments: &Compare, request: &CompareRequest) -> Result<(), Failure> {
    let contenders = compare::read(request, &Catalogue::of::<Registry>()).map_err(failure)?;
    warn(arguments, &contenders)?;
    if let Some(directory) = &arguments.out {
        prepare_for(Holds::Comparison, directory)?;
    }
    let ran = run_all(contenders, arguments, "")?;
    let Some(comparison) = Comparison::new(&ran, &command_line(arguments)) else { return Ok(()) };
    print(&compare::table::render(&comparison))?;
    let Some(directory) = &arguments.out else { return Ok(()) };
    let written =
        compare::write_all(directory, &ran, &comparison).context("the results could not be written")?;
    Ok(print(&format!(
        "\nReport      {}\nComparison  {}\n",
        written.report.display(),
        written.comparison.display()
    ))?)
}

/// With each version of TCP. All scenarios are read before anything runs.
fn against_each(arguments: &Compare, request: &CompareRequest) -> Result<(), Failure> {
    let requests =
        against::requests(request, &arguments.against, &Catalogue::of::<Registry>()).map_err(failure)?;
    let mut all = Vec::with_capacity(requests.len());
    for (tcp, request) in arguments.against.iter().zip(&requests) {
        all.push((tcp, compare::read(request, &Catalogue::of::<Registry>()).map_err(failure)?));
    }
    let found = all.iter().flat_map(|(_, contenders)| contenders).map(findings);
    warnings::warn(&arguments.scenario, &warnings::once(found))?;
    if let Some(directory) = &arguments.out {
        prepare_for(Holds::Against, directory)?;
    }
    let command = command_line(arguments);
    let mut versions = Vec::with_capacity(all.len());
    for (tcp, contenders) in all {
        let ran = run_all(contenders, arguments, &format!(" against {tcp}"))?;
        let Some(comparison) = Comparison::new(&ran, &command) else { continue };
        if let Some(directory) = &arguments.out {
            let directory = directory.join(tcp);
            prepare_for(Holds::Comparison, &directory)?;
            compare::write_all(&directory, &ran, &comparison).context("the results could not be written")?;
        }
        versions.push(Version { tcp: tcp.clone(), comparison });
    }
    let against = Against::new(versions, &command);
    print(&against::render(&against))?;
    let Some(directory) = &arguments.out else { return Ok(()) };
    let (report, numbers) =
        against::write(directory, &against).context("the results could not be written")?;
    Ok(print(&format!("\nReport      {}\nComparison  {}\n", report.display(), numbers.display()))?)
}

/// What is doubtful about the scenarios of all protocols.
fn warn(arguments: &Compare, contenders: &[Contender]) -> Result<(), Failure> {
    Ok(warnings::warn(&arguments.scenario, &warnings::once(contenders.iter().map(findings)))?)
}

fn findings(contender: &Contender) -> Vec<Finding> {
    lint::before(&contender.plan, &contender.text)
}

fn run_all(contenders: Vec<Contender>, arguments: &Compare, opponent: &str) -> Result<Vec<Ran>, Failure> {
    let jobs = arguments.jobs.map(|jobs| jobs as usize);
    let mut ran = Vec::with_capacity(contenders.len());
    for contender in contenders {
        let replications = counted(contender.plan.replications as usize, "replication");
        let what = format!("{}{opponent}, {replications}", contender.protocol);
        let progress = Progress::new(what, arguments.quiet);
        ran.push(compare::run::<Registry>(contender, jobs, &|share| progress.set(share)).map_err(failure)?);
        progress.finish();
    }
    Ok(ran)
}

/// The command that repeats a comparison.
fn command_line(arguments: &Compare) -> String {
    let mut command = format!(
        "layercast compare {} --protocols {}",
        arguments.scenario.name,
        arguments.protocols.join(",")
    );
    if !arguments.against.is_empty() {
        let _ = write!(command, " --against {}", arguments.against.join(","));
    }
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
