//! Relays: hosts that hold channels for others and send the packets on by unicast, as state machines.
//!
//! A relay is a [`parent`] of receivers and of other relays, and may be a [`child`] of another relay or of the source.
//! [`message`] has what the two say to each other, [`session`] how they name a session, [`channels`] a set of channels.
//! [`local`] is what a relay does where it sends on by multicast, on one link.
//!
//! Neither has a socket or a clock: the host passes messages and the time, sends what they have to say, and forwards data
//! by itself, since that is the same for all children. [`Relay`](crate::node::Relay) joins them to a whole relay.

pub mod channels;
pub mod child;
pub mod local;
pub mod message;
pub mod parent;
pub(crate) mod secret;
pub mod session;
pub mod status;
