//! What TFRC's packets carry (docs/protocols/tfrc.md). CBR's packets carry the same.
//!
//! Times and rates have the form that they have on the wire, so that a session does the same whether
//! its headers travel as values or as bytes.

use core::fmt;

use layercast_core::contract;
use layercast_core::units::{Duration, Rate, WireSeq};

/// The header of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// The session: drawn at random by the source. Another one means that the source restarted.
    pub session: u32,
    /// The number of the packet.
    pub seq: WireSeq,
    /// When it was sent, in microseconds of the source's clock.
    pub timestamp_us: u32,
    /// The source's round-trip time in microseconds; 0 before it has one.
    pub rtt_us: u32,
    /// The source's retransmission timeout in microseconds; 0 before it has one.
    pub rto_us: u32,
    /// The round: it increases with every report that the source accepts (ns-2).
    pub round: u16,
    /// Whether the session ends with this packet.
    pub end_of_session: bool,
}

/// The header of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The session; 0 in a hello, before the receiver knows it.
    pub session: u32,
    /// The send time of the newest data packet and how long ago it came, in microseconds. None in a
    /// hello, by which a receiver asks the source to begin.
    pub newest: Option<(u32, u32)>,
    /// The receive rate, in byte/s.
    pub receive_rate: u32,
    /// The loss event rate, as a fraction of 2^32 - 1.
    pub loss: u32,
    /// Whether the receiver leaves.
    pub leaving: bool,
}

/// The header of a packet of TFRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Data, from the source.
    Data(Data),
    /// Feedback, from the receiver.
    Report(Report),
}

impl contract::Header for Header {}

/// Why bytes are not a data header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataError {
    /// How many bytes of payload there are.
    pub len: usize,
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the extension has {} bytes where 14 are needed", self.len)
    }
}

impl core::error::Error for DataError {}

/// Why bytes are not a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportError {
    /// There are too few bytes.
    Truncated {
        /// How many there are.
        have: usize,
    },
    /// The first byte is not the protocol's.
    Kind(u8),
    /// A flag that is undefined.
    Flags(u8),
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReportError::Truncated { have } => write!(f, "{have} bytes where 24 are needed"),
            ReportError::Kind(kind) => write!(f, "there is no report of kind {kind}"),
            ReportError::Flags(flags) => write!(f, "flags {flags} have no meaning"),
        }
    }
}

impl core::error::Error for ReportError {}

impl Report {
    /// The loss event rate, 0 to 1.
    pub fn loss_rate(&self) -> f64 {
        f64::from(self.loss) / f64::from(u32::MAX)
    }

    /// The wire form of a loss rate, 0 to 1. Rates above zero stay above it.
    pub fn wire_loss(loss: f64) -> u32 {
        let nearest = (loss * f64::from(u32::MAX) + 0.5) as u32;
        if loss > 0.0 { nearest.max(1) } else { 0 }
    }

    /// The wire form of a rate.
    pub fn wire_rate(rate: Rate) -> u32 {
        (rate.as_bytes_per_s() + 0.5) as u32
    }
}

impl Data {
    /// The wire form of a duration: at least a microsecond, since 0 stands for none.
    pub fn wire_duration(duration: Option<Duration>) -> u32 {
        duration.map_or(0, |duration| u32::try_from(duration.as_us()).unwrap_or(u32::MAX).max(1))
    }

    /// The source's round-trip time, once it has one.
    pub fn rtt(&self) -> Option<Duration> {
        (self.rtt_us > 0).then(|| Duration::from_us(u64::from(self.rtt_us)))
    }

    /// The source's retransmission timeout, once it has one.
    pub fn rto(&self) -> Option<Duration> {
        (self.rto_us > 0).then(|| Duration::from_us(u64::from(self.rto_us)))
    }
}
