//! Waves: layers whose rates fall by themselves, so that no receiver depends on a fast leave (RFC 3738, section
//! 3.1).
//!
//! A session has a base channel and a cycle of wave channels. Time is divided into slots. A wave starts high and
//! falls by a constant factor in each slot until it is as slow as the base; then its channel is silent for long
//! enough that every leave has taken effect. [`Waves`] is their shape, [`Departures`] are the times of packets.

mod schedule;
mod shape;

pub use schedule::{Departures, slot_of, starts_slot};
pub use shape::{BASE, MAX_CHANNELS, WaveConfig, Waves, channel_of};
