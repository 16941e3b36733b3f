//! pgmcc, window-based congestion control of one rate with a representative (Rizzo, SIGCOMM 2000;
//! draft-ietf-rmt-bb-pgmcc-03).
//!
//! Receivers filter their losses and report them in NAKs. The source elects as acker the one that would have
//! the lowest TCP throughput, and runs TCP's window with it alone: the acker acknowledges each packet.
//!
//! `docs/protocols/pgmcc.md` has the full description.

pub mod election;
pub mod header;
mod loss;
pub mod options;
mod receiver;
mod source;
mod tokens;

pub use header::Header;
pub use layercast_kit::window::HeaderError;
pub use loss::LossFilter;
pub use options::Options;
pub use receiver::Receiver;
pub use source::Source;
