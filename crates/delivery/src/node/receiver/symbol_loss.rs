//! The share of packets that a path lost, of a session whose packets have no numbers: from the gaps between the symbols
//! of each source block. Senders send the symbols of a block in their order. What is lost between two blocks, and of
//! blocks that are shorter than [`LATEST`] when they come again, is not seen.

use layercast_core::cannot_be;
use layercast_core::units::{Channel, Time};

use crate::node::packet_loss::{PacketLoss, RecentPackets};
use crate::object::{FEC_NO_CODE, FEC_RAPTORQ, Toi};
use crate::packet::PayloadId;
use crate::part::Part;

/// How many blocks are watched at once: more than senders interleave.
const BLOCKS: u16 = 64;
/// A symbol that comes so many numbers late is one of another round.
const LATEST: i16 = 32;

/// The newest symbols of the blocks that are being sent.
#[derive(Debug)]
pub(super) struct SymbolLoss {
    blocks: Vec<Option<(Toi, u32)>>,
    loss: PacketLoss,
}

impl Default for SymbolLoss {
    fn default() -> SymbolLoss {
        SymbolLoss { blocks: vec![None; usize::from(BLOCKS)], loss: PacketLoss::with_latest(BLOCKS, LATEST) }
    }
}

impl SymbolLoss {
    /// A packet of an object arrived.
    pub(super) fn observe(&mut self, now: Time, part: &Part, payload: &[u8]) {
        let Ok((id, _)) = PayloadId::split(payload) else { return };
        let (block, symbol) = match part.codepoint {
            // 16 bits each.
            FEC_NO_CODE => {
                let [b1, b0, e1, e0] = id.to_bytes();
                (u32::from_be_bytes([0, 0, b1, b0]), u32::from_be_bytes([0, 0, e1, e0]))
            }
            FEC_RAPTORQ => (u32::from(id.block), id.esi()),
            _ => return,
        };
        let key = (part.toi, block);
        let slot = (part.toi.wrapping_mul(7).wrapping_add(u128::from(block)) % u128::from(BLOCKS)) as u16;
        let Some(watched) = self.blocks.get_mut(usize::from(slot)) else {
            return cannot_be("a remainder is below the number of blocks");
        };
        if *watched != Some(key) {
            *watched = Some(key);
            self.loss.forget(Channel(slot));
        }
        // As packets on channels: only the distance to the newest counts.
        self.loss.observe(now, Channel(slot), (symbol & 0xffff) as u16);
    }

    /// The packets of the last seconds; none if nothing can be said.
    pub(super) fn recent(&self, now: Time) -> Option<RecentPackets> {
        self.loss.recent(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use layercast_core::units::Duration;

    #[test]
    fn gaps_between_the_symbols_of_blocks_are_losses() {
        let mut loss = SymbolLoss::default();
        let now = Time::ZERO + Duration::from_secs(1);
        // Two rounds of three blocks that take turns; every second packet is lost.
        for _ in 0..2 {
            for number in 0..300u32 {
                let id = PayloadId::new((number % 3) as u8, number / 3).map(PayloadId::to_bytes);
                let part = Part {
                    tsi: 1,
                    toi: 1 << 100,
                    codepoint: FEC_RAPTORQ,
                    fdt: None,
                    encoding: None,
                    fti: None,
                };
                if (number / 3).is_multiple_of(2) {
                    loss.observe(now, &part, &id.unwrap_or_default());
                }
            }
        }
        // Of each block in each round 50 of 99: from the first to the last that came.
        let recent = loss.recent(now);
        assert_eq!(recent.map(|recent| (recent.sent, recent.received)), Some((6 * 99, 6 * 50)));
        assert_eq!(SymbolLoss::default().recent(now), None);
    }
}
