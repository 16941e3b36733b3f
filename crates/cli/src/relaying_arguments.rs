//! Arguments about relays of `layercast send` and `layercast receive`.

use std::net::{SocketAddr, ToSocketAddrs as _};

use clap::{Args, ValueEnum};

/// The port of relays, if none is given.
const RELAY_PORT: u16 = 5600;

/// By which path messages to the sender go where packets come through a relay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Feedback {
    /// Through the relay
    #[default]
    Relay,
    /// Directly
    Direct,
    /// They are not sent
    None,
}

/// The relays of a receiver.
#[derive(Debug, Args)]
pub(crate) struct Relays {
    /// Where no multicast comes, take packets from this relay; of several the next when one is gone
    #[arg(long = "relay", value_name = "HOST[:PORT]", value_delimiter = ',', value_parser = host)]
    pub(crate) relays: Vec<Hosts>,

    /// Do not try multicast
    #[arg(long, requires = "relays")]
    pub(crate) relay_only: bool,

    /// By which path messages to the sender go while packets come through a relay
    #[arg(long, value_name = "PATH", value_enum, default_value_t, requires = "relays")]
    pub(crate) feedback: Feedback,
}

/// How a sender serves receivers and relays itself.
#[derive(Debug, Args)]
pub(crate) struct Serving {
    /// Serve relays and receivers (`--relay`) by unicast too, at this address and UDP port
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) serve: Option<SocketAddr>,

    /// Send to nobody but those that are served
    #[arg(long, requires = "serve")]
    pub(crate) serve_only: bool,

    /// Serve at most N of them
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "serve")]
    pub(crate) max_children: usize,
}

/// The addresses of a host.
#[derive(Clone, Debug)]
pub(crate) struct Hosts(pub(crate) Vec<SocketAddr>);

/// A host by name or address, with a port or with the usual one.
pub(crate) fn host(text: &str) -> Result<Hosts, String> {
    let with_port = text.parse::<SocketAddr>().is_ok()
        || text
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.contains(':') && port.parse::<u16>().is_ok());
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let found = if with_port { text.to_socket_addrs() } else { (bare, RELAY_PORT).to_socket_addrs() };
    let found: Vec<SocketAddr> = found.map_err(|error| format!("the host is not found: {error}"))?.collect();
    if found.is_empty() { Err("the host has no address".to_owned()) } else { Ok(Hosts(found)) }
}

/// All addresses of hosts, in their order.
pub(crate) fn addresses(hosts: &[Hosts]) -> Vec<SocketAddr> {
    hosts.iter().flat_map(|hosts| hosts.0.iter().copied()).collect()
}
