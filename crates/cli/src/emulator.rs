//! The emulator: networks of scenarios between hosts of this machine, on the wall clock.

mod emulate;
pub(crate) mod endpoint;
mod world;

use clap::Subcommand;

use crate::failure::Failure;
use crate::modes::AnyTable;
use crate::program::Program;
use emulate::Emulate;
use endpoint::Endpoint;

pub(crate) use world::{refuse, run};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Set up the network of a scenario for programs of your own, in real time and without the scenario's traffic
    #[command(after_help = emulate::HELP)]
    Emulate(Emulate),
    /// Run a source or a receiver without a file, which reports what it does; `run --world emulated` starts it
    #[command(hide = true)]
    Endpoint(Endpoint),
}

/// The flags of commands with modes.
pub(crate) static TABLES: [&dyn AnyTable; 1] = [&endpoint::ENDPOINT];

pub(crate) fn execute(command: &Command, program: &Program) -> Result<(), Failure> {
    match command {
        Command::Emulate(arguments) => emulate::emulate(arguments, program),
        Command::Endpoint(arguments) => endpoint::endpoint(arguments),
    }
}
