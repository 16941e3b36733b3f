//! The `layercast` command: parses arguments, calls the laboratory, prints the results.
//!
//! Exit status 0: done. 1: failed. 2: wrong usage or input. `emulate` keeps that of the command it runs.

#[cfg(all(feature = "transport", target_os = "linux"))]
mod active;
mod agree;
mod amt_arguments;
mod arguments;
mod choice;
mod cluster;
mod commands;
mod compare;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod configured;
mod design;
mod design_arguments;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod doctor;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod doctor_arguments;
#[cfg(all(feature = "emulator", target_os = "linux"))]
mod emulate;
#[cfg(not(all(feature = "emulator", target_os = "linux")))]
#[path = "no_emulate.rs"]
mod emulate;
#[cfg(all(feature = "emulator", target_os = "linux"))]
mod emulated;
#[cfg(not(all(feature = "emulator", target_os = "linux")))]
#[path = "no_emulated.rs"]
mod emulated;
#[cfg(all(feature = "emulator", target_os = "linux"))]
mod endpoint;
#[cfg(all(feature = "emulator", target_os = "linux"))]
mod endpoint_arguments;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod events;
mod explain;
mod explain_arguments;
mod explore;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod finding;
mod host_address;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod key;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod key_arguments;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod layering;
mod list;
mod log;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod measures;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod metrics;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod modal;
#[cfg(not(all(feature = "transport", target_os = "linux")))]
#[path = "no_modal.rs"]
mod modal;
mod modes;
mod observe;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod on_complete;
mod output;
mod package;
mod package_arguments;
mod progress;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod reception;
mod reference;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod relay;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod relay_arguments;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod relay_status;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod relay_tree;
mod relaying_arguments;
mod run;
mod scoreboard;
mod scoreboard_arguments;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod sessions;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod sessions_arguments;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod stream;
mod stream_arguments;
mod sweep;
mod tolerance;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod transfer;
mod transfer_arguments;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod transport_failure;
mod trimmed;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod view;
mod warnings;
#[cfg(all(feature = "transport", target_os = "linux"))]
mod watch;
mod why;

use std::process::ExitCode;

use arguments::Command;
use commands::Failure;
use modes::Given;

fn main() -> ExitCode {
    let parsed = modes::parse(std::env::args_os());
    log::start();
    match parsed.and_then(|(arguments, given)| run(&arguments.command, &given)) {
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
fn run(command: &Command, given: &Given) -> Result<(), Failure> {
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
            Some(relay_arguments::RelayCommand::Status(status)) => relay_tree::show(status),
            None => modal::relay(arguments, given),
        },
        Command::Completions(arguments) => package::completions(arguments),
        Command::Man(arguments) => package::manual_pages(arguments),
        Command::Reference(arguments) => reference::reference(arguments),
    }
}
