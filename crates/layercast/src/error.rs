//! Why a transfer is not started.

use std::io;

use layercast_core::layers::LayerError;
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
    /// Two things that were given exclude each other.
    #[error("{what} cannot be used with {with}: {why}")]
    Conflict {
        /// The one, as the builder calls it.
        what: &'static str,
        /// The other.
        with: &'static str,
        /// The reason.
        why: &'static str,
    },
    /// The group is none.
    #[error("the group `{text}`: {source}")]
    Group {
        /// What was given.
        text: String,
        /// What it should be.
        source: GroupError,
    },
    /// There is no such protocol.
    #[error("there is no protocol `{name}`; there are {known}")]
    Protocol {
        /// What was given.
        name: String,
        /// Those that there are.
        known: String,
    },
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
