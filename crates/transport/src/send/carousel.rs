//! The payload of a source: the file's symbols, and the file delivery table once per second.

use std::time::{SystemTime, UNIX_EPOCH};

use layercast_core::lct::LONG_CCI;
use layercast_core::units::{Channel, Duration, Size, Time};

use super::Ends;
use crate::error::Error;
use crate::file::FileSource;
use crate::host::{Load, Supply};
use layercast_delivery::object::{
    FEC_NO_CODE, FEC_RAPTORQ, Schedule, TABLE_MAX, TOI_FILE, TOI_TABLE, Table, TableError, table_fti,
};
use layercast_delivery::packet::{Fdt, Fti, MAX_HEADER, PayloadId};
use layercast_delivery::session::{IP_UDP_BYTES, Session};

/// The interval of the file delivery table: slightly below a second, so that with the base layer's spacing
/// it is sent at least once per second.
const TABLE_EVERY: Duration = Duration::from_ms(800);
/// Seconds between the years 1900 and 1970 (RFC 5905, section 6).
const NTP_OFFSET_S: u64 = 2_208_988_800;
/// How long a table is valid if the end of the session is not known.
const TABLE_VALID_S: u64 = 24 * 3600;

/// The size of symbols: the rest of a packet after the longest header, so that no packet exceeds the
/// session's packet size. [`Oti::plan`](layercast_delivery::object::Oti::plan) rounds it down.
pub fn symbol_size(packet: Size) -> u16 {
    let header = MAX_HEADER - LONG_CCI - TABLE_EXTENSIONS;
    let headers = IP_UDP_BYTES + header as u32 + PayloadId::BYTES as u32;
    packet.as_bytes().saturating_sub(headers) as u16
}

/// The extensions that only packets of the table have: EXT_FDT and EXT_FTI.
const TABLE_EXTENSIONS: usize = 20;

/// Payload for the source: the file delivery table once per second on the base layer, else symbols.
pub(super) struct Carousel {
    pub(super) file: FileSource,
    pub(super) schedule: Schedule,
    table: Vec<u8>,
    table_symbol: usize,
    table_fti: Fti,
    /// The next part of the table to send, and when the next transmission of the table starts.
    table_part: usize,
    table_at: Time,
}

impl Carousel {
    pub(super) fn new(
        name: &str,
        file: FileSource,
        session: &Session,
        ends: &Ends,
    ) -> Result<Carousel, Error> {
        let since_1970_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let valid_s = ends.after.map_or(TABLE_VALID_S, |after| after.as_secs() + 60);
        let table = Table {
            name: name.to_owned(),
            oti: file.oti(),
            sha256: file.sha256(),
            expires_s: since_1970_s + NTP_OFFSET_S + valid_s,
            wants_completions: ends.completions.is_some(),
            session: session.to_string(),
        };
        let table = table.to_xml().into_bytes();
        if table.len() > TABLE_MAX {
            return Err(Error::Table(TableError::Field("length")));
        }
        let table_symbol = file.oti().symbol_size() - TABLE_EXTENSIONS;
        Ok(Carousel {
            // Channels that are not layers carry symbols as well.
            schedule: Schedule::new(file.oti(), session.channels),
            table_fti: table_fti(table.len(), table_symbol as u16),
            table,
            table_symbol,
            table_part: 0,
            table_at: Time::ZERO,
            file,
        })
    }

    /// The next part of the table, if it is due. All parts are sent in a row.
    fn table_part(&mut self, now: Time, room: &mut [u8]) -> Option<Load> {
        if now < self.table_at {
            return None;
        }
        let part = self.table.chunks(self.table_symbol).nth(self.table_part)?;
        let length = PayloadId::BYTES + part.len();
        let room = room.get_mut(..length)?;
        let (id, symbol) = room.split_first_chunk_mut()?;
        // No code (RFC 5445, section 3.2.1): block 0 in 16 bits, symbol in 16 bits.
        *id = (self.table_part as u32 & 0xffff).to_be_bytes();
        symbol.copy_from_slice(part);
        self.table_part += 1;
        if self.table_part * self.table_symbol >= self.table.len() {
            self.table_part = 0;
            self.table_at = now + TABLE_EVERY;
        }
        let (fdt, fti) = (Some(Fdt::new(0)), Some(self.table_fti));
        Some(Load { toi: TOI_TABLE, codepoint: FEC_NO_CODE, fdt, fti, length })
    }
}

impl Supply for Carousel {
    fn next(&mut self, channel: Channel, now: Time, room: &mut [u8]) -> Result<Load, Error> {
        if channel == Channel(0)
            && let Some(load) = self.table_part(now, room)
        {
            return Ok(load);
        }
        let length = PayloadId::BYTES + self.file.oti().symbol_size();
        let mut load = Load { toi: TOI_FILE, codepoint: FEC_RAPTORQ, fdt: None, fti: None, length: 0 };
        let Some(id) = self.schedule.next(channel) else { return Ok(load) };
        if let Some((head, symbol)) = room.get_mut(..length).and_then(<[u8]>::split_first_chunk_mut) {
            *head = id.to_bytes();
            self.file.symbol(id, symbol)?;
            load.length = length;
        }
        Ok(load)
    }
}
