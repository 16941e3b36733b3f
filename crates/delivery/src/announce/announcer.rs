//! When a source sends which announcement.
//!
//! The host gives it what was received on the group of announcements ([`Announcer::receive`]) and asks at the deadline what
//! to send ([`Announcer::poll`]), until the deadline is the end of time. The source's other sessions have announcers
//! of their own, which receive each other's packets.

use std::collections::BTreeMap;
use std::net::IpAddr;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

use super::interval::{Pace, lifetime};
use super::sap::{self, Kind, Message, Packet, SapError};
use super::sdp::{Description, SdpError};
use super::signature::Signer;

/// The most sessions that are counted. A flood of invented announcements can stretch the interval so far and no
/// further (RFC 2974, section 10, has no remedy): two hours for announcements of 600 bytes.
pub const COUNTED_MAX: usize = 4096;

/// How often the end of a session is announced, and how far apart: a deletion is never repeated later, so that it should
/// survive losses.
const DELETIONS: u8 = 3;
const BETWEEN_DELETIONS: Duration = Duration::from_secs(1);

/// Headers of IPv6 and UDP, which count towards the limit. The RFC counts the announcement alone; the link carries all.
const HEADERS: usize = 48;

/// Why a session cannot be announced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnounceError {
    /// The description cannot be written.
    #[error(transparent)]
    Sdp(#[from] SdpError),
    /// The packet cannot be written.
    #[error(transparent)]
    Sap(#[from] SapError),
}

/// Announces one session on one group.
#[derive(Debug)]
pub struct Announcer {
    host: IpAddr,
    pace: Pace,
    stream: Stream,
    current: Packets,
    /// Whether the present version was announced.
    is_announced: bool,
    /// The deletion of the version that was announced before the present one.
    superseded: Option<Vec<u8>>,
    /// Whether it is still to be sent.
    is_superseding: bool,
    /// Sessions of others by source and hash, and when they were last announced.
    others: BTreeMap<(IpAddr, u16), Time>,
    /// When the present version is no longer young.
    young_until: Time,
    /// The last announcement, or the start.
    sent: Time,
    /// The present draw: the share of the interval, -1/3 to 1/3, by which it is lengthened.
    offset: f64,
    deadline: Time,
    next: Next,
}

/// The packets of a version of the description.
#[derive(Debug)]
struct Packets {
    description: Description,
    hash: u16,
    announcement: Vec<u8>,
    deletion: Vec<u8>,
}

/// What is sent at the deadline.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Announcement,
    /// The deletion of the version before, once (RFC 2974, section 6). It follows the first announcement of the present
    /// version: the other way round listeners would have neither for a while.
    Superseded,
    /// Deletions of the present version, of which so many are left.
    Deletions(u8),
}

impl Packets {
    fn new(
        host: IpAddr,
        description: &Description,
        signer: Option<&dyn Signer>,
        before: Option<u16>,
    ) -> Result<Packets, AnnounceError> {
        let text = description.write()?;
        let mut hash = sap::message_hash(&text);
        if before == Some(hash) {
            // It must differ from that of the version before (RFC 2974, section 6).
            hash = hash.wrapping_add(1).max(1);
        }
        let write = |kind, payload| Message { kind, hash, origin: host, payload }.write(signer);
        Ok(Packets {
            description: description.clone(),
            hash,
            announcement: write(Kind::Announcement, &text)?,
            deletion: write(Kind::Deletion, &description.origin.line())?,
        })
    }
}

impl Announcer {
    /// Announces `description` from the address `host`. Nothing is sent at once: the first announcement follows the rule of
    /// all others, so that many that start together receive each other first.
    ///
    /// # Errors
    /// If the description cannot be announced.
    pub fn new(
        host: IpAddr,
        description: &Description,
        signer: Option<&dyn Signer>,
        pace: Pace,
        now: Time,
        stream: Stream,
    ) -> Result<Announcer, AnnounceError> {
        let mut announcer = Announcer {
            host,
            pace,
            stream,
            current: Packets::new(host, description, signer, None)?,
            is_announced: false,
            superseded: None,
            is_superseding: false,
            others: BTreeMap::new(),
            young_until: now + pace.young,
            sent: now,
            offset: 0.0,
            deadline: now,
            next: Next::Announcement,
        };
        announcer.schedule(now);
        Ok(announcer)
    }

