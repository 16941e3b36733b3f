//! A session in the directory.

use std::net::IpAddr;

use layercast_core::units::{Duration, Time};

use crate::announce::interval::lifetime;
use crate::announce::sap::Packet;
use crate::announce::sdp::{Description, Origin};
use crate::announce::signature::PublicKey;
use crate::announce::url::SessionUrl;

/// After so many announcements their times say how often the session is announced.
const OBSERVED: u64 = 4;

/// Who may change and delete a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The holder of a key, by signature.
    Key(PublicKey),
    /// Who sends from an address; no signature.
    Host(IpAddr),
}

impl Owner {
    /// The key that signed, if one did.
    pub fn key(&self) -> Option<&PublicKey> {
        match self {
            Owner::Key(key) => Some(key),
            Owner::Host(_) => None,
        }
    }
}

/// A session in all its versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId {
    owner: Owner,
    /// With the version 0.
    origin: Origin,
}

impl SessionId {
    /// The session of an owner with this `o=` line, whatever its version.
    pub fn new(owner: Owner, origin: &Origin) -> SessionId {
        SessionId { owner, origin: Origin { version: 0, ..origin.clone() } }
    }

    /// Who may change it.
    pub fn owner(&self) -> Owner {
        self.owner
    }
}

/// What is known of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Who may change it.
    pub owner: Owner,
    /// Its description.
    pub description: Description,
    /// The host that announces it, by the packet.
    pub announcer: IpAddr,
    /// The number of the present version of the announcement.
    pub hash: u16,
    /// When it was announced first.
    pub first: Time,
    /// When it was announced last.
    pub last: Time,
    /// How often it was announced.
    pub announcements: u64,
    /// The longest time between two announcements.
    gap: Duration,
    /// The length of an announcement.
    bytes: usize,
}

impl Entry {
    pub(super) fn new(
        owner: Owner,
        description: Description,
        packet: &Packet<'_>,
        bytes: usize,
        now: Time,
    ) -> Entry {
        Entry {
            owner,
            description,
            announcer: packet.origin,
            hash: packet.hash,
            first: now,
            last: now,
            announcements: 1,
            gap: Duration::ZERO,
            bytes,
        }
    }

    /// It was announced again, in this version or another.
    pub(super) fn repeat(&mut self, packet: &Packet<'_>, bytes: usize, now: Time) {
        self.gap = self.gap.max(now.since(self.last));
        (self.announcer, self.hash, self.bytes, self.last) = (packet.origin, packet.hash, bytes, now);
        self.announcements += 1;
    }

    /// When it expires, where `sessions` are known and time starts `epoch_s` seconds after 1900.
    pub(super) fn expires(&self, sessions: usize, epoch_s: u64) -> Time {
        let gap = (self.announcements >= OBSERVED).then_some(self.gap);
        let silent = self.last + lifetime(sessions, self.bytes, gap);
        match self.description.stop_s {
            0 => silent,
            stop_s => silent.min(Time::ZERO + Duration::from_secs(stop_s.saturating_sub(epoch_s))),
        }
    }

    /// The line that names the session, with the key that signed it.
    pub fn url(&self) -> Option<SessionUrl> {
        let mut url = self.description.url()?;
        url.key = self.owner.key().copied().or(url.key);
        Some(url)
    }
}
