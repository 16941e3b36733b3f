//! Sessions on real networks.

pub(crate) mod arguments;
mod configured;
mod doctor;
pub(crate) mod failure;
mod finding;
mod host_address;
mod key;
mod measures;
mod metrics;
mod receive;
mod reception;
mod relay;
mod send;
mod sessions;
pub(crate) mod terminal;
mod view;
mod watch;

use clap::Subcommand;
use layercast_core::family::{AnyProtocol, Family};
use layercast_transport::receive as files;

use crate::failure::Failure;
use crate::modes::{AnyTable, Given};
use doctor::Doctor;
use key::Key;
use receive::Receive;
use relay::{Relay, RelayCommand};
use send::Send;
use sessions::Sessions;
use terminal::stop_flag;

pub(crate) use receive::{RECEIVE, configured::ReceiveConfig};
pub(crate) use relay::{RELAY, configured::RelayConfig};
pub(crate) use send::{SEND, configured::SendConfig};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send files and folders to a multicast group, in layers
    Send(Send),
    /// Receive files from a multicast group, at the rate that the path sustains
    Receive(Receive),
    /// Carry sessions through networks without multicast: hold their channels for receivers and other relays, and send the
    /// packets on by unicast
    Relay(Relay),
    /// List the sessions that are announced on the network
    Sessions(Sessions),
    /// Make, show and use keys, so that receivers know who sends
    Key(Key),
    /// Check what keeps multicast from being sent or received here, with remedies; exit status 1 if something is wrong
    Doctor(Doctor),
}

/// The flags of commands with modes.
pub(crate) static TABLES: [&dyn AnyTable; 3] = [&SEND, &RECEIVE, &RELAY];

/// What is compiled for the protocols of some family.
pub(crate) struct Transfers {
    send: fn(&Send, &Given) -> Result<(), Failure>,
    receive: fn(&Receive, &Given) -> Result<(), Failure>,
}

impl Transfers {
    /// Those of a family.
    pub(crate) fn of<F: Family>() -> Transfers {
        Transfers { send: send::<F::Protocol>, receive: receive::<F> }
    }
}

pub(crate) fn execute(command: &Command, given: &Given, transfers: &Transfers) -> Result<(), Failure> {
    match command {
        Command::Send(arguments) => (transfers.send)(arguments, given),
        Command::Receive(arguments) => (transfers.receive)(arguments, given),
        Command::Relay(arguments) => relay(arguments, given),
        Command::Sessions(arguments) => sessions::sessions(arguments),
        Command::Key(arguments) => key::key(arguments),
        Command::Doctor(arguments) => doctor::doctor(arguments),
    }
}

/// Runs the mode that the flags choose.
fn send<P: AnyProtocol>(arguments: &Send, given: &Given) -> Result<(), Failure> {
    match SendConfig::<P>::of(arguments, given)? {
        SendConfig::Files(files) => send::files::send(&files),
        SendConfig::Stream(stream) => send::stream::send(stream),
    }
}

/// Runs the mode that the flags choose.
fn receive<F: Family>(arguments: &Receive, given: &Given) -> Result<(), Failure> {
    let stop = stop_flag()?;
    match ReceiveConfig::of(arguments, given, &stop)? {
        ReceiveConfig::Files(files) => receive::files::receive(&files, &stop, files::receive_of::<F>),
        ReceiveConfig::Stream(stream) => {
            receive::stream::receive(stream, &stop, files::stream::receive_of::<F>)
        }
    }
}

/// Runs the mode that the flags choose, or the command below it.
fn relay(arguments: &Relay, given: &Given) -> Result<(), Failure> {
    if let Some(RelayCommand::Status(status)) = &arguments.command {
        return relay::tree::show(status);
    }
    relay::relay(&RelayConfig::of(arguments, given)?)
}