    /// Counts an announcement that was received on the group.
    pub fn receive(&mut self, packet: &Packet<'_>, now: Time) {
        let id = (packet.origin, packet.hash);
        if id == (self.host, self.current.hash) {
            return;
        }
        match packet.kind {
            Kind::Deletion => {
                self.others.remove(&id);
            }
            Kind::Announcement if self.others.len() < COUNTED_MAX || self.others.contains_key(&id) => {
                self.others.insert(id, now);
            }
            Kind::Announcement => {}
        }
    }

    /// The session has changed: announces the new description, at first as often as one that is new. Nothing changes if the
    /// description is the same, or the session has ended.
    ///
    /// # Errors
    /// If the description cannot be announced; the old one remains.
    pub fn change(
        &mut self,
        description: &Description,
        signer: Option<&dyn Signer>,
        now: Time,
    ) -> Result<(), AnnounceError> {
        if matches!(self.next, Next::Deletions(_)) || description == &self.current.description {
            return Ok(());
        }
        let packets = Packets::new(self.host, description, signer, Some(self.current.hash))?;
        let old = core::mem::replace(&mut self.current, packets);
        // A version that nobody was sent needs no deletion; that of an earlier one may still be due.
        if self.is_announced {
            self.superseded = Some(old.deletion);
            self.is_superseding = true;
        }
        self.is_announced = false;
        self.young_until = now + self.pace.young;
        self.next = Next::Announcement;
        self.schedule(now);
        Ok(())
    }

    /// The session has ended: says so.
    pub fn finish(&mut self, now: Time) {
        if matches!(self.next, Next::Deletions(_)) {
            return;
        }
        let deletion = if self.is_announced {
            Some(core::mem::take(&mut self.current.deletion))
        } else {
            self.superseded.take()
        };
        // Listeners know nothing of a session that was never announced.
        self.next = Next::Deletions(if deletion.is_some() { DELETIONS } else { 0 });
        self.deadline = if deletion.is_some() { now } else { Time::MAX };
        self.current.deletion = deletion.unwrap_or_default();
    }

    /// When to call [`Announcer::poll`]; [`Time::MAX`] once the end of the session was announced.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// The packet to send now, if one is due. Call it until it returns none.
    pub fn poll(&mut self, now: Time) -> Option<&[u8]> {
        if now < self.deadline {
            return None;
        }
        match self.next {
            Next::Announcement => {
                let counted = lifetime(self.others.len() + 1, self.bytes(), None);
                self.others.retain(|_, last| now.since(*last) < counted);
                // Reconsideration (RFC 2974, section 3.1): sessions that were announced in the meantime defer this one. The
                // draw stays, or the shortest of many would be taken.
                self.deadline = self.due(now);
                if now < self.deadline {
                    return None;
                }
                (self.sent, self.is_announced) = (now, true);
                self.schedule(now);
                if core::mem::take(&mut self.is_superseding) {
                    (self.next, self.deadline) = (Next::Superseded, now);
                }
                Some(&self.current.announcement)
            }
            Next::Superseded => {
                self.next = Next::Announcement;
                self.deadline = self.due(now);
                self.superseded.as_deref()
            }
            Next::Deletions(left) => {
                self.next = Next::Deletions(left.saturating_sub(1));
                self.deadline = if left > 1 { now + BETWEEN_DELETIONS } else { Time::MAX };
                (left > 0).then_some(&self.current.deletion[..])
            }
        }
    }

    /// Draws the next time.
    fn schedule(&mut self, now: Time) {
        self.offset = self.stream.uniform_in(-1.0 / 3.0, 1.0 / 3.0);
        self.deadline = self.due(now);
    }

    /// When the next announcement is due, by what is known now.
    fn due(&self, now: Time) -> Time {
        let interval = self.pace.interval(self.others.len() + 1, self.bytes(), now < self.young_until);
        self.sent + interval.scaled(1.0 + self.offset)
    }

    /// What an announcement takes on the link.
    fn bytes(&self) -> usize {
        self.current.announcement.len() + HEADERS
    }
}
