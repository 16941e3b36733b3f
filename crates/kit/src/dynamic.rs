//! Dynamic layering: layers that turn over channels, so that nobody waits for a slow leave (FLID-DL
//! paper, section III).
//!
//! Time is cut into slots. In each slot a channel carries one static layer or nothing; at the end of a
//! slot every channel steps down by one layer, and after the base it is silent for some slots before it
//! starts again at the top. So a receiver that joins nothing falls by one layer a slot, one that stays
//! joins one channel a slot, and one that rises joins two. What it leaves is silent long enough for the
//! leave to take effect.
//!
//! [`Layering`] says which channel carries which layer in which slot, for layers that stand still too;
//! [`Memberships`] says what to join and leave for it. Any layer structure can be run on them: the rates
//! are not looked at here.

mod layering;
mod memberships;

pub use layering::{ChannelRotation, Cycle, Layering, silent_slots};
pub use memberships::{Memberships, Move};
