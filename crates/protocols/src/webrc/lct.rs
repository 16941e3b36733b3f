//! WEBRC's header on LCT.
//!
//! ```text
//! CCI        slot, channel and number: 32 bits (8, 8, 16) or 64 bits (16, 16, 32)
//! flag A     end of session
//! EXT_WEBRC   0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   96   |   1    | waves in a cycle |
//!         +-----------------------------------+
//! ```

use super::{Header, HeaderError};
use layercast_core::lct::{ExtensionPayload, LctFields};
use layercast_core::units::Layer;
use layercast_core::wire::{CciLength, Wire, WireNumbers};

impl Wire for Header {
    type Error = HeaderError;

    const CCI: CciLength = CciLength::Any;

    fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
        let payload = ExtensionPayload::default().with(&self.cycle.to_be_bytes());
        let extension = payload.extension(numbers.extension());
        Some(LctFields { cci: self.word(), session: None, end_of_session: self.end_of_session, extension })
    }

    fn from_lct(fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, HeaderError> {
        let &[high, low] = fields.extension.content() else { return Err(HeaderError::Extension) };
        Header::from_word(fields.cci, u16::from_be_bytes([high, low]), fields.end_of_session)
    }

    fn layer(&self) -> Option<Layer> {
        Some(Layer(self.channel.0))
    }
}
