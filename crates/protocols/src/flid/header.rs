//! The header of FLID's packets, as a value and as the 64 bits of congestion control information.

use core::fmt;

use layercast_core::units::{Channel, Layer, WireSeq};

/// The length of the congestion control information.
pub(super) const WORD_BYTES: usize = 8;

const FIRST_FLAG: u8 = 0x80;

/// The header of a data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The session number.
    pub session: u32,
    /// The slot, modulo 2^32.
    pub slot: WireSeq,
    /// The highest level that may increase at the end of the slot; none if no level may. At most 127.
    pub signal: Option<u8>,
    /// Whether this is the channel's first packet in the slot.
    pub first_of_slot: bool,
    /// The channel, at most 127.
    pub channel: u8,
    /// The packet's number on its channel, modulo 2^16.
    pub seq: u16,
    /// The layer that the channel carries in this slot.
    pub layer: u8,
    /// Whether the session ends.
    pub end_of_session: bool,
}

/// Why bytes are not a header of FLID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// The congestion control information or the extension has a wrong length.
    Length,
    /// The signal is below -1.
    Signal(i8),
    /// There is no session number.
    Session,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Length => {
                write!(f, "the congestion control information or the extension has a wrong length")
            }
            HeaderError::Signal(signal) => write!(f, "increase signal {signal} is below -1"),
            HeaderError::Session => write!(f, "the session number is missing"),
        }
    }
}

impl core::error::Error for HeaderError {}

impl Header {
    /// The congestion control information: slot (32), signal (8, -1 for none), whether it is the first
    /// packet (1), channel (7), number (16); big endian.
    pub fn word(&self) -> [u8; WORD_BYTES] {
        let [s3, s2, s1, s0] = self.slot.0.to_be_bytes();
        let signal = self.signal.map_or(-1, |level| level.min(127) as i8);
        let first = if self.first_of_slot { FIRST_FLAG } else { 0 };
        let [high, low] = self.seq.to_be_bytes();
        [s3, s2, s1, s0, signal as u8, first | self.channel.min(127), high, low]
    }

    /// The fields of the congestion control information; the others are left at zero.
    ///
    /// # Errors
    /// [`HeaderError::Signal`].
    pub fn from_word(word: [u8; WORD_BYTES]) -> Result<Header, HeaderError> {
        let [s3, s2, s1, s0, signal, channel, high, low] = word;
        let signal = match signal as i8 {
            -1 => None,
            level @ 0.. => Some(level as u8),
            other => return Err(HeaderError::Signal(other)),
        };
        Ok(Header {
            slot: WireSeq(u32::from_be_bytes([s3, s2, s1, s0])),
            signal,
            first_of_slot: channel & FIRST_FLAG != 0,
            channel: channel & !FIRST_FLAG,
            seq: u16::from_be_bytes([high, low]),
            ..Header::default()
        })
    }

    /// The channel that the packet was sent on.
    pub fn channel(&self) -> Channel {
        Channel(u16::from(self.channel))
    }

    /// The layer that the packet belongs to.
    pub fn layer(&self) -> Layer {
        Layer(u16::from(self.layer))
    }
}

impl layercast_core::contract::Header for Header {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_below_none_are_refused() {
        let header = Header { signal: Some(127), channel: 127, seq: 9, ..Header::default() };
        let mut word = header.word();
        assert_eq!(Header::from_word(word), Ok(header));
        word[4] = 0x80;
        assert_eq!(Header::from_word(word), Err(HeaderError::Signal(-128)));
    }
}
