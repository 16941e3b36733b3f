//! Synchronised join experiments for any layer structure (Wei and Zhang).
//!
//! Each layer j has synchronisation points, tau_j apart, and tau_j grows with the layer's cumulative rate:
//! tau_j = tau_0 B_j / B_0. Right after a point of the layer above its own, a receiver joins that layer;
//! after a loss it leaves its top layer and is deaf for a while. That makes one loss event for each
//! experiment, whatever the structure, and a mean rate of 1 / sqrt(p) for a loss event rate p.
//!
//! The page `docs/protocols/wei-zhang.md` has the full description.

mod backoff;
mod header;
mod lct;
mod options;
mod points;
mod receiver;
mod source;
pub mod theory;

pub use backoff::{Backoff, points_to_skip};
pub use header::Header;
pub use lct::HeaderError;
pub use options::{Options, PointOrigin};
pub use points::{Points, TICKS};
pub use receiver::Receiver;
pub use source::Source;
