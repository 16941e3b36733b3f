//! What Tide's packets carry.

use core::fmt;

use layercast_core::units::Channel;
use layercast_kit::feedback::{Echo, ReceiverId};

use super::suppression::Suppression;

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Data, from the source.
    Data(Data),
    /// Feedback, from a receiver.
    Report(Report),
}

/// The header of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
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
    /// What only the base channel carries.
    pub base: Option<Base>,
}

/// The part of the base channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// How rarely receivers report.
    pub suppression: Suppression,
    /// The echo, if one is due.
    pub echo: Option<Echo>,
}

/// The header of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The receiver that reports.
    pub receiver: ReceiverId,
    /// The time of the report, in microseconds of the receiver's clock.
    pub timestamp_us: u32,
    /// How many waves it holds.
    pub waves: u16,
    /// Its round-trip time in microseconds; 0 before a measurement.
    pub rtt_us: u32,
    /// Its fair rate in 100 byte/s; 2^32 - 1 without a bound.
    pub fair_rate: u32,
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
    /// The base channel's part is missing, or another channel has it.
    Base,
    /// The receiver's number is zero.
    Receiver,
    /// A report of another kind.
    Kind(u8),
    /// A report is too short.
    Truncated {
        /// Bytes it needs.
        need: usize,
        /// Bytes it has.
        have: usize,
    },
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Extension => write!(f, "the extension has a wrong length or no waves"),
            HeaderError::Word => write!(f, "the congestion control information is not 64 bits long"),
            HeaderError::Slot(slot) => write!(f, "slot {slot} is not in the cycle"),
            HeaderError::Channel(channel) => write!(f, "there is no channel {channel}"),
            HeaderError::Base => write!(f, "the base channel's part is missing or on another channel"),
            HeaderError::Receiver => write!(f, "the receiver's number is zero"),
            HeaderError::Kind(kind) => write!(f, "kind {kind:#04x} is not a report of Tide"),
            HeaderError::Truncated { need, have } => write!(f, "{have} bytes where {need} are needed"),
        }
    }
}

impl core::error::Error for HeaderError {}

impl layercast_core::contract::Header for Header {}
