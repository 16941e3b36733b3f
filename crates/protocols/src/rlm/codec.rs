//! The headers as bytes.
//!
//! ```text
//! On LCT: CCI     the packet's number on its layer; 0 for an announcement
//!         EXT_RLM    0        1        2        3
//!             +--------+--------+--------+--------+
//!           0 |   91   |   3    | kind   | 0      |   kind: 0 data, 1 announcement
//!           4 | layer, or layers held    | from ...   (16 and 32 bits; from is 0 of data)
//!           8 |     from        | reserved, 0     |
//!             +-----------------------------------+
//!
//! A receiver's announcement to the source:
//!             +--------+--------+--------+--------+
//!           0 |  0x1c  |   0    | layers held     |
//!           4 | from                              |
//!             +-----------------------------------+
//! ```

use core::fmt;

use super::{Announcement, Data, Header};
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::{Layer, Level, WireSeq};
use layercast_core::wire::{MAX_REPORT, Wire, WireNumbers};

const REPORT_BYTES: usize = 8;
const DATA: u8 = 0;
const ANNOUNCEMENT: u8 = 1;

/// Why bytes are not a header of RLM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// There are fewer bytes than a header has, or more.
    Length,
    /// It is neither data nor an announcement.
    Kind(u8),
    /// An announcement of no layers.
    Level,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Length => write!(f, "wrong length"),
            HeaderError::Kind(kind) => write!(f, "kind {kind} is neither data nor an announcement"),
            HeaderError::Level => write!(f, "an announcement of no layers"),
        }
    }
}

impl core::error::Error for HeaderError {}

fn announcement(layers: [u8; 2], from: [u8; 4]) -> Result<Announcement, HeaderError> {
    match u16::from_be_bytes(layers) {
        0 => Err(HeaderError::Level),
        count => Ok(Announcement { level: Level::from_count(count), from: u32::from_be_bytes(from) }),
    }
}

impl Wire for Header {
    type Error = HeaderError;

    fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
        let (cci, kind, number, from) = match self {
            Header::Data(data) => (data.seq.0, DATA, data.layer.0, 0),
            Header::Announcement(made) => (0, ANNOUNCEMENT, made.level.layer_count(), made.from),
        };
        let content = ExtensionPayload::default()
            .with(&[kind, 0])
            .with(&number.to_be_bytes())
            .with(&from.to_be_bytes())
            .with(&[0; 2]);
        let extension = content.extension(numbers.extension());
        Some(LctFields {
            cci: Cci::Short(cci.to_be_bytes()),
            session: None,
            end_of_session: false,
            extension,
        })
    }

    fn from_lct(fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, HeaderError> {
        let &[kind, _, n1, n0, f3, f2, f1, f0, _, _] = fields.extension.content() else {
            return Err(HeaderError::Length);
        };
        match kind {
            DATA => {
                let (layer, seq) =
                    (Layer(u16::from_be_bytes([n1, n0])), u32::from_be_bytes(fields.cci.first()));
                Ok(Header::Data(Data { layer, seq: WireSeq(seq) }))
            }
            ANNOUNCEMENT => announcement([n1, n0], [f3, f2, f1, f0]).map(Header::Announcement),
            other => Err(HeaderError::Kind(other)),
        }
    }

    fn layer(&self) -> Option<Layer> {
        match self {
            Header::Data(data) => Some(data.layer),
            Header::Announcement(_) => None,
        }
    }

    fn encode_report(&self, kind: u8, bytes: &mut [u8; MAX_REPORT]) -> Option<usize> {
        match self {
            Header::Data(_) => None,
            Header::Announcement(made) => Some(made.encode(kind, bytes)),
        }
    }

    fn decode_report(kind: u8, bytes: &[u8]) -> Option<Result<Header, HeaderError>> {
        Some(Announcement::decode(kind, bytes).map(Header::Announcement))
    }
}

impl Announcement {
    /// Writes the announcement to the start of `bytes`, and returns its length.
    pub fn encode<const N: usize>(&self, kind: u8, bytes: &mut [u8; N]) -> usize {
        const { assert!(N >= REPORT_BYTES, "no room for an announcement") };
        let [l1, l0] = self.level.layer_count().to_be_bytes();
        bytes[..4].copy_from_slice(&[kind, 0, l1, l0]);
        bytes[4..REPORT_BYTES].copy_from_slice(&self.from.to_be_bytes());
        REPORT_BYTES
    }

    /// Reads an announcement from the start of `bytes`. Never panics; trailing bytes are not looked at.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(kind: u8, bytes: &[u8]) -> Result<Announcement, HeaderError> {
        let Some(&[first, _, l1, l0, f3, f2, f1, f0]) = bytes.first_chunk::<REPORT_BYTES>() else {
            return Err(HeaderError::Length);
        };
        if first != kind {
            return Err(HeaderError::Kind(first));
        }
        announcement([l1, l0], [f3, f2, f1, f0])
    }
}
