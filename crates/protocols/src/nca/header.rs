//! The headers of NCA's packets.

use layercast_core::lct::LctFields;
use layercast_core::units::Layer;
use layercast_core::units::{Duration, Time, WireSeq};
use layercast_core::wire::{NoWireForm, Wire, WireNumbers};

/// A packet of data, new or repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// Its number, from 0.
    pub seq: WireSeq,
    /// All receivers have the packets up to this one, or they are no longer waited for.
    pub released: Option<WireSeq>,
    /// The nominee, which acknowledges; none before the first nomination.
    pub nominee: Option<u32>,
    /// When it was sent, by the source's clock.
    pub sent: Time,
}

/// A receiver and its state, by which the nominee is chosen.
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
    /// Loss rates below this count as this, so that receivers without losses can be compared (CHOICE).
    const LEAST_LOSS: f64 = 1e-4;

    /// The inverse of a TCP's rate, RTT sqrt(p), in seconds: the larger, the worse.
    pub fn badness(&self) -> f64 {
        let loss = if self.loss.is_finite() { self.loss.clamp(Self::LEAST_LOSS, 1.0) } else { 1.0 };
        self.rtt.as_secs_f64() * layercast_core::math::sqrt(loss)
    }
}

/// A congestion status message (CSM): the state of a receiver, or of all below a router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// The worst receiver; none as long as no round-trip time is known.
    pub worst: Option<Candidate>,
    /// How many packets from the beginning all of them have.
    pub complete: WireSeq,
}

/// An acknowledgement of the nominee.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// The nominee.
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
    /// When the heartbeat was sent, by the clock of its sender.
    pub echo: Time,
    /// The round-trip time from the answering node to the source.
    pub rtt: Duration,
}

/// The header of any packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Header {
    /// New data, from the source to all.
    Data(Data),
    /// A repair, down the links that requested it.
    Repair(Data),
    /// A report, up to the next active node.
    Report(Report),
    /// An acknowledgement, up to the source.
    Ack(Ack),
    /// A request, up to the next active node.
    Nack(Nack),
    /// A heartbeat with its time, up to the next active node.
    Heartbeat(Time),
    /// The answer to a heartbeat.
    Answer(Answer),
}

impl layercast_core::contract::Header for Header {
    fn is_held_by_routers(&self) -> bool {
        matches!(self, Header::Repair(_))
    }
}

/// Its packets have a format of their own, not LCT's, because routers read them.
impl Wire for Header {
    type Error = NoWireForm;

    fn from_lct(_fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, NoWireForm> {
        Err(NoWireForm)
    }

    fn layer(&self) -> Option<Layer> {
        matches!(self, Header::Data(_) | Header::Repair(_)).then_some(Layer::BASE)
    }
}
