//! The file delivery table as it is in packets.

use super::ContentEncoding;
use crate::packet::Fti;

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
