//! Numbers in network byte order, read and written sequentially.

use super::header::HeaderError;

/// Reads numbers from the front of a slice.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], HeaderError> {
        let end = self.at + N;
        let part = self.bytes.get(self.at..end).and_then(|part| part.try_into().ok());
        self.at = end;
        part.ok_or(HeaderError::Truncated { need: end, have: self.bytes.len() })
    }

    pub(super) fn u8(&mut self) -> Result<u8, HeaderError> {
        self.take().map(u8::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, HeaderError> {
        self.take().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, HeaderError> {
        self.take().map(u64::from_be_bytes)
    }
}

/// Writes numbers to a buffer that is large enough for every header.
pub(super) struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(bytes: &'a mut [u8]) -> Writer<'a> {
        Writer { bytes, at: 0 }
    }

    /// How many bytes were written.
    pub(super) fn written(&self) -> usize {
        self.at
    }

    fn put(&mut self, part: &[u8]) {
        let end = self.at + part.len();
        if let Some(room) = self.bytes.get_mut(self.at..end) {
            room.copy_from_slice(part);
        }
        self.at = end;
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.put(&value.to_be_bytes());
    }
}
