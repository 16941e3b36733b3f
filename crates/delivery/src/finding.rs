//! From the name of a session to its place, by what is announced: at first, and again when nothing comes from there.

use std::mem::discriminant;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use layercast_core::units::{Duration, Time};

use crate::announce::directory::{Change, Directory, Entry, FindError, Limits, Owner};
use crate::announce::sdp::{Description, SdpError};
use crate::announce::signature::Ed25519;
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

fn is_sought(entry: &Entry, name: &str, keys: &[PublicKey]) -> bool {
    entry.description.name == name && is_trusted(&entry.owner, keys)
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
    let mut fitting = directory.sessions().filter(|entry| is_sought(entry, name, keys));
    let (first, second) = (fitting.next(), fitting.next());
    if second.is_none() {
        return Ok(first);
    }
    let lines =
        first.into_iter().chain(second).chain(fitting).filter_map(|entry| Some(entry.url()?.to_string()));
    Err(FindError::Ambiguous { name: name.to_owned(), lines: lines.collect() })
}

/// The name by which a receiver has found its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The name.
    pub name: String,
    /// How long a receiver that is no service listens again before it ends.
    pub within: Duration,
    /// Seconds from 1900 to the start of the receiver's time, by which descriptions say when they end.
    pub epoch_s: u64,
}

/// A listener to the announcements of a name whose session is not where it was announced before: its source has moved, or the
/// announcement was forged.
#[derive(Debug)]
pub struct Relocation {
    announced: Announced,
    keys: Arc<[PublicKey]>,
    directory: Directory,
}

impl Relocation {
    /// One that takes the sessions of these keys, or of anyone if there are none.
    pub fn new(announced: Announced, keys: Arc<[PublicKey]>) -> Relocation {
        let mut directory = Directory::new(Limits::default(), announced.epoch_s);
        keys.iter().for_each(|key| directory.trust(key.to_bytes()));
        Relocation { announced, keys, directory }
    }

    /// What the session was found by.
    pub fn announced(&self) -> &Announced {
        &self.announced
    }

    /// How many sessions it keeps.
    pub fn sessions(&self) -> usize {
        self.directory.sessions().count()
    }

    /// An announcement came from a host, or something else. Where the session is by it, if that is not the place where nothing
    /// comes.
    pub fn receive(
        &mut self,
        now: Time,
        from: IpAddr,
        bytes: &[u8],
        silent: &Known,
        salt: Option<Salt>,
    ) -> Option<Place> {
        if self.keys.is_empty() {
            // A forged version may be the highest: what is not signed is as good as what came before.
            self.directory = Directory::new(Limits::default(), self.announced.epoch_s);
        }
        self.directory.expire(now);
        let (Change::New(id) | Change::Changed(id) | Change::Repeated(id)) =
            self.directory.receive(bytes, from, &Ed25519, now).ok()?
        else {
            return None;
        };
        let entry =
            self.directory.get(&id).filter(|entry| is_sought(entry, &self.announced.name, &self.keys))?;
        let place = Place::of(&entry.description).ok()?;
        // What takes the payload of the one kind of sessions does not take that of the other.
        let is_like = discriminant(&place.known) == discriminant(silent);
        (is_like && (&place.known, place.salt) != (silent, salt)).then_some(place)
    }
}
