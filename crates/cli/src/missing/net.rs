//! `layercast send` and `layercast receive` in a program without its transport.

use std::ffi::OsString;

use clap::{Args, Subcommand};
use layercast_core::family::Family;

use crate::failure::Failure;
use crate::modes::{AnyTable, Given};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send files and folders to a multicast group, in layers
    Send(Unread),
    /// Receive files from a multicast group, at the rate that the path sustains
    Receive(Unread),
}

/// Arguments that nothing reads.
#[derive(Debug, Args)]
pub(crate) struct Unread {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<OsString>,
}

pub(crate) static TABLES: [&dyn AnyTable; 0] = [];

pub(crate) struct Transfers;

impl Transfers {
    #[allow(clippy::extra_unused_type_parameters, reason = "as where there is a transport")]
    pub(crate) fn of<F: Family>() -> Transfers {
        Transfers
    }
}

/// Says what is missing.
pub(crate) fn execute(command: &Command, _given: &Given, _transfers: &Transfers) -> Result<(), Failure> {
    let name = match command {
        Command::Send(_) => "send",
        Command::Receive(_) => "receive",
    };
    let reason = if cfg!(target_os = "linux") {
        "this program was built without its transport; build it with `--features transport`"
    } else {
        "the transport runs on Linux only, since it uses that system's multicast sockets; run it there"
    };
    Err(Failure::Input(format!("error: `layercast {name}` is not available here: {reason}")))
}
