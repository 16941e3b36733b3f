//! Arguments of `layercast relay`.

use std::net::SocketAddr;

use clap::{Args, Subcommand};
use layercast_core::units::Rate;
use layercast_delivery::relay::session::Prefix;

use crate::net::host_address::Host;
use crate::net::relaying::host;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Relay {
    #[command(subcommand)]
    pub(crate) command: Option<RelayCommand>,

    /// The sessions to serve, each by its group, its URL or the file of `layercast send --describe`
    #[arg(value_name = "SESSION", required_unless_present = "allow")]
    pub(crate) sessions: Vec<String>,

    /// Serve all sessions whose group is in this range, such as 239.1.0.0/16; may be repeated
    #[arg(long, value_name = "PREFIX")]
    pub(crate) allow: Vec<Prefix>,

    /// Where receivers and other relays are awaited, by UDP
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:5600")]
    pub(crate) listen: SocketAddr,

    /// Take packets from this relay, or from `layercast send --serve`; of several the first that answers [default: join
    /// the groups]
    #[arg(long = "parent", value_name = "HOST[:PORT]", value_delimiter = ',', value_parser = host)]
    pub(crate) parents: Vec<Host>,

    /// Take part in the session with a router of this protocol, amca or nca, and forward `layercast send --reliable`; with
    /// one SESSION, at least one --parent and at most 64 children
    #[arg(long, value_name = "NAME")]
    pub(crate) protocol: Option<String>,

    /// The interface to join on, by name or address [default: that of the route to each group]
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,

    /// Send the sessions that are named on by multicast on the link of this interface, by name or address, to hosts that join
    /// there; it takes the capability CAP_NET_RAW
    #[arg(long, value_name = "NAME")]
    pub(crate) local: Option<String>,

    /// Serve at most N receivers and relays
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_children: usize,

    /// Serve at most N of them at one address, such as that of a NAT
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) max_per_address: usize,

    /// Send at most this to all of them together
    #[arg(long, value_name = "RATE")]
    pub(crate) max_rate: Option<Rate>,

    /// A relay that those who are refused may try; up to three
    #[arg(long = "alternative", value_name = "HOST[:PORT]", value_delimiter = ',', value_parser = host)]
    pub(crate) alternatives: Vec<Host>,

    /// Serve metrics for Prometheus at http://ADDRESS:PORT/metrics, and what `layercast relay status` shows at /status
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<SocketAddr>,

    /// Do not show progress
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Say by a line of JSON when children are served, and nothing else; end with standard input. The emulated world runs
    /// relays so.
    #[arg(long, hide = true)]
    pub(crate) attended: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RelayCommand {
    /// Show what relays do, as a tree
    Status(RelayStatus),
}

#[derive(Debug, Args)]
pub(crate) struct RelayStatus {
    /// Those of `layercast relay --metrics`, of relays above and below each other or not
    #[arg(value_name = "HOST:PORT", required = true, value_parser = |text: &str| Host::read(text, None))]
    pub(crate) at: Vec<Host>,

    /// Print JSON, a line for each relay
    #[arg(long)]
    pub(crate) json: bool,
}
