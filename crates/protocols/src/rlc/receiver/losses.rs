//! The losses that may cost the top layer.

use layercast_kit::estimator::{Fate, LossOutcome, Packet, ProcessedPackets, VirtualConfig};

/// The most losses that a limit can ask for.
const MOST: usize = 16;

/// Counts losses that are not yet forgotten. A loss is forgotten after so many further packets.
#[derive(Clone, Debug)]
pub(super) struct RecentLosses {
    /// Those whose losses count.
    processed: ProcessedPackets,
    limit: usize,
    window: u64,
    packets: u64,
    /// The packet counts at the newest losses, newest first.
    at: [Option<u64>; MOST],
}

impl RecentLosses {
    pub(super) fn new(limit: u32, window: u32, virtual_packets: Option<VirtualConfig>) -> RecentLosses {
        let limit = (limit as usize).clamp(1, MOST);
        let processed = ProcessedPackets::new(virtual_packets);
        RecentLosses { processed, limit, window: u64::from(window), packets: 0, at: [None; MOST] }
    }

    /// A packet arrived or was lost. `lost` is called for each loss that counts.
    pub(super) fn on_packet(&mut self, packet: &Packet, fate: Fate, mut lost: impl FnMut()) {
        let packets = &mut self.packets;
        self.processed.each(packet, fate, |_, is_lost| {
            if is_lost {
                lost();
            } else {
                *packets += 1;
            }
            LossOutcome::Ignored
        });
    }

    /// Takes losses; whether the limit is reached.
    pub(super) fn on_losses(&mut self, count: u32) -> bool {
        for _ in 0..(count as usize).min(MOST) {
            self.at.rotate_right(1);
            self.at[0] = Some(self.packets);
        }
        self.at[self.limit - 1].is_some_and(|oldest| self.packets - oldest < self.window)
    }

    pub(super) fn clear(&mut self) {
        self.at = [None; MOST];
    }
}

#[cfg(test)]
mod tests {
    use layercast_core::units::{Layer, Seq, Size};
    use layercast_kit::estimator::SendTime;

    use super::*;

    #[test]
    fn losses_far_apart_do_not_reach_the_limit() {
        let packet = Packet { layer: Layer::BASE, seq: Seq(0), sent: SendTime::from_us(0) };
        let received = |losses: &mut RecentLosses| {
            losses.on_packet(&packet, Fate::Received(Size::from_bytes(1000)), || panic!("it is not lost"));
        };
        let mut losses = RecentLosses::new(2, 20, None);
        assert!(!losses.on_losses(1));
        (0..20).for_each(|_| received(&mut losses));
        assert!(!losses.on_losses(1));
        (0..19).for_each(|_| received(&mut losses));
        assert!(losses.on_losses(1));
        losses.clear();
        assert!(!losses.on_losses(1));
        assert!(losses.on_losses(40));
    }
}
