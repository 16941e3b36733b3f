//! A receiver that knows the name of its session alone, until it is announced.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::announce::directory::{Directory, Limits};
use layercast_delivery::announce::sap::PORT;
use layercast_delivery::announce::signature::Ed25519;
use layercast_delivery::finding::{self, Announced, Place};
use layercast_delivery::security::keys::PublicKey;

use crate::wire::CHANNELS;

/// What all sources call their sessions: anyone may announce any name.
pub(crate) const NAME: &str = "files";
/// Seconds between the year 1900 and the start of a run.
pub(crate) const EPOCH_S: u64 = 3_900_000_000;
/// The group of announcements.
pub(crate) const ANNOUNCEMENTS: SocketAddr =
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 255, 255, 255)), PORT);
/// The channel of the simulated network that carries them, which no session has.
pub(crate) const ANNOUNCED: Channel = Channel(CHANNELS - 1);
/// How long a receiver listens.
const WITHIN: Duration = Duration::from_secs(45);

/// What its receiver knows of a session that was found.
pub(crate) fn announced() -> Announced {
    Announced { name: NAME.to_owned(), within: WITHIN, epoch_s: EPOCH_S }
}

/// A program that listens.
pub(crate) struct Listener {
    directory: Directory,
    keys: Arc<[PublicKey]>,
    until: Time,
}

impl Listener {
    /// One that takes the sessions of these keys, or of anyone if there are none.
    pub(crate) fn new(keys: Arc<[PublicKey]>, now: Time) -> Listener {
        let mut directory = Directory::new(Limits::default(), EPOCH_S);
        keys.iter().for_each(|key| directory.trust(key.to_bytes()));
        Listener { directory, keys, until: now + WITHIN }
    }

    /// When it gives up.
    pub(crate) fn deadline(&self) -> Time {
        self.until
    }

    /// An announcement, or something else.
    pub(crate) fn receive(&mut self, now: Time, from: IpAddr, bytes: &[u8]) {
        self.directory.expire(now);
        // What is refused is counted.
        let _ = self.directory.receive(bytes, from, &Ed25519, now);
    }

    /// How many sessions it keeps.
    pub(crate) fn announced_sessions(&self) -> usize {
        self.directory.sessions().count()
    }

    /// The session, or why there is none.
    pub(crate) fn found(&self, now: Time) -> Option<Result<Place, String>> {
        match finding::find(&self.directory, NAME, &self.keys) {
            Ok(None) => (now >= self.until).then(|| Err("its session is not announced".to_owned())),
            Err(error) => Some(Err(error.to_string())),
            Ok(Some(entry)) => Some(Place::of(&entry.description).map_err(|error| error.to_string())),
        }
    }
}
