//! Relays on sockets: packets of multicast sessions by unicast, from host to host, where the network carries no multicast.
//!
//! [`relay`] is the program; [`SourceServer`] serves the children of a source. Both host [`layercast_delivery::node::Relay`].
//! [`RelayTunnel`] is how a receiver gets its packets through a relay.

mod fan_out;
mod link;
mod program;
mod sending;
mod server;
mod source;
mod status;
mod tunnel;
mod upstream;

pub use crate::event::{LinkStatus, RelayStatus, RouterStatus};
pub use layercast_delivery::relay::status::{ChildStatus, SessionStatus};
pub use program::{RelayOptions, relay};
pub(crate) use sending::{control, send as send_message};
pub use server::ServeOptions;
pub use source::SourceServer;
pub(crate) use status::cpu_s;
pub(crate) use tunnel::for_socket;
pub use tunnel::{FeedbackPath, RelayTunnel};
