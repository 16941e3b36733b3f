//! A session by the name under which it is announced.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use layercast_delivery::announce::directory::{Directory, Entry, Owner, Refusal};
use layercast_delivery::finding::{self, Place};
use layercast_delivery::security::keys::PublicKey;

use super::Sought;
use crate::error::{AnnouncedError, Error};
use crate::listening::Listener;

/// The shortest wait for an announcement by default: those of a session are up to 40 s apart.
const WITHIN: Duration = Duration::from_secs(45);
/// The interval of checks for a stop.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How long an announcement is waited for: as long as was asked for, or as for packets, but at least 45 s.
pub fn announced_within(start_within: Option<Duration>, patience: Duration) -> Duration {
    start_within.unwrap_or(patience.max(WITHIN))
}

/// A session that is found by the name under which it is announced, and again when nothing comes from where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The name.
    pub name: String,
    /// The longest wait for its announcement.
    pub within: Duration,
    /// Whether the relays that the announcement names are used.
    pub takes_relays: bool,
}

impl Sought {
    /// By an announcement. Its place counts, and its salt; the rest is learnt from its packets, whose table one of the keys must have
    /// signed too. So a restarted sender is followed.
    ///
    /// # Errors
    /// If the announcement describes no session.
    pub fn by_announcement(entry: &Entry, keys: Vec<PublicKey>) -> Result<Sought, Error> {
        let place = Place::of(&entry.description).map_err(|error| AnnouncedError::Unusable {
            name: entry.description.name.clone(),
            reason: error.to_string(),
        })?;
        Ok(Sought { relays: place.relays, ..Sought::new(place.known, place.salt, keys) })
    }
}

/// Waits for the announcement of a session of this name that one of the keys has signed, until `stop`.
///
/// # Errors
/// If there is none within this time, or several, or no announcements can be received.
pub fn find_announced(
    name: &str,
    keys: &[PublicKey],
    interface: Option<&str>,
    within: Duration,
    stop: &AtomicBool,
) -> Result<Entry, Error> {
    let mut listener = Listener::open(interface, keys)?;
    let mut forged = None;
    let begin = Instant::now();
    loop {
        let found = finding::find(listener.directory(), name, keys);
        if let Some(entry) = found.map_err(AnnouncedError::Ambiguous)? {
            return Ok(entry.clone());
        }
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if begin.elapsed() >= within {
            return Err(unfound(name, keys, listener.directory(), within, forged).into());
        }
        let patience = POLL_INTERVAL.min(within.saturating_sub(begin.elapsed()));
        listener.wait(patience, &mut |_, change, from| {
            if let Err(Refusal::Forged | Refusal::OtherKey) = change {
                forged = Some(from);
            }
        })?;
    }
}

/// Who vouches for a session, in words.
pub fn signed_by(owner: &Owner, keys: &[PublicKey]) -> String {
    match owner {
        Owner::Host(host) => format!("not signed, from {host}"),
        Owner::Key(bytes) => {
            let Ok(key) = PublicKey::from_bytes(bytes) else { return "signed by an invalid key".to_owned() };
            let trust = match keys {
                [] => "",
                keys if keys.contains(&key) => ", which is trusted",
                _ => ", which is not trusted",
            };
            format!("signed by {}{trust}", key.fingerprint())
        }
    }
}

/// Why no session was found.
fn unfound(
    name: &str,
    keys: &[PublicKey],
    directory: &Directory,
    within: Duration,
    forged: Option<IpAddr>,
) -> AnnouncedError {
    let forged = forged.map_or(String::new(), |from| {
        format!(". Announcements from {from} with a wrong signature were refused")
    });
    let Some(entry) = directory.sessions().find(|entry| entry.description.name == name) else {
        let reason = directory.find(name).err().map_or(String::new(), |error| error.to_string());
        return AnnouncedError::Unknown { reason, within, forged };
    };
    let names: Vec<String> = keys.iter().map(|key| key.fingerprint().to_string()).collect();
    let signed = signed_by(&entry.owner, keys);
    AnnouncedError::Refused { name: name.to_owned(), signed, keys: names.join(" or "), forged }
}
