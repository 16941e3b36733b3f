//! SMCC, smooth multirate multicast congestion control (Kwon and Byers, 2003; thesis, section 3.2.4).
//!
//! The cumulative rate of every layer is controlled by a TFMCC session of its own, within bounds that
//! double from layer to layer. A receiver takes part only in the session of the highest layer that it holds,
//! and leaves the layer when its fair rate is below the layer's minimum. Before it joins the layer above, it
//! increases its rate in equal steps by counting layers, which it holds in the pattern of a binary counter.
//!
//! The paper was not available, so much of this is a reconstruction; `docs/protocols/smcc.md` gives the
//! source of each point.

mod codec;
pub mod counting;
pub mod header;
mod lct;
pub mod options;
mod receiver;
mod source;
pub mod structure;

pub use header::Header;
pub use options::Options;
pub use receiver::{JoinCounters, Receiver};
pub use source::Source;
