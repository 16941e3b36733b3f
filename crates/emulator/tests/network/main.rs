//! Emulated networks with real kernels. They need root or a user namespace; where neither is, they are skipped.
//!
//! Nothing here depends on how fast the machine is: times are bounded from below, by what the network must take.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod kill;
mod lab;
mod marks;
mod multicast;
mod relays;
mod unicast;
