//! Content encodings: compressed files and tables (RFC 6726, sections 3.4.2 and 3.4.3).

use core::fmt;
use std::io;

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::inflate::{decompress_to_vec_with_limit, decompress_to_vec_zlib_with_limit};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};

use crate::disk::DiskFile;
use layercast_core::Always as _;

/// How a file or a table is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentEncoding {
    /// RFC 1950.
    Zlib,
    /// RFC 1951, or RFC 1950, which is what HTTP calls `deflate`.
    Deflate,
    /// RFC 1952.
    Gzip,
}

/// The longest header of gzip that is read: it may have a name and a comment.
const GZIP_HEADER_MAX: usize = 1 << 12;
/// The check value and the length at the end of gzip.
const GZIP_TRAILER: u64 = 8;

impl ContentEncoding {
    /// The encoding of EXT_CENC (RFC 6726, section 3.4.3): none if the number stands for none; an error for others.
    ///
    /// # Errors
    /// The number, if it is not known.
    pub fn from_number(number: u8) -> Result<Option<ContentEncoding>, u8> {
        match number {
            0 => Ok(None),
            1 => Ok(Some(ContentEncoding::Zlib)),
            2 => Ok(Some(ContentEncoding::Deflate)),
            3 => Ok(Some(ContentEncoding::Gzip)),
            other => Err(other),
        }
    }

    /// The encoding of the attribute `Content-Encoding` (RFC 9110, section 8.4.1): none for those that stand for none;
    /// an error for unknown ones.
    ///
    /// # Errors
    /// If it is not known.
    pub(super) fn from_word(word: &str) -> Result<Option<ContentEncoding>, ()> {
        match word.trim().to_ascii_lowercase().as_str() {
            "" | "null" | "identity" => Ok(None),
            "zlib" => Ok(Some(ContentEncoding::Zlib)),
            "deflate" => Ok(Some(ContentEncoding::Deflate)),
            "gzip" | "x-gzip" => Ok(Some(ContentEncoding::Gzip)),
            _ => Err(()),
        }
    }

    /// Whether these bytes have the form of RFC 1950. A stream of RFC 1951 cannot begin as one of it, unless its first
    /// block is stored with padding that is not zero.
    fn is_zlib(self, start: &[u8]) -> bool {
        match (self, start) {
            (ContentEncoding::Zlib, _) => true,
            (ContentEncoding::Deflate, &[method, flags, ..]) => {
                method & 15 == 8 && u16::from_be_bytes([method, flags]).is_multiple_of(31)
            }
            _ => false,
        }
    }

    /// Decompresses bytes; none if they are damaged, or give more than `most`.
    pub fn decompressed(self, bytes: &[u8], most: usize) -> Option<Vec<u8>> {
        if self.is_zlib(bytes) {
            return decompress_to_vec_zlib_with_limit(bytes, most).ok();
        }
        if self == ContentEncoding::Deflate {
            return decompress_to_vec_with_limit(bytes, most).ok();
        }
        let (deflated, trailer) =
            bytes.get(gzip_header(bytes)?..)?.split_last_chunk::<{ GZIP_TRAILER as usize }>()?;
        let content = decompress_to_vec_with_limit(deflated, most).ok()?;
        let check = crc32fast::hash(&content).to_le_bytes();
        trailer.starts_with(&check).then_some(content)
    }
}

impl fmt::Display for ContentEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ContentEncoding::Zlib => "zlib",
            ContentEncoding::Deflate => "deflate",
            ContentEncoding::Gzip => "gzip",
        })
    }
}

/// How far a decompression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inflated {
    /// There is more to do.
    More,
    /// All is there.
    Done,
    /// It is damaged, or has not the length that was announced.
    Damaged,
}

/// Decompresses a file into another one, part by part.
pub struct Inflater {
    encoding: ContentEncoding,
    state: Box<InflateState>,
    has_begun: bool,
    /// The next byte to read, and the end of what can be read.
    at: u64,
    end: u64,
    written: u64,
    length: u64,
    check: crc32fast::Hasher,
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inflater({} bytes of {})", self.written, self.length)
    }
}

impl Inflater {
    /// Decompresses `compressed` bytes, which must give `length` bytes: it never writes more.
    pub fn new(encoding: ContentEncoding, compressed: u64, length: u64) -> Inflater {
        Inflater {
            encoding,
            state: InflateState::new_boxed(DataFormat::Raw),
            has_begun: false,
            at: 0,
            end: compressed,
            written: 0,
            length,
            check: crc32fast::Hasher::new(),
        }
    }

