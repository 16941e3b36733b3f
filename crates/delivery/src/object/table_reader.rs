//! The file delivery table in packets.

use crate::packet::{Fdt, Fti, PayloadId};

/// The longest instance of the table that is sent or accepted, in bytes as they are in packets.
pub const TABLE_MAX: usize = 16 * 1024;
/// The longest instance once it is decompressed.
const XML_MAX: usize = 1 << 20;
/// How hard to compress: the default of zlib.
const LEVEL: u8 = 6;

/// FEC information of an instance of `length` bytes in symbols of `symbol` bytes (RFC 5445, section 3.2.2; RFC
/// 5775, section 4.2).
pub fn table_fti(length: usize, symbol: u16) -> Fti {
    let mut content = [0; 14];
    content[..6].copy_from_slice(&(length as u64).to_be_bytes()[2..]);
    content[8..10].copy_from_slice(&symbol.to_be_bytes());
    content[10..].copy_from_slice(&(length.div_ceil(usize::from(symbol.max(1))) as u32).to_be_bytes());
    Fti(content)
}

/// An instance as zlib (RFC 1950; RFC 6726, section 3.4.3).
pub fn compressed(xml: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(xml, LEVEL)
}

/// The XML of a compressed instance; none if it is not zlib or too long.
pub fn decompressed(bytes: &[u8]) -> Option<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, XML_MAX).ok()
}

/// Reassembles an instance from its packets.
#[derive(Debug, Default)]
pub struct TableReader {
    of: Option<(Fdt, Fti)>,
    bytes: Vec<u8>,
    present: Vec<bool>,
}

impl TableReader {
    /// The instance that is being reassembled.
    pub fn instance(&self) -> Option<u32> {
        self.of.map(|(fdt, _)| fdt.instance())
    }

    /// Inserts the payload of a packet of the table; returns the bytes of the instance when all are there. Never panics,
    /// and keeps no more than [`TABLE_MAX`] bytes.
    pub fn insert(&mut self, fdt: Fdt, fti: Fti, payload: &[u8]) -> Option<&[u8]> {
        let Fti([l5, l4, l3, l2, l1, l0, _, _, s1, s0, ..]) = fti;
        let length = usize::try_from(u64::from_be_bytes([0, 0, l5, l4, l3, l2, l1, l0])).ok()?;
        let symbol = usize::from(u16::from_be_bytes([s1, s0]));
        if symbol == 0 || length == 0 || length > TABLE_MAX {
            return None;
        }
        if self.of != Some((fdt, fti)) {
            self.of = Some((fdt, fti));
            self.bytes = vec![0; length];
            self.present = vec![false; length.div_ceil(symbol)];
        }
        let (id, data) = PayloadId::split(payload).ok()?;
        // No code: 16 bits of block, of which there is one, and 16 bits of symbol.
        let [0, 0, n1, n0] = id.to_bytes() else { return None };
        let number = usize::from(u16::from_be_bytes([n1, n0]));
        let start = number * symbol;
        let room = self.bytes.get_mut(start..length.min(start + symbol))?;
        if data.len() < room.len() {
            return None;
        }
        let (own, _padding) = data.split_at(room.len());
        room.copy_from_slice(own);
        *self.present.get_mut(number)? = true;
        self.present.iter().all(|&present| present).then_some(&self.bytes)
    }
}
