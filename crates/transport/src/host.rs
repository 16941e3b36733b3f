//! Hosts for the endpoints of a protocol on real sockets.
//!
//! One thread, one endpoint. [`SourceHost`] and [`ReceiverHost`](crate::receiver::ReceiverHost) wait for packets or for the endpoint's
//! deadline, whichever is first, and drive the endpoint through the loop that all hosts share,
//! [`layercast_core::contract::drive`].
//!
//! Each layer is a multicast group, joined here or, through a [`Tunnel`], elsewhere. A receiver has one socket for each group that it has joined, bound to
//! the group's address: the socket of a packet identifies its layer, and the kernel's limit on memberships
//! per socket does not matter. Data packets are sent as ECN-capable; marks and arrival times are read from
//! ancillary data where the kernel provides it. The packets waiting at a socket are read by one system
//! call, and packets of a channel that are due in the same burst are sent by one.

mod access;
mod capture;
mod clock;
mod counters;
mod inbox;
mod interface;
mod leaves;
mod outbox;
mod segmentation;
mod socket;
mod source;
mod source_membership;
mod unicast_path;

pub use access::{Access, Groups, Tunnel};
pub(crate) use capture::{open_memberships, open_raw};
pub use clock::Clock;
pub(crate) use clock::until;
pub use counters::ReceiverCounters;
pub use inbox::{Datagram, Inbox, Unwrapped};
pub use interface::Interface;
pub(crate) use interface::{flags, reaching, unspecified};
pub use leaves::LeaveCounters;
pub(crate) use leaves::Leaves;
pub(crate) use segmentation::{RUN_BYTES, RUN_PACKETS};
pub use unicast_path::UnicastPath;

pub use socket::{PacketSocket, open_announcer, open_group};
pub(crate) use socket::{RECEIVE_BUFFER, open_reports, open_source, open_unicast};
pub use source::{OUTAGE_MAX, SourceHost};
