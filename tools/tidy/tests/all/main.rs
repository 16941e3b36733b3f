//! Tests of the tree. All tests are one program, since linking each alone takes longer than most of them run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod circles;
mod pages;
mod tree;
mod words;
