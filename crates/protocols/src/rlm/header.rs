//! The headers of RLM's packets.

use layercast_core::units::{Layer, Level, WireSeq};

/// A data packet's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// The layer it was sent on.
    pub layer: Layer,
    /// Its number on that layer.
    pub seq: WireSeq,
}

/// A receiver has begun an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The level that it holds now.
    pub level: Level,
    /// A number that the receiver drew for itself, to know its own announcements again.
    pub from: u32,
}

/// The header of any packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Data of a layer.
    Data(Data),
    /// An announcement: from a receiver to the source by unicast, and from there to all on the control
    /// channel.
    Announcement(Announcement),
}

impl layercast_core::contract::Header for Header {}
