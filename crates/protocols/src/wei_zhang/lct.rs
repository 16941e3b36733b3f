//! The header on LCT.
//!
//! ```text
//! CCI     the packet's number on its layer
//! EXT_WZ     0        1        2        3
//!         +--------+--------+--------+--------+
//!       0 |   92   |   3    | layer           |
//!       4 | reserved, 0     | time since the  |
//!       8 | start, in parts of tau_0          |
//!         +-----------------------------------+
//! ```

use core::fmt;

use super::Header;
use layercast_core::lct::{Cci, ExtensionPayload, LctFields};
use layercast_core::units::{Layer, WireSeq};
use layercast_core::wire::{Wire, WireNumbers};

/// Why bytes are not a header of this protocol: the extension has another length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderError;

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an extension of wrong length")
    }
}

impl core::error::Error for HeaderError {}

impl Wire for Header {
    type Error = HeaderError;

    fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
        let content = ExtensionPayload::default()
            .with(&self.layer.0.to_be_bytes())
            .with(&[0; 2])
            .with(&self.ticks.to_be_bytes()[2..]);
        let extension = content.extension(numbers.extension());
        Some(LctFields {
            cci: Cci::Short(self.seq.0.to_be_bytes()),
            session: None,
            end_of_session: false,
            extension,
        })
    }

    fn from_lct(fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, HeaderError> {
        let &[l1, l0, _, _, t5, t4, t3, t2, t1, t0] = fields.extension.content() else {
            return Err(HeaderError);
        };
        Ok(Header {
            layer: Layer(u16::from_be_bytes([l1, l0])),
            seq: WireSeq(u32::from_be_bytes(fields.cci.first())),
            ticks: u64::from_be_bytes([0, 0, t5, t4, t3, t2, t1, t0]),
        })
    }

    fn layer(&self) -> Option<Layer> {
        Some(self.layer)
    }
}
