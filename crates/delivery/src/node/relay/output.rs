//! What a relay wants of its host.

use std::net::SocketAddr;

use crate::notice::Notice;
use crate::relay::message::MESSAGE_MAX;
use crate::relay::parent::Change;

/// A message that is not data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayMessage {
    room: [u8; MESSAGE_MAX],
    length: usize,
}

impl RelayMessage {
    /// The first bytes of a room.
    pub(super) fn new(room: [u8; MESSAGE_MAX], length: usize) -> RelayMessage {
        RelayMessage { room, length }
    }

    /// A copy of bytes, of which no message has more than fit.
    pub(super) fn of(bytes: &[u8]) -> RelayMessage {
        let mut room = [0; MESSAGE_MAX];
        room.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        RelayMessage { room, length: bytes.len().min(MESSAGE_MAX) }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.room.get(..self.length).unwrap_or_default()
    }
}

/// What a relay wants of its host, in the order of its decisions.
#[derive(Clone, Debug, PartialEq)]
pub enum RelayOutput {
    /// A channel is needed from now on, or no longer. Where packets come by multicast, its group is to be joined or left.
    Channel(Change),
    /// No child wants the session of this place any more: the sockets that it has are to be closed.
    Close(usize),
    /// To send a message to a child.
    ToChild(SocketAddr, RelayMessage),
    /// To send a message to a relay above, from a socket that the session of this place has for itself.
    /// [`Relay::handle_above`](super::Relay::handle_above) takes what comes to it.
    ToRelay(usize, SocketAddr, RelayMessage),
    /// To send a receiver's message to a source.
    ToSource(SocketAddr, RelayMessage),
    /// A receiver's message, which came from this address: this host is the source.
    Heard(SocketAddr, RelayMessage),
    /// Something that the operator should know.
    Notice(Notice),
}
