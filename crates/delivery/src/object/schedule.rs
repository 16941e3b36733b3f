//! The order in which symbols are sent.

use layercast_core::units::Channel;

use super::Oti;
use crate::packet::{ESI_LIMIT, PayloadId};

/// Assigns symbols so that every packet of every channel is useful to every receiver.
///
/// A block's symbols are counted over all channels: its source symbols first, then repair symbols, and no
/// two packets get the same one until the 24 bits wrap. Each channel cycles through the blocks
/// independently. With one cycle for all channels, a channel that sends every second packet would carry
/// only every second block, and a receiver of that channel alone would never finish.
#[derive(Clone, Debug)]
pub struct Schedule {
    oti: Oti,
    next_esi: Vec<u32>,
    next_block: Vec<u8>,
    given: u64,
}

impl Schedule {
    /// A schedule at its start. Channels that are not layers count too.
    pub fn new(oti: Oti, channels: u16) -> Schedule {
        let blocks = oti.blocks();
        // Channels start at different blocks, so that the first packets are spread.
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

    /// The number of symbols sent.
    pub fn given(&self) -> u64 {
        self.given
    }

    /// The number of symbols sent, in multiples of the object's symbols.
    pub fn rounds(&self) -> f64 {
        self.given as f64 / self.oti.symbols() as f64
    }
}
