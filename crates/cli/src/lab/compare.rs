//! `layercast compare`: a scenario with each of several protocols.

use layercast_laboratory::scenario::Catalogue;
use layercast_protocols::registry::Registry;
use std::fmt::Write as _;
use std::sync::Mutex;

use anyhow::Context;
use layercast_laboratory::compare::against::{self, Against, Version};
use layercast_laboratory::compare::{
    self, CompareError, CompareRequest, Comparison, Contender, Prepared, Results,
};
use layercast_laboratory::lint;
use layercast_laboratory::results::Finding;
use layercast_laboratory::results::directory::Holds;

use crate::arguments::Compare;
use crate::commands::{Failure, counted, load, prepare_for, repeated};
use crate::lab::warnings;
use crate::output::{print, print_written, width};
use crate::progress::Progress;

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
        reference: arguments.reference.clone(),
        skip_refused: arguments.skip_refused,
        ..CompareRequest::default()
    };
    if arguments.against.is_empty() {
        against_its_own(arguments, &request)
    } else {
        against_each(arguments, &request)
    }
}

/// With the scenario's own TCP.
fn against_its_own(arguments: &Compare, request: &CompareRequest) -> Result<(), Failure> {
    let prepared = compare::read(request, &Catalogue::of::<Registry>()).map_err(failure)?;
    warn(arguments, &prepared.contenders)?;
    let _claim =
        arguments.out.as_ref().map(|directory| prepare_for(Holds::Comparison, directory)).transpose()?;
    let results = run_all(prepared, arguments, "")?;
    let Some(comparison) = summed_up(&results, arguments) else { return Ok(()) };
    print(&if arguments.csv { results.to_csv() } else { compare::table::render(&comparison, width()) })?;
    let Some(directory) = &arguments.out else { return Ok(()) };
    let written =
        compare::write_all(directory, &results, &comparison).context("the results could not be written")?;
    Ok(print_written(
        arguments.csv,
        &format!(
            "\nReport      {}\nComparison  {}\n",
            written.report.display(),
            written.comparison.display()
        ),
    )?)
}

fn summed_up(results: &Results, arguments: &Compare) -> Option<Comparison> {
    Comparison::new(results, &command_line(arguments), arguments.reference.as_deref())
}

/// With each version of TCP. All scenarios are read before anything runs.
fn against_each(arguments: &Compare, request: &CompareRequest) -> Result<(), Failure> {
    let requests =
        against::requests(request, &arguments.against, &Catalogue::of::<Registry>()).map_err(failure)?;
    let mut all = Vec::with_capacity(requests.len());
    for (tcp, request) in arguments.against.iter().zip(&requests) {
        all.push((tcp, compare::read(request, &Catalogue::of::<Registry>()).map_err(failure)?));
    }
    let found = all.iter().flat_map(|(_, prepared)| &prepared.contenders).map(findings);
    warnings::warn(&arguments.scenario, &lint::once(found))?;
    let _claim =
        arguments.out.as_ref().map(|directory| prepare_for(Holds::Against, directory)).transpose()?;
    let command = command_line(arguments);
    let mut versions = Vec::with_capacity(all.len());
    for (tcp, prepared) in all {
        let results = run_all(prepared, arguments, &format!(" against {tcp}"))?;
        let Some(comparison) = summed_up(&results, arguments) else { continue };
        if let Some(directory) = &arguments.out {
            let directory = directory.join(tcp);
            let _claim = prepare_for(Holds::Comparison, &directory)?;
            compare::write_all(&directory, &results, &comparison)
                .context("the results could not be written")?;
        }
        versions.push(Version { tcp: tcp.clone(), comparison });
    }
    let against = Against::new(versions, &command);
    print(&against::render(&against, width()))?;
    let Some(directory) = &arguments.out else { return Ok(()) };
    let (report, numbers) =
        against::write(directory, &against).context("the results could not be written")?;
    Ok(print(&format!("\nReport      {}\nComparison  {}\n", report.display(), numbers.display()))?)
}

/// What is doubtful about the scenarios of all protocols.
fn warn(arguments: &Compare, contenders: &[Contender]) -> Result<(), Failure> {
    Ok(warnings::warn(&arguments.scenario, &lint::once(contenders.iter().map(findings)))?)
}

fn findings(contender: &Contender) -> Vec<Finding> {
    lint::before(&contender.plan, &contender.text)
}

fn run_all(prepared: Prepared, arguments: &Compare, opponent: &str) -> Result<Results, Failure> {
    let jobs = arguments.jobs.map(|jobs| jobs as usize);
    let columns = prepared.contenders.len() + usize::from(prepared.baseline.is_some());
    let shown: Mutex<Option<(String, Progress)>> = Mutex::new(None);
    let results = compare::run_all::<Registry>(prepared, jobs, &|contender, share| {
        let Ok(mut shown) = shown.lock() else { return };
        if shown.as_ref().is_none_or(|(protocol, _)| *protocol != contender.protocol) {
            if let Some((_, done)) = shown.take() {
                done.finish();
            }
            let replications = counted(contender.plan.replications as usize, "replication");
            let what = format!("{}{opponent}, {replications}, {columns} columns", contender.protocol);
            *shown = Some((contender.protocol.clone(), Progress::new(what, arguments.quiet)));
        }
        if let Some((_, progress)) = shown.as_ref() {
            progress.set(share);
        }
    });
    if let Ok(Some((_, progress))) = shown.into_inner() {
        progress.finish();
    }
    results.map_err(failure)
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
    if let Some(reference) = &arguments.reference {
        let _ = write!(command, " --reference {reference}");
    }
    if arguments.skip_refused {
        command.push_str(" --skip-refused");
    }
    repeated(command, arguments.replications, arguments.seed)
}
