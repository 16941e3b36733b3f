//! The headers of NCA's packets.

use layercast_core::lct::LctFields;
use layercast_core::units::Layer;
use layercast_core::units::{Duration, Time, WireSeq};
use layercast_core::wire::{NoWireForm, Wire, WireNumbers};

/// A packet of data, new or again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// Its number, from 0.
    pub seq: WireSeq,
    /// All packets up to this one are with all receivers, or nobody waits for them.
    pub released: Option<WireSeq>,
    /// The receiver that acknowledges; none while nobody is nominated.
    pub nominee: Option<u32>,
    /// When it was sent, by the source's clock.
    pub sent: Time,
}

/// A receiver and how badly it is off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The number that it drew for itself.
    pub id: u32,
    /// Its loss rate, 0 to 1.
    pub loss: f64,
    /// Its round-trip time to the source.
    pub rtt: Duration,
}

impl Candidate {
    /// What loss rates below this count as, so that receivers without losses can be told apart (CHOICE).
    const LEAST_LOSS: f64 = 1e-4;

    /// How badly it is off: the inverse of a TCP's rate, RTT sqrt(p), in seconds.
    pub fn badness(&self) -> f64 {
        let loss = if self.loss.is_finite() { self.loss.clamp(Self::LEAST_LOSS, 1.0) } else { 1.0 };
        self.rtt.as_secs_f64() * layercast_core::math::sqrt(loss)
    }
}

/// A congestion status message (CSM): the state of a receiver, or of all below a router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// The worst receiver; none as long as none knows its round-trip time.
    pub worst: Option<Candidate>,
    /// How many packets from the beginning all of them have.
    pub complete: WireSeq,
}

/// An acknowledgement of the nominee.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// The nominee, as it is now.
    pub nominee: Candidate,
    /// How many packets from the beginning it has.
    pub complete: WireSeq,
    /// When the packet that it answers was sent.
    pub echo: Time,
}

/// A request for repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nack {
    /// The first packet that is missing.
    pub first: WireSeq,
    /// Bit i: packet `first` + 1 + i is missing too.
    pub more: u32,
}

impl Nack {
    /// The packets asked for.
    pub fn packets(self) -> impl Iterator<Item = WireSeq> {
        let more = (0..u32::BITS).filter(move |bit| self.more >> bit & 1 == 1);
        core::iter::once(0).chain(more.map(|bit| bit + 1)).map(move |offset| self.first.plus(offset))
    }
}

/// An answer to a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// When the heartbeat was sent, by the clock of whom is answered.
    pub echo: Time,
    /// The round-trip time of whom answers to the source.
    pub rtt: Duration,
}

/// The header of any packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Header {
    /// New data, from the source to all.
    Data(Data),
    /// Data again, down the links that asked.
    Repair(Data),
    /// A report, up to the next active node.
    Report(Report),
    /// An acknowledgement, up to the source.
    Ack(Ack),
    /// A request, up to the next active node.
    Nack(Nack),
    /// A heartbeat with its time, up to the next active node.
    Heartbeat(Time),
    /// Its answer.
    Answer(Answer),
}

impl layercast_core::contract::Header for Header {
    fn is_held_by_routers(&self) -> bool {
        matches!(self, Header::Repair(_))
    }
}

/// In simulations alone: routers take part.
impl Wire for Header {
    type Error = NoWireForm;

    fn from_lct(_fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, NoWireForm> {
        Err(NoWireForm)
    }

    fn layer(&self) -> Option<Layer> {
        matches!(self, Header::Data(_) | Header::Repair(_)).then_some(Layer::BASE)
    }
}
