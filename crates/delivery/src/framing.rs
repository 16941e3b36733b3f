//! A packet in its room: the header directly before the payload, and the protection of both.

use std::ops::Range;

use layercast_core::{Always as _, cannot_be};

use crate::packet::{MAX_HEADER, Repr};
use crate::security::protection::{Outgoing, ProtectError};

/// The length of a packet in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// That of its header and of this payload.
    Payload(usize),
    /// This, whatever its header takes.
    Whole(usize),
}

/// Writes the header of a packet whose payload begins [`MAX_HEADER`] bytes after the start of `room`, and protects it.
/// Where the packet is.
///
/// # Errors
/// Why it must not be sent.
pub(crate) fn frame(
    room: &mut [u8],
    repr: &Repr,
    length: Length,
    protection: Option<&mut Outgoing>,
) -> Result<Range<usize>, ProtectError> {
    let Some(front) = room.first_chunk_mut::<MAX_HEADER>() else {
        cannot_be::<()>("a packet has room");
        return Ok(0..0);
    };
    let header = repr.write(front);
    let start = MAX_HEADER - header;
    front.copy_within(..header, start);
    let length = match length {
        Length::Payload(payload) => header + payload,
        Length::Whole(whole) => whole,
    };
    let length = match protection {
        None => length,
        Some(protection) => {
            protection.protect(room.get_mut(start..).always("the header begins in the room"), length)?
        }
    };
    Ok(start..start + length)
}
