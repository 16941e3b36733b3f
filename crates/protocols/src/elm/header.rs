//! What ELM's packets carry (docs/protocols/elm.md), as values and as bytes.
//!
//! Data travels in LCT packets (the module `lct` has the table). A report has 40 bytes, in network byte
//! order; trailing bytes are ignored.
//!
//! ```text
//! report  +--------+--------+--------+--------+
//!       0 |  0x12  | flags  | level  | res. 0 |   flags: 1 has a round-trip time, 2 in slow start,
//!       4 | session                           |          4 leaving, 8 has heard the base layer
//!       8 | receiver                          |   level: 255 = none
//!      12 |                                   |
//!      16 | time stamp, us of the receiver    |
//!      20 | loss rate, 2^32 - 1 = all         |
//!      24 | fair rate, 100 byte/s             |   2^32 - 1 = unbounded, unknown without flag 1
//!      28 | round-trip time, us               |
//!      32 | newest send time heard (base)     |
//!      36 | how long ago it came, us          |
//!         +-----------------------------------+
//! ```

use core::fmt;
pub use layercast_kit::feedback::{Echo, ReceiverId};

use layercast_core::contract;
use layercast_core::units::{Duration, Layer, Level, Rate, RateEstimate, WireSeq};

/// The most layers that a session may have (this project's choice).
pub const MAX_LAYERS: u16 = 32;
/// Bytes of a report.
pub const REPORT_BYTES: usize = 40;

/// A rate as packets carry it: a count of 100 byte/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireRate(pub u32);

impl WireRate {
    const UNBOUNDED: WireRate = WireRate(u32::MAX);

    /// The nearest wire form; rates beyond the largest finite one become that one.
    pub fn from_rate(rate: Rate) -> WireRate {
        WireRate(((rate.as_bytes_per_s() / 100.0 + 0.5) as u32).min(u32::MAX - 1))
    }

    /// The rate.
    pub fn to_rate(self) -> Rate {
        Rate::from_bytes_per_s(f64::from(self.0) * 100.0)
    }
}

/// One layer's own rate, from the table of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// The layer.
    pub layer: u8,
    /// Its rate alone, not cumulated.
    pub rate: WireRate,
}

impl TableEntry {
    /// The entry for a layer. No layer has rate zero, so the least rate is one unit.
    pub fn new(layer: Layer, rate: Rate) -> TableEntry {
        TableEntry { layer: layer.0 as u8, rate: WireRate(WireRate::from_rate(rate).0.max(1)) }
    }
}

/// The part of the header that only packets of the base layer carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// The feedback interval in milliseconds.
    pub feedback_interval_ms: u32,
    /// One entry of the rate table. A packet carries one, in rotation, so that headers stay small;
    /// the session description gives the whole table before.
    pub entry: TableEntry,
    /// The echo, if one is due.
    pub echo: Option<Echo>,
}

/// The header of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// The session: drawn at random by the source. Another one means that the source restarted.
    pub session: u32,
    /// The layer.
    pub layer: u8,
    /// How many layers the session has.
    pub layer_count: u8,
    /// Whether the session ends with this packet.
    pub end_of_session: bool,
    /// The number of the packet on its layer.
    pub seq: WireSeq,
    /// When it was sent, in microseconds of the source's clock.
    pub timestamp_us: u32,
    /// The base layer's part; present exactly on layer 0.
    pub base: Option<Base>,
}

/// The header of a report from a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The session.
    pub session: u32,
    /// The receiver that reports.
    pub receiver: ReceiverId,
    /// The time of the report, in microseconds of the receiver's clock.
    pub timestamp_us: u32,
    /// Whether the receiver has measured a round-trip time.
    pub has_rtt: bool,
    /// Whether it is in slow start.
    pub in_slow_start: bool,
    /// Whether it leaves the session.
    pub leaving: bool,
    /// The level of the receiver, as a number of layers.
    pub layer_count: u8,
    /// The loss rate, as a fraction of 2^32 - 1.
    pub loss: u32,
    /// The fair rate in wire form; see [`Report::fair_rate`].
    pub rate: WireRate,
    /// The smoothed round-trip time in microseconds, or zero.
    pub rtt_us: u32,
    /// The newest send time received on the base layer and how long ago it arrived, in microseconds.
    pub newest: Option<(u32, u32)>,
}

