//! Tide's header on LCT.
//!
//! ```text
//! CCI        slot (16 bits), channel (16), number (32)
//! flag A     end of session
//! EXT_TIDE    0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   97   |   3    | waves in a cycle |
//!       4 | time of sending, microseconds      |
//!       8 | since the slot began, microseconds |
//!         +-----------------------------------+
//! ```

use super::{Header, HeaderError};
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::{Channel, Layer};
use layercast_core::wire::{CciLength, Wire, WireNumbers};

impl Wire for Header {
    type Error = HeaderError;

    const CCI: CciLength = CciLength::Long;

    fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
        let payload = ExtensionPayload::default()
            .with(&self.cycle.to_be_bytes())
            .with(&self.sent_us.to_be_bytes())
            .with(&self.phase_us.to_be_bytes());
        let [s1, s0] = self.slot.to_be_bytes();
        let [c1, c0] = self.channel.0.to_be_bytes();
        let [n3, n2, n1, n0] = self.number.to_be_bytes();
        Some(LctFields {
            cci: Cci::Long([s1, s0, c1, c0, n3, n2, n1, n0]),
            session: None,
            end_of_session: self.end_of_session,
            extension: payload.extension(numbers.extension()),
        })
    }

    fn from_lct(fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, HeaderError> {
        let &[y1, y0, t3, t2, t1, t0, p3, p2, p1, p0] = fields.extension.content() else {
            return Err(HeaderError::Extension);
        };
        let Cci::Long([s1, s0, c1, c0, n3, n2, n1, n0]) = fields.cci else { return Err(HeaderError::Word) };
        let (slot, channel) = (u16::from_be_bytes([s1, s0]), u16::from_be_bytes([c1, c0]));
        let cycle = u16::from_be_bytes([y1, y0]);
        if cycle == 0 {
            return Err(HeaderError::Extension);
        }
        if slot >= cycle {
            return Err(HeaderError::Slot(slot));
        }
        if channel > cycle {
            return Err(HeaderError::Channel(channel));
        }
        Ok(Header {
            slot,
            channel: Channel(channel),
            number: u32::from_be_bytes([n3, n2, n1, n0]),
            cycle,
            sent_us: u32::from_be_bytes([t3, t2, t1, t0]),
            phase_us: u32::from_be_bytes([p3, p2, p1, p0]),
            end_of_session: fields.end_of_session,
        })
    }

    fn layer(&self) -> Option<Layer> {
        Some(Layer(self.channel.0))
    }
}
