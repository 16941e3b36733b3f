//! Virtual packets: a stream of small packets seen as one of larger packets (thesis, section 4.3.4,
//! after Widmer, Boutremans and Le Boudec 2004).
//!
//! Bytes are counted, and every time the count passes a multiple of the virtual size a virtual packet is
//! complete. A loss estimator then processes the virtual packets instead of the real ones.

use super::loss_event::{LossOutcome, Packet};
use layercast_core::units::{Seq, Size};

layercast_core::choices! {
    /// When a virtual packet is lost. The thesis does not say.
    pub enum VirtualLoss {
        /// When the real packet that completes it is lost: under losses by the packet it is lost as often
        /// as a real one.
        Representative = "representative",
        /// When any part of it is lost: right under losses by the byte.
        Any = "any",
    }
}

/// Virtual packets, and when one is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualConfig {
    /// The size of a virtual packet.
    pub size: Size,
    /// When it is lost.
    pub rule: VirtualLoss,
}

impl VirtualConfig {
    /// Virtual packets of `size`; none if it is 0.
    pub fn of(size: Size, rule: VirtualLoss) -> Option<VirtualConfig> {
        (size > Size::from_bytes(0)).then_some(VirtualConfig { size, rule })
    }
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was received, with this size.
    Received(Size),
    /// It was received with a congestion mark, which is a signal of loss.
    Marked(Size),
    /// It was lost; its size is unknown.
    Lost,
}

impl Fate {
    /// What became of a packet that arrived, with a congestion mark or without.
    pub fn arrived(size: Size, is_marked: bool) -> Fate {
        if is_marked { Fate::Marked(size) } else { Fate::Received(size) }
    }

    /// Whether it is a signal of loss.
    pub fn is_loss(self) -> bool {
        !matches!(self, Fate::Received(_))
    }
}

/// The packets that an estimator processes: the real ones, or the virtual ones that they form.
#[derive(Clone, Debug)]
pub struct ProcessedPackets {
    virtual_packets: Option<VirtualPackets>,
    count: u64,
}

impl ProcessedPackets {
    /// Virtual packets if there is a configuration of them, else the real ones.
    pub fn new(config: Option<VirtualConfig>) -> ProcessedPackets {
        let virtual_packets = config.map(|config| VirtualPackets::new(config.size, config.rule));
        ProcessedPackets { virtual_packets, count: 0 }
    }

    /// Gives `process` the real packet, or each virtual one that it completes, and whether it is lost. The outcome is
    /// the greatest.
    pub fn each(
        &mut self,
        packet: &Packet,
        fate: Fate,
        mut process: impl FnMut(&Packet, bool) -> LossOutcome,
    ) -> LossOutcome {
        let Some(virtual_packets) = &mut self.virtual_packets else {
            self.count += 1;
            return process(packet, fate.is_loss());
        };
        let completed = match fate {
            Fate::Received(size) => virtual_packets.on_received(size),
            Fate::Marked(size) => {
                Completed { first_lost: true, others_lost: true, ..virtual_packets.on_received(size) }
            }
            Fate::Lost => virtual_packets.on_lost(),
        };
        let mut outcome = LossOutcome::Ignored;
        for index in 0..completed.count {
            let lost = if index == 0 { completed.first_lost } else { completed.others_lost };
            let packet = Packet { seq: Seq(self.count), ..*packet };
            self.count += 1;
            outcome = outcome.max(process(&packet, lost));
        }
        outcome
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        if let Some(virtual_packets) = &mut self.virtual_packets {
            virtual_packets.reset();
        }
        self.count = 0;
    }
}

/// The weight of a new packet in the mean size, which replaces the unknown sizes of lost packets.
const MEAN_WEIGHT: f64 = 1.0 / 16.0;

/// The virtual packets that a real packet completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// How many.
    pub count: u64,
    /// Whether the first one is lost.
    pub first_lost: bool,
    /// Whether the others are; they consist of parts of this packet only.
    pub others_lost: bool,
}

/// Forms virtual packets from real ones.
#[derive(Clone, Debug)]
pub struct VirtualPackets {
    size_bytes: u64,
    rule: VirtualLoss,
    filled_bytes: u64,
    /// Whether a part of the packet that is being filled is lost.
    part_lost: bool,
    mean_bytes: Option<f64>,
}

impl VirtualPackets {
    /// Virtual packets of `size`, at least a byte.
    pub fn new(size: Size, rule: VirtualLoss) -> VirtualPackets {
        let size_bytes = u64::from(size.as_bytes().max(1));
        VirtualPackets { size_bytes, rule, filled_bytes: 0, part_lost: false, mean_bytes: None }
    }

    /// A packet of this size was received.
    pub fn on_received(&mut self, size: Size) -> Completed {
        let bytes = f64::from(size.as_bytes());
        let mean = self.mean_bytes.map_or(bytes, |mean| mean + MEAN_WEIGHT * (bytes - mean));
        self.mean_bytes = Some(mean);
        self.fill(u64::from(size.as_bytes()), false)
    }

    /// A packet was lost. Its size is unknown: it counts as the mean of those received.
    pub fn on_lost(&mut self) -> Completed {
        let bytes = self.mean_bytes.map_or(self.size_bytes, |mean| (mean + 0.5) as u64);
        self.fill(bytes, true)
    }

    fn fill(&mut self, bytes: u64, lost: bool) -> Completed {
        let filled = self.filled_bytes + bytes;
        let count = filled / self.size_bytes;
        let part_lost = self.part_lost || lost;
        self.filled_bytes = filled % self.size_bytes;
        // What is left over is a part of this packet, unless nothing was completed.
        self.part_lost = if count == 0 { part_lost } else { lost && self.filled_bytes > 0 };
        let first_lost = match self.rule {
            VirtualLoss::Representative => lost,
            VirtualLoss::Any => part_lost,
        };
        Completed { count, first_lost, others_lost: lost }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = VirtualPackets::new(Size::from_bytes(self.size_bytes as u32), self.rule);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_lost_part_loses_the_packet_and_is_forgotten_with_it() {
        let size = Size::from_bytes(400);
        let mut packets = VirtualPackets::new(Size::from_bytes(1000), VirtualLoss::Any);
        packets.on_received(size);
        assert_eq!(packets.on_lost().count, 0);
        // 1200 bytes: the first virtual packet had a lost part, the 200 left over have none.
        assert_eq!(packets.on_received(size), Completed { count: 1, first_lost: true, others_lost: false });
        packets.on_received(size);
        assert_eq!(packets.on_received(size), Completed { count: 1, first_lost: false, others_lost: false });
        packets.reset();
        assert_eq!(packets.on_received(Size::from_bytes(3000)).count, 3);
    }
}
