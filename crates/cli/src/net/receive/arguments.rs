//! Arguments of `layercast receive`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use layercast_core::units::Duration;

use crate::net::arguments::{Watching, group, host, option};
use crate::net::host_address::Host;

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

#[derive(Debug, Args)]
pub(crate) struct StreamReceive {
    /// Receive live data, each layer to an output of its own (docs/streams.md)
    #[arg(long)]
    pub(crate) stream: bool,

    /// The output of a layer, from the base up, in place of --into: a file, a named pipe, or - for standard output; repeated
    /// for each layer, and layers without one are dropped
    #[arg(long = "output", value_name = "PATH")]
    pub(crate) outputs: Vec<PathBuf>,
}

/// The port of AMT relays (RFC 7450, section 7.2).
const AMT_PORT: u16 = 2268;

/// Which AMT relay a receiver uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Amt {
    At(Host),
    Discover,
}

/// `discover`, or a relay by name or address, with a port or without.
fn amt(text: &str) -> Result<Amt, String> {
    if text == "discover" {
        return Ok(Amt::Discover);
    }
    let relay = Host::read(text, Some(AMT_PORT)).map_err(|error| format!("{error}; or `discover`"))?;
    let is_none = |address: IpAddr| address.is_multicast() || address.is_unspecified();
    if relay.port == 0 {
        return Err(format!("port 0 is none: use 1 to 65535, or none for {AMT_PORT}"));
    }
    if relay.name.parse().is_ok_and(is_none) {
        return Err(format!("`{text}` is not the address of a host"));
    }
    Ok(Amt::At(relay))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relays_have_a_port_or_the_usual_one() {
        assert_eq!(amt("discover"), Ok(Amt::Discover));
        assert_eq!(amt("192.0.2.1"), Ok(Amt::At(Host { name: "192.0.2.1".to_owned(), port: AMT_PORT })));
        assert!(amt("239.1.2.3").is_err() && amt("192.0.2.1:0").is_err() && amt("::").is_err());
    }
}
