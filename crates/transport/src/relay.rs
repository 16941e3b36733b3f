//! Relays on sockets: packets of multicast sessions by unicast, from host to host, where the network carries no multicast.
//!
//! [`relay`] is the program; [`Server`] serves children, for it and for a source ([`SourceServer`]); [`RelayTunnel`] is how a receiver, or a
//! relay below another one, gets its packets. The machines behind them are in [`layercast_delivery::relay`].

mod fan_out;
mod link;
mod program;
mod sending;
mod server;
mod source;
mod status;
mod tunnel;
mod upstream;

pub use program::{RelayEvent, RelayOptions, relay};
pub(crate) use sending::{control, send as send_message};
pub use server::{ServeOptions, Server};
pub use source::SourceServer;
pub use status::{ChildStatus, LinkStatus, RelayStatus, RouterStatus, SessionStatus};
pub(crate) use status::{cpu_s, served};
pub(crate) use tunnel::for_socket;
pub use tunnel::{FeedbackPath, RelayTunnel};
