//! Windows at the receivers (Golestani and Sabnani, INFOCOM 1999), told by TRAM's rule.
//!
//! Each receiver keeps a window of its own and tells the highest number that it allows. The source sends up
//! to the least of these.
//!
//! `docs/protocols/golestani-sabnani.md` tells it in full.

mod allowance;
pub mod header;
mod options;
mod receiver;
mod source;

pub use header::Header;
pub use layercast_kit::window::{Counters, HeaderError, SourceCounters};
pub use options::Options;
pub use receiver::Receiver;
pub use source::Source;
