//! The file delivery table of a stream: the session description, and no files.

use layercast_core::units::{Duration, Time};

use crate::object::{FEC_NO_CODE, Instance, TOI_TABLE, compressed, table_fti};
use crate::packet::{Fdt, PayloadId};
use crate::sender::{PacketPayload, TABLE_EXTENSIONS};
use crate::signed_table::TableSigner;

/// The interval of the table's packets in the base layer, and their most frequent share of it: who joins waits for all of
/// them.
const EVERY: Duration = Duration::from_secs(1);
const SHARE: u32 = 16;
/// The number of the only instance.
const NUMBER: u32 = 0;

/// The file delivery table of a stream, packet by packet.
#[derive(Debug)]
pub struct StreamTable {
    bytes: Vec<u8>,
    part_size: usize,
    next_part: usize,
    due: Time,
    /// Packets of the base layer since the last one of the table.
    since: u32,
}

impl StreamTable {
    /// The table of a session with this description as text, whose files would have symbols of `symbol` bytes. It expires at
    /// `expires_s`, in seconds since 1900, and `signer` signs it.
    pub fn new(session: String, symbol: u16, expires_s: u64, signer: Option<&TableSigner>) -> StreamTable {
        let instance = Instance {
            number: Some(NUMBER),
            first: Some(NUMBER),
            complete: true,
            expires_s,
            wants_completions: false,
            session,
            entries: Vec::new(),
            removed: Vec::new(),
            removed_files: Vec::new(),
        };
        let part_size = usize::from(symbol).saturating_sub(TABLE_EXTENSIONS).max(1);
        let mut xml = instance.to_xml();
        if let Some(signer) = signer {
            signer.sign(NUMBER, &mut xml);
        }
        StreamTable {
            bytes: compressed(xml.as_bytes()),
            part_size,
            next_part: 0,
            due: Time::ZERO,
            since: SHARE,
        }
    }

    /// The next packet of the base layer is one of the table.
    pub fn announce_soon(&mut self) {
        (self.due, self.since) = (Time::ZERO, SHARE);
    }

    /// Writes the payload of the next packet of the base layer to `room`, if that is the table's turn.
    pub fn next(&mut self, now: Time, room: &mut [u8]) -> Option<PacketPayload> {
        self.since = self.since.saturating_add(1);
        if now < self.due || self.since < SHARE {
            return None;
        }
        let part = self.next_part;
        let bytes = self.bytes.chunks(self.part_size).nth(part)?;
        self.next_part = if (part + 1) * self.part_size < self.bytes.len() { part + 1 } else { 0 };
        (self.due, self.since) = (now + EVERY, 0);
        let length = PayloadId::BYTES + bytes.len();
        let (id, symbol) = room.get_mut(..length)?.split_first_chunk_mut()?;
        *id = (part as u32 & 0xffff).to_be_bytes();
        symbol.copy_from_slice(bytes);
        Some(PacketPayload {
            toi: TOI_TABLE,
            codepoint: FEC_NO_CODE,
            fdt: Some(Fdt::new(NUMBER)),
            is_compressed: true,
            fti: Some(table_fti(self.bytes.len(), self.part_size as u16)),
            length,
        })
    }
}
