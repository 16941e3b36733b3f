//! The transport from outside, on real sockets. All tests are one program, since linking each alone takes longer than most of them run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fixture;
mod lab;
mod lo;

mod active;
mod allocations;
mod amt;
mod batches;
mod local_multicast;
mod loopback;
mod memberships;
mod namespaces;
mod rate;
mod source_specific;
mod worlds;
