//! From the name of a session to its place, by what is announced.

use std::net::SocketAddr;

use crate::announce::directory::{Directory, Entry, FindError, Owner};
use crate::announce::sdp::{Description, SdpError};
use crate::search::Known;
use crate::security::encryption::Salt;
use crate::security::keys::PublicKey;
use crate::session::{Session, SessionError};

/// What a receiver takes from the description of a session that is announced: its place, its salt and its relays. The rest is learnt from
/// packets, whose table one of the keys must have signed too. So a source that is started again is followed.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Where it is.
    pub known: Known,
    /// The salt of its packets, if they are encrypted.
    pub salt: Option<Salt>,
    /// The relays that it names.
    pub relays: Vec<SocketAddr>,
}

/// Why a session that is announced cannot be received.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlaceError {
    /// Its description.
    #[error(transparent)]
    Sdp(#[from] SdpError),
    /// The session.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl Place {
    /// That of a description.
    ///
    /// # Errors
    /// Why the session cannot be received.
    pub fn of(description: &Description) -> Result<Place, PlaceError> {
        if let Some(session) = description.flute_session()? {
            return Ok(Place { known: Known::Flute(session), salt: None, relays: Vec::new() });
        }
        let session: Session = description.session_text()?.parse()?;
        let known = Known::Group(session.group, Some(session.source));
        Ok(Place { known, salt: session.salt, relays: description.relays() })
    }
}

/// Whether one of the keys vouches for the sessions of an owner; of no keys, anyone does.
pub fn is_trusted(owner: &Owner, keys: &[PublicKey]) -> bool {
    keys.is_empty() || owner.key().is_some_and(|signer| keys.iter().any(|key| key.to_bytes() == *signer))
}

/// The session of a name for which one of the keys vouches; none if it is not announced yet.
///
/// # Errors
/// If there are several.
pub fn find<'d>(
    directory: &'d Directory,
    name: &str,
    keys: &[PublicKey],
) -> Result<Option<&'d Entry>, FindError> {
    let is_sought = |entry: &&Entry| entry.description.name == name && is_trusted(&entry.owner, keys);
    let mut fitting = directory.sessions().filter(is_sought);
    let (first, second) = (fitting.next(), fitting.next());
    if second.is_none() {
        return Ok(first);
    }
    let lines =
        first.into_iter().chain(second).chain(fitting).filter_map(|entry| Some(entry.url()?.to_string()));
    Err(FindError::Ambiguous { name: name.to_owned(), lines: lines.collect() })
}
