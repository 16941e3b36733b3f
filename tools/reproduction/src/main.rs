//! Regenerates the figures of papers and says which of their claims hold.
//!
//! `make reproduce-thesis` and its like each run all of a paper and write its page in the
//! documentation; `make readings` runs every experiment at a drop-tail queue in both readings, `make studies` what
//! goes across papers. `--quick` runs everything briefly.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;

mod frame;
mod papers;
mod readings;
mod studies;

use frame::effort::Effort;
use frame::figure::{Data, Paper, Variant};
use frame::gallery::{self, FigureReport};
use frame::study::Listener;
use frame::{page, plot, study};

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

    /// Of the readings only experiments whose names contain this, and no page; of the studies those whose
    /// names contain it
    #[arg(long, value_name = "PART")]
    only: Option<String>,

    /// Everything briefly, in a minute or so; the numbers mean little
    #[arg(long)]
    quick: bool,

    /// The directory for figures and results; the paper has its own below
    #[arg(long, value_name = "DIR", default_value = "results/reproduction")]
    out: PathBuf,

    /// The page to write; by default `page.md` next to the figures
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,

    /// How many threads run replications; by default one for each core
    #[arg(long, value_name = "COUNT")]
    jobs: Option<usize>,
}

/// What stands for both readings of all experiments at drop-tail queues.
const READINGS: &str = "readings";

/// What stands for the studies across papers.
const STUDIES: &str = "studies";

/// Prints its progress to standard error.
struct OnStandardError;

impl Listener for OnStandardError {
    fn begins(&self, what: &str, all: usize, done: usize) {
        eprintln!("{what}: {all} replications, {done} of them done");
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match papers::find(&arguments.paper) {
        Some(paper) => run(&arguments, &paper),
        None if arguments.paper == STUDIES => studies::run(&studies::Plan {
            out: arguments.out.join(STUDIES),
            page: arguments.page.clone(),
            only: arguments.only.clone(),
            quick: arguments.quick,
            jobs: arguments.jobs,
        }),
        None => readings::run(&readings::Plan {
            out: arguments.out.join(READINGS),
            page: arguments.page.clone(),
            only: arguments.only.clone(),
            quick: arguments.quick,
            jobs: arguments.jobs,
        }),
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
    let directory = arguments.out.join(paper.name);
    let sweeps = directory.join("sweeps").join(effort.name());
    let mut studies = BTreeMap::new();
    for one in &paper.studies {
        studies.insert(one.name, study::run(one, effort, &sweeps, arguments.jobs, &OnStandardError)?);
    }
    let data = Data { effort, studies };
    let reports = report_figures(paper, &data);
    for one in &reports {
        let drawn = std::iter::once((one.file(), &one.shown))
            .chain(one.variants.iter().map(|(variant, shown)| (one.variant_file(variant), shown)));
        for (file, shown) in drawn {
            let svg = plot::svg(&shown.panels).with_context(|| one.figure.label.to_string())?;
            write(&directory.join(file), &svg)?;
        }
    }
    write(&directory.join("index.html"), &gallery::html(paper, &reports))?;
    let page = arguments.page.clone().unwrap_or_else(|| directory.join("page.md"));
    write(&page, &page::markdown(paper, &reports))?;
    for one in &reports {
        for (claim, finding) in one.figure.claims.iter().zip(&one.shown.findings) {
            println!("{:<12}  {:<14}  {}", one.figure.label.to_string(), finding.verdict.words(), claim.says);
        }
    }
    println!("\nFigures  {}\nPage     {}", directory.join("index.html").display(), page.display());
    Ok(())
}

/// Makes the panels of all figures and checks their claims.
fn report_figures<'p>(paper: &'p Paper, data: &Data) -> Vec<FigureReport<'p>> {
    let variants: Vec<(&Variant, Data)> =
        paper.variants.iter().map(|variant| (variant, data.with(variant))).collect();
    paper.figures.iter().map(|figure| FigureReport::new(figure, data, &variants)).collect()
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

#[cfg(test)]
mod tests;
