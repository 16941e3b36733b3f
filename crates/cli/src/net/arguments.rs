//! Arguments that several commands have.

use std::net::SocketAddr;

use clap::Args;
use layercast_core::wire::DATA_PORT;

use crate::net::host_address::Host;

/// The port of relays, if none is given.
const RELAY_PORT: u16 = 5600;

/// How programs watch a transfer.
#[derive(Debug, Args)]
pub(crate) struct Watching {
    /// Print events as lines of JSON (docs/events.md), and nothing else, on standard output
    #[arg(long)]
    pub(crate) json: bool,

    /// Serve metrics for Prometheus at http://ADDRESS:PORT/metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<SocketAddr>,
}

/// A group with its port, or with the usual one.
pub(crate) fn group(text: &str) -> Result<SocketAddr, String> {
    let alone = text.parse().map(|address| SocketAddr::new(address, DATA_PORT));
    let group: SocketAddr = text.parse().or(alone).map_err(|_| {
        "an address of IPv4 or IPv6, with a port or without, such as 239.1.2.0:5500 or [ff15::1:0]:5500"
            .to_owned()
    })?;
    if group.port() == 0 {
        return Err(format!("port 0 is none to send to: use one from 1 to 65535, or none for {DATA_PORT}"));
    }
    Ok(group)
}

/// An option of a protocol and its value.
pub(crate) fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("an option, `=`, and its value")?;
    Ok((name.trim().to_owned(), value.trim().trim_matches('"').to_owned()))
}

/// A relay by name or address, with a port or with the usual one.
pub(crate) fn host(text: &str) -> Result<Host, String> {
    Host::read(text, Some(RELAY_PORT))
}
