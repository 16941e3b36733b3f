//! Repair symbols of a block.

use raptorq::SourceBlockEncoder;

use super::Oti;

/// A block in memory, ready to generate repair symbols (RFC 6330, section 5.3).
#[derive(Debug)]
pub struct BlockEncoder {
    encoder: SourceBlockEncoder,
    symbol_size: usize,
    data_length: usize,
}

impl BlockEncoder {
    /// The encoder of a block. `data` is its content with padding: [`BlockEncoder::data_length`] bytes; none if it has
    /// another length.
    pub fn new(oti: Oti, block: u8, data: &[u8]) -> Option<BlockEncoder> {
        let fits = !data.is_empty() && data.len() == BlockEncoder::data_length(oti, block);
        fits.then(|| BlockEncoder {
            encoder: SourceBlockEncoder::new(block, &oti.for_coder(), data),
            symbol_size: oti.symbol_size(),
            data_length: data.len(),
        })
    }

    /// The length of a block's content with padding.
    pub fn data_length(oti: Oti, block: u8) -> usize {
        oti.block_symbols(block) as usize * oti.symbol_size()
    }

    /// The memory that it takes, roughly: the source symbols and as many intermediate symbols.
    pub fn bytes(&self) -> u64 {
        2 * self.data_length as u64
    }

    /// Fills `room` with repair symbols, one after the other, from the one of number `first` on, which counts from 0.
    pub fn repair(&self, first: u32, room: &mut [u8]) {
        let size = self.symbol_size.max(1);
        let packets = self.encoder.repair_packets(first, (room.len() / size) as u32);
        for (room, packet) in room.chunks_exact_mut(size).zip(packets) {
            if packet.data().len() == room.len() {
                room.copy_from_slice(packet.data());
            }
        }
    }
}
