//! RLC's header on LCT.
//!
//! ```text
//! CCI     the congestion control word: point flag, check pattern, layer, number
//! EXT_RLC     0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   81   |   3    | copy   | place  |   place in the burst
//!       4 | length | reserved, 0              |   length of the burst
//!       8 | number of the layer's newest point |
//!         +-----------------------------------+
//! ```

use super::header::{CHECK, POINT_FLAG};
use super::{Header, HeaderError};
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::{Layer, WireSeq};
use layercast_core::wire::{Wire, WireNumbers};

impl Wire for Header {
    type Error = HeaderError;

    fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
        let payload = ExtensionPayload::default()
            .with(&[self.copy, self.burst_place, self.burst_length, 0, 0, 0])
            .with(&self.point.0.to_be_bytes());
        let extension = payload.extension(numbers.extension());
        Some(LctFields { cci: Cci::Short(self.word()), session: None, end_of_session: false, extension })
    }

    fn from_lct(fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, HeaderError> {
        let &[copy, burst_place, burst_length, _, _, _, p3, p2, p1, p0] = fields.extension.content() else {
            return Err(HeaderError::Truncated);
        };
        let [first, layer, s1, s0] = fields.cci.first();
        if first & !POINT_FLAG != CHECK {
            return Err(HeaderError::Pattern);
        }
        let is_point = first & POINT_FLAG != 0;
        if burst_place > burst_length || (copy > 0 && !is_point) || (is_point && burst_place > 0) {
            return Err(HeaderError::Inconsistent);
        }
        Ok(Header {
            layer,
            seq: u16::from_be_bytes([s1, s0]),
            is_point,
            copy,
            point: WireSeq(u32::from_be_bytes([p3, p2, p1, p0])),
            burst_place,
            burst_length,
        })
    }

    fn layer(&self) -> Option<Layer> {
        Some(Layer(u16::from(self.layer)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::lct::Extension;

    const NUMBERS: WireNumbers = WireNumbers { extensions: &[81], report: None };

    #[test]
    fn invalid_fields_are_rejected_by_name() {
        let header = Header { layer: 3, seq: 7, ..Header::default() };
        let fields = header.to_lct(&NUMBERS).unwrap();
        assert_eq!(Header::from_lct(&fields, &NUMBERS), Ok(header));
        let short = LctFields { extension: Extension::new(81, &[0; 6]).unwrap(), ..fields };
        assert_eq!(Header::from_lct(&short, &NUMBERS), Err(HeaderError::Truncated));
        let pattern = LctFields { cci: Cci::Short([0x54, 3, 0, 7]), ..fields };
        assert_eq!(Header::from_lct(&pattern, &NUMBERS), Err(HeaderError::Pattern));
        let placed =
            LctFields { extension: Extension::new(81, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap(), ..fields };
        assert_eq!(Header::from_lct(&placed, &NUMBERS), Err(HeaderError::Inconsistent));
    }
}
