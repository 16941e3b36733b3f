//! Units as types: time, rate, size, sequence numbers, layers.
//!
//! No conversion between them is implicit. Equations take plain `f64` with the unit in the name
//! (`rtt_s`, `rate_bps`) and come back through these types. All of them print with their unit
//! (`12.4 ms`, `1.25 Mbit/s`) and parse what they print.

mod data_size;
mod layer;
mod parse;
mod rate;
mod sequence;
mod size;
mod time;

pub use data_size::DataSize;
pub use layer::{Channel, Layer, Level};
pub use parse::UnitError;
pub use rate::{Pacer, Rate, RateEstimate};
pub use sequence::{Seq, WireSeq};
pub use size::Size;
pub use time::{Duration, SignedDuration, Time};
