//! The headers of AMCA's packets over DyRAM (report, figure 1).
//!
//! Numbers and times have the form that they have on the wire, so that a session does the same whether its
//! headers travel as values or as bytes. `lo` is the highest number below which nothing is missing, one less
//! than zero (modulo 2^32) for none, and `lr` the highest number received.

use layercast_core::contract;
use layercast_core::lct::LctFields;
use layercast_core::units::Layer;
use layercast_core::units::WireSeq;
use layercast_core::wire::{NoWireForm, Wire, WireNumbers};

/// The header of any packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The session: drawn at random by the source; 0 until a data packet has carried it.
    pub session: u32,
    /// The node that made the packet: a number drawn at random by each endpoint.
    pub originator: u32,
    /// Its content.
    pub body: Body,
}

/// The content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// A chunk of the application's data.
    Data(Data),
    /// A packet is missing.
    Nack(Nack),
    /// A congestion report (CR).
    Report(Report),
    /// A heartbeat (HB): measures the round-trip time to the next active node above.
    Heartbeat {
        /// When it was sent, in nanoseconds of the sender's clock. The parent only echoes it.
        sent_ns: u64,
    },
    /// The answer to a heartbeat (HB_RESP, HB_RESP_S).
    Answer(Answer),
}

/// A chunk of data, first sent or repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Its number.
    pub seq: WireSeq,
    /// All receivers have the packets up to this one, so it need not be kept (maxseq, downwards).
    pub group_lo: WireSeq,
    /// The rate of the source in bit/s.
    pub rate_bps: u64,
    /// Whether it repairs a loss (isR).
    pub is_repair: bool,
    /// Whether it is the last of the session.
    pub is_last: bool,
    /// Whether receivers report as in the literal profile.
    pub is_literal: bool,
}

/// A packet is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nack {
    /// Its number.
    pub seq: WireSeq,
    /// The highest number below which nothing is missing.
    pub lo: WireSeq,
    /// The highest number received.
    pub lr: WireSeq,
    /// The highest number for which there is room (maxseq, upwards).
    pub max_seq: WireSeq,
    /// The round-trip time to the source in microseconds; 0 if not known.
    pub rtt_to_source_us: u32,
    /// The round-trip time to the next active node above in microseconds; 0 if not known.
    pub rtt_to_parent_us: u32,
}

/// A congestion report (CR).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The highest number below which nothing is missing.
    pub lo: WireSeq,
    /// The highest number received.
    pub lr: WireSeq,
    /// The highest number for which there is room (maxseq, upwards).
    pub max_seq: WireSeq,
    /// The largest round-trip time to the source in microseconds; 0 if not known.
    pub rtt_to_source_us: u32,
    /// The round-trip time to the next active node above in microseconds; 0 if not known.
    pub rtt_to_parent_us: u32,
    /// The smallest round-trip time to the source in microseconds; 0 if not known.
    pub rtt_min_us: u32,
    /// The period that it covers, in microseconds.
    pub period_us: u32,
    /// How much the round-trip time has varied over the period, in microseconds.
    pub rtt_var_us: i32,
    /// How many packets were counted.
    pub count: u16,
    /// The number of the report.
    pub serial: u32,
    /// Whether a packet was marked by a congested router.
    pub is_marked: bool,
}

/// The answer to a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The time stamp of the heartbeat.
    pub echo_ns: u64,
    /// The round-trip time from the answering node to the source, in microseconds.
    pub rtt_to_source_us: u32,
    /// Whether the source itself answers (HB_RESP_S).
    pub is_from_source: bool,
}

impl Header {
    /// The number of a data packet; none for other packets.
    pub fn data_seq(&self) -> Option<WireSeq> {
        match self.body {
            Body::Data(data) => Some(data.seq),
            _ => None,
        }
    }
}

impl contract::Header for Header {
    /// Repairs: they are sent only to the links that requested them.
    fn is_held_by_routers(&self) -> bool {
        matches!(self.body, Body::Data(Data { is_repair: true, .. }))
    }
}

/// Its packets have a format of their own, not LCT's, because routers read them.
impl Wire for Header {
    type Error = NoWireForm;

    fn from_lct(_fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, NoWireForm> {
        Err(NoWireForm)
    }

    fn layer(&self) -> Option<Layer> {
        self.data_seq().map(|_| Layer::BASE)
    }
}
