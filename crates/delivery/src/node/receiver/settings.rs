//! What a receiver is to do.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;

use layercast_core::units::Duration;

use super::path::Paths;
use crate::finding::Announced;
use crate::search::Known;
use crate::security::encryption::Salt;
use crate::security::keys::{GroupKey, PublicKey};

/// From whom the packets of a session whose routers take part come.
#[derive(Clone)]
pub struct Parents {
    /// Relays, or the source: the first that answers.
    pub addresses: Vec<SocketAddr>,
    /// Bytes that nobody else knows.
    pub secret: [u8; 32],
}

impl fmt::Debug for Parents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parents").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

/// What a receiver is to do.
#[derive(Clone, Debug)]
pub struct ReceiverSettings {
    /// What is known of the session.
    pub known: Known,
    /// The name by which it was found, which is listened to again when nothing comes from there; none if it was found otherwise.
    pub announced: Option<Announced>,
    /// The key by which packets must be authentic; none to take any.
    pub group_key: Option<GroupKey>,
    /// The salt of an encrypted session, if `known` is not its description. Without one packets must not be encrypted.
    pub salt: Option<Salt>,
    /// Whose signed tables and objects are taken; anyone's if empty.
    pub keys: Arc<[PublicKey]>,
    /// Options of the protocol, by name and as text, that differ from those of [`crate::protocols::deployed`].
    pub protocol_options: Vec<(String, String)>,
    /// By which paths packets can come.
    pub paths: Paths,
    /// From whom packets come if the routers of the session take part; none for other sessions.
    pub parents: Option<Parents>,
    /// Whether it goes on after the end of a session, and after errors that may pass, until it is stopped.
    pub keep_going: bool,
    /// Whether the source gets neither completions nor reception reports. The reports of a congestion control are a part of it,
    /// and are sent.
    pub silent: bool,
    /// Whether it says what it decides and notices.
    pub traces: bool,
    /// The maximum wait for a session.
    pub start_within: Duration,
    /// The maximum silence of a session.
    pub patience: Duration,
    /// The time limit; none for no limit.
    pub within: Option<Duration>,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The number by which it reports.
    pub number: NonZeroU64,
}

impl ReceiverSettings {
    /// Of a receiver by multicast that takes any packets of a session, waits for it without an end, and says nothing but what
    /// its congestion control needs.
    pub fn new(known: Known) -> ReceiverSettings {
        ReceiverSettings {
            known,
            announced: None,
            group_key: None,
            salt: None,
            keys: Arc::default(),
            protocol_options: Vec::new(),
            paths: Paths::Multicast,
            parents: None,
            keep_going: false,
            silent: true,
            traces: false,
            start_within: Duration::MAX,
            patience: Duration::MAX,
            within: None,
            seed: 1,
            number: NonZeroU64::MIN,
        }
    }

    /// The salt with which packets must be encrypted.
    pub(super) fn salt(&self) -> Option<Salt> {
        match &self.known {
            Known::Session(session) => session.salt,
            Known::Group(..) => self.salt,
            Known::Flute(_) => None,
        }
    }
}
