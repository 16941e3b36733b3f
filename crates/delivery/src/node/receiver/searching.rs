//! The search for a session: from packets on the base channel to a description that the keys fit.

use std::net::{IpAddr, SocketAddr};

use layercast_core::family::Family;
use layercast_core::units::{Duration, Time};

use super::evidence::Evidence;
use super::settings::ReceiverSettings;
use crate::accept::{AcceptCounters, Accepted, accept};
use crate::listing::InstanceError;
use crate::node::error::{ReceiveError, reasons};
use crate::node::{Datagram, Feedback, LevelDemand};
use crate::notice::Notice;
use crate::packet::{Demand, View};
use crate::search::{FoundSession, Known, Search, SearchError};
use crate::security::any_session::AnySession;
use crate::security::feedback::FeedbackMac;
use crate::security::protection::seems_encrypted;
use crate::session::Session;

/// Another session is asked for its layers only when the first is silent for so long: what is forged gets few messages.
const SILENT: Duration = Duration::from_secs(5);

/// A session from which packets come.
#[derive(Clone, Copy, Debug)]
struct Heard {
    from: SocketAddr,
    tsi: u32,
    at: Time,
}

/// A search.
#[derive(Debug)]
pub(super) struct Searching {
    search: Search,
    /// When it began.
    pub(super) since: Time,
    counters: AcceptCounters,
    evidence: Evidence,
    forged: u64,
    /// That a session was passed over was said, for this reason.
    warned: Option<String>,
    /// A source that sends next to nothing, since it hears nobody, is asked for its layers: a long table would take it hours.
    demand: LevelDemand,
    heard: Option<Heard>,
}

impl Searching {
    /// A search; a session `not` is passed over.
    pub(super) fn new(
        now: Time,
        settings: &ReceiverSettings,
        not: Option<(IpAddr, u32)>,
        seed: u64,
    ) -> Searching {
        Searching {
            search: Search::new(settings.known.clone(), settings.keys.clone(), not),
            since: now,
            counters: AcceptCounters::default(),
            evidence: Evidence::default(),
            forged: 0,
            warned: None,
            demand: LevelDemand::new(seed),
            heard: None,
        }
    }

    /// A datagram of the base channel, with a check if there is a group key. The session, if its table is here.
    pub(super) fn packet<F: Family>(
        &mut self,
        settings: &ReceiverSettings,
        check: Option<&mut AnySession>,
        datagram: &Datagram,
        bytes: &mut [u8],
        notice: &mut dyn FnMut(Notice),
    ) -> Option<FoundSession> {
        let (now, from) = (datagram.at, datagram.incoming.from);
        if settings.known.source().is_some_and(|source| source != from.ip()) {
            self.counters.other_source += 1;
            return None;
        }
        let of = match &settings.known {
            Known::Group(..) | Known::Flute(_) => None,
            Known::Session(session) => Some((session.source, session.tsi)),
        };
        // Packets of other sessions are counted as such below.
        if of.is_none_or(|(_, tsi)| tsi_of(bytes) == Some(tsi))
            && !self.is_readable(now, settings, check, bytes)
        {
            return None;
        }
        let packet: Accepted<'_, F::Header> = accept(datagram.incoming, bytes, of, &mut self.counters)?;
        if self.search.not() != Some((from.ip(), packet.repr.tsi)) {
            self.hear(now, from, &packet);
        }
        match self.search.packet::<F::Protocol>(from.ip(), &packet.repr, packet.payload)? {
            Ok(found) => Some(found),
            Err(error) => {
                self.counters.malformed += 1;
                if let SearchError::Table(InstanceError::Untrusted(reason)) = error {
                    self.evidence.untrusted(now, reason);
                }
                notice(Notice::TableRejected { from: from.ip(), reason: error.to_string() });
                None
            }
        }
    }

