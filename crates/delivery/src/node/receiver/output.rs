//! What a receiver wants of its host.

use std::net::SocketAddr;

use layercast_core::contract::{Ecn, Estimates};
use layercast_core::units::Channel;

use super::path::Path;
use crate::finding::Place;
use crate::node::error::ReceiveError;
use crate::node::{Feedback, ReceiverNote};
use crate::notice::Notice;
use crate::session::Session;

/// What a message to the source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A report of congestion control.
    Report,
    /// A completion. [`Receiver::completion_sent`](super::Receiver::completion_sent) takes what became of it.
    Completion,
    /// Anything else.
    Other,
}

/// Why a receiver ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure<E> {
    /// The session, or what is known of it.
    #[error(transparent)]
    Session(ReceiveError),
    /// What takes its payload.
    #[error("{0}")]
    Sink(E),
}

/// What a receiver wants of its host, in the order of its decisions.
#[derive(Debug)]
pub enum Output<E> {
    /// Packets come by this path from now on. Nothing is joined by it yet.
    Open(Path),
    /// To listen to the base channel by multicast on a socket of its own, next to the path, or no longer to do that.
    /// [`Receiver::handle_probe`](super::Receiver::handle_probe) takes what comes.
    Probe(bool),
    /// To join a channel, which goes to this group. If that is impossible, [`Receiver::join_failed`](super::Receiver::join_failed) says so.
    Join(Channel, SocketAddr),
    /// To leave a channel.
    Leave(Channel, SocketAddr),
    /// To listen to announcements, or no longer to do that.
    /// [`Receiver::handle_announcement`](super::Receiver::handle_announcement) takes what comes.
    Listen(bool),
    /// The session is sought at this place from now on, by its announcement.
    Relocated(Box<Place>),
    /// To send a message to the source.
    Send(Message, Feedback, SocketAddr),
    /// To send a datagram to a relay or the source of a session whose routers take part.
    Unicast {
        /// Where it goes.
        to: SocketAddr,
        /// Its ECN field.
        ecn: Ecn,
        /// It.
        bytes: Vec<u8>,
    },
    /// A session was found.
    Found(Box<Session>),
    /// The receiver of the session did or noticed something, with its estimates.
    Trace(ReceiverNote, Estimates),
    /// Something that the operator should know.
    Notice(Notice),
    /// Twice a second while a session is received, and when all is complete: time to show progress.
    Tick,
    /// It is over.
    Ended(Result<(), Failure<E>>),
}
