//! File delivery over ALC as state machines: no socket, no clock, no thread, and the disk behind a trait.
//!
//! Bottom-up: [`disk`] (where received files are kept) · [`packet`] (ALC/LCT packets as bytes) · [`object`] (files as RaptorQ blocks and symbols, and their
//! reassembly) · [`session`] (what a receiver must know before it joins) · [`announce::flute`] (the same of other senders).
//!
//! `docs/wire-format.md` has the bit tables.

pub mod accept;
pub mod active;
mod address;
pub mod amt;
pub mod announce;
pub mod carousel;
pub mod catalogue;
pub mod disk;
pub mod finding;
pub mod follow;
mod framing;
pub mod groups;
pub mod in_order;
pub mod ip;
pub mod journal;
pub mod layering;
pub mod listing;
pub mod live;
pub mod membership;
pub mod memory;
pub mod node;
pub mod notice;
pub mod object;
pub mod package;
pub mod packet;
pub mod part;
mod percent;
pub mod placed;
pub mod placing;
pub mod protocols;
pub mod reception;
pub mod record;
pub mod relay;
pub mod reporting;
pub mod search;
pub mod security;
pub mod send_state;
pub mod sender;
pub mod session;
pub mod signed_table;
pub mod stream;
pub mod table_reader;
mod varint;
