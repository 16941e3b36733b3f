//! Layercast on real UDP multicast.
//!
//! From the ground up: [`packet`] (ALC/LCT packets as bytes) · [`object`] (a file as RaptorQ blocks
//! and symbols, and back) · [`session`] (what a receiver must know before it joins) · [`host`]
//! (sockets for the endpoints of a protocol) · [`send`] and [`receive`] (a file from here to there).
//!
//! `docs/wire-format.md` has the bit tables. IPv4 only so far.

pub mod error;
pub mod object;
pub mod packet;
pub mod session;

pub use error::Error;
