//! RLA, the random listening algorithm (Wang and Schwartz, 1998): one rate, a window at the source, and a
//! source that listens to congestion signals with a probability.
//!
//! Every receiver acknowledges every packet. A loss at one of n equally troubled receivers halves the
//! window with probability 1/n only, so that a large session does not starve.
//!
//! `docs/protocols/rla.md` has the full description.

pub mod header;
mod options;
mod receiver;
pub mod signals;
mod source;
mod window;

pub use header::Header;
pub use layercast_kit::window::HeaderError;
pub use options::Options;
pub use receiver::Receiver;
pub use source::Source;
