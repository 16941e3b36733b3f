//! The speed of the simulator: packet hops per CPU second, instructions per hop, memory.
//!
//! `layercast-bench run` measures all cases, each in a separate process, alternating with csg-htsim and ns-2 on
//! the same dumbbells where they are there, and adds them to the history. `layercast-bench case ...` runs one
//! case. `layercast-bench thesis` measures whole experiments of the command.

mod case;
mod delivery;
mod gate;
mod history;
mod instructions;
mod measurement;
mod memory;
mod networks;
mod peer;
mod process;
mod report;
mod row;
mod scenario;
mod spread;
mod tables;
mod thesis;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::case::Case;

#[derive(Parser)]
#[command(about = "Measure the speed of the simulator, against csg-htsim and ns-2")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run all cases and print what they take.
    Run(report::Options),
    /// Fail if a case takes more instructions per packet hop than stored.
    Gate(gate::Options),
    /// Run all simulations of the thesis in full and print their times.
    Thesis(thesis::Options),
    /// Run one case and print what it took as JSON.
    Case {
        #[command(subcommand)]
        case: Case,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Run(options) => report::run(&options),
        Command::Gate(options) => gate::gate(&options),
        Command::Thesis(options) => thesis::run(&options),
        Command::Case { case } => {
            println!("{}", serde_json::to_string(&case.run()?)?);
            Ok(())
        }
    }
}
