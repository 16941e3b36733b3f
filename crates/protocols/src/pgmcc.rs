//! pgmcc, window-based congestion control of one rate with a representative (Rizzo, SIGCOMM 2000;
//! draft-ietf-rmt-bb-pgmcc-03).
//!
//! Receivers filter their losses and tell the source in NAKs. The source elects the one that a TCP would give
//! the least, the acker, and runs TCP's window with it alone: the acker acknowledges each packet.
//!
//! `docs/protocols/pgmcc.md` tells it in full.

pub mod election;
pub mod header;
mod loss;
pub mod options;
mod receiver;
mod source;
mod tokens;

pub use header::Header;
pub use layercast_kit::window::{Counters, HeaderError, SourceCounters};
pub use loss::LossFilter;
pub use options::Options;
pub use receiver::Receiver;
pub use source::Source;
