//! TFMCC, TCP-friendly multicast congestion control with a single rate (RFC 4654).
//!
//! Each receiver calculates the rate that TCP would have on its path. The source follows the one with
//! the lowest rate, the current limiting receiver (CLR). The others report now and then, by timers
//! that are biased towards low rates and cancelled by what has been reported already, so that the
//! source receives a handful of them however large the group is.
//!
//! There is one layer, channel 0; the session's table gives its peak rate. `docs/protocols/tfmcc.md`
//! has the tables.

mod codec;
pub mod header;
mod lct;
pub mod options;
pub(crate) mod receiver;
pub mod rules;
pub(crate) mod source;

pub use header::Header;
pub use options::Options;
pub use receiver::Receiver;
pub use source::Source;
