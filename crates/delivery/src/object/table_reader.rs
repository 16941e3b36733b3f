//! The file delivery table in packets.

use crate::packet::{Fdt, Fti, PayloadId};

/// The longest table that a receiver accepts, in bytes.
pub const TABLE_MAX: usize = 16 * 1024;

/// FEC information of a table of `length` bytes in symbols of `symbol` bytes (RFC 5445, section 3.2.2; RFC
/// 5775, section 4.2).
pub fn table_fti(length: usize, symbol: u16) -> Fti {
    let mut content = [0; 14];
    content[..6].copy_from_slice(&(length as u64).to_be_bytes()[2..]);
    content[8..10].copy_from_slice(&symbol.to_be_bytes());
    content[10..].copy_from_slice(&(length.div_ceil(usize::from(symbol.max(1))) as u32).to_be_bytes());
    Fti(content)
}

/// Reassembles a table from its packets.
#[derive(Debug, Default)]
pub struct TableReader {
    of: Option<(Fdt, Fti)>,
    bytes: Vec<u8>,
    present: Vec<bool>,
}

impl TableReader {
    /// Inserts the payload of a packet of the table; returns the table when it is complete. Never panics,
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
