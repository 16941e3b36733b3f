//! A session by the name under which it is announced.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use layercast_delivery::announce::directory::{Directory, Entry, FindError, Owner, Refusal};
use layercast_delivery::search::Known;
use layercast_delivery::security::keys::PublicKey;
use layercast_delivery::session::{Session, SessionError};

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

impl Sought {
    /// By an announcement. Its place counts, and its salt; the rest is learnt from its packets, whose table one of the keys must have
    /// signed too. So a restarted sender is followed.
    ///
    /// # Errors
    /// If the announcement describes no session.
    pub fn by_announcement(entry: &Entry, keys: Vec<PublicKey>) -> Result<Sought, Error> {
        let description = &entry.description;
        let unusable = |reason: String| {
            Error::Announced(AnnouncedError::Unusable { name: description.name.clone(), reason })
        };
        if let Some(session) = description.flute_session().map_err(|error| unusable(error.to_string()))? {
            // The announcement may be signed.
            return Ok(Sought::new(Known::Flute(session), None, keys));
        }
        let text = description.session_text().map_err(|error| unusable(error.to_string()))?;
        let session: Session = text.parse().map_err(|error: SessionError| unusable(error.to_string()))?;
        let known = Known::Group(session.group, Some(session.source));
        Ok(Sought { relays: description.relays(), ..Sought::new(known, session.salt, keys) })
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
        let fitting: Vec<&Entry> = listener
            .directory()
            .sessions()
            .filter(|entry| entry.description.name == name && is_trusted(&entry.owner, keys))
            .collect();
        match &fitting[..] {
            [] => {}
            [one] => return Ok((*one).clone()),
            several => {
                let lines = several.iter().filter_map(|entry| entry.url()).map(|url| url.to_string());
                let error = FindError::Ambiguous { name: name.to_owned(), lines: lines.collect() };
                return Err(AnnouncedError::Ambiguous(error).into());
            }
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

/// Whether one of the keys signs for a session; of no keys, anyone may.
fn is_trusted(owner: &Owner, keys: &[PublicKey]) -> bool {
    keys.is_empty() || owner.key().is_some_and(|signer| keys.iter().any(|key| key.to_bytes() == *signer))
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
