//! AMT (RFC 7450): messages byte by byte, and gateways with relays over channels that lose, repeat and reorder.

mod channel;
mod limits;
mod properties;
mod sessions;
mod vectors;
