//! Hosts for the endpoints of a protocol on real sockets.
//!
//! One thread, one endpoint. [`SourceHost`] and [`ReceiverHost`] wait for packets or for the
//! endpoint's deadline, whichever is first, and drive the endpoint through the loop that all worlds
//! share, [`layercast_core::contract::settle`].
//!
//! Each layer is a multicast group. A receiver has one socket for each group that it holds, bound to
//! the group's address: so a packet's socket tells its layer, and the kernel's limit on memberships
//! of one socket does not matter. Data packets are sent as ECN-capable; marks and arrival times are
//! read from control messages of the kernel where it gives them. What waits at a socket is read by one
//! system call, and what is due at once is sent by one.

mod accept;
mod clock;
mod inbox;
mod interface;
mod outbox;
mod receiver;
mod send_path;
mod socket;
mod source;

pub use accept::{Accepted, ReceiverCounters, accept};
pub use clock::Clock;
pub use inbox::{Datagram, Inbox};
pub use interface::Interface;
pub use receiver::ReceiverHost;
pub use send_path::{Load, SourceCounters, Supply};
pub use socket::open_group;
pub use source::SourceHost;
