//! Dynamic layering: layers rotate over channels, so that no receiver depends on a fast leave (FLID-DL
//! paper, section III).
//!
//! Time is cut into slots. In each slot a channel carries one static layer or nothing; at the end of a slot
//! every channel steps down by one layer, and after the base it is silent for some slots before it starts
//! again at the top. A receiver that joins nothing therefore falls by one layer per slot, one that keeps
//! its level joins one channel per slot, and one that increases it joins two. A channel that it leaves is
//! silent long enough for the leave to take effect.
//!
//! [`Layering`] maps layers to channels in each slot, also for static layers; [`Memberships`] derives the
//! joins and leaves. They work with any layer structure: rates are not used here.

mod layering;
mod memberships;

pub use layering::{ChannelRotation, Cycle, Layering, silent_slots};
pub use memberships::{Memberships, Move};
