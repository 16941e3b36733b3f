//! The mapping of a protocol's data header to an LCT packet (RFC 5651, section 5.1).
//!
//! A data header consists of four LCT fields: the congestion control information of 32 or 64 bits, the
//! session number (TSI), the end of the session (flag A), and one header extension of the protocol with all
//! the rest. The transport writes the fields into packets without interpreting them; only the protocol's
//! module knows their meaning. `docs/wire-format.md` has the tables.

mod frame;

pub use frame::{Frame, LONG_CCI, MAX_FRAME, VERSION};

use core::fmt;

use crate::Always as _;

/// The maximum payload of a header extension in bytes: enough for SMCC's layer with an echo.
pub const MAX_CONTENT: usize = 38;

/// Congestion control information (RFC 5651, section 5.1): 32 bits (C = 0) or 64 bits (C = 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cci {
    /// 32 bits.
    Short([u8; 4]),
    /// 64 bits.
    Long([u8; 8]),
}

impl Cci {
    /// The bytes: 4 or 8.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Cci::Short(word) => word,
            Cci::Long(words) => words,
        }
    }

    /// The information from its bytes; none unless they are 4 or 8.
    pub fn of(bytes: &[u8]) -> Option<Cci> {
        bytes.try_into().map(Cci::Short).or_else(|_| bytes.try_into().map(Cci::Long)).ok()
    }

    /// The packet's number on its channel, modulo 2^16. Every protocol of this project has it in the last 16
    /// bits, so that losses can be counted without knowing the protocol.
    pub fn number(&self) -> u16 {
        match *self {
            Cci::Short([.., high, low]) | Cci::Long([.., high, low]) => u16::from_be_bytes([high, low]),
        }
    }

    /// The first 32 bits.
    pub fn first(&self) -> [u8; 4] {
        match *self {
            Cci::Short(word) | Cci::Long([word @ .., _, _, _, _]) => word,
        }
    }
}

/// The LCT fields of a data header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LctFields {
    /// The congestion control information.
    pub cci: Cci,
    /// The session number in the header; none if the protocol has none.
    pub session: Option<u32>,
    /// Whether the session ends (RFC 5651, section 5.1: flag A).
    pub end_of_session: bool,
    /// The header extension; [`Extension::NONE`] where there is no protocol.
    pub extension: Extension,
}

/// A header extension of variable length (RFC 5651, section 5.2.1): its type and its content without the
/// two bytes of type and length. A content of 2 bytes fills one word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Extension {
    kind: u8,
    len: u8,
    content: [u8; MAX_CONTENT],
}

/// Why a payload is not a valid extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentError {
    /// How many bytes of content there are.
    pub len: usize,
}

impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no extension of ours has {} bytes of content", self.len)
    }
}

impl core::error::Error for ContentError {}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extension({}, {:02x?})", self.kind, self.content())
    }
}

impl Extension {
    /// No extension: nothing is written.
    pub const NONE: Extension = Extension { kind: 0, len: 0, content: [0; MAX_CONTENT] };

    /// An extension of a type below 128 with its content.
    ///
    /// # Errors
    /// If the content is too long, or does not fill whole words together with type and length.
    pub fn new(kind: u8, content: &[u8]) -> Result<Extension, ContentError> {
        let mut room = [0; MAX_CONTENT];
        let fits = content.len() % 4 == 2 && kind < 128;
        match room.get_mut(..content.len()).filter(|_| fits) {
            Some(part) => part.copy_from_slice(content),
            None => return Err(ContentError { len: content.len() }),
        }
        Ok(Extension { kind, len: content.len() as u8, content: room })
    }

    /// The type.
    pub fn kind(&self) -> u8 {
        self.kind
    }

    /// The content.
    pub fn content(&self) -> &[u8] {
        self.content.get(..usize::from(self.len)).always("the length was checked when it was made")
    }
}

/// Builds a payload from parts. Parts that do not fit are dropped, which a test of the longest header
/// detects.
#[derive(Clone, Copy, Debug)]
pub struct ExtensionPayload {
    bytes: [u8; MAX_CONTENT],
    len: usize,
}

impl Default for ExtensionPayload {
    fn default() -> Self {
        ExtensionPayload { bytes: [0; MAX_CONTENT], len: 0 }
    }
}

impl ExtensionPayload {
    /// Adds some bytes.
    #[must_use]
    pub fn with(mut self, part: &[u8]) -> ExtensionPayload {
        let end = self.len + part.len();
        if let Some(room) = self.bytes.get_mut(self.len..end) {
            room.copy_from_slice(part);
            self.len = end;
        }
        self
    }

    /// The extension.
    pub fn extension(self, kind: u8) -> Extension {
        Extension { kind, len: self.len as u8, content: self.bytes }
    }
}
