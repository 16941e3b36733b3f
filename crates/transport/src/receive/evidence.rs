//! What packets say of a session's keys while it is searched: that it is there, and not to be taken with the keys that are
//! given.

use std::time::{Duration, Instant};

use layercast_delivery::security::protection::Rejection;
use layercast_delivery::signed_table::Untrusted;

use super::ReceiveOptions;
use crate::error::Error;

/// How long a search goes on after the first packet that the keys do not fit: in this time a table of the genuine sender
/// comes, if there is one, whatever is forged next to it (CHOICE: short tables are sent every second).
const PATIENCE: Duration = Duration::from_secs(3);

/// What the packets of a search have shown.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    since: Option<Instant>,
    /// Packets that the group key authenticates.
    authentic: u64,
    /// Packets that say that they are encrypted, which cannot be read for want of a key or a salt.
    unreadable: u64,
    unprotected: u64,
    other_scheme: u64,
    forged: u64,
    untrusted: Option<Untrusted>,
}

impl Evidence {
    /// A packet is authentic.
    pub(super) fn authentic(&mut self) {
        self.authentic += 1;
    }

    /// A packet is encrypted, and there is no key for it, or no salt.
    pub(super) fn unreadable(&mut self) {
        self.since.get_or_insert_with(Instant::now);
        self.unreadable += 1;
    }

    /// A packet was rejected.
    pub(super) fn rejected(&mut self, reason: Rejection) {
        let counter = match reason {
            Rejection::Unprotected => &mut self.unprotected,
            Rejection::Scheme => &mut self.other_scheme,
            Rejection::Forged => &mut self.forged,
            Rejection::Malformed | Rejection::Session | Rejection::Old | Rejection::Replayed => return,
        };
        *counter += 1;
        self.since.get_or_insert_with(Instant::now);
    }

    /// A table is not signed by a key that is trusted.
    pub(super) fn untrusted(&mut self, reason: Untrusted) {
        self.since.get_or_insert_with(Instant::now);
        self.untrusted = Some(reason);
    }

    /// What is wrong, if that has been seen for long enough.
    pub(super) fn error(&self, options: &ReceiveOptions) -> Option<Error> {
        self.since.filter(|since| since.elapsed() >= PATIENCE)?;
        if let Some(reason) = self.untrusted {
            let keys = options.keys.iter().map(|key| key.fingerprint().to_string());
            return Some(Error::NotSigned { keys: keys.collect(), reason });
        }
        let Some(key) = &options.group_key else { return Some(Error::Encrypted) };
        if self.authentic > 0 {
            return None;
        }
        let most = self.unreadable.max(self.unprotected).max(self.other_scheme).max(self.forged);
        Some(match most {
            most if most == self.forged => Error::WrongGroupKey { given: key.fingerprint() },
            most if most == self.unreadable => Error::NoSalt,
            most if most == self.unprotected => Error::NotAuthenticated,
            _ => Error::NotEncrypted,
        })
    }
}
