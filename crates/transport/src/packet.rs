//! ALC packets (RFC 5775, section 4.1): an LCT header (RFC 5651, section 5.1), a FEC payload id and
//! one encoding symbol.
//!
//! [`View`] looks at bytes that came from the network. It accepts every header that the RFC allows
//! and checks all lengths once, so that its readers cannot fail. [`Repr`] is a packet of ours as a
//! value: a session number and an object number of 32 bits each and congestion control information
//! of 32 or 64 bits. What a `Repr` holds can always be written.

mod extension;
mod feedback;
mod payload_id;
mod repr;
mod view;

pub use extension::{Extension, Extensions, Fdt, HET_AUTH, HET_FDT, HET_FTI, HET_NOP, HET_TIME};
pub use feedback::{COMPLETION_BYTES, Completion};
pub use payload_id::{ESI_LIMIT, PayloadId};
pub use repr::{Fti, MAX_HEADER, NotOurs, Repr};
pub use view::View;

use core::fmt;

/// Why bytes are not a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketError {
    /// There are fewer bytes than the part of that name needs.
    Truncated {
        /// How many are needed.
        need: usize,
        /// How many there are.
        have: usize,
    },
    /// A version of LCT that is not understood (RFC 5775, section 4.1: 1).
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
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketError::Truncated { need, have } => write!(f, "{have} bytes where {need} are needed"),
            PacketError::Version(version) => write!(f, "LCT version {version} is not understood"),
            PacketError::HeaderLength { words } => write!(f, "a header of {words} words does not fit"),
            PacketError::ExtensionLength { kind } => write!(f, "extension {kind} does not fit its header"),
            PacketError::Feedback(kind) => write!(f, "there is no feedback packet {kind:#04x}"),
            PacketError::Receiver => write!(f, "a receiver's number is not zero"),
        }
    }
}

impl core::error::Error for PacketError {}
