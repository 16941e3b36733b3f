//! Announcements: how a receiver finds out which sessions there are, and what it must know to join one.
//!
//! Bottom-up: [`url`] (one line that names a session) · [`sdp`] (the description of a session, RFC 8866 with FLUTE's attributes) · [`sap`] (the packets that
//! carry descriptions, RFC 2974) · [`describing`] (what a source says of its session) · [`announcer`] (when it sends that) ·
//! [`directory`] (what a listener keeps) · [`rule`] (which sessions a listener wants). [`relays`] has those that a description names;
//! [`finding`](crate::finding) leads from a name to a session.
//!
//! Bytes in, bytes out: sockets and clocks belong to the caller. Whatever comes from the network is bounded and never panics. Signatures are made
//! and checked behind the traits of [`signature`].

pub mod announcer;
pub mod describing;
pub mod directory;
pub mod flute;
pub mod interval;
pub mod relays;
pub mod rule;
pub mod sap;
pub mod sdp;
pub mod signature;
pub mod url;
