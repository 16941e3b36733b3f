//! What a listener keeps of the announcements that it receives.
//!
//! A session is known by its owner and by the `o=` line of its description without the version (RFC 2974, section 5).
//! The owner is the key that signed, or for want of a signature the host that the packet came from: the address in
//! the header of IP, since the one in the header of SAP is anyone's to write. Only its owner can change or delete a
//! session, so a signed and an unsigned session with the same `o=` line are two.
//!
//! A version older than the known one is refused, so that a recorded announcement or deletion changes nothing while
//! the session is known. What a recording can do is bring back a session that has ended, until it expires.

mod entry;

use std::collections::BTreeMap;
use std::net::IpAddr;

use layercast_core::units::Time;

pub use entry::{Entry, Owner, SessionId};

use super::rule::Rule;
use super::sap::{Kind, Packet, SapError};
use super::sdp::{Description, Origin, SdpError};
use super::signature::{PublicKey, Verifier};

/// How much is kept. A session takes at most a few times [`super::sdp::SDP_MAX`] bytes, mostly about one kilobyte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most sessions.
    pub sessions: usize,
    /// The most sessions of one owner.
    pub per_owner: usize,
}

impl Default for Limits {
    /// With announcements of 600 bytes, 1024 sessions are announced every 33 minutes: more are of no use to a listener.
    fn default() -> Limits {
        Limits { sessions: 1024, per_owner: 256 }
    }
}

/// What a packet has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A session that was not known.
    New(SessionId),
    /// A known session has another description.
    Changed(SessionId),
    /// A known session was announced again.
    Repeated(SessionId),
    /// A session has ended.
    Deleted(Box<Entry>),
}

/// Why a packet has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is not a packet of SAP that is understood.
    #[error(transparent)]
    Sap(#[from] SapError),
    /// It does not describe a session of FLUTE.
    #[error(transparent)]
    Sdp(#[from] SdpError),
    /// The signature is wrong.
    #[error("the signature is wrong")]
    Forged,
    /// It is signed with another key than the description names.
    #[error("it is signed with another key than its description names")]
    OtherKey,
    /// A newer version is known.
    #[error("version {known} of the session is known, and this is version {given}")]
    Outdated {
        /// The version that is kept.
        known: u64,
        /// The version that came.
        given: u64,
    },
    /// The session has ended by its own description.
    #[error("the session ended before now, by its description")]
    Over,
    /// A deletion of a session that its sender does not have.
    #[error("its sender has no such session to delete")]
    NotDeleted,
    /// The directory, or the owner's part of it, is full.
    #[error("there are too many sessions")]
    Full,
}

/// What was received since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Announcements that were accepted.
    pub announcements: u64,
    /// Deletions that were accepted.
    pub deletions: u64,
    /// Packets that are not SAP, or whose payload is no session of FLUTE.
    pub unreadable: u64,
    /// Packets with a wrong signature, or with another key than the description names.
    pub forged: u64,
    /// Packets about versions or sessions that are over, and deletions of sessions that the sender does not have.
    pub outdated: u64,
    /// Announcements for which there was no space.
    pub full: u64,
    /// Sessions that made space for those of owners who are trusted more.
    pub evicted: u64,
}

/// Why a name does not lead to a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No session has the name.
    #[error("no session `{name}` is announced; {}", known(.names))]
    Unknown {
        /// What was looked for.
        name: String,
        /// Some of the names that there are.
        names: Vec<String>,
    },
    /// Several have it. None is preferred, since anyone may announce any name.
    #[error("several sessions are named `{name}`; give the line of the one that you mean: {}", .lines.join(" or "))]
    Ambiguous {
        /// What was looked for.
        name: String,
        /// The lines of some of them.
        lines: Vec<String>,
    },
}

/// How many names an error lists.
const LISTED: usize = 10;

fn known(names: &[String]) -> String {
    if names.is_empty() { "none is known yet".into() } else { format!("known: {}", names.join(", ")) }
}

