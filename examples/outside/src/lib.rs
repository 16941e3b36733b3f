//! A protocol outside of Layercast's own crates: [PLM](plm).
//!
//! The crate shows what a protocol needs in order to run in the laboratory without a change to Layercast: a
//! module with options, a header, a source and a receiver, all of them pure state machines, and one line in a list.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod plm;

layercast_core::family! {
    /// The protocols of this crate.
    pub Outside {
        /// Packet-pair layered multicast: bandwidth from pairs of packets under fair queueing.
        Plm = "plm" in plm on [121];
    }
}
