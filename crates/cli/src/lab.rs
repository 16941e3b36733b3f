//! The laboratory: scenarios, what is run with them, and what became of it.

mod agree;
mod check;
mod compare;
mod design;
mod explain;
mod explore;
pub(crate) mod list;
mod run;
mod scoreboard;
mod sweep;
mod why;

use clap::Subcommand;

use crate::emulator;
use crate::failure::Failure;
use crate::modes::AnyTable;
use crate::program::Program;
use agree::Agree;
use check::Check;
use compare::Compare;
use design::Design;
use explain::Explain;
use explore::Explore;
use list::List;
use run::Run;
use scoreboard::Scoreboard;
use sweep::Sweep;
use why::Why;

pub(crate) use explore::EXPLORE;
pub(crate) use run::RUN;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario and print its table
    Run(Run),
    /// Run a scenario for every combination of parameter values; resumes after an interruption
    Sweep(Sweep),
    /// Run a scenario with each of several protocols and compare the results
    Compare(Compare),
    /// Run every protocol in every cell of a suite and judge each; resumes after an interruption
    Scoreboard(Scoreboard),
    /// Run a scenario in the simulated and in the emulated world and compare the results
    Agree(Agree),
    #[command(flatten)]
    Emulator(emulator::Command),
    /// Say why a receiver of a run has its rate
    Why(Why),
    /// Say from a trace why a receiver was at its rate: each decision, its cause and what preceded it
    Explain(Explain),
    /// List what can be run, or show the options of a protocol, queue or TCP, or the keys of a table
    List(List),
    /// Check a scenario file and report its errors
    Check(Check),
    /// Print a scenario as one flat file, with its templates expanded
    Expand(Check),
    /// Compute the expected behaviour of a choice of protocol parameters
    Design(Design),
    /// Run whole file transfers with faults in the simulator, a seed each, and judge what must hold
    Explore(Explore),
}

/// The flags of commands with modes.
pub(crate) static TABLES: [&dyn AnyTable; 2] = [&RUN, &EXPLORE];

pub(crate) fn execute(command: &Command, program: &Program) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments, program),
        Command::Sweep(arguments) => sweep::sweep(arguments, program),
        Command::Compare(arguments) => compare::compare(arguments, program),
        Command::Scoreboard(arguments) => scoreboard::scoreboard(arguments, program),
        Command::Agree(arguments) => agree::agree(arguments, program),
        Command::Emulator(command) => emulator::execute(command, program),
        Command::Why(arguments) => why::why(arguments),
        Command::Explain(arguments) => explain::explain(arguments),
        Command::List(arguments) => list::list(arguments, program),
        Command::Check(arguments) => check::check(arguments, program),
        Command::Expand(arguments) => check::expand(arguments, program),
        Command::Design(arguments) => design::design(arguments),
        Command::Explore(arguments) => explore::explore(arguments, program),
    }
}