    /// Decompresses the next part. `room` is half for what is read and half for what is written; `each` gets what was
    /// written.
    ///
    /// # Errors
    /// A disk's error.
    pub fn go_on(
        &mut self,
        from: &impl DiskFile,
        to: &impl DiskFile,
        room: &mut [u8],
        each: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Inflated> {
        let (input, output) = room.split_at_mut(room.len() / 2);
        let count = (self.end - self.at.min(self.end)).min(input.len() as u64) as usize;
        let input = input.get_mut(..count).always("the count is limited by the room");
        from.read_at(self.at, input)?;
        if !self.has_begun {
            self.has_begun = true;
            return Ok(match self.begin(input) {
                Some(()) => Inflated::More,
                None => Inflated::Damaged,
            });
        }
        // One byte beyond the length shows that there is more.
        let most = (self.length - self.written).saturating_add(1).min(output.len() as u64) as usize;
        let output = output.get_mut(..most).always("the count is limited by the room");
        let result = inflate(&mut self.state, input, output, MZFlush::None);
        let part = output.get(..result.bytes_written).always("no more is written than fits");
        if result.bytes_written as u64 > self.length - self.written {
            return Ok(Inflated::Damaged);
        }
        to.write_at(self.written, part)?;
        each(part);
        self.check.update(part);
        self.at += result.bytes_consumed as u64;
        self.written += part.len() as u64;
        Ok(match result.status {
            Ok(MZStatus::StreamEnd) => self.finish(from)?,
            Ok(_) if result.bytes_consumed > 0 || !part.is_empty() => Inflated::More,
            _ => Inflated::Damaged,
        })
    }

    /// Reads the header, which is at the start of `input`.
    fn begin(&mut self, input: &[u8]) -> Option<()> {
        if self.encoding.is_zlib(input) {
            self.state = InflateState::new_boxed(DataFormat::Zlib);
        }
        if self.encoding == ContentEncoding::Gzip {
            self.at = gzip_header(input.get(..GZIP_HEADER_MAX).unwrap_or(input))? as u64;
            self.end = self.end.checked_sub(GZIP_TRAILER)?;
        }
        Some(())
    }

    /// Judges the end.
    fn finish(&self, from: &impl DiskFile) -> io::Result<Inflated> {
        if self.written != self.length {
            return Ok(Inflated::Damaged);
        }
        if self.encoding == ContentEncoding::Gzip {
            let mut check = [0; 4];
            from.read_at(self.at, &mut check)?;
            if u32::from_le_bytes(check) != self.check.clone().finalize() {
                return Ok(Inflated::Damaged);
            }
        }
        Ok(Inflated::Done)
    }
}

/// The length of a gzip header (RFC 1952, section 2.3); none if it is none.
fn gzip_header(bytes: &[u8]) -> Option<usize> {
    let &[0x1f, 0x8b, 8, flags, _, _, _, _, _, _, ..] = bytes else { return None };
    let mut at = 10;
    if flags & 4 != 0 {
        let length: [u8; 2] = bytes.get(at..at + 2)?.try_into().ok()?;
        at += 2 + usize::from(u16::from_le_bytes(length));
    }
    // A name and a comment, which end with a zero.
    for flag in [8, 16] {
        if flags & flag != 0 {
            at += bytes.get(at..)?.iter().position(|&byte| byte == 0)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    (at <= bytes.len()).then_some(at)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::MemoryFile;
    use miniz_oxide::deflate::{compress_to_vec, compress_to_vec_zlib};

    fn gzip(content: &[u8], with_name: bool) -> Vec<u8> {
        let mut bytes = vec![0x1f, 0x8b, 8, if with_name { 8 | 4 } else { 0 }, 0, 0, 0, 0, 0, 255];
        if with_name {
            bytes.extend(*b"\x02\0xxa name\0");
        }
        bytes.extend(compress_to_vec(content, 6));
        bytes.extend(crc32fast::hash(content).to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes
    }

    fn inflated(encoding: ContentEncoding, bytes: &[u8], length: u64, room: usize) -> Option<Vec<u8>> {
        let (from, to) = (MemoryFile::default(), MemoryFile::default());
        from.write_at(0, bytes).unwrap();
        let mut inflater = Inflater::new(encoding, bytes.len() as u64, length);
        let mut room = vec![0; room];
        let mut seen = Vec::new();
        for _ in 0..100_000 {
            match inflater.go_on(&from, &to, &mut room, &mut |part| seen.extend_from_slice(part)).unwrap() {
                Inflated::More => {}
                Inflated::Damaged => return None,
                Inflated::Done => {
                    let written = to.take();
                    assert_eq!(written, seen);
                    return Some(written);
                }
            }
        }
        panic!("it never ends");
    }

    #[test]
    fn each_encoding_gives_what_was_compressed_and_damage_is_noticed() {
        let content: Vec<u8> = (0..30_000u32).map(|at| (at / 7 % 251) as u8).collect();
        let all = [
            (ContentEncoding::Zlib, compress_to_vec_zlib(&content, 6)),
            (ContentEncoding::Deflate, compress_to_vec(&content, 6)),
            (ContentEncoding::Deflate, compress_to_vec_zlib(&content, 6)),
            (ContentEncoding::Gzip, gzip(&content, false)),
            (ContentEncoding::Gzip, gzip(&content, true)),
        ];
        for (encoding, bytes) in all {
            for room in [200, 1 << 20] {
                assert_eq!(inflated(encoding, &bytes, 30_000, room).as_ref(), Some(&content), "{encoding}");
            }
            // It is neither longer nor shorter than announced, and not cut.
            for length in [0, 29_999, 30_001] {
                assert_eq!(inflated(encoding, &bytes, length, 4096), None, "{encoding} {length}");
            }
            assert_eq!(inflated(encoding, &bytes[..bytes.len() / 2], 30_000, 4096), None, "{encoding}");
            assert_eq!(inflated(encoding, &[], 30_000, 4096), None, "{encoding}");
            assert_eq!(encoding.decompressed(&bytes, 30_000).as_ref(), Some(&content), "{encoding}");
            assert_eq!(encoding.decompressed(&bytes, 29_999), None, "{encoding}");
            assert_eq!(encoding.decompressed(&bytes[..bytes.len() / 2], 30_000), None, "{encoding}");
        }
        let mut forged = gzip(&content, false);
        let at = forged.len() - 6;
        forged[at] ^= 1;
        assert_eq!(inflated(ContentEncoding::Gzip, &forged, 30_000, 4096), None);
        assert_eq!(ContentEncoding::Gzip.decompressed(&forged, 30_000), None);
    }

    #[test]
    fn nothing_compressed_is_nothing() {
        assert_eq!(inflated(ContentEncoding::Gzip, &gzip(&[], false), 0, 4096), Some(Vec::new()));
    }
}
