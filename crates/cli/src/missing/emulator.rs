//! `layercast emulate` and the emulated world in a program without its emulator.

use std::ffi::OsString;

use clap::{Args, Subcommand};
use layercast_core::units::Duration;
use layercast_laboratory::run::{Outcome, RunRequest};
use layercast_laboratory::scenario::Scenario as Plan;

use crate::failure::Failure;
use crate::modes::AnyTable;
use crate::program::Program;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Set up the network of a scenario for programs of your own, in real time and without the scenario's traffic
    Emulate(Unread),
}

/// Arguments that nothing reads.
#[derive(Debug, Args)]
pub(crate) struct Unread {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<OsString>,
}

pub(crate) static TABLES: [&dyn AnyTable; 0] = [];

/// Says what is missing.
pub(crate) fn execute(_command: &Command, _program: &Program) -> Result<(), Failure> {
    missing("emulator")
}

/// Says what is missing.
pub(crate) fn refuse(_plan: &Plan, _limit: Duration) -> Result<(), Failure> {
    missing("emulated world")
}

/// Not reached: [`refuse`] refuses before.
pub(crate) fn run(
    _plan: &Plan,
    _request: &RunRequest,
    _limit: Duration,
    _progress: &dyn Fn(f64),
) -> Result<Outcome, Failure> {
    missing("emulated world")
}

fn missing<T>(what: &str) -> Result<T, Failure> {
    Err(Failure::Input(format!(
        "error: this program has no {what}: it needs Linux, and the features `transport` and `emulator`"
    )))
}
