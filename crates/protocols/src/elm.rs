//! ELM, equation-based layered multicast (thesis chapter 6).
//!
//! The source sends each layer at a constant rate. A receiver calculates the rate that TCP would have
//! on its path, from losses over all its layers and a round-trip time that it measures with the source's
//! echoes, smooths it, and joins or leaves one layer at a time by a lazy strategy. Each receiver
//! decides alone.
//!
//! `docs/protocols/elm.md` has the tables.

mod choices;
mod codec;
pub mod feedback;
pub mod header;
mod lct;
pub mod options;
mod receiver;
pub mod slow_start;
mod source;
pub mod strategy;
mod wire;

pub use header::Header;
pub use options::Options;
pub use receiver::Receiver;
pub use source::Source;
