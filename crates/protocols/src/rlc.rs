//! RLC, receiver-driven layered congestion control (Vicisano, Rizzo, Crowcroft 1998; thesis, section
//! 3.2.1; FLID-DL paper, section II).
//!
//! Layers double. The source marks synchronisation points; right after one on its highest layer, and
//! only then, a receiver that lost nothing since the last one joins one layer more. Before a point
//! the source sends a short burst that imitates the next layer. A loss outside a burst costs the top
//! layer, after which the receiver is deaf for a while.
//!
//! The page `docs/protocols/rlc.md` has the full description.

mod header;
mod lct;
mod options;
mod points;
mod receiver;
mod source;

pub use header::{Header, HeaderError};
pub use options::{DeafRule, Options, SpacingRule};
pub use points::{highest_point, spacing_factor};
pub use receiver::Receiver;
pub use source::Source;

/// The most layers that RLC's header can number. Layers above are not used.
pub const MAX_LAYERS: u16 = 256;
