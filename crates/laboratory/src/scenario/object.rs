//! Objects that sessions distribute, and how many packets of a session make one.
//!
//! The numbers are those of the transport, which codes files with RaptorQ (RFC 6330); `docs/objects.md` describes
//! the model.

use layercast_core::lct::{LONG_CCI, MAX_FRAME};
use layercast_core::units::{DataSize, Size};

/// Headers of a packet with a symbol in bytes: IPv4 and UDP 28, LCT with the longest congestion control information
/// or extension of a protocol, the FEC payload id 4. The transport leaves as much in all packets.
const HEADERS: u32 = 28 + (MAX_FRAME - LONG_CCI) as u32 + 4;
/// Symbols are multiples of this many bytes, as RFC 6330 (section 4.4.1.2) recommends.
const ALIGNMENT: u32 = 4;
/// The source symbols of a block at most, as long as there are fewer than [`FEW_BLOCKS`], and as long as there are fewer
/// than [`MOST_BLOCKS`].
const BLOCK_SYMBOLS: std::ops::RangeInclusive<u64> = 1024..=4096;
const FEW_BLOCKS: u64 = 16;
/// The most source blocks of an object (RFC 6330, section 3.3.2).
const MOST_BLOCKS: u64 = 255;
/// The most source symbols of a block (RFC 6330, section 5.1.2).
const MOST_BLOCK_SYMBOLS: u64 = 56_403;
/// Symbols of a block beyond its source symbols: with two of them decoding fails once in a million times, with
/// none once in a hundred (RFC 6330, section 5.8).
const SURPLUS: u64 = 2;

/// The least that a packet of a session with an object can be.
pub(super) const SMALLEST_PACKET: u32 = HEADERS + ALIGNMENT;

/// An object that a session distributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectPlan {
    /// Its length.
    pub size: DataSize,
    /// Whether a receiver leaves when it has the object; not used by reliable protocols.
    pub leave_when_complete: bool,
}

impl ObjectPlan {
    /// The bytes of the object in a packet of this size.
    #[must_use]
    pub fn symbol_bytes(packet: Size) -> u32 {
        let room = packet.as_bytes().saturating_sub(HEADERS);
        room - room % ALIGNMENT
    }

    /// The largest object that packets of this size can carry.
    #[must_use]
    pub fn largest(packet: Size) -> DataSize {
        DataSize::from_bytes(MOST_BLOCKS * MOST_BLOCK_SYMBOLS * u64::from(Self::symbol_bytes(packet)))
    }

    /// How many packets the object is cut into: its source symbols.
    #[must_use]
    pub fn source_symbols(&self, packet: Size) -> u64 {
        self.size.as_bytes().div_ceil(u64::from(Self::symbol_bytes(packet).max(1))).max(1)
    }

    /// How many blocks those symbols are in.
    #[must_use]
    pub fn blocks(&self, packet: Size) -> u64 {
        let symbols = self.source_symbols(packet);
        let block = symbols.div_ceil(FEW_BLOCKS).clamp(*BLOCK_SYMBOLS.start(), *BLOCK_SYMBOLS.end());
        symbols.div_ceil(block).min(MOST_BLOCKS)
    }

    /// How many packets a receiver needs: the symbols and what each block takes beyond them, or the symbols
    /// alone where a reliable protocol delivers them in order.
    #[must_use]
    pub fn packets(&self, packet: Size, is_reliable: bool) -> u64 {
        let surplus = if is_reliable { 0 } else { SURPLUS * self.blocks(packet) };
        self.source_symbols(packet) + surplus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn megabytes(count: u64) -> ObjectPlan {
        ObjectPlan { size: DataSize::from_bytes(count * 1_000_000), leave_when_complete: true }
    }

    /// 50 MB are 16 blocks of 3426 or 3427 symbols of 912 bytes, and 10 MB 11 of 996 or 997.
    #[test]
    fn a_receiver_needs_two_symbols_more_for_each_block() {
        let packet = Size::from_bytes(1000);
        let object = megabytes(50);
        assert_eq!(ObjectPlan::symbol_bytes(packet), 912);
        assert_eq!(object.source_symbols(packet), 54_825);
        assert_eq!((object.blocks(packet), megabytes(10).blocks(packet)), (16, 11));
        assert_eq!(object.packets(packet, false), 54_825 + 32);
        assert_eq!(object.packets(packet, true), 54_825);
    }

    #[test]
    fn small_objects_are_one_packet_and_large_ones_have_255_blocks() {
        let packet = Size::from_bytes(1000);
        let byte = ObjectPlan { size: DataSize::from_bytes(1), leave_when_complete: true };
        assert_eq!((byte.source_symbols(packet), byte.blocks(packet)), (1, 1));
        assert_eq!(megabytes(10_000).blocks(packet), 255);
        assert_eq!(ObjectPlan::largest(packet).as_bytes(), 255 * 56_403 * 912);
    }
}
