//! What each command does.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use layercast_laboratory::results::{self, RunCost, Summary};
use layercast_laboratory::run::{self, RegistryCatalogue, RunRequest};
use layercast_laboratory::scenario::{self, Scenario as Plan, catalogue};
use layercast_protocol::registry::{self, Protocol};

use crate::arguments::{Check, List, Run, Scenario};
use crate::progress::Progress;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is wrong; the text says what, where and what would be right.
    Input(String),
    /// Anything else.
    Other(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Other(error)
    }
}

/// Reads and checks a scenario with its overrides. The text returned is what decides the numbers.
fn read(name: &str, overrides: &[String]) -> Result<(Plan, String), Failure> {
    let source = catalogue::load(name).map_err(|error| Failure::Input(format!("error: {error}")))?;
    let plan = scenario::read(&source.name, &source.text, overrides, &RegistryCatalogue)
        .map_err(|errors| Failure::Input(errors.to_string()))?;
    let mut text = source.text;
    for set in overrides {
        let _ = write!(text, "\n# --set {set}");
    }
    Ok((plan, text))
}

fn overrides(scenario: &Scenario, run: &Run) -> Vec<String> {
    let mut all = scenario.overrides.clone();
    all.extend(run.replications.map(|count| format!("replications={count}")));
    all.extend(run.seed.map(|seed| format!("seed={seed}")));
    all
}

pub(crate) fn run(arguments: &Run) -> Result<(), Failure> {
    let overrides = overrides(&arguments.scenario, arguments);
    let (plan, text) = read(&arguments.scenario.name, &overrides)?;
    let request = RunRequest {
        id: arguments.scenario.name.clone(),
        text,
        command: command_line(arguments),
        jobs: arguments.jobs.map(|jobs| jobs as usize),
    };
    let progress = Progress::new(format!("{} replications", plan.replications), arguments.quiet);
    let outcome = run::run(&plan, &request, &|share| progress.tell(share)).context("the run failed")?;
    progress.finish();

    let cost = RunCost { wall_s: outcome.wall_s, peak_rss_bytes: run::peak_rss_bytes() };
    let summary = Summary::new(&outcome.experiment, &outcome.replications, cost)
        .context("the results do not fit the scenario")?;
    print!("{}", results::table::render(&outcome.experiment, &summary));
    if let Some(directory) = &arguments.out {
        write(directory, &outcome, &summary)?;
    }
    Ok(())
}

fn write(directory: &Path, outcome: &run::Outcome, summary: &Summary) -> Result<(), Failure> {
    let written = results::write_all(directory, &outcome.experiment, &outcome.replications, summary)
        .context("the results could not be written")?;
    println!("\nReport   {}", written.report.display());
    println!("Summary  {}", written.summary.display());
    println!("Series   {}", written.series.display());
    Ok(())
}

/// The command that repeats a run.
fn command_line(arguments: &Run) -> String {
    let mut command = format!("layercast run {}", arguments.scenario.name);
    for set in &arguments.scenario.overrides {
        let _ = write!(command, " --set '{set}'");
    }
    if let Some(count) = arguments.replications {
        let _ = write!(command, " --replications {count}");
    }
    if let Some(seed) = arguments.seed {
        let _ = write!(command, " --seed {seed}");
    }
    command
}

pub(crate) fn check(arguments: &Check) -> Result<(), Failure> {
    let (plan, _) = read(&arguments.scenario.name, &arguments.scenario.overrides)?;
    println!(
        "{}: fine ({} nodes, {} links, {} flows, {} replications of {})",
        arguments.scenario.name,
        plan.nodes.len(),
        plan.links.len(),
        plan.flow_names().len(),
        plan.replications,
        plan.duration,
    );
    Ok(())
}

pub(crate) fn list(arguments: &List) -> Result<(), Failure> {
    if let Some(name) = &arguments.protocol {
        return list_options(name);
    }
    if !arguments.protocols {
        if !arguments.plain {
            println!("Scenarios");
        }
        for built_in in catalogue::BUILT_IN {
            if arguments.plain {
                println!("{}", built_in.name);
            } else {
                println!("  {:<28}{}", built_in.name, title(built_in.name));
            }
        }
    }
    if !arguments.scenarios {
        if !arguments.plain {
            println!("{}Protocols", if arguments.protocols { "" } else { "\n" });
        }
        for name in registry::NAMES {
            println!("{}{name}", if arguments.plain { "" } else { "  " });
        }
        for name in scenario::protocols::TCP_PROTOCOLS {
            println!("{}{name}", if arguments.plain { "" } else { "  " });
        }
    }
    Ok(())
}

fn title(name: &str) -> String {
    read(name, &[]).map_or(String::new(), |(plan, _)| plan.name)
}

fn list_options(name: &str) -> Result<(), Failure> {
    let Some(protocol) = Protocol::named(name) else {
        let known = registry::NAMES.join(", ");
        return Err(Failure::Input(format!("error: there is no protocol `{name}`; there are {known}")));
    };
    for option in protocol.option_specs() {
        print!("{} = {}    ({}", option.name, option.default, option.kind);
        if let Some((low, high)) = &option.bounds {
            print!(", {low} to {high}");
        }
        println!(")\n    {}", option.doc);
    }
    Ok(())
}