/// The sessions that a listener knows.
#[derive(Debug)]
pub struct Directory {
    limits: Limits,
    /// Seconds since 1900 at [`Time::ZERO`].
    epoch_s: u64,
    trusted: Vec<PublicKey>,
    sessions: BTreeMap<SessionId, Entry>,
    counters: Counters,
}

impl Directory {
    /// An empty directory. `epoch_s` is the number of seconds from 1900 to the start of time, by which descriptions
    /// say when they end.
    pub fn new(limits: Limits, epoch_s: u64) -> Directory {
        Directory {
            limits,
            epoch_s,
            trusted: Vec::new(),
            sessions: BTreeMap::new(),
            counters: Counters::default(),
        }
    }

    /// Trusts a key: when the directory is full, its sessions displace those of others.
    pub fn trust(&mut self, key: PublicKey) {
        self.trusted.push(key);
    }

    /// Takes in a packet from a group of announcements, which came from the host `from`.
    ///
    /// # Errors
    /// Why it has changed nothing; the counters count it.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        from: IpAddr,
        verifier: &dyn Verifier,
        now: Time,
    ) -> Result<Change, Refusal> {
        let change = self.take(bytes, from, verifier, now);
        let counter = match &change {
            Ok(Change::Deleted(_)) => &mut self.counters.deletions,
            Ok(_) => &mut self.counters.announcements,
            Err(Refusal::Sap(_) | Refusal::Sdp(_)) => &mut self.counters.unreadable,
            Err(Refusal::Forged | Refusal::OtherKey) => &mut self.counters.forged,
            Err(Refusal::Outdated { .. } | Refusal::Over | Refusal::NotDeleted) => {
                &mut self.counters.outdated
            }
            Err(Refusal::Full) => &mut self.counters.full,
        };
        *counter += 1;
        change
    }

    fn take(
        &mut self,
        bytes: &[u8],
        from: IpAddr,
        verifier: &dyn Verifier,
        now: Time,
    ) -> Result<Change, Refusal> {
        let packet = Packet::read(bytes)?;
        let owner = match packet.verify(verifier) {
            None => Owner::Host(from),
            Some((key, true)) => Owner::Key(key),
            Some((_, false)) => return Err(Refusal::Forged),
        };
        match packet.kind {
            Kind::Deletion => self.delete(owner, &Origin::read(packet.payload)?),
            Kind::Announcement => self.announce(owner, &packet, bytes.len(), now),
        }
    }

    /// A deletion names the version that it deletes; one of an older version comes after a change.
    fn delete(&mut self, owner: Owner, origin: &Origin) -> Result<Change, Refusal> {
        let id = SessionId::new(owner, origin);
        let known = self.sessions.get(&id).ok_or(Refusal::NotDeleted)?.description.origin.version;
        if origin.version < known {
            return Err(Refusal::Outdated { known, given: origin.version });
        }
        self.sessions.remove(&id).map(|entry| Change::Deleted(Box::new(entry))).ok_or(Refusal::NotDeleted)
    }

    fn announce(
        &mut self,
        owner: Owner,
        packet: &Packet<'_>,
        bytes: usize,
        now: Time,
    ) -> Result<Change, Refusal> {
        let description = Description::read(packet.payload)?;
        if let (Owner::Key(signer), Some(key)) = (owner, description.key)
            && signer != key
        {
            return Err(Refusal::OtherKey);
        }
        if description.stop_s != 0 && description.stop_s <= self.ntp_s(now) {
            return Err(Refusal::Over);
        }
        let id = SessionId::new(owner, &description.origin);
        let Some(entry) = self.sessions.get_mut(&id) else {
            self.make_space(owner)?;
            self.sessions.insert(id.clone(), Entry::new(owner, description, packet, bytes, now));
            return Ok(Change::New(id));
        };
        let (known, given) = (entry.description.origin.version, description.origin.version);
        if given < known {
            return Err(Refusal::Outdated { known, given });
        }
        entry.repeat(packet, bytes, now);
        if entry.description == description {
            return Ok(Change::Repeated(id));
        }
        entry.description = description;
        Ok(Change::Changed(id))
    }

    /// Makes space for one session, or refuses. A signed session may displace an unsigned one, and one of a trusted key any
    /// other: the one that was not announced for the longest time. Otherwise those that are known stay, so that a flood
    /// changes nothing for them.
    fn make_space(&mut self, owner: Owner) -> Result<(), Refusal> {
        if self.sessions.keys().filter(|id| id.owner() == owner).count() >= self.limits.per_owner {
            return Err(Refusal::Full);
        }
        if self.sessions.len() < self.limits.sessions {
            return Ok(());
        }
        let rank = self.rank(owner);
        let below = self.sessions.iter().filter(|(id, _)| self.rank(id.owner()) < rank);
        let oldest = below.min_by_key(|(id, entry)| (self.rank(id.owner()), entry.last));
        let oldest = oldest.map(|(id, _)| id.clone()).ok_or(Refusal::Full)?;
        self.sessions.remove(&oldest);
        self.counters.evicted += 1;
        Ok(())
    }

    /// How far an owner is trusted.
    fn rank(&self, owner: Owner) -> u8 {
        match owner {
            Owner::Host(_) => 0,
            Owner::Key(key) if self.trusted.contains(&key) => 2,
            Owner::Key(_) => 1,
        }
    }

    /// Removes the sessions that have expired and returns them: they were not announced for too long, or have ended by their
    /// description.
    pub fn expire(&mut self, now: Time) -> Vec<Entry> {
        let (count, epoch_s) = (self.sessions.len(), self.epoch_s);
        let is_over = |entry: &Entry| entry.expires(count, epoch_s) <= now;
        let expired: Vec<SessionId> =
            self.sessions.iter().filter(|(_, entry)| is_over(entry)).map(|(id, _)| id.clone()).collect();
        expired.iter().filter_map(|id| self.sessions.remove(id)).collect()
    }

    /// When the next session expires.
    pub fn deadline(&self) -> Option<Time> {
        self.sessions.values().map(|entry| entry.expires(self.sessions.len(), self.epoch_s)).min()
    }

    /// The session of a name.
    ///
    /// # Errors
    /// If there is none, or several.
    pub fn find(&self, name: &str) -> Result<&Entry, FindError> {
        let named: Vec<&Entry> = self.sessions().filter(|entry| entry.description.name == name).collect();
        match named[..] {
            [entry] => Ok(entry),
            [] => {
                let mut names: Vec<_> = self.sessions().map(|entry| entry.description.name.clone()).collect();
                names.sort();
                names.dedup();
                names.truncate(LISTED);
                Err(FindError::Unknown { name: name.to_owned(), names })
            }
            _ => {
                let lines = named.iter().filter_map(|entry| entry.url()).map(|url| url.to_string());
                Err(FindError::Ambiguous { name: name.to_owned(), lines: lines.take(LISTED).collect() })
            }
        }
    }

    /// The sessions that a rule wants.
    pub fn matching<'a>(&'a self, rule: &'a Rule) -> impl Iterator<Item = &'a Entry> {
        self.sessions().filter(|entry| rule.matches(&entry.description.name, entry.owner.key()))
    }

    /// All sessions, those of one owner next to each other.
    pub fn sessions(&self) -> impl Iterator<Item = &Entry> {
        self.sessions.values()
    }

    /// A session.
    pub fn get(&self, id: &SessionId) -> Option<&Entry> {
        self.sessions.get(id)
    }

    /// What was received since the start.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Seconds since 1900.
    fn ntp_s(&self, now: Time) -> u64 {
        self.epoch_s.saturating_add(now.as_ns() / 1_000_000_000)
    }
}
