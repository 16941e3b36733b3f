//! Arguments of `layercast send`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use layercast_core::units::{Duration, Rate, Size};

use crate::net::arguments::{Watching, group, host, option};
use crate::net::host_address::Host;

/// The size of packets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PacketSize {
    Fixed(Size),
    /// The largest that the interface carries.
    Mtu,
}

#[derive(Debug, Args)]
pub(crate) struct Send {
    /// Files and folders to send; of a folder with `/` at its end, its content. With --stream the input of each layer
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// The group of the base layer; each layer above is sent to the next address
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = group)]
    pub(crate) group: SocketAddr,

    /// The interface to send from, by name or address [default: that of the route to the group]
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,

    #[command(flatten)]
    pub(crate) layering: Layering,

    /// Packet size, including all headers; `mtu` is the largest that the interface carries, where the whole path does too
    #[arg(long, value_name = "SIZE", default_value = "1400 bytes", value_parser = packet_size)]
    pub(crate) packet: PacketSize,

    /// The congestion control; `layercast list --protocols` names all [default: tide; elm with --stream, since streams need
    /// layers whose rates stay]
    #[arg(long, alias = "protocol", value_name = "NAME")]
    pub(crate) control: Option<String>,

    /// Time to live of packets: the maximum number of hops
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) ttl: u8,

    /// UDP port that receives reports; 0 for any
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) feedback_port: u16,

    /// Stop after this time
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) after: Option<Duration>,

    /// Stop after sending N times as many symbols as the files have, over all layers
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u32>,

    /// Stop when N receivers have reported completion; another end before that is a failure (exit status 1)
    #[arg(long, value_name = "N")]
    pub(crate) until_complete: Option<usize>,

    /// Do not ask receivers how far they are; otherwise a few of them answer per second, however many there are
    #[arg(long)]
    pub(crate) no_reports: bool,

    /// Send all layers always, for networks without a way back from receivers (satellites, one-way links); otherwise those that
    /// no receiver asks for are left out, and where nobody is heard for half a minute only one packet is sent each 3 s
    #[arg(long)]
    pub(crate) all_layers: bool,

    /// Authenticate packets by this group key, which `layercast key new --group` makes
    #[arg(long, value_name = "FILE")]
    pub(crate) group_key: Option<PathBuf>,

    /// Encrypt packets too, by the group key; receivers need the session's URL, its SDP file or its announcement
    #[arg(long)]
    pub(crate) encrypt: bool,

    /// Send changes too: files that are new, have another content or are gone, looked for every 2 s
    #[arg(long)]
    pub(crate) follow: bool,

    /// Send each small file as an object of its own, as other FLUTE receivers need it: 16 or more files of up to 64 KiB are
    /// packed otherwise
    #[arg(long)]
    pub(crate) no_packages: bool,

    /// Save progress to FILE so that a restarted sender can resume
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

    /// Write the session description to this file, for receivers that cannot learn it from the group: as SDP if its name
    /// ends in .sdp; with --key, also FILE.sig
    #[arg(long, value_name = "FILE")]
    pub(crate) describe: Option<PathBuf>,

    /// What people call the session [default: the name of the first path]
    #[arg(long, value_name = "NAME", value_parser = session_name)]
    pub(crate) name: Option<String>,

    /// Announce the session even if its group is of global scope, so that `layercast sessions` lists it and `layercast
    /// receive NAME` finds it; of other groups (239.0.0.0/8, ff03:: to ff08::) sessions are announced anyway
    #[arg(long)]
    pub(crate) announce: bool,

    /// Do not announce the session
    #[arg(long)]
    pub(crate) no_announce: bool,

    /// Sign the files, announcements and descriptions with this secret key, which `layercast key new` makes
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,

    /// Set an option of the protocol on this side, such as t_join_max="10 s"; may be repeated
    #[arg(long = "set", value_name = "OPTION=VALUE", value_parser = option)]
    pub(crate) options: Vec<(String, String)>,

    #[command(flatten)]
    pub(crate) serving: Serving,

    #[command(flatten)]
    pub(crate) stream: StreamSend,

    #[command(flatten)]
    pub(crate) watching: Watching,

    /// Do not show progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The rates of a session: the lowest and the highest, or each layer's.
#[derive(Debug, Default, Args)]
pub(crate) struct Layering {
    /// The rate below which no receiver falls, less than that of the slowest path [default: 128 kbit/s]
    #[arg(long, value_name = "RATE")]
    pub(crate) from: Option<Rate>,

    /// The rate that no receiver exceeds; all layers together are sent at it [default: 100 Mbit/s]
    #[arg(long, value_name = "RATE")]
    pub(crate) to: Option<Rate>,

    /// The rate of the base layer, where layers are given one by one [default: 128 kbit/s]
    #[arg(long, value_name = "RATE")]
    pub(crate) base: Option<Rate>,

    /// Ratio of each cumulative rate to the one below, where layers are given one by one [default: 2]
    #[arg(long, value_name = "FACTOR")]
    pub(crate) factor: Option<f64>,

    /// Number of layers, where they are given one by one [default: 7]; protocols with waves take the first rate and the
    /// last, webrc the last alone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=32))]
    pub(crate) layers: Option<u16>,

    /// The cumulative rates of all layers
    #[arg(long, value_name = "R0,R1,...", value_delimiter = ',')]
    pub(crate) rates: Vec<Rate>,
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

/// How inputs are divided into units.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UnitSize {
    Fixed(Size),
    /// Each is preceded by its length.
    Length,
}

#[derive(Debug, Args)]
pub(crate) struct StreamSend {
    /// Send live data, each PATH in a layer of its own from the base up: files, named pipes, or - for standard input
    /// (docs/streams.md)
    #[arg(long)]
    pub(crate) stream: bool,

    /// Deliver a unit of live data within this time, or not at all
    #[arg(long, value_name = "TIME", default_value = "500 ms")]
    pub(crate) deadline: Duration,

    /// What is delivered whole or not at all: units of this size, or `length` if each is preceded by its length in 32 bits
    #[arg(long, value_name = "SIZE", default_value = "1316 bytes", value_parser = units)]
    pub(crate) units: UnitSize,

    /// Repair symbols of live data for each packet of it, for losses; 0 for none
    #[arg(long, value_name = "SHARE", default_value_t = 0.15, value_parser = share)]
    pub(crate) repair: f64,
}

/// The longest name of a session in bytes, as a URL has it.
const NAME_MAX: usize = 255;

/// A name that a URL and an announcement can carry.
fn session_name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.len() > NAME_MAX || text.chars().any(char::is_control) {
        return Err(format!("a name has 1 to {NAME_MAX} bytes and no control characters"));
    }
    Ok(text.to_owned())
}

fn packet_size(text: &str) -> Result<PacketSize, String> {
    match text {
        "mtu" => Ok(PacketSize::Mtu),
        size => size.parse().map(PacketSize::Fixed).map_err(|error| format!("{error}; or `mtu`")),
    }
}

fn units(text: &str) -> Result<UnitSize, String> {
    match text {
        "length" => Ok(UnitSize::Length),
        size => size.parse().map(UnitSize::Fixed).map_err(|error| format!("{error}; or `length`")),
    }
}

/// A share of repair symbols.
fn share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok();
    share.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "a number from 0 to 1".to_owned())
}
