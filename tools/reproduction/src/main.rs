//! Regenerates the figures of papers and says which of their claims hold.
//!
//! `make reproduce-thesis` and its like each run all of a paper and write its page in the
//! documentation; `make readings` runs every experiment at a drop-tail queue in all readings, `make studies` what
//! goes across papers. `--quick` runs everything briefly.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;

mod claims;
mod common;
mod frame;
mod papers;
mod readings;
mod samples;
mod studies;

use common::{Plan, read, write};
use frame::effort::Effort;
use frame::figure::{Data, Paper};
use frame::report::Report;
use frame::study::{InReading, Listener, Runs, Study};
use frame::{gallery, page, study, summary};
use readings::rhythm::Reading;

/// Regenerate a paper's figures and say which of its claims hold.
///
/// An interrupted reproduction resumes where it stopped. Exit status: 0 done, whatever the verdicts; 1
/// failed; 2 wrong usage.
#[derive(Debug, Parser)]
#[command(name = "layercast-reproduction", version, max_term_width = 100)]
struct Arguments {
    /// The paper, `readings` or `studies`
    #[arg(value_parser = papers::NAMES.into_iter().chain([READINGS, STUDIES]).collect::<Vec<_>>())]
    paper: String,

    /// Of the readings only experiments whose names contain this, and no page; of the studies, and of a paper's, those
    /// whose names contain one of these parts (with commas between), and of a paper the page in its directory alone
    #[arg(long, value_name = "PART")]
    only: Option<String>,

    /// Another set-up of a paper, as for `layercast run --set`, where a scenario has this key: in the reading that counts, with
    /// results and page in a directory of its own
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Everything briefly, in a minute or so; the numbers mean little
    #[arg(long)]
    quick: bool,

    /// The directory for figures and results; the paper has its own below
    #[arg(long, value_name = "DIR", default_value = "results/reproduction")]
    out: PathBuf,

    /// The page to write; by default, and always with --quick, `page.md` in the paper's directory
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,

    /// The page whose table of papers gets this paper's row; not with --quick
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,

    /// How many threads run replications; by default one for each core
    #[arg(long, value_name = "COUNT")]
    jobs: Option<usize>,
}

/// What stands for the readings of all experiments at drop-tail queues.
const READINGS: &str = "readings";

/// What stands for the studies across papers.
const STUDIES: &str = "studies";

/// Prints its progress to standard error.
struct OnStandardError;

impl Listener for OnStandardError {
    fn keeps(&self, what: &str, set: &str) {
        eprintln!("{what}: has no {set}");
    }

    fn begins(&self, what: &str, all: usize, done: usize) {
        eprintln!("{what}: {all} replications, {done} of them done");
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let plan = |name: &str| Plan {
        out: arguments.out.join(name),
        page: arguments.page.clone(),
        only: arguments.only.clone(),
        quick: arguments.quick,
        jobs: arguments.jobs,
    };
    let done = match papers::find(&arguments.paper) {
        Some(paper) => run(&arguments, &paper),
        None if arguments.paper == STUDIES => studies::run(&plan(STUDIES)),
        None => readings::run(&plan(READINGS)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments, paper: &Paper) -> anyhow::Result<()> {
    let effort = if arguments.quick { Effort::Quick } else { Effort::Full };
    for set in &arguments.set {
        let is_taken = paper.studies.iter().any(|one| study::takes(one, set));
        anyhow::ensure!(is_taken, "no scenario of {} takes {set}", paper.name);
    }
    let is_as_printed = arguments.set.is_empty();
    let mut directory = arguments.out.join(paper.name);
    if !is_as_printed {
        directory.push(arguments.set.join("+").replace([' ', '"', '/'], ""));
    }
    let sweeps = directory.join("sweeps").join(effort.name());
    // A mistake in the claims shows before anything is run.
    Report::new(paper, &Data { effort, studies: BTreeMap::new() }, &[])?;
    let runs = Runs {
        effort,
        directory: &sweeps,
        jobs: arguments.jobs,
        set: &arguments.set,
        listener: &OnStandardError,
    };
    let counts = |reading| InReading { reading, counts: true };
    let is_wanted = |one: &&Study| {
        let only = arguments.only.as_deref().unwrap_or_default();
        only.split(',').any(|part| one.name.contains(part))
    };
    let mut studies = BTreeMap::new();
    for one in paper.studies.iter().filter(is_wanted) {
        studies.insert(one.name, study::run(one, paper.primary(one.name).map(counts), &runs)?);
    }
    let data = Data { effort, studies };
    let mut in_readings = Vec::new();
    for reading in Reading::ALL.into_iter().filter(|_| is_as_printed && !paper.readings.is_empty()) {
        let mut data = data.clone();
        for one in paper.also_in(reading).filter(is_wanted) {
            data.studies
                .insert(one.name, study::run(one, Some(InReading { reading, counts: false }), &runs)?);
        }
        in_readings.push((reading, data));
    }
    let report = Report::new(paper, &data, &in_readings)?;
    // A brief run, a part, or another set-up must not change the documentation.
    let is_whole = !arguments.quick && arguments.only.is_none() && is_as_printed;
    let page = arguments.page.clone().filter(|_| is_whole);
    let page = page.unwrap_or_else(|| directory.join("page.md"));
    write(&page, &page::markdown(&report))?;
    println!("Page     {}", page.display());
    if arguments.only.is_none() && is_as_printed {
        draw(arguments, &report)?;
    }
    if let Some(path) = arguments.summary.as_ref().filter(|_| is_whole) {
        let text = read(path)?;
        let text = summary::with_row(&text, &report, &papers::NAMES);
        write(path, &text.with_context(|| format!("{} has no place for the table", path.display()))?)?;
    }
    for (claim, judged) in report.book.claims.iter().zip(&report.judged) {
        println!(
            "{:<12}  {:<8}  {:<18}  {}",
            claim.figure,
            claim.kind.name(),
            judged.verdict.words(),
            claim.says
        );
    }
    Ok(())
}

/// The figures as HTML, and the index of papers.
fn draw(arguments: &Arguments, report: &Report<'_>) -> anyhow::Result<()> {
    let html = arguments.out.join(format!("{}.html", report.paper.name));
    write(&html, &gallery::html(report)?)?;
    println!("Figures  {}\n", html.display());
    // Papers that were run before are in the index too.
    let drawn = papers::NAMES.into_iter().filter_map(papers::find);
    let drawn: Vec<Paper> =
        drawn.filter(|paper| arguments.out.join(format!("{}.html", paper.name)).exists()).collect();
    write(&arguments.out.join("index.html"), &gallery::index(&drawn))
}

#[cfg(test)]
mod tests;
