//! Sessions of protocols with active routers on sockets: a source that serves a tree, relays whose routers take part, and
//! receivers that deliver files in order.
//!
//! The machines are in [`layercast_delivery::active`]. Each node has one UDP socket, towards its parent and its children.

mod folder;
mod program;
mod receive;
mod relay;
mod send;
mod socket;

use std::io;
use std::path::PathBuf;

use layercast_delivery::active::description::DescriptionError;
use layercast_delivery::active::receiver::ReceiveError;
use layercast_delivery::active::source::NodeCounters;
use layercast_delivery::relay::child::News;

use crate::relay::RelayStatus;

pub use receive::{ActiveReceiveOptions, receive};
pub use relay::{ActiveRelayOptions, relay};
pub use send::{ActiveSendOptions, send};

/// What a node says while it runs.
#[derive(Clone, Debug)]
pub enum ActiveEvent {
    /// It listens here.
    Ready(std::net::SocketAddr),
    /// Once a second.
    Progress(ActiveProgress),
    /// What a relay does, as often.
    Status(Box<RelayStatus>),
    /// Its parent.
    Parent(News),
}

/// How far a node is.
#[derive(Clone, Copy, Debug, Default)]
pub struct ActiveProgress {
    /// Children that it serves.
    pub children: usize,
    /// Bytes of contents that a source has sent first, or a receiver has delivered.
    pub bytes: u64,
    /// All of them, where they are known.
    pub of: Option<u64>,
    /// The rate of the source in bit/s, if it is known.
    pub rate_bps: Option<f64>,
    /// Packets of the protocol.
    pub counters: NodeCounters,
    /// Datagrams that the system did not take.
    pub unsent: u64,
}

/// Why a node could not start, or go on.
#[derive(Debug, thiserror::Error)]
pub enum ActiveFailure {
    /// A socket could not be opened.
    #[error(transparent)]
    Open(#[from] crate::Error),
    /// A socket.
    #[error("cannot {what}: {source}")]
    Socket {
        /// The failed operation.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// A file.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// It.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The name of a file to send.
    #[error("{} has no name that receivers can use", path.display())]
    Name {
        /// It.
        path: PathBuf,
    },
    /// A file that is sent could not be read on.
    #[error("the files cannot be read on: {0}")]
    Contents(io::Error),
    /// The protocol or its options.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// A receiver could not go on.
    #[error(transparent)]
    Receive(#[from] ReceiveError),
    /// There was no parent for too long.
    #[error("no relay or source answered for {} s", .0.as_secs())]
    Silent(std::time::Duration),
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}
