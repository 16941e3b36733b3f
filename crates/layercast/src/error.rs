//! Why a transfer is not started.

use std::fmt;
use std::io;

use layercast_core::layers::LayerError;
use layercast_core::modes::Refusal;
use layercast_core::wire::GroupError;
use layercast_delivery::protocols::ProtocolError;
use layercast_transport::finding::FindingError;

/// Why a transfer is not started: what a builder was given is wrong, or incomplete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Something that is needed was not given.
    #[error("{0}")]
    Missing(&'static str),
    /// What was given cannot be used together, or for what is sent or received: all of it.
    #[error("{}", lines(.0))]
    Conflicts(Vec<Conflict>),
    /// The group is none.
    #[error("the group `{text}`: {source}")]
    Group {
        /// What was given.
        text: String,
        /// What it should be.
        source: GroupError,
    },
    /// The share of repair symbols is none.
    #[error("repair {0}: a number from 0 to 1")]
    Repair(f64),
    /// There is no such protocol.
    #[error("there is no protocol `{name}`; there are {known}")]
    Protocol {
        /// What was given.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A reliable session has a protocol without routers.
    #[error("`{0}` has no routers: use amca or nca")]
    Routers(&'static str),
    /// An option of the protocol is wrong.
    #[error(transparent)]
    Option(#[from] ProtocolError),
    /// The rates are wrong.
    #[error(transparent)]
    Layers(#[from] LayerError),
    /// The lowest rate has no effect.
    #[error("`from` has no effect: {protocol} has one rate for all receivers, at most `to`; leave it out")]
    IdleLowest {
        /// The protocol.
        protocol: &'static str,
    },
    /// A relay has no address.
    #[error("the relay {relay} is not found: {source}")]
    Relay {
        /// What was given.
        relay: String,
        /// The system's error.
        source: io::Error,
    },
    /// A URL, a description or a file of a key is wrong.
    #[error(transparent)]
    Finding(#[from] FindingError),
    /// The system gives no thread.
    #[error("the system gives no thread for the transfer: {0}")]
    Thread(io::Error),
}

/// Something that a builder was given and refuses, in the words of `layercast send` and `layercast receive`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub(crate) refusal: Refusal,
    /// What is sent or received.
    pub(crate) mode: &'static str,
}

impl Conflict {
    /// In words, with names for what is called so in the command's table: the arguments of `layercast list modes` with `_` for `-`.
    pub fn text(&self, name: impl Fn(&'static str) -> &'static str) -> String {
        let Conflict { refusal: Refusal { flag, refused, reason }, mode } = self;
        let all =
            |flags: &[&'static str]| flags.iter().map(|flag| name(flag)).collect::<Vec<_>>().join(" or ");
        format!("{} {}: {}", name(flag), refused.text(mode, all), reason.why)
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(method))
    }
}

/// The builders' method for what the table calls otherwise.
fn method(name: &'static str) -> &'static str {
    match name {
        "after" => "end_after",
        "described" => "session_name",
        "keys" => "key",
        "named" => "session_url or session_name",
        "no_announce" => "announce(false)",
        "no_relays" => "no_described_relays",
        "options" => "set",
        "outputs" => "output",
        "paths" => "path",
        "rates" => "layers",
        "relays" => "relay",
        "session" => "description_file",
        "stream" => "live data",
        name => name,
    }
}

fn lines(conflicts: &[Conflict]) -> String {
    conflicts.iter().map(Conflict::to_string).collect::<Vec<_>>().join("\n")
}
