//! `layercast send` and `layercast receive` where the transport is not built in.

use crate::commands::Failure;
use crate::modes::Given;
use crate::net::transfer_arguments::{Receive, Send};

/// Says what is missing.
///
/// # Errors
/// Always.
pub(crate) fn send(_arguments: &Send, _given: &Given) -> Result<(), Failure> {
    Err(missing("send"))
}

/// Says what is missing.
///
/// # Errors
/// Always.
pub(crate) fn receive(_arguments: &Receive, _given: &Given) -> Result<(), Failure> {
    Err(missing("receive"))
}

fn missing(command: &str) -> Failure {
    let reason = if cfg!(target_os = "linux") {
        "this program was built without its transport; build it with `--features transport`"
    } else {
        "the transport runs on Linux only, since it uses that system's multicast sockets; run it there"
    };
    Failure::Input(format!("error: `layercast {command}` is not available here: {reason}"))
}
