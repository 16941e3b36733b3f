//! ALC packets (RFC 5775, section 4.1): an LCT header (RFC 5651, section 5.1), a FEC payload id and
//! one encoding symbol.
//!
//! [`View`] reads bytes from the network. It accepts every header that the RFC allows and checks all
//! lengths once, so that its accessors cannot fail. [`Repr`] is a packet of this transport as a value: a
//! session number and an object number of 32 bits each and congestion control information of 32 or 64 bits.
//! What a `Repr` holds can always be written. [`part`](crate::part) has packets of any FLUTE session, and what both
//! say of an object.

mod demand;
mod extension;
mod feedback;
mod payload_id;
mod poll;
mod report;
mod repr;
mod view;

pub use demand::{ALL, DEMAND_BYTES, Demand};
pub use extension::{
    Extension, Extensions, Fdt, HET_AUTH, HET_CENC, HET_DEMAND, HET_FDT, HET_FTI, HET_NOP, HET_POLL, HET_TIME,
};
pub use feedback::{COMPLETION_BYTES, Completion, REFUSAL_BYTES, Refusal};
pub use payload_id::{ESI_LIMIT, PayloadId};
pub use poll::{EXPONENT_MAX, Poll};
pub use report::{REPORT_BYTES, ReceptionReport, WHOLE};
pub use repr::{Fti, MAX_HEADER, NotOurs, Repr};
pub use view::View;

use core::fmt;

/// Why bytes are not a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketError {
    /// Fewer bytes than needed.
    Truncated {
        /// How many are needed.
        need: usize,
        /// How many there are.
        have: usize,
    },
    /// An unsupported version of LCT (RFC 5775, section 4.1: 1).
    Version(u8),
    /// The header's length, in words, is less than its fields need, or more than the packet has.
    HeaderLength {
        /// What the packet says.
        words: u8,
    },
    /// An extension of length zero, or one that is longer than the header.
    ExtensionLength {
        /// Its type.
        kind: u8,
    },
    /// A feedback packet of another version or type.
    Feedback(u8),
    /// A receiver's number is zero.
    Receiver,
    /// A reception report with an exponent or a loss beyond its range.
    Report,
}

/// A word of feedback that has `need` bytes.
fn word(bytes: &[u8], at: usize, need: usize) -> Result<u32, PacketError> {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(word) => Ok(u32::from_be_bytes(*word)),
        None => Err(PacketError::Truncated { need, have: bytes.len() }),
    }
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketError::Truncated { need, have } => write!(f, "{have} bytes where {need} are needed"),
            PacketError::Version(version) => write!(f, "LCT version {version} is not supported"),
            PacketError::HeaderLength { words } => write!(f, "a header of {words} words does not fit"),
            PacketError::ExtensionLength { kind } => write!(f, "extension {kind} does not fit its header"),
            PacketError::Feedback(kind) => write!(f, "unknown feedback packet {kind:#04x}"),
            PacketError::Receiver => write!(f, "the receiver's number is zero"),
            PacketError::Report => write!(f, "an exponent or a loss beyond its range"),
        }
    }
}

impl core::error::Error for PacketError {}
