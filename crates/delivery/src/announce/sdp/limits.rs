//! How much a description may have.

/// The longest description in bytes. RFC 2974 recommends at most 1 kB for a packet.
pub const SDP_MAX: usize = 8192;
/// The most `m=` lines for FLUTE, FEC declarations and lines of ours in a description.
pub const PARTS_MAX: usize = 256;
/// The largest session number: FLUTE has at most 48 bits (RFC 5651, section 5.1).
pub const TSI_MAX: u64 = (1 << 48) - 1;
