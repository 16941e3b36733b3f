//! The common header of these protocols' data packets.

use core::fmt;

use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::WireSeq;

/// The common part of data headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// The session: drawn at random by the source. Another one means that the source restarted.
    pub session: u32,
    /// The number of the packet; the first is 1.
    pub seq: WireSeq,
    /// When it was sent, in microseconds of the source's clock.
    pub timestamp_us: u32,
    /// Whether the session ends with this packet.
    pub end_of_session: bool,
}

/// Why bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Fewer bytes than a report, or the wrong number of bytes for an extension.
    Length {
        /// How many there are.
        have: usize,
    },
    /// The first byte is not that of a report.
    Kind(u8),
    /// Flags that have no meaning.
    Flags(u8),
    /// The receiver's number is zero.
    Receiver,
    /// A reserved field is not zero.
    Reserved,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Length { have } => write!(f, "a header cannot have {have} bytes"),
            HeaderError::Kind(kind) => write!(f, "a report does not begin with {kind:#04x}"),
            HeaderError::Flags(flags) => write!(f, "unknown flags in {flags:#04x}"),
            HeaderError::Receiver => write!(f, "the receiver's number is zero"),
            HeaderError::Reserved => write!(f, "a reserved field is not zero"),
        }
    }
}

impl core::error::Error for HeaderError {}

impl Base {
    /// The header of the packet `index` positions later in a run.
    pub fn nth(self, index: u16) -> Base {
        Base { seq: self.seq.plus(u32::from(index)), ..self }
    }

    /// The header as LCT fields: the number in the congestion control information, two reserved bytes and
    /// the time stamp in the extension, then what the protocol adds.
    pub fn to_lct(self, kind: u8, own: &[u8]) -> LctFields {
        let content =
            ExtensionPayload::default().with(&[0; 2]).with(&self.timestamp_us.to_be_bytes()).with(own);
        LctFields {
            cci: Cci::Short(self.seq.0.to_be_bytes()),
            session: Some(self.session),
            end_of_session: self.end_of_session,
            extension: content.extension(kind),
        }
    }

    /// The header and the bytes that the protocol added, of which there must be `N`.
    pub fn from_lct<const N: usize>(fields: &LctFields) -> Result<(Base, [u8; N]), HeaderError> {
        let content = fields.extension.content();
        let wrong = HeaderError::Length { have: content.len() };
        let Some((&[r1, r0, t3, t2, t1, t0], own)) = content.split_first_chunk() else {
            return Err(wrong);
        };
        let own = own.try_into().map_err(|_| wrong)?;
        if [r1, r0] != [0; 2] {
            return Err(HeaderError::Reserved);
        }
        let base = Base {
            session: fields.session.unwrap_or_default(),
            seq: WireSeq(u32::from_be_bytes(fields.cci.first())),
            timestamp_us: u32::from_be_bytes([t3, t2, t1, t0]),
            end_of_session: fields.end_of_session,
        };
        Ok((base, own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::lct::Extension;

    #[test]
    fn a_header_comes_back_and_other_contents_are_refused() {
        let base = Base { session: 9, seq: WireSeq(u32::MAX), timestamp_us: 1 << 31, end_of_session: true };
        let fields = base.to_lct(93, &[1, 2, 3, 4]);
        assert_eq!(Base::from_lct(&fields), Ok((base, [1, 2, 3, 4])));
        assert_eq!(base.nth(2).seq, WireSeq(1), "numbers wrap");
        for len in [2, 6, 14, 38] {
            let extension = Extension::new(93, &[0; 38][..len]).unwrap();
            let read = Base::from_lct::<4>(&LctFields { extension, ..fields });
            assert_eq!(read, Err(HeaderError::Length { have: len }));
        }
        let extension = Extension::new(93, &[1; 10]).unwrap();
        assert_eq!(Base::from_lct::<4>(&LctFields { extension, ..fields }), Err(HeaderError::Reserved));
    }
}
