//! Arguments of the hidden command `layercast endpoint`, which `layercast run --world emulated` starts in the hosts of
//! its network.

use std::net::{IpAddr, SocketAddr};

use clap::{Args, ValueEnum};

/// Which end it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    Source,
    Receiver,
}

#[derive(Debug, Args)]
pub(crate) struct Endpoint {
    /// Source or receiver
    pub(crate) role: Role,

    /// The congestion control
    #[arg(long)]
    pub(crate) protocol: String,

    /// An option of the protocol
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = crate::net::transfer_arguments::option)]
    pub(crate) options: Vec<(String, String)>,

    /// The rates of the layers, each alone, in bit/s
    #[arg(long, value_delimiter = ',', required = true)]
    pub(crate) layers: Vec<f64>,

    /// The size of packets with all headers, in bytes
    #[arg(long)]
    pub(crate) packet: u32,

    /// The group and port of the base layer
    #[arg(long)]
    pub(crate) group: SocketAddr,

    /// The address of the source
    #[arg(long)]
    pub(crate) source: IpAddr,

    /// The port of the source that takes reports
    #[arg(long)]
    pub(crate) feedback_port: u16,

    /// The address of this host
    #[arg(long)]
    pub(crate) address: IpAddr,

    /// The number of the session, unless the protocol draws it
    #[arg(long)]
    pub(crate) number: u32,

    /// The seed of the session
    #[arg(long)]
    pub(crate) seed: u64,

    /// The seed of this receiver
    #[arg(long, default_value_t = 0)]
    pub(crate) receiver_seed: u64,

    /// Where a source serves relays and receivers by unicast, instead of sending to groups
    #[arg(long)]
    pub(crate) serve: Option<SocketAddr>,

    /// The relay or serving source from which a receiver has its packets, instead of joining groups
    #[arg(long)]
    pub(crate) relay: Option<SocketAddr>,

    /// Data may be marked
    #[arg(long)]
    pub(crate) ecn: bool,

    /// When it starts, in nanoseconds of the run
    #[arg(long, default_value_t = 0)]
    pub(crate) start_ns: u64,

    /// When it stops
    #[arg(long)]
    pub(crate) stop_ns: Option<u64>,

    /// How often estimates are reported, in nanoseconds
    #[arg(long, default_value_t = 1_000_000_000)]
    pub(crate) every_ns: u64,

    /// The packets with data that make a receiver complete, which then stops
    #[arg(long)]
    pub(crate) needed: Option<u64>,
}
