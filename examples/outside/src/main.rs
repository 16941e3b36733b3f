//! The laboratory with one protocol more: runs scenarios and comparisons in which PLM meets the built-in ones.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser};
use layercast_core::family::Union;
use layercast_laboratory::BuiltIn;
use layercast_laboratory::compare::{self, CompareRequest, Comparison};
use layercast_laboratory::results::{self, RunCost, Summary};
use layercast_laboratory::run::{self, RunRequest};
use layercast_laboratory::scenario::{self, Catalogue};
use layercast_outside::Outside;

/// The protocol of this crate, and all of Layercast's.
type Protocols = Union<Outside, BuiltIn>;

/// Runs scenarios with PLM next to Layercast's own protocols.
#[derive(Parser)]
enum Command {
    /// Run a scenario and print its table.
    Run(Scenario),
    /// Say what is wrong with a scenario.
    Check(Scenario),
    /// Run a scenario with each of several protocols in its sessions.
    Compare {
        #[command(flatten)]
        scenario: Scenario,
        /// The protocols, separated by commas.
        #[arg(long, value_delimiter = ',', required = true)]
        protocols: Vec<String>,
        /// `PROTOCOL.OPTION=VALUE`, or layers, packet size or ECN for one protocol alone.
        #[arg(long)]
        with: Vec<String>,
    },
    /// Name all protocols.
    List,
}

#[derive(Args)]
struct Scenario {
    /// The scenario file.
    path: PathBuf,
    /// Change a value of the scenario: KEY=VALUE.
    #[arg(long)]
    set: Vec<String>,
    /// Write the report and the data into this directory.
    #[arg(long)]
    out: Option<PathBuf>,
}

impl Scenario {
    fn text(&self) -> Result<String, String> {
        std::fs::read_to_string(&self.path).map_err(|error| format!("{}: {error}", self.path.display()))
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

fn execute(command: Command) -> Result<(), Box<dyn Error>> {
    let catalogue = Catalogue::of::<Protocols>();
    match command {
        Command::List => println!("{}", catalogue.names().join("\n")),
        Command::Check(file) => {
            scenario::read(&file.name(), &file.text()?, &file.set, &catalogue)?;
            println!("{} is right", file.name());
        }
        Command::Run(file) => {
            let text = file.text()?;
            let plan = scenario::read(&file.name(), &text, &file.set, &catalogue)?;
            let request =
                RunRequest { id: file.name(), text: run::as_run(&text, &file.set), ..RunRequest::default() };
            let outcome = run::run::<Protocols>(&plan, &request, &|_| {})?;
            let cost = RunCost { wall_s: outcome.wall_s, peak_rss_bytes: run::peak_rss_bytes() };
            let summary = Summary::new(&outcome.experiment, &outcome.replications, cost)?;
            print!("{}", results::table::render(&outcome.experiment, &summary, results::table::WIDTH));
            if let Some(directory) = &file.out {
                results::write_all(directory, &outcome.experiment, &outcome.replications, &summary)?;
                println!("\nReport   {}", directory.join("report.html").display());
            }
        }
        Command::Compare { scenario: file, protocols, with } => {
            let (id, text, overrides) = (file.name(), file.text()?, file.set.clone());
            let request =
                CompareRequest { id, text, overrides, protocols, with, ..CompareRequest::default() };
            let prepared = compare::read(&request, &catalogue)?;
            let results = compare::run_all::<Protocols>(prepared, None, &|_, _| {})?;
            if let Some(comparison) = Comparison::new(&results, "layercast-outside compare", None) {
                print!("{}", compare::table::render(&comparison, compare::table::NARROWEST));
            }
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match execute(Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
