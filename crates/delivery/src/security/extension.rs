//! The header extension EXT_AUTH with a packet number and a tag (RFC 6584, section 5.1), in the bytes of a packet.
//!
//! ```text
//!     0        1        2        3
//!     +--------+--------+--------+--------+
//!   0 |   1    |   6    |ASID 0 1| number, |   AR = 1: there is a packet number
//!   4 | 40 bits                           |
//!   8 | tag, 16 bytes                     |
//!     +-----------------------------------+
//! ```

use crate::packet::{HET_AUTH, View};

/// The length of the extension in bytes.
pub const AUTH_BYTES: usize = 24;
/// The length of a tag in bytes: half of SHA-256's output, the least that RFC 2104, section 5, accepts, and the whole
/// of Poly1305's.
pub const TAG_BYTES: usize = 16;
/// Flag AR: the packet number has 40 bits.
const ANTI_REPLAY: u8 = 1;

/// A tag.
pub(super) type Tag = [u8; TAG_BYTES];

/// Why a packet cannot be protected. Each is a mistake of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InsertError {
    /// It is not an LCT packet, or longer than its buffer.
    #[error("this is not an LCT packet")]
    Packet,
    /// The buffer has no space for the extension.
    #[error("the buffer must have {AUTH_BYTES} bytes more than the packet")]
    Space,
    /// The header would be longer than LCT allows.
    #[error("the header has no space for {AUTH_BYTES} bytes more")]
    Header,
}

/// Where things are in a packet with the extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Where the tag starts.
    pub(super) tag: usize,
    /// Where the LCT header ends.
    pub(super) header: usize,
    /// The length of the packet.
    pub(super) end: usize,
}

impl Place {
    /// The packet before its tag, the tag, and all after it.
    pub(super) fn split<'p>(&self, packet: &'p [u8]) -> Option<(&'p [u8], &'p Tag, &'p [u8])> {
        let (before, rest) = packet.get(..self.end)?.split_at_checked(self.tag)?;
        let (tag, after) = rest.split_first_chunk()?;
        Some((before, tag, after))
    }

    /// Replaces the tag.
    pub(super) fn put(&self, packet: &mut [u8], tag: &Tag) {
        if let Some(space) = packet.get_mut(self.tag..self.tag + TAG_BYTES) {
            space.copy_from_slice(tag);
        }
    }

    /// The header and the payload, to be changed.
    pub(super) fn parts<'p>(&self, packet: &'p mut [u8]) -> Option<(&'p mut [u8], &'p mut [u8])> {
        packet.get_mut(..self.end)?.split_at_mut_checked(self.header)
    }
}

/// Adds the extension with an empty tag at the end of the header of the packet that is the first `length` bytes of
/// `room`. The payload moves back.
pub(super) fn insert(room: &mut [u8], length: usize, asid: u8, number: u64) -> Result<Place, InsertError> {
    let packet = room.get(..length).ok_or(InsertError::Packet)?;
    let payload = View::new(packet).map_err(|_| InsertError::Packet)?.payload().len();
    let start = length - payload;
    let (header, end) = (start + AUTH_BYTES, length + AUTH_BYTES);
    let words = u8::try_from(header / 4).map_err(|_| InsertError::Header)?;
    let packet = room.get_mut(..end).ok_or(InsertError::Space)?;
    packet.copy_within(start..length, header);
    let [_, _, _, n4, n3, n2, n1, n0] = number.to_be_bytes();
    let head = [HET_AUTH, (AUTH_BYTES / 4) as u8, asid << 4 | ANTI_REPLAY, n4, n3, n2, n1, n0];
    let tag = start + head.len();
    if let Some(space) = packet.get_mut(start..header) {
        space.fill(0);
        let (front, _) = space.split_at_mut(head.len());
        front.copy_from_slice(&head);
    }
    // The length of the header, in words.
    if let Some(field) = packet.get_mut(2) {
        *field = words;
    }
    Ok(Place { tag, header, end })
}

/// The extension as a packet carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) place: Place,
    /// The scheme's number in the session.
    pub(super) asid: u8,
    /// The packet number.
    pub(super) number: u64,
}

/// Why a packet has no usable extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FindError {
    /// It has none.
    Missing,
    /// It has several, or one of another form.
    Form,
}

/// Finds the extension.
pub(super) fn find(packet: &[u8], view: &View<'_>) -> Result<Found, FindError> {
    let header = packet.len() - view.payload().len();
    // A header ends with its extensions, so the first starts at their length before the end.
    let length = |content: &[u8]| (content.len() + 2) / 4 * 4;
    let all: usize = view.extensions().map(|extension| length(extension.content)).sum();
    let mut at = header.checked_sub(all).ok_or(FindError::Form)?;
    let mut found = Err(FindError::Missing);
    for extension in view.extensions() {
        if extension.kind == HET_AUTH {
            let &[scheme, n4, n3, n2, n1, n0, ref tag @ ..] = extension.content else {
                return Err(FindError::Form);
            };
            if found.is_ok() || tag.len() != TAG_BYTES || scheme & ANTI_REPLAY == 0 {
                return Err(FindError::Form);
            }
            let place = Place { tag: at + AUTH_BYTES - TAG_BYTES, header, end: packet.len() };
            let number = u64::from_be_bytes([0, 0, 0, n4, n3, n2, n1, n0]);
            found = Ok(Found { place, asid: scheme >> 4, number });
        }
        at += length(extension.content);
    }
    found
}
