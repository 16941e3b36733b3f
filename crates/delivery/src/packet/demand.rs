//! Demand: which levels receivers hold, so that a source need not send the layers above
//! ([`reporting::demand`](crate::reporting::demand)).
//!
//! A header extension of the table packets of the base channel says which level the source knows of:
//!
//! ```text
//!          0        1        2        3
//!          +--------+--------+--------+--------+
//!        0 |  248   | level           |   0    |   layers of the level; 65535 is all
//!          +-----------------------------------+
//! ```
//!
//! A receiver that holds more says so:
//!
//! ```text
//!     0        1        2        3
//!     +--------+--------+--------+--------+
//!   0 |  0x1a  | lost   | level           |   version 1, type 10; share of the base lost, in 255ths; layers of the level; 65535 is all
//!   4 | session (TSI)                     |
//!     +-----------------------------------+
//! ```

use layercast_core::units::Level;
use layercast_core::wire::taken::DEMAND;

use super::{PacketError, word};

/// The length of a demand in bytes.
pub const DEMAND_BYTES: usize = 8;
/// All levels, whatever the session has.
pub const ALL: Level = Level::from_count(u16::MAX);

/// "I hold this level."
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The session.
    pub tsi: u32,
    /// The level; [`ALL`] of a receiver that starts, which does not know yet how far it will get.
    pub level: Level,
    /// The share of the base's packets that were lost over the last seconds, in 255ths, of a receiver that holds no more; 0 if
    /// there is nothing to complain of.
    pub lost: u8,
}

impl Demand {
    /// Whether bytes start as a demand does.
    pub fn is_demand(bytes: &[u8]) -> bool {
        bytes.first() == Some(&DEMAND)
    }

    /// The message as bytes.
    pub fn to_bytes(self) -> [u8; DEMAND_BYTES] {
        let [high, low] = self.level.layer_count().to_be_bytes();
        let [t3, t2, t1, t0] = self.tsi.to_be_bytes();
        [DEMAND, self.lost, high, low, t3, t2, t1, t0]
    }

    /// The message from bytes; surplus bytes are ignored. Never panics.
    ///
    /// # Errors
    /// Why they are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Demand, PacketError> {
        let [first, lost, high, low] = word(bytes, 0, DEMAND_BYTES)?.to_be_bytes();
        if first != DEMAND {
            return Err(PacketError::Feedback(first));
        }
        let level = Level::from_count(u16::from_be_bytes([high, low]));
        Ok(Demand { tsi: word(bytes, 4, DEMAND_BYTES)?, level, lost })
    }
}

/// The content of the extension.
pub(super) fn content(known: Level) -> [u8; 3] {
    let [high, low] = known.layer_count().to_be_bytes();
    [high, low, 0]
}

/// Reads the content; none if it has another length.
pub(super) fn read(content: &[u8]) -> Option<Level> {
    match content {
        &[high, low, _] => Some(Level::from_count(u16::from_be_bytes([high, low]))),
        _ => None,
    }
}
