//! The header of WEBRC's packets, as a value and as congestion control information.

use core::fmt;

use layercast_core::lct::Cci;
use layercast_core::units::Channel;
use layercast_kit::waves::{BASE, channel_of};

/// The largest number of the short form.
pub(super) const LARGEST_SHORT: u32 = 0xffff;

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The current time slot (CTSI), below `cycle`.
    pub slot: u16,
    /// The channel, at most `cycle`: the base or a wave's.
    pub channel: Channel,
    /// The packet's number on its channel (PSN).
    pub number: u32,
    /// How many wave channels there are (T), at least 1.
    pub cycle: u16,
    /// Whether it travels in the long form.
    pub is_long: bool,
    /// Whether the session is over.
    pub end_of_session: bool,
}

/// Why bytes are not a header of WEBRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// The extension has a wrong length, or there are no waves.
    Extension,
    /// The slot is not in the cycle.
    Slot(u16),
    /// There is no such channel.
    Channel(u16),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Extension => write!(f, "the extension has a wrong length or no waves"),
            HeaderError::Slot(slot) => write!(f, "slot {slot} is not in the cycle"),
            HeaderError::Channel(channel) => write!(f, "there is no channel {channel}"),
        }
    }
}

impl core::error::Error for HeaderError {}

impl Header {
    /// The channel's number on the wire (CN): waves from 0, and the base after the last.
    fn wire_channel(&self) -> u16 {
        self.channel.0.checked_sub(1).unwrap_or(self.cycle)
    }

    /// The congestion control information (RFC 3738, section 5).
    pub fn word(&self) -> Cci {
        let (slot, channel) = (self.slot, self.wire_channel());
        if self.is_long {
            let [s1, s0] = slot.to_be_bytes();
            let [c1, c0] = channel.to_be_bytes();
            let [n3, n2, n1, n0] = self.number.to_be_bytes();
            return Cci::Long([s1, s0, c1, c0, n3, n2, n1, n0]);
        }
        let [high, low] = (self.number as u16).to_be_bytes();
        Cci::Short([slot as u8, channel as u8, high, low])
    }

    /// A header from its congestion control information and the number of waves in the extension.
    ///
    /// # Errors
    /// What is wrong with the fields.
    pub fn from_word(word: Cci, cycle: u16, end_of_session: bool) -> Result<Header, HeaderError> {
        let (slot, wire_channel, number, is_long) = match word {
            Cci::Short([slot, channel, high, low]) => {
                (u16::from(slot), u16::from(channel), u32::from(u16::from_be_bytes([high, low])), false)
            }
            Cci::Long([s1, s0, c1, c0, n3, n2, n1, n0]) => (
                u16::from_be_bytes([s1, s0]),
                u16::from_be_bytes([c1, c0]),
                u32::from_be_bytes([n3, n2, n1, n0]),
                true,
            ),
        };
        if cycle == 0 || (!is_long && cycle > 255) {
            return Err(HeaderError::Extension);
        }
        if slot >= cycle {
            return Err(HeaderError::Slot(slot));
        }
        if wire_channel > cycle {
            return Err(HeaderError::Channel(wire_channel));
        }
        let channel = if wire_channel == cycle { BASE } else { channel_of(wire_channel) };
        Ok(Header { slot, channel, number, cycle, is_long, end_of_session })
    }
}

impl layercast_core::contract::Header for Header {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_header_is_named() {
        let read = |word, cycle| Header::from_word(Cci::Short(word), cycle, false);
        assert_eq!(read([49, 50, 0, 0], 50).map(|header| header.channel), Ok(BASE));
        assert_eq!(read([49, 49, 0, 0], 50).map(|header| header.channel), Ok(Channel(50)));
        assert_eq!(read([50, 0, 0, 0], 50), Err(HeaderError::Slot(50)));
        assert_eq!(read([0, 51, 0, 0], 50), Err(HeaderError::Channel(51)));
        assert_eq!(read([0, 0, 0, 0], 0), Err(HeaderError::Extension));
        assert_eq!(read([0, 0, 0, 0], 256), Err(HeaderError::Extension));
        let long = Header::from_word(Cci::Long([1, 0, 1, 44, 0, 1, 0, 0]), 300, true);
        let expected = Header {
            slot: 256,
            channel: BASE,
            number: 65_536,
            cycle: 300,
            is_long: true,
            end_of_session: true,
        };
        assert_eq!(long, Ok(expected));
    }
}
