//! Layercast with one protocol more: runs scenarios and comparisons in which PLM meets the built-in ones, and sends and receives
//! files by any of them.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use clap::{Args, Parser};
use layercast_core::family::{Family, Union};
use layercast_core::layers::LayerTable;
use layercast_core::units::Rate;
use layercast_delivery::protocols::deployed;
use layercast_laboratory::BuiltIn;
use layercast_laboratory::compare::{self, CompareRequest, Comparison};
use layercast_laboratory::results::{self, RunCost, Summary};
use layercast_laboratory::run::{self, RunRequest};
use layercast_laboratory::scenario::{self, Catalogue};
use layercast_outside::Outside;
use layercast_transport::receive::{Known, ReceiveOptions, receive_of};
use layercast_transport::send::{Ends, SendOptions, send};

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
    /// Send files until a receiver has them.
    Send {
        /// The files and folders.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        group: Group,
        /// The congestion control.
        #[arg(long, default_value = "plm")]
        control: String,
    },
    /// Receive files.
    Receive {
        #[command(flatten)]
        group: Group,
        /// The directory for them.
        #[arg(long)]
        into: PathBuf,
    },
}

#[derive(Args)]
struct Group {
    /// The base layer's group and port.
    #[arg(long)]
    group: SocketAddr,
    /// The interface; by the route to the group if none.
    #[arg(long)]
    interface: Option<String>,
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
    let never = AtomicBool::new(false);
    match command {
        Command::Send { paths, group: Group { group, interface }, control } => {
            let Some(protocol) = deployed::<<Protocols as Family>::Protocol>(&control) else {
                return Err(format!("there is no protocol `{control}`").into());
            };
            let ends = Ends { completions: Some(1), ..Ends::default() };
            let layers = LayerTable::doubling(Rate::from_mbps(4.0), 4)?;
            let options = SendOptions { interface, ends, ..SendOptions::new(group, protocol, layers) };
            let sent = send(&paths, &options, &never, &mut |_| {})?;
            println!(
                "{} packets, {} receivers are complete",
                sent.progress.counters.packets,
                sent.completed.len()
            );
        }
        Command::Receive { group: Group { group, interface }, into } => {
            let known = Known::Group(group, None);
            let options = ReceiveOptions { interface, ..ReceiveOptions::new(known, into) };
            let received = receive_of::<Protocols>(&options, &never, &mut |_| {})?;
            println!("{} files are complete", received.objects.complete);
        }
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
