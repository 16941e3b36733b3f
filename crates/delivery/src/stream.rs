//! Layered streams: live data, one input for each layer, delivered in order within a deadline at the receivers that hold the
//! layer.
//!
//! An input is a sequence of [units](Units), which are delivered whole or not at all. At the source, [`LayerSource`] cuts
//! them into symbols, and these into short blocks with repair symbols of RaptorQ (RFC 6330). At a receiver,
//! [`StreamReceiver`] delivers units as soon as all before them are there, are late, or cannot come any more.
//!
//! `docs/streams.md` argues the choices, `docs/wire-format.md` has the bit tables.

mod clock;
mod deframer;
mod input;
mod layer_receiver;
mod layer_source;
mod payload;
mod plan;
mod receiver;
mod table;
mod window;

pub use input::InputCounters;
pub use layer_receiver::{Gap, GapCause, LayerCounters, Unit};
pub use layer_source::{LayerSource, SourceCounters};
pub use payload::{CODEPOINT, Head, PayloadError, SymbolHead, SymbolId, symbol_size};
pub use plan::{DEADLINES, LONGEST_UNIT, StreamPlan, Units};
pub use receiver::StreamReceiver;
pub use table::StreamTable;
