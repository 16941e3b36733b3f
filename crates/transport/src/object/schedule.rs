//! Which symbol the next packet takes.

use layercast_core::units::Channel;

use super::Oti;
use crate::packet::{ESI_LIMIT, PayloadId};

/// Gives out symbols so that every packet of every channel helps everyone.
///
/// A block's symbols are counted over all channels: its source symbols first, then repair symbols, and
/// no two packets get the same one until the 24 bits wrap. Each channel walks through the blocks on its
/// own. With one walk for all channels, one that sends every second packet would bring only every
/// second block, and a receiver of that channel alone would never finish.
#[derive(Clone, Debug)]
pub struct Schedule {
    oti: Oti,
    next_esi: Vec<u32>,
    next_block: Vec<u8>,
    given: u64,
}

impl Schedule {
    /// A schedule that has given nothing yet. Channels that are no layers count too.
    pub fn new(oti: Oti, channels: u16) -> Schedule {
        let blocks = oti.blocks();
        // Channels begin at different blocks, so that the first packets spread.
        let next_block = (0..channels).map(|channel| (channel % u16::from(blocks)) as u8).collect();
        Schedule { oti, next_esi: vec![0; usize::from(blocks)], next_block, given: 0 }
    }

    /// The symbol for the next packet of a channel.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self, channel: Channel) -> Option<PayloadId> {
        let cursor = self.next_block.get_mut(channel.index())?;
        let block = *cursor;
        *cursor = if block + 1 < self.oti.blocks() { block + 1 } else { 0 };
        let next = self.next_esi.get_mut(usize::from(block))?;
        let id = PayloadId::new(block, *next)?;
        *next = (*next + 1) % ESI_LIMIT;
        self.given += 1;
        Some(id)
    }

    /// How many symbols were given out.
    pub fn given(&self) -> u64 {
        self.given
    }

    /// How many times as many symbols were given out as the object has.
    pub fn rounds(&self) -> f64 {
        self.given as f64 / self.oti.symbols() as f64
    }
}
