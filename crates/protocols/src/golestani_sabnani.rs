//! Windows at the receivers (Golestani and Sabnani, INFOCOM 1999), reported by TRAM's rule.
//!
//! Each receiver keeps its own window and reports the highest number that it allows. The source sends up
//! to the least of these.
//!
//! `docs/protocols/golestani-sabnani.md` has the full description.

mod allowance;
pub mod header;
mod options;
mod receiver;
mod source;

pub use header::Header;
pub use layercast_kit::window::HeaderError;
pub use options::Options;
pub use receiver::Receiver;
pub use source::Source;
