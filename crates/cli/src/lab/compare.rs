//! `layercast compare`: a scenario with each of several protocols.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::Context;
use clap::Args;
use layercast_laboratory::compare::against::{self, Against, Version};
use layercast_laboratory::compare::{
    self, Candidate, CompareError, CompareRequest, Comparison, Prepared, Results,
};
use layercast_laboratory::lint;
use layercast_laboratory::results::Finding;
use layercast_laboratory::results::directory::Holds;

use crate::failure::Failure;
use crate::output::{counted, print, print_written, width};
use crate::program::Program;
use crate::progress::Progress;
use crate::scenario::{self, Scenario, load, prepare_for, repeated, trimmed};

#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) scenario: Scenario,

    /// The protocols, in the order of the table; `layercast list --protocols` names them
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = trimmed, required = true)]
    pub(crate) protocols: Vec<String>,

    /// The session that runs each protocol in turn; may be repeated [default: all sessions]
    #[arg(long = "session", value_name = "NAME")]
    pub(crate) sessions: Vec<String>,

    /// Set an option of one of the protocols, such as rlc.sp_spacing='320 ms', or its layers,
    /// packet_size or ecn; may be repeated. Protocols other than the scenario's own use their defaults
    /// otherwise
    #[arg(long = "with", value_name = "PROTOCOL.OPTION=VALUE")]
    pub(crate) with: Vec<String>,

    /// Repeat the comparison with each of these in place of the scenario's TCP, such as
    /// tcp-reno,tcp-cubic, and print the shares in one table
    #[arg(long, value_name = "TCP,...", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) against: Vec<String>,

    /// The protocol that differences are given to [default: the best]
    #[arg(long, value_name = "NAME")]
    pub(crate) reference: Option<String>,

    /// Compare the protocols that can carry the scenario, and list the others with the reason
    #[arg(long)]
    pub(crate) skip_refused: bool,

    /// Number of replications of each protocol [default: from the scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) replications: Option<u32>,

    /// Seed of all random numbers, the same for all protocols [default: from the scenario]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,

    /// Write compare.json and report.html to this directory, each protocol's own results to DIR/PROTOCOL, and
    /// those without multicast to DIR/without-multicast;
    /// with --against against.json and report.html, and each comparison to DIR/TCP
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Print every statistic as comma-separated values in place of the table
    #[arg(long, conflicts_with = "against")]
    pub(crate) csv: bool,

    /// Do not show progress (it is shown only if standard error is a terminal)
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Distinguishes wrong input by the user from other failures.
fn failure(error: CompareError) -> Failure {
    if error.is_input() {
        return Failure::Input(error.to_string());
    }
    Failure::Other(anyhow::Error::new(error).context("the comparison failed"))
}

pub(crate) fn compare(arguments: &Compare, program: &Program) -> Result<(), Failure> {
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
        against_its_own(arguments, &request, program)
    } else {
        against_each(arguments, &request, program)
    }
}

/// With the scenario's own TCP.
fn against_its_own(arguments: &Compare, request: &CompareRequest, program: &Program) -> Result<(), Failure> {
    let prepared = compare::read(request, &program.catalogue).map_err(failure)?;
    warn(arguments, &prepared.candidates)?;
    let _claim =
        arguments.out.as_ref().map(|directory| prepare_for(Holds::Comparison, directory)).transpose()?;
    let results = run_all(prepared, arguments, "", program)?;
    let Some(comparison) = summed_up(&results, arguments, program) else { return Ok(()) };
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

fn summed_up(results: &Results, arguments: &Compare, program: &Program) -> Option<Comparison> {
    Comparison::new(results, &command_line(arguments, program.name), arguments.reference.as_deref())
}

/// With each version of TCP. All scenarios are read before anything runs.
fn against_each(arguments: &Compare, request: &CompareRequest, program: &Program) -> Result<(), Failure> {
    let requests = against::requests(request, &arguments.against, &program.catalogue).map_err(failure)?;
    let mut all = Vec::with_capacity(requests.len());
    for (tcp, request) in arguments.against.iter().zip(&requests) {
        all.push((tcp, compare::read(request, &program.catalogue).map_err(failure)?));
    }
    let found = all.iter().flat_map(|(_, prepared)| &prepared.candidates).map(findings);
    scenario::warn(&arguments.scenario, &lint::once(found))?;
    let _claim =
        arguments.out.as_ref().map(|directory| prepare_for(Holds::Against, directory)).transpose()?;
    let command = command_line(arguments, program.name);
    let mut versions = Vec::with_capacity(all.len());
    for (tcp, prepared) in all {
        let results = run_all(prepared, arguments, &format!(" against {tcp}"), program)?;
        let Some(comparison) = summed_up(&results, arguments, program) else { continue };
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
fn warn(arguments: &Compare, candidates: &[Candidate]) -> Result<(), Failure> {
    Ok(scenario::warn(&arguments.scenario, &lint::once(candidates.iter().map(findings)))?)
}

fn findings(candidate: &Candidate) -> Vec<Finding> {
    lint::before(&candidate.plan, &candidate.text)
}

fn run_all(
    prepared: Prepared,
    arguments: &Compare,
    opponent: &str,
    program: &Program,
) -> Result<Results, Failure> {
    let jobs = arguments.jobs.map(|jobs| jobs as usize);
    let columns = prepared.candidates.len() + usize::from(prepared.baseline.is_some());
    let shown: Mutex<Option<(String, Progress)>> = Mutex::new(None);
    let results = (program.compare)(prepared, jobs, &|candidate, share| {
        let Ok(mut shown) = shown.lock() else { return };
        if shown.as_ref().is_none_or(|(protocol, _)| *protocol != candidate.protocol) {
            if let Some((_, done)) = shown.take() {
                done.finish();
            }
            let replications = counted(candidate.plan.replications as usize, "replication");
            let what = format!("{}{opponent}, {replications}, {columns} columns", candidate.protocol);
            *shown = Some((candidate.protocol.clone(), Progress::new(what, arguments.quiet)));
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
fn command_line(arguments: &Compare, program: &str) -> String {
    let mut command = format!(
        "{program} compare {} --protocols {}",
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
