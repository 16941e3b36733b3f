//! Delivery from outside, without sockets. All tests are one program, since linking each alone takes longer than most of them run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod amt;
mod announce;
mod flute;
mod membership;
mod object;
mod packet;
mod relay;
mod reporting;
mod security;
mod session;
mod stream;
mod transfer;
mod wire;
