//! The `layercast` command: parses arguments, calls the laboratory, prints the results.
//!
//! Exit status 0: done. 1: failed. 2: wrong usage or input. `emulate` keeps that of the command it runs.

mod arguments;
mod commands;
mod doc;
mod emulator;
mod lab;
mod log;
mod modes;
mod net;
mod output;
mod progress;

use std::process::ExitCode;

use arguments::Command;
use commands::Failure;
use modes::Given;

use doc::{package, reference};
use emulator::emulate;
#[cfg(all(feature = "emulator", target_os = "linux"))]
use emulator::endpoint;
use lab::{agree, compare, design, explain, explore, list, run, scoreboard, sweep, why};
use net::modal;
#[cfg(all(feature = "transport", target_os = "linux"))]
use net::{doctor, key, relay, sessions};

fn main() -> ExitCode {
    let parsed = modes::parse(std::env::args_os());
    log::start();
    match parsed.and_then(|(arguments, given)| execute(&arguments.command, &given)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Input(message)) => {
            output::complain_lines(&message);
            ExitCode::from(2)
        }
        Err(Failure::Status(status)) => ExitCode::from(status),
        Err(Failure::Other(error)) => {
            output::complain_lines(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs a command, of whose modes the flags were checked.
fn execute(command: &Command, given: &Given) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Sweep(arguments) => sweep::sweep(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Scoreboard(arguments) => scoreboard::scoreboard(arguments),
        Command::Agree(arguments) => agree::agree(arguments),
        Command::Emulate(arguments) => emulate::emulate(arguments),
        Command::Why(arguments) => why::why(arguments),
        Command::Explain(arguments) => explain::explain(arguments),
        Command::List(list) => list::list(list),
        Command::Check(check) => commands::check(check),
        Command::Expand(expand) => commands::expand(expand),
        Command::Design(arguments) => design::design(arguments),
        Command::Explore(arguments) => explore::explore(arguments),
        #[cfg(all(feature = "emulator", target_os = "linux"))]
        Command::Endpoint(arguments) => endpoint::endpoint(arguments),
        Command::Send(arguments) => modal::send(arguments, given),
        Command::Receive(arguments) => modal::receive(arguments, given),
        #[cfg(all(feature = "transport", target_os = "linux"))]
        Command::Key(arguments) => key::key(arguments),
        #[cfg(all(feature = "transport", target_os = "linux"))]
        Command::Sessions(arguments) => sessions::sessions(arguments),
        #[cfg(all(feature = "transport", target_os = "linux"))]
        Command::Doctor(arguments) => doctor::doctor(arguments),
        #[cfg(all(feature = "transport", target_os = "linux"))]
        Command::Relay(arguments) => match &arguments.command {
            Some(relay::arguments::RelayCommand::Status(status)) => relay::tree::show(status),
            None => modal::relay(arguments, given),
        },
        Command::Completions(arguments) => package::completions(arguments),
        Command::Man(arguments) => package::manual_pages(arguments),
        Command::Reference(arguments) => reference::reference(arguments),
    }
}
