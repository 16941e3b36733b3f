//! Hardships for whole programs, with numbers: `docs/trials.md` has what they show.
//!
//! Bottom-up: [`content`] (files and what became of them) · [`wire`] (an emulated network) · [`cables`] (links of the kernel) · [`process`] (programs,
//! their memory and processor time) · [`program`] (our own command and its events) · [`hostile`] (packets that should
//! do nothing) · [`flood`] (sends them) · [`tcp`] (the kernel's, as other traffic) · [`report`] (where results go) · [`trial`] (one module each) · [`peers`] (the
//! same faults for other tools).
//!
//! It needs Linux, and most of it the rights of root.

#![cfg(target_os = "linux")]

pub mod cables;
pub mod content;
pub mod flood;
pub mod hostile;
pub mod peers;
pub mod process;
pub mod program;
pub mod report;
pub mod tcp;
pub mod trial;
pub mod wire;
