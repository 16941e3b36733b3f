//! What packets say of a session's keys while it is searched: that it is there, and not to be taken with the keys that are
//! given.

use layercast_core::units::{Duration, Time};

use crate::node::error::ReceiveError;
use crate::security::keys::{GroupKey, PublicKey};
use crate::security::protection::Rejection;
use crate::signed_table::Untrusted;

/// How long a search goes on after the first packet that the keys do not fit: in this time a table of the genuine sender
/// comes, if there is one, whatever is forged next to it (CHOICE: short tables are sent every second).
const PATIENCE: Duration = Duration::from_secs(3);

/// What the packets of a search have shown.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    since: Option<Time>,
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

    /// How many are.
    pub(super) fn authentic_packets(&self) -> u64 {
        self.authentic
    }

    /// A packet is encrypted, and there is no key for it, or no salt.
    pub(super) fn unreadable(&mut self, now: Time) {
        self.since.get_or_insert(now);
        self.unreadable += 1;
    }

    /// A packet was rejected.
    pub(super) fn rejected(&mut self, now: Time, reason: Rejection) {
        let counter = match reason {
            Rejection::Unprotected => &mut self.unprotected,
            Rejection::Scheme => &mut self.other_scheme,
            Rejection::Forged => &mut self.forged,
            Rejection::Malformed | Rejection::Session | Rejection::Old | Rejection::Replayed => return,
        };
        *counter += 1;
        self.since.get_or_insert(now);
    }

    /// A table is not signed by a key that is trusted.
    pub(super) fn untrusted(&mut self, now: Time, reason: Untrusted) {
        self.since.get_or_insert(now);
        self.untrusted = Some(reason);
    }

    /// When there is something wrong, if there is.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.since.map(|since| since + PATIENCE)
    }

    /// What is wrong, if that has been seen for long enough.
    pub(super) fn error(
        &self,
        now: Time,
        group_key: Option<&GroupKey>,
        keys: &[PublicKey],
    ) -> Option<ReceiveError> {
        self.deadline().filter(|&deadline| deadline <= now)?;
        if let Some(reason) = self.untrusted {
            let keys = keys.iter().map(|key| key.fingerprint().to_string());
            return Some(ReceiveError::NotSigned { keys: keys.collect(), reason });
        }
        let Some(key) = group_key else { return Some(ReceiveError::Encrypted) };
        if self.authentic > 0 {
            return None;
        }
        let most = self.unreadable.max(self.unprotected).max(self.other_scheme).max(self.forged);
        Some(match most {
            most if most == self.forged => ReceiveError::WrongGroupKey { given: key.fingerprint() },
            most if most == self.unreadable => ReceiveError::NoSalt,
            most if most == self.unprotected => ReceiveError::NotAuthenticated,
            _ => ReceiveError::NotEncrypted,
        })
    }
}
