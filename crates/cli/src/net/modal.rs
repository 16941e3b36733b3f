//! The commands with modes: each runs the program of the mode that the flags choose.

use crate::commands::Failure;
use crate::modes::Given;
use crate::net::receive::configured::ReceiveConfig;
use crate::net::relay::arguments::Relay;
use crate::net::relay::configured::RelayConfig;
use crate::net::send::configured::SendConfig;
use crate::net::transfer::stop_flag;
use crate::net::transfer_arguments::{Receive, Send};
use crate::net::{stream, transfer};

pub(crate) fn send(arguments: &Send, given: &Given) -> Result<(), Failure> {
    match SendConfig::of(arguments, given)? {
        SendConfig::Files(files) => transfer::send(&files),
        SendConfig::Stream(stream) => stream::send(&stream),
    }
}

pub(crate) fn receive(arguments: &Receive, given: &Given) -> Result<(), Failure> {
    let stop = stop_flag()?;
    match ReceiveConfig::of(arguments, given, &stop)? {
        ReceiveConfig::Files(files) => transfer::receive(&files, &stop),
        ReceiveConfig::Stream(stream) => stream::receive(&stream, &stop),
    }
}

pub(crate) fn relay(arguments: &Relay, given: &Given) -> Result<(), Failure> {
    crate::net::relay::relay(&RelayConfig::of(arguments, given)?)
}
