//! A protocol outside of Layercast's own crates: [PLM](plm).
//!
//! The crate shows what a protocol needs in order to run in the laboratory without a change to
//! Layercast: options, a header, a source and a receiver, all of them pure state machines.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod plm;
