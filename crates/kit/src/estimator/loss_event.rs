//! Loss events: the packets that they are made of, and the time that belongs to each.

use super::SendTime;
use layercast_core::units::{Duration, Layer, Seq};

/// One packet in the input of a loss estimator, received or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its layer.
    pub layer: Layer,
    /// Its number on the layer.
    pub seq: Seq,
    /// When it was sent; for a lost packet an estimate.
    pub sent: SendTime,
}

/// The classification of a packet, from the one that changes least up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossOutcome {
    /// It was not lost, or belongs to an event and does not count.
    Ignored,
    /// It was lost, belongs to an event and counts.
    Counted,
    /// It was lost and began a loss event.
    NewEvent,
}

layercast_core::choices! {
    /// Whether a packet sent exactly one round-trip time after an event began is still inside it.
    pub enum Boundary {
        /// It is outside: a period holds exactly N packets at N per round-trip time (thesis,
        /// equations 12 and 13).
        Outside = "outside",
        /// It is inside: only more than a round-trip time separates events (RFC 5348, section 5.2).
        Inside = "inside",
    }
}

/// The time that belongs to an event: from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Period {
    pub(super) start: SendTime,
    pub(super) end: SendTime,
}

impl Period {
    pub(super) fn starting(start: SendTime, rtt: Duration, boundary: Boundary) -> Period {
        let last_us = match boundary {
            Boundary::Outside => 0,
            Boundary::Inside => 1,
        };
        Period { start, end: start.plus_us(rtt.as_us().saturating_add(last_us)) }
    }

    /// A period of the same length with another start.
    pub(super) fn moved_to(self, start: SendTime) -> Period {
        Period { start, end: start.plus_us(self.end.as_us() - self.start.as_us()) }
    }
}
