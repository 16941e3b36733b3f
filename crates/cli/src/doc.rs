//! What packages install next to the program, and the reference.

mod package;
mod reference;

use clap::Subcommand;

use crate::failure::Failure;
use crate::program::Program;
use package::{Completions, ManualPages};
use reference::Reference;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the completions of a shell
    Completions(Completions),
    /// Write the manual pages
    Man(ManualPages),
    /// Write the whole reference as Markdown: commands, keys, options, scenarios
    Reference(Reference),
}

pub(crate) fn execute(command: &Command, program: &Program) -> Result<(), Failure> {
    match command {
        Command::Completions(arguments) => package::completions(arguments, program),
        Command::Man(arguments) => package::manual_pages(arguments, program),
        Command::Reference(arguments) => reference::reference(arguments, program),
    }
}
