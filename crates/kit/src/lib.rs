//! Building blocks of congestion control protocols.
//!
//! TCP throughput [`equation`]s and [`response`] functions, and the [`fair`] rate by either · [`estimator`]s of round-trip times, losses and rates · [`dynamic`] layering ·
//! [`window`]s at a source · [`pacing`] of layers at a source · cumulative [`layers`] at a
//! receiver · [`feedback`] · [`silence`] · [`counters`] · [`waves`]. A protocol takes what it needs; none
//! of these parts knows a protocol.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod counters;
pub mod dynamic;
pub mod equation;
pub mod estimator;
pub mod fair;
pub mod feedback;
pub mod layers;
pub mod pacing;
pub mod response;
pub mod silence;
pub mod waves;
pub mod window;
