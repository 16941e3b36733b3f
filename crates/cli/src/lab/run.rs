//! `layercast run`.

mod observe;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use layercast_core::units::Duration;
use layercast_laboratory::lint;
use layercast_laboratory::results::csv::Csv;
use layercast_laboratory::results::directory::{self, Holds};
use layercast_laboratory::results::{self, RunCost, Summary};
use layercast_laboratory::run::{self, RunRequest};
use layercast_laboratory::scenario;

use crate::emulator;
use crate::failure::Failure;
use crate::modes::{BOTH, Cell, Fact, Mode, Row, Table, USED, no, row};
use crate::output::{complain_lines, print, print_written, width};
use crate::program::Program;
use crate::progress::Progress;
use crate::scenario::{Reading, Scenario, load, prepare_for, repeated, warn, wrong};
use observe::ProbeSetting;

/// Where a scenario runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum World {
    Simulated,
    Emulated,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) scenario: Scenario,

    /// Where it runs: in the simulator, or between network namespaces of this machine with the kernel's TCP and in
    /// real time (docs/emulator.md)
    #[arg(long, value_name = "WORLD", value_enum, default_value_t = World::Simulated)]
    pub(crate) world: World,

    /// Of the emulated world: a replication in which more than 1 % of the packets are later than this is not valid
    #[arg(long, value_name = "TIME", default_value = "1 ms")]
    pub(crate) lateness: Duration,

    /// Number of replications [default: from the scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) replications: Option<u32>,

    /// Seed of all random numbers [default: from the scenario]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,

    /// Write summary.json, series.parquet and report.html to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Record values over time in DIR/probes.parquet and plot them, such as 'link
    /// G1-G2:queue_packets,queue_bytes@10 ms' or 'flow elm@R1:level'; may be repeated
    #[arg(long = "probe", value_name = "OF:WHAT[@EVERY]", requires = "out")]
    pub(crate) probes: Vec<String>,

    /// Write what a link transmits to DIR/capture-A-B.pcap; LINK is A-B or B-A, DIRECTION forward
    /// (as LINK is written), backward or both; may be repeated
    #[arg(long = "capture", value_name = "LINK[:DIRECTION]", requires = "out")]
    pub(crate) captures: Vec<String>,

    /// The replication to capture
    #[arg(long, value_name = "N", default_value_t = 1, requires = "captures")]
    pub(crate) capture_replication: u32,

    /// Write every join, leave, level change and trace event of the receivers to DIR/notes.jsonl
    #[arg(long, requires = "out")]
    pub(crate) notes: bool,

    /// Print every statistic as comma-separated values in place of the table
    #[arg(long)]
    pub(crate) csv: bool,

    /// Do not show progress (it is shown only if standard error is a terminal)
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The worlds of `layercast run`.
pub(crate) static RUN: Table<World> = Table {
    command: "run",
    arguments: Run::augment_args,
    default: World::Simulated,
    modes: &[
        Mode { mode: World::Simulated, by: "", name: "--world simulated" },
        Mode { mode: World::Emulated, by: "emulated", name: "--world emulated" },
    ],
    facts: &[Fact {
        name: "emulated",
        text: "--world emulated",
        holds: |matches| matches.get_one("world") == Some(&World::Emulated),
    }],
    rows: RUN_ROWS,
};

const CAPTURED: Cell =
    no("packets are captured in the simulated world only", "leave it out, or run `tcpdump` at a node");

const RUN_ROWS: &[Row] = &[
    row("name", BOTH),
    row("overrides", BOTH),
    row("deny_warnings", BOTH),
    row("world", BOTH),
    row(
        "lateness",
        &[no("no packet is late in the simulated world", "add --world emulated, or leave it out"), USED],
    ),
    row("replications", BOTH),
    row("seed", BOTH),
    row("jobs", &[USED, no("replications run one after the other in real time", "leave it out")]),
    row("out", BOTH),
    row("probes", BOTH),
    row("captures", &[USED, CAPTURED]),
    row("capture_replication", &[USED, CAPTURED]),
    row("notes", &[USED, no("trace events are kept in the simulated world only", "leave it out")]),
    row("csv", BOTH),
    row("quiet", BOTH),
];

fn overrides(scenario: &Scenario, run: &Run) -> Vec<String> {
    let mut all = scenario.overrides.clone();
    all.extend(run.replications.map(|count| format!("replications={count}")));
    all.extend(run.seed.map(|seed| format!("seed={seed}")));
    all
}

