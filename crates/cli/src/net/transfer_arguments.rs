//! Arguments of `layercast send` and `layercast receive`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use layercast_core::units::{Duration, Rate, Size};
pub(crate) use layercast_core::wire::group;

use crate::net::relaying::{Relays, Serving};
use crate::net::stream_arguments::{StreamReceive, StreamSend};

/// The size of packets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PacketSize {
    Fixed(
        #[cfg_attr(
            not(all(feature = "transport", target_os = "linux")),
            allow(dead_code, reason = "only the transport sends")
        )]
        Size,
    ),
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

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).multiple(true).args(["named", "group", "session"]))]
pub(crate) struct Receive {
    /// The session: its URL if this begins with layercast://, a file of its description if it ends in .sdp or .session,
    /// else its name as `layercast sessions` lists it; flute://GROUP:PORT?tsi=NUMBER for one of another FLUTE sender
    #[arg(value_name = "SESSION")]
    pub(crate) named: Option<String>,

    /// The group of the base layer; the rest of the session is learnt from it
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = group)]
    pub(crate) group: Option<SocketAddr>,

    /// Accept packets from this source only, by a source-specific join
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) source: Option<IpAddr>,

    /// A session description that `layercast send --describe` wrote, instead of a group
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,

    /// Report neither progress nor completion to the sender; what the congestion control needs, and for which layers to send, is
    /// said all the same (without a way back: `send --all-layers`)
    #[arg(long)]
    pub(crate) silent: bool,

    /// Take only packets that this group key authenticates, and of a session that is encrypted decrypts
    #[arg(long, value_name = "FILE")]
    pub(crate) group_key: Option<PathBuf>,

    /// Receive only what this public key has signed: announcements, descriptions (in FILE.sig next to them), the table of
    /// files and every block of them; may be repeated
    #[arg(long = "key", value_name = "FILE")]
    pub(crate) keys: Vec<PathBuf>,

    /// The interface to join on, by name or address [default: that of the route to the group]
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,

    /// The directory for the files, or with --stream for the outputs layer-0, layer-1 and so on; it must exist
    #[arg(long, value_name = "DIR", required_unless_present = "outputs")]
    pub(crate) into: Option<PathBuf>,

    /// Replace files of the same path and other content
    #[arg(long)]
    pub(crate) replace: bool,

    /// Keep the directory in step with the sender: replace changed files and remove those that the sender no longer
    /// has, if this command put them there; goes on as with --keep-going
    #[arg(long)]
    pub(crate) mirror: bool,

    /// Go on after the end of a session and after errors that may pass, until interrupted (exit status 0)
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Run a command by `sh -c` for each file that was put in its place, one at a time, with LAYERCAST_PATH,
    /// LAYERCAST_NAME and LAYERCAST_LENGTH in its environment; its failure is one of this command (exit status 1)
    #[arg(long, value_name = "COMMAND")]
    pub(crate) on_complete: Option<String>,

    /// Give up when no session was found after this time [default: that of --patience; 45 s at least for announcements]
    #[arg(long, value_name = "TIME")]
    pub(crate) start_within: Option<Duration>,

    /// Give up after this time without a packet of the session
    #[arg(long, value_name = "TIME", default_value = "30 s")]
    pub(crate) patience: Duration,

    /// Give up after this time
    #[arg(long, value_name = "TIME")]
    pub(crate) within: Option<Duration>,

    /// Set an option of the protocol on this side, such as t_join_max="10 s"; may be repeated
    #[arg(long = "set", value_name = "OPTION=VALUE", value_parser = option)]
    pub(crate) options: Vec<(String, String)>,

    /// Write the decisions of the congestion control to this file, for `layercast explain`
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) relays: Relays,

    #[command(flatten)]
    pub(crate) stream: StreamReceive,

    #[command(flatten)]
    pub(crate) watching: Watching,

    /// Do not show progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
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

/// The scheme of sessions of other FLUTE senders.
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) use layercast_delivery::announce::flute::FLUTE_SCHEME;

#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) use layercast_transport::finding::is_sdp;

/// Whether a word for a session is the file of its description.
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) fn is_description(word: &str) -> bool {
    [".sdp", ".session"].iter().any(|end| word.ends_with(end))
}

/// Whether to announce the session of a group, as was asked for or not: of itself not to the whole internet.
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) fn is_announced(group: SocketAddr, (announce, no_announce): (bool, bool)) -> bool {
    announce || !no_announce && layercast_delivery::announce::sap::is_local(group.ip())
}

/// An option of a protocol and its value.
pub(crate) fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("an option, `=`, and its value")?;
    Ok((name.trim().to_owned(), value.trim().trim_matches('"').to_owned()))
}

fn packet_size(text: &str) -> Result<PacketSize, String> {
    match text {
        "mtu" => Ok(PacketSize::Mtu),
        size => size.parse().map(PacketSize::Fixed).map_err(|error| format!("{error}; or `mtu`")),
    }
}
