//! What a source announces of its session.

use std::net::SocketAddr;

use super::sdp::{Description, Origin, SdpError};
use crate::security::keys::PublicKey;
use crate::session::Session;

/// The lines of a description that give the size of what is sent. Receivers of the session have no use for them.
const FILES: &str = "files";
const BYTES: &str = "bytes";

/// How much a session sends, at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of files and empty folders.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl Size {
    /// What a description says; none if it says nothing.
    pub fn of(description: &Description) -> Option<Size> {
        let value = |key: &str| {
            let mut lines = description.lines.iter();
            lines.find(|(found, _)| found == key)?.1.parse::<u64>().ok()
        };
        Some(Size { files: usize::try_from(value(FILES)?).ok()?, bytes: value(BYTES)? })
    }
}

/// Describes a session that starts at `start_s`, in seconds since 1900, for announcements and files, and names relays. `ttl` is that of
/// its packets.
///
/// # Errors
/// If the name cannot be written, or the description is too long.
pub fn describe(
    session: &Session,
    start_s: u64,
    name: &str,
    key: Option<PublicKey>,
    ttl: u8,
    size: Size,
    relays: &[SocketAddr],
) -> Result<Description, SdpError> {
    // A time as RFC 8866, section 5.2, recommends, with the session's number in the place of its fraction, so that two
    // sessions that start in one second differ.
    let id = start_s << 32 | u64::from(session.tsi);
    let origin = Origin::new(session.source, id, 1);
    let mut description = Description::of_session(session, name, origin, ttl)?;
    description.start_s = start_s;
    description.key = key.map(PublicKey::to_bytes);
    description.lines.push((FILES.to_owned(), size.files.to_string()));
    description.lines.push((BYTES.to_owned(), size.bytes.to_string()));
    description.name_relays(relays);
    description.write()?;
    Ok(description)
}