    /// Whether a packet is authentic, and then decrypted, as far as there is a key.
    fn is_readable(
        &mut self,
        now: Time,
        settings: &ReceiverSettings,
        check: Option<&mut AnySession>,
        bytes: &mut [u8],
    ) -> bool {
        let Some(check) = check else {
            let is_encrypted = seems_encrypted(bytes);
            if is_encrypted {
                self.evidence.unreadable(now);
            }
            return !is_encrypted;
        };
        match check.accept(bytes) {
            Ok(()) => self.evidence.authentic(),
            Err(reason) => {
                self.forged += 1;
                if settings.salt().is_none() && seems_encrypted(bytes) {
                    self.evidence.unreadable(now);
                } else {
                    self.evidence.rejected(now, reason);
                }
                return false;
            }
        }
        true
    }

    fn hear<H>(&mut self, now: Time, from: SocketAddr, packet: &Accepted<'_, H>) {
        if packet.repr.known_level.is_none() {
            return;
        }
        let tsi = packet.repr.tsi;
        match self.heard {
            Some(heard) if (heard.from, heard.tsi) == (from, tsi) => {}
            Some(heard) if now.since(heard.at) < SILENT => return,
            _ => self.demand.restart(),
        }
        self.heard = Some(Heard { from, tsi, at: now });
        self.demand.heard(now, &packet.repr);
    }

    /// What is to be said to a source, if that is due.
    pub(super) fn take_demand(
        &mut self,
        now: Time,
        settings: &ReceiverSettings,
    ) -> Option<(Feedback, SocketAddr)> {
        let Heard { from, tsi, .. } = self.heard?;
        let level = self.demand.take_due(now)?;
        let mac = settings.group_key.as_ref().map(|key| FeedbackMac::new(key, tsi));
        // Packets of a session come from the port that takes its feedback.
        Some((Feedback::new(mac.as_ref(), &Demand { tsi, level, lost: 0 }.to_bytes())?, from))
    }

    /// Once: whether the source does not know of this receiver.
    pub(super) fn take_unheard(&mut self) -> bool {
        self.demand.take_unheard()
    }

    /// More tables may be read: called about twice a second.
    pub(super) fn refill(&mut self) {
        self.search.refill();
    }

    /// What is wrong with the session that is there, if that has been seen for long enough.
    pub(super) fn refused(&self, now: Time, settings: &ReceiverSettings) -> Option<ReceiveError> {
        self.evidence.error(now, settings.group_key.as_ref(), &settings.keys)
    }

    /// A reason to pass a session over, once.
    pub(super) fn take_new_reason(&mut self, reason: String) -> Option<String> {
        let is_new = self.warned.as_ref() != Some(&reason);
        is_new.then(|| self.warned.insert(reason).clone())
    }

    /// That nothing came that can be received, for so long.
    pub(super) fn silence(&self, group: SocketAddr, waited: Duration) -> ReceiveError {
        let reasons = reasons(&self.counters, self.forged, false);
        ReceiveError::Silent { group, waited: waited.into(), reasons }
    }

    /// When there is something to do, if nothing comes.
    pub(super) fn deadline(&self) -> Option<Time> {
        let demand = self.heard.and_then(|_| self.demand.deadline());
        demand.into_iter().chain(self.evidence.deadline()).min()
    }

    /// How many packets the group key has authenticated.
    pub(super) fn authentic(&self) -> u64 {
        self.evidence.authentic_packets()
    }

    /// What the source was asked for, for the receiver of the session that was found.
    pub(super) fn into_demand(self) -> LevelDemand {
        self.demand
    }
}

/// The session number of a packet.
fn tsi_of(bytes: &[u8]) -> Option<u32> {
    View::new(bytes).ok().and_then(|view| view.tsi()).and_then(|tsi| u32::try_from(tsi).ok())
}

/// Whether the receiver has the key that the session names, or no key where it names none.
pub(super) fn check_key(settings: &ReceiverSettings, session: &Session) -> Result<(), ReceiveError> {
    let Some(fingerprint) = &session.group_key else {
        return if settings.group_key.is_some() { Err(ReceiveError::NotAuthenticated) } else { Ok(()) };
    };
    let reason = match &settings.group_key {
        None => "give it with --group-key FILE".to_owned(),
        Some(key) => match key.check(fingerprint) {
            Ok(()) => return Ok(()),
            Err(error) => error.to_string(),
        },
    };
    Err(ReceiveError::GroupKey { fingerprint: fingerprint.clone(), reason })
}