/// The header of an ELM packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Data, from the source.
    Data(Data),
    /// Feedback, from a receiver.
    Report(Report),
}

impl contract::Header for Header {}

/// Why bytes are not a header of ELM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// There are too few bytes.
    Truncated {
        /// How many are needed.
        need: usize,
        /// How many there are.
        have: usize,
    },
    /// The first byte is not that of a report.
    Kind(u8),
    /// A layer that the session does not have, or a session without layers or with too many.
    Layer {
        /// The layer.
        layer: u8,
        /// The number of layers.
        layer_count: u8,
    },
    /// The receiver's number is zero.
    Receiver,
    /// A layer of rate zero.
    Rate,
    /// An echo block on a layer other than the base layer.
    MisplacedEcho,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Truncated { need, have } => write!(f, "{have} bytes where {need} are needed"),
            HeaderError::Kind(kind) => write!(f, "reports do not begin with {kind:#04x}"),
            HeaderError::Layer { layer, layer_count } => {
                write!(f, "layer {layer} is not one of {layer_count}")
            }
            HeaderError::Receiver => write!(f, "the receiver's number is zero"),
            HeaderError::Rate => write!(f, "the rate of a layer is zero"),
            HeaderError::MisplacedEcho => write!(f, "only the base layer carries an echo"),
        }
    }
}

impl core::error::Error for HeaderError {}

impl Report {
    /// The level of the receiver.
    pub fn level(&self) -> Level {
        Level::from_count(u16::from(self.layer_count))
    }

    /// The loss rate, 0 to 1.
    pub fn loss_rate(&self) -> f64 {
        f64::from(self.loss) / f64::from(u32::MAX)
    }

    /// The fair rate that the receiver calculated.
    pub fn fair_rate(&self) -> RateEstimate {
        match (self.has_rtt, self.rate) {
            (false, _) => RateEstimate::Unknown,
            (true, WireRate::UNBOUNDED) => RateEstimate::Unbounded,
            (true, rate) => RateEstimate::Known(rate.to_rate()),
        }
    }

    /// The wire form of an estimate.
    pub fn wire_rate(rate: RateEstimate) -> WireRate {
        match rate {
            RateEstimate::Unknown => WireRate(0),
            RateEstimate::Known(rate) => WireRate::from_rate(rate),
            RateEstimate::Unbounded => WireRate::UNBOUNDED,
        }
    }

    /// The wire form of a loss rate.
    pub fn wire_loss(loss: f64) -> u32 {
        (loss * f64::from(u32::MAX) + 0.5) as u32
    }

    /// The wire form of a round-trip time.
    pub fn wire_rtt(rtt: Duration) -> u32 {
        u32::try_from(rtt.as_us()).unwrap_or(u32::MAX)
    }
}

impl Data {
    /// The layer as an index.
    pub fn layer(&self) -> Layer {
        Layer(u16::from(self.layer))
    }

    /// Whether a decoder would accept it. Simulated headers are values and are not decoded,
    /// so endpoints check them again.
    ///
    /// # Errors
    /// What is wrong, if something is.
    pub fn check(&self) -> Result<(), HeaderError> {
        let in_session = |layer| layer < self.layer_count && u16::from(self.layer_count) <= MAX_LAYERS;
        if !in_session(self.layer) || self.base.is_some() != (self.layer == 0) {
            return Err(HeaderError::Layer { layer: self.layer, layer_count: self.layer_count });
        }
        match self.base {
            Some(Base { entry, .. }) if !in_session(entry.layer) => {
                Err(HeaderError::Layer { layer: entry.layer, layer_count: self.layer_count })
            }
            Some(Base { entry, .. }) if entry.rate.0 == 0 => Err(HeaderError::Rate),
            _ => Ok(()),
        }
    }
}
