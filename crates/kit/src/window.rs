//! Shared by window-based single-rate protocols: pgmcc, the random listening algorithm, and that of
//! Golestani and Sabnani.
//!
//! There is one channel. The source sends runs of packets as its window allows, at most at the rate of the
//! session's layers. Receivers report which numbers arrived. Packets that are lost are not sent again:
//! repair is another layer's business, as pgmcc's draft has it (draft-ietf-rmt-bb-pgmcc-03, section 1).

pub mod codec;
pub mod header;
pub mod listener;
pub mod members;
pub mod paced_sender;
pub mod patience;
pub mod scoreboard;
pub mod throttle;

pub use header::{Base, HeaderError};
