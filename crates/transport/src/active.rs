//! Nodes of sessions whose routers take part, on sockets: the loop of a source and of a relay, which have one UDP socket each, and
//! relays.
//!
//! The machines are in [`layercast_delivery::active`]. Such a session is sent by [`send`](crate::send::send()), whose protocol
//! decides, and received by [`receive`](crate::receive::receive()).

mod program;
mod relay;
mod socket;

use layercast_core::units::Duration;

pub(crate) use program::{Node, run};
pub use relay::{RouterOptions, relay};
pub(crate) use socket::NodeSocket;

/// How often children ask whether a node is there.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_ms(500);
