//! Arguments about relays of `layercast send` and `layercast receive`.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};
use layercast_core::units::Duration;

use crate::net::host_address::Host;
use crate::net::receive::amt::{Amt, amt};

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
    pub(crate) relays: Vec<Host>,

    /// Where no multicast comes, take packets from the AMT relay (RFC 7450) at this address [default port: 2268]; `discover` for
    /// the nearest public one
    #[arg(long, value_name = "HOST[:PORT]", value_parser = amt)]
    pub(crate) amt: Option<Amt>,

    /// Do not try multicast
    #[arg(long)]
    pub(crate) relay_only: bool,

    /// Receive a session of `layercast send --reliable`: files in order, which receivers and the sender repair
    #[arg(long)]
    pub(crate) reliable: bool,

    /// Do not use the relays that an announcement or a description (`send --relays`) names
    #[arg(long)]
    pub(crate) no_relays: bool,

    /// By which path messages to the sender go while packets come through a relay
    #[arg(long, value_name = "PATH", value_enum, default_value_t)]
    pub(crate) feedback: Feedback,
}

/// How a sender serves receivers and relays itself.
#[derive(Debug, Args)]
pub(crate) struct Serving {
    /// Serve relays and receivers (`--relay`) by unicast too, at this address and UDP port
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) serve: Option<SocketAddr>,

    /// Send the files in order to those that are served, over relays that take part (`layercast relay --protocol`), and
    /// end when all have them
    #[arg(long)]
    pub(crate) reliable: bool,

    /// With --reliable: wait so long for other receivers after the first relay or receiver has come
    #[arg(long, value_name = "TIME", default_value = "2 s")]
    pub(crate) gather: Duration,

    /// Send to nobody but those that are served
    #[arg(long)]
    pub(crate) serve_only: bool,

    /// Name these relays in announcements and in descriptions (.sdp), for receivers without multicast; up to eight
    #[arg(long, value_name = "HOST[:PORT]", value_delimiter = ',', value_parser = host)]
    pub(crate) relays: Vec<Host>,

    /// Serve at most N of them
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_children: usize,
}

/// A relay by name or address, with a port or with the usual one.
pub(crate) fn host(text: &str) -> Result<Host, String> {
    Host::read(text, Some(RELAY_PORT))
}
