//! Layered multicast congestion control protocols as pure state machines.
//!
//! An endpoint of a protocol (a source, a receiver or a router) owns nothing but its state: time,
//! packets and randomness come in as arguments, and the effects that it asks for come out as actions. The
//! same code therefore runs in the simulator, in the emulator and on real sockets.
//!
//! A folder for each protocol, on `layercast-core` (units, options, the contract) and `layercast-kit` (equations,
//! estimators, windows). [`registry`] is the one list of them.
//!
//! The crate is `no_std`, so a clock, a socket, a thread or a hash map with a random seed does not
//! compile here.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod active;
pub mod amca;
pub mod cbr;
pub mod elm;
pub mod fixed;
pub mod flid;
pub mod golestani_sabnani;
pub mod nca;
mod packet_bytes;
pub mod pgmcc;
pub mod registry;
pub mod rla;
pub mod rlc;
pub mod rlm;
pub mod smcc;
pub mod tfmcc;
pub mod tfrc;
pub mod tide;
pub mod webrc;
pub mod wei_zhang;
