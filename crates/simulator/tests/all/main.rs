//! The simulator from outside. All tests are one program, as each program would compile the simulator for the
//! family of the built-in protocols again.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod world;

mod allocations;
mod applications;
mod bbr;
mod conservation;
mod determinism;
mod ecn;
mod edges;
mod golden_tcp;
mod multicast;
mod observe;
mod queues;
mod routers;
mod tcp_lists;
mod tcp_rates;
mod traffic;
mod varying_links;