/// The scenario with its overrides and those that add probes, which do not decide its numbers.
fn read(
    arguments: &Run,
    overrides: &[String],
    probes: &[ProbeSetting],
    program: &Program,
) -> Result<Reading, Failure> {
    let source = load(&arguments.scenario.name)?;
    let settings = overrides.iter().chain(probes.iter().map(|probe| &probe.set));
    let settings: Vec<String> = settings.cloned().collect();
    let plan = scenario::read(&source.name, &source.text, &settings, &program.catalogue)
        .map_err(|errors| wrong(&observe::in_flags(errors, overrides.len(), probes)))?;
    Ok(Reading { plan, text: run::as_run(&source.text, overrides) })
}

pub(crate) fn run(arguments: &Run, program: &Program) -> Result<(), Failure> {
    let overrides = overrides(&arguments.scenario, arguments);
    let probes = observe::probes(&arguments.probes).map_err(Failure::Input)?;
    let Reading { plan, text } = read(arguments, &overrides, &probes, program)?;
    let observation = observe::observation(arguments, &plan).map_err(Failure::Input)?;
    if arguments.world == World::Emulated {
        emulator::refuse(&plan, arguments.lateness)?;
    }
    let found = lint::before(&plan, &text);
    let found = if arguments.world == World::Emulated { lint::emulated(found) } else { found };
    warn(&arguments.scenario, &found)?;
    let _claim = arguments.out.as_ref().map(|directory| prepare_for(Holds::Run, directory)).transpose()?;
    if let Some(directory) = &arguments.out {
        directory::remove_extras(directory)
            .with_context(|| format!("an older file in {} cannot be removed", directory.display()))?;
    }
    let observed =
        observation.as_ref().map(|observation| observe::files(observation, &plan)).unwrap_or_default();
    let request = RunRequest {
        id: arguments.scenario.name.clone(),
        text,
        command: command_line(arguments, program.name),
        jobs: arguments.jobs.map(|jobs| jobs as usize),
        observation,
        ..RunRequest::default()
    };
    let plural = if plan.replications == 1 { "" } else { "s" };
    let progress = Progress::new(format!("{} replication{plural}", plan.replications), arguments.quiet);
    let outcome = match arguments.world {
        World::Simulated => {
            (program.run)(&plan, &request, &|share| progress.set(share)).context("the run failed")?
        }
        World::Emulated => emulator::run(&plan, &request, arguments.lateness, &|share| progress.set(share))?,
    };
    progress.finish();
    let found = lint::measured(&outcome.experiment.findings);
    if !found.is_empty() {
        complain_lines(lint::render(&arguments.scenario.name, &found).trim_end());
    }

    let cost = RunCost { wall_s: outcome.wall_s, peak_rss_bytes: run::peak_rss_bytes() };
    let summary = Summary::new(&outcome.experiment, &outcome.replications, cost)
        .context("the results do not fit the scenario")?;
    if arguments.csv {
        let mut csv = Csv::new([]);
        csv.add(&[], &summary);
        print(&csv.finish())?;
    } else {
        print(&results::table::render(&outcome.experiment, &summary, width()))?;
    }
    match &arguments.out {
        Some(directory) => write(directory, &outcome, &summary, &observed, arguments.csv),
        None => Ok(()),
    }
}

fn write(
    directory: &Path,
    outcome: &run::Outcome,
    summary: &Summary,
    observed: &str,
    csv: bool,
) -> Result<(), Failure> {
    let written = results::write_all(directory, &outcome.experiment, &outcome.replications, summary)
        .context("the results could not be written")?;
    let probes =
        written.probes.as_ref().map_or(String::new(), |path| format!("Probes   {}\n", path.display()));
    Ok(print_written(
        csv,
        &format!(
            "\nReport   {}\nSummary  {}\nSeries   {}\n{probes}{observed}",
            written.report.display(),
            written.summary.display(),
            written.series.display()
        ),
    )?)
}

/// The command that repeats a run.
fn command_line(arguments: &Run, program: &str) -> String {
    let mut command = format!("{program} run {}", arguments.scenario.name);
    for set in &arguments.scenario.overrides {
        let _ = write!(command, " --set '{set}'");
    }
    if arguments.world == World::Emulated {
        command.push_str(" --world emulated");
    }
    repeated(command, arguments.replications, arguments.seed)
}
