//! The file delivery table in packets.

use super::{Coding, ContentEncoding, Reassembly};
use crate::disk::DiskFile as _;
use crate::memory::MemoryFile;
use crate::packet::{Fdt, Fti, Part, PayloadId};

/// The longest instance of the table that is sent or accepted, in bytes as they are in packets.
pub const TABLE_MAX: usize = 16 * 1024;
/// The longest that is accepted of other sources: they have all objects in one instance, and may not compress it (CHOICE).
pub const FOREIGN_TABLE_MAX: usize = 256 * 1024;
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

/// The XML of an instance as it is in packets; none if it is damaged or too long.
pub fn decompressed(encoding: Option<ContentEncoding>, bytes: &[u8]) -> Option<Vec<u8>> {
    match encoding {
        None => Some(bytes.to_vec()),
        Some(encoding) => encoding.decompressed(bytes, XML_MAX),
    }
}

/// Reassembles an instance from its packets.
#[derive(Debug, Default)]
pub struct TableReader {
    of: Option<(Fdt, Fti, u8)>,
    reassembly: Option<Reassembly<MemoryFile>>,
}

impl TableReader {
    /// The instance that is being reassembled.
    pub fn instance(&self) -> Option<u32> {
        self.of.map(|(fdt, _, _)| fdt.instance())
    }

    /// Inserts the payload of a packet of the table; returns the bytes of the instance when all are there. Never panics,
    /// and takes no instance of more than `most` bytes.
    pub fn insert(&mut self, part: &Part, payload: &[u8], most: usize) -> Option<Vec<u8>> {
        let of = (part.fdt?, part.fti?, part.codepoint);
        if self.of != Some(of) {
            let coding = Coding::from_fti(part.codepoint, part.fti?).ok()?;
            if coding.length() == 0 || coding.length() > most as u64 {
                return None;
            }
            let file = MemoryFile::default();
            file.set_length(coding.length()).ok()?;
            *self = TableReader { of: Some(of), reassembly: Some(Reassembly::new(coding, file)) };
        }
        let reassembly = self.reassembly.as_mut()?;
        let (id, symbol) = PayloadId::split(payload).ok()?;
        reassembly.insert(id, symbol).ok()?;
        if reassembly.is_ready() {
            reassembly.decode_next().ok()?;
        }
        reassembly.is_complete().then(|| reassembly.file().take())
    }
}
