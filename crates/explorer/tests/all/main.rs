//! Whole transfers with faults. All tests are one program, since linking each alone takes longer than most of them run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod explore;
mod mirror;
