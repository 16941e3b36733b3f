//! The command line: its description, reading it, running its command.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use layercast_core::family::Family;

use crate::failure::Failure;
use crate::modes::{AnyTable, Given};
use crate::net::Transfers;
use crate::output::complain_lines;
use crate::program::Program;
use crate::{doc, emulator, lab, log, net};

const AFTER_HELP: &str = "\
Examples:
  layercast list                                  list scenarios and protocols
  layercast run thesis/simulation-2               run a built-in scenario and print its table
  layercast run my.toml --out results             keep a report, a summary and time series
  layercast run my.toml --world emulated          run it in real time with the kernel's TCP, as root
  layercast agree my.toml --out both              both worlds side by side, as root
  layercast emulate my.toml -- at B iperf3 -s at A iperf3 -c {B}   programs at its nodes
  layercast why results elm@R1                    why a receiver has its rate
  layercast explain results --receiver elm@R1     the chain of its decisions, of `run --notes`
  layercast run my.toml --set duration='60 s'     change a value for this run
  layercast run my.toml --out results --capture G-R  keep the packets of a link for Wireshark
  layercast sweep my.toml --vary link.A-B.delay=10ms..90ms/9 --out sweep   run a grid of values
  layercast compare thesis/simulation-3-elm --protocols elm,rlc,fixed   compare three protocols
  layercast scoreboard --brief --out board        judge every protocol in a suite of networks
  layercast check my.toml                         check a file; errors have line and column
  layercast expand my.toml                        print the tables that its templates make
  layercast design flid --layers 30 --rtt '100 ms'   how often FLID's levels may increase
  layercast send FILE --group 239.1.2.0           send a file until interrupted
  layercast receive --group 239.1.2.0 --into DIR  receive the file
  layercast sessions                              list what is sent; `layercast receive NAME` takes it

Exit status: 0 done, 1 failed, 2 wrong usage or input.";

/// Layered multicast whose receivers share the network fairly with TCP
#[derive(Debug, Parser)]
#[command(name = "layercast", version, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

// Made once.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Lab(lab::Command),
    #[command(flatten)]
    Net(net::Command),
    #[command(flatten)]
    Doc(doc::Command),
}

/// The program with the protocols of a family.
pub(crate) fn program<F: Family>(name: &'static str) -> Program {
    Program::of::<F>(name, Arguments::command, modes)
}

/// Runs the command of a command line, and says why it failed.
pub(crate) fn execute(
    line: impl IntoIterator<Item = OsString>,
    program: &Program,
    transfers: &Transfers,
) -> ExitCode {
    let (arguments, matches) = read(line).unwrap_or_else(|error| error.exit());
    log::start();
    let done = checked(&matches).and_then(|given| match &arguments.command {
        Command::Lab(command) => lab::execute(command, program),
        Command::Net(command) => net::execute(command, &given, transfers),
        Command::Doc(command) => doc::execute(command, program),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Input(message)) => {
            complain_lines(&message);
            ExitCode::from(2)
        }
        Err(Failure::Status(status)) => ExitCode::from(status),
        Err(Failure::Other(error)) => {
            complain_lines(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Reads a command line.
///
/// # Errors
/// Wrong usage, and what is only to be printed.
pub(crate) fn read(line: impl IntoIterator<Item = OsString>) -> Result<(Arguments, ArgMatches), clap::Error> {
    let matches = Arguments::command().try_get_matches_from(line)?;
    Ok((Arguments::from_arg_matches(&matches)?, matches))
}

/// Refuses flags that the mode of a command does not use.
///
/// # Errors
/// What is refused.
pub(crate) fn checked(matches: &ArgMatches) -> Result<Given, Failure> {
    let Some((name, own)) = matches.subcommand() else { return Ok(Given::default()) };
    // `relay status` is a command of its own.
    if own.subcommand().is_some() {
        return Ok(Given::default());
    }
    match tables().find(|table| table.command() == name) {
        Some(table) => table.applied(own),
        None => Ok(Given::default()),
    }
}

/// The tables of all commands with modes.
fn tables() -> impl Iterator<Item = &'static dyn AnyTable> {
    net::TABLES.into_iter().chain(lab::TABLES).chain(emulator::TABLES)
}

/// All tables as text, of commands that `--help` lists.
pub(crate) fn modes() -> String {
    let whole = Arguments::command();
    let is_shown = |table: &&dyn AnyTable| {
        whole.find_subcommand(table.command()).is_some_and(|command| !command.is_hide_set())
    };
    tables().filter(is_shown).map(AnyTable::text).collect::<Vec<_>>().join("\n")
}
