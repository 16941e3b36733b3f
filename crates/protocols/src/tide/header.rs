//! The header of Tide's packets.

use core::fmt;

use layercast_core::units::Channel;

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The current time slot, below `cycle`.
    pub slot: u16,
    /// The channel, at most `cycle`: 0 is the base, others are waves.
    pub channel: Channel,
    /// The packet's number on its channel.
    pub number: u32,
    /// How many wave channels there are, at least 1.
    pub cycle: u16,
    /// When it was sent, in microseconds on the source's clock.
    pub sent_us: u32,
    /// How long the slot had lasted then, in microseconds.
    pub phase_us: u32,
    /// Whether the session is over.
    pub end_of_session: bool,
}

/// Why bytes are not a header of Tide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// The extension has a wrong length, or there are no waves.
    Extension,
    /// The congestion control information has 32 bits instead of 64.
    Word,
    /// The slot is not in the cycle.
    Slot(u16),
    /// There is no such channel.
    Channel(u16),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Extension => write!(f, "the extension has a wrong length or no waves"),
            HeaderError::Word => write!(f, "the congestion control information is not 64 bits long"),
            HeaderError::Slot(slot) => write!(f, "slot {slot} is not in the cycle"),
            HeaderError::Channel(channel) => write!(f, "there is no channel {channel}"),
        }
    }
}

impl core::error::Error for HeaderError {}

impl layercast_core::contract::Header for Header {}
