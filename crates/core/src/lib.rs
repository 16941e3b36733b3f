//! What endpoints of a protocol and their hosts agree on.
//!
//! From the ground up: [`units`] · [`math`] and [`stream`] (portable functions, random streams) · [`option`]
//! (options that document themselves) · [`layers`] and [`session`] (what all members of a session know) · the
//! [`contract`] between an endpoint and its host · [`lct`] (the header that data packets share on the wire). [`modes`] is for programs:
//! which flags exclude each other.
//!
//! The crate is `no_std`, so a clock, a socket, a thread or a hash map with a random seed does not
//! compile here.
#![no_std]

#[doc(hidden)]
pub extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod contract;
pub mod family;
mod invariant;
pub mod layers;
pub mod lct;
pub mod math;
pub mod modes;
pub mod option;
pub mod session;
pub mod stream;
pub mod units;
pub mod wire;

pub use invariant::{Always, cannot_be};
