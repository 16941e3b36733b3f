//! AMCA over DyRAM: one rate for all, reliable delivery, and routers that take part (report on AMCA).
//!
//! DyRAM delivers every packet to every receiver: a receiver that misses one sends a NACK, and the next
//! active router asks a receiver that has it, or the source. AMCA controls the source's rate by reports that
//! travel up the same tree: each section measures how its round-trip time varies, routers add the variations
//! up, and the source computes from the sum how much faster it is than the bottleneck.
//!
//! `docs/protocols/amca.md` describes the protocol in full.

mod control;
mod dyram;
pub mod estimates;
mod header;
mod options;
mod receiver;
mod router;
mod source;
mod wire;

pub use control::{Control, Phase, Rules, Step};
pub use header::{Answer, Body, Data, Header, Nack, Report};
pub use options::{IgnoreRule, Options, Profile};
pub use receiver::Receiver;
pub use router::Router;
pub use source::Source;
pub(crate) use wire::SERVICE;
pub use wire::{MAX_HEADER, WireError};
