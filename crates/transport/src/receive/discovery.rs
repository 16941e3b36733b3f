//! Discovery of a session from a group's address, by the file delivery table on the base channel.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use layercast_core::units::{self, Channel, Time};
use layercast_core::wire::MAX_REPORT;
use layercast_delivery::accept::{AcceptCounters, Accepted, accept};
use layercast_delivery::listing::InstanceError;
use layercast_delivery::node::LevelDemand;
use layercast_delivery::packet::{Demand, View};
use layercast_delivery::search::{FoundSession, Known, Search, SearchError};
use layercast_delivery::security::any_session::AnySession;
use layercast_delivery::security::feedback::{FeedbackMac, TAG_BYTES};
use layercast_delivery::security::protection::seems_encrypted;
use layercast_delivery::session::{PACKET_BYTES, Session, is_usable_group};

use super::evidence::Evidence;
use super::{ReceiveEvent, ReceiveOptions};
use crate::error::Error;
use crate::host::{Access, Clock, Inbox, Interface, open_reports, until};
use crate::notice::Notice;
use crate::random_seed;

/// The interval of checks for an interruption by the user.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The interval in which a search reads so many tables and no more.
const REFILL_EVERY: Duration = Duration::from_millis(500);
/// Another session is asked for its layers only when the first is silent for so long: what is forged gets few messages.
const SILENT: units::Duration = units::Duration::from_secs(5);

/// A session and its base channel.
pub(super) struct Found {
    pub(super) session: FoundSession,
    /// How its packets come. The base channel is joined.
    pub(super) access: Access,
    /// What the source was asked for meanwhile.
    pub(super) demand: LevelDemand,
}

/// Joins the base channel and waits for the table of a session, for as long as `patience`. A session `not` is passed
/// over.
pub(super) fn find(
    options: &ReceiveOptions,
    mut access: Access,
    interface: &Interface,
    not: Option<(IpAddr, u32)>,
    patience: Duration,
    (stop, begin): (&AtomicBool, Instant),
    say: &mut dyn FnMut(&ReceiveEvent<'_>),
) -> Result<Found, Error> {
    let (group, source) = (options.known.group(), options.known.source());
    if !is_usable_group(group.ip()) {
        return Err(Error::WrongGroup { address: group.ip(), layers: 1 });
    }
    access.join(Channel(0), group)?;
    let of = match &options.known {
        Known::Group(..) | Known::Flute(_) => None,
        Known::Session(session) => Some((session.source, session.tsi)),
    };
    if let Known::Session(session) = &options.known {
        check_key(options, session)?;
    }
    let mut search = Search::new(options.known.clone(), options.keys.as_slice().into(), not);
    let mut counters = AcceptCounters::default();
    let (mut evidence, salt, mut forged) = (Evidence::default(), options.salt(), 0u64);
    let has_keys = options.group_key.is_some() || !options.keys.is_empty();
    let mut warned = None;
    let mut check = options.group_key.clone().map(|key| AnySession::new(key, salt));
    let clock = Clock::default();
    let mut inbox = Inbox::new(*PACKET_BYTES.end() as usize);
    let waited = Instant::now();
    let mut refilled = waited;
    let mut wake = Wake::new(options, open_reports(interface, group)?);
    loop {
        if refilled.elapsed() >= REFILL_EVERY {
            refilled = Instant::now();
            search.refill();
        }
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if let Some(after) = options.within.filter(|&within| begin.elapsed() >= within) {
            return Err(Error::TimeOver { after, held: 0, needed: 0 });
        }
        let refused = evidence.error(options);
        if waited.elapsed() >= patience {
            let reasons = reasons(&counters, forged, false);
            return Err(refused.unwrap_or(Error::Silent { group, waited: patience, reasons }));
        }
        match refused {
            // Anyone can send what does not fit the keys that are given: their session may still come.
            Some(error) if has_keys => {
                let reason = error.to_string();
                if warned.as_ref() != Some(&reason) {
                    say(&ReceiveEvent::Notice(&Notice::PassedOver { group, reason: reason.clone() }));
                    warned = Some(reason);
                }
            }
            Some(error) => return Err(error),
            None => {}
        }
        wake.look(&access, &clock, say);
        access.wait(
            &mut inbox,
            &clock,
            LOOK_EVERY.min(until(clock.now(), wake.demand.deadline().unwrap_or(Time::MAX))),
        );
        while let Some(notice) = access.take_notice() {
            say(&ReceiveEvent::Notice(&notice));
        }
        for index in 0..inbox.len() {
            let Some((datagram, bytes)) = inbox.get_mut(index) else { break };
            let from = datagram.from.ip();
            if source.is_some_and(|source| source != from) {
                counters.other_source += 1;
                continue;
            }
            // Packets of other sessions are counted as such below.
            if of.is_none_or(|(_, tsi)| tsi_of(bytes) == Some(tsi)) {
                match &mut check {
                    None if seems_encrypted(bytes) => {
                        evidence.unreadable();
                        continue;
                    }
                    None => {}
                    Some(check) => match check.accept(bytes) {
                        Ok(()) => evidence.authentic(),
                        Err(reason) => {
                            forged += 1;
                            if salt.is_none() && seems_encrypted(bytes) {
                                evidence.unreadable();
                            } else {
                                evidence.rejected(reason);
                            }
                            continue;
                        }
                    },
                }
            }
            let Some(packet) = accept(datagram.incoming(), bytes, of, &mut counters) else { continue };
            if not != Some((from, packet.repr.tsi)) {
                wake.heard(datagram.from, &clock, &packet);
            }
            match search.packet(from, &packet.repr, packet.payload) {
                None => {}
                Some(Ok(session)) => {
                    check_key(options, &session.session)?;
                    return Ok(Found { session, access, demand: wake.demand });
                }
                Some(Err(error)) => {
                    counters.malformed += 1;
                    if let SearchError::Table(InstanceError::Untrusted(reason)) = error {
                        evidence.untrusted(reason);
                    }
                    say(&ReceiveEvent::Notice(&Notice::TableRejected { from, reason: error.to_string() }));
                }
            }
        }
    }
}

/// Asks a source that sends next to nothing, since it hears nobody, for its layers: a long table would take it hours.
struct Wake<'o> {
    options: &'o ReceiveOptions,
    demand: LevelDemand,
    /// Where the session comes from, its number, and when it was heard last.
    of: Option<(SocketAddr, u32, Time)>,
    reports: UdpSocket,
}

impl<'o> Wake<'o> {
    fn new(options: &'o ReceiveOptions, reports: UdpSocket) -> Wake<'o> {
        Wake { options, demand: LevelDemand::new(random_seed()), of: None, reports }
    }

    fn heard(&mut self, from: SocketAddr, clock: &Clock, packet: &Accepted<'_>) {
        if packet.repr.known_level.is_none() {
            return;
        }
        let (now, tsi) = (clock.now(), packet.repr.tsi);
        match self.of {
            Some((at, number, _)) if (at, number) == (from, tsi) => {}
            Some((.., heard)) if now.since(heard) < SILENT => return,
            _ => self.demand = LevelDemand::new(random_seed()),
        }
        self.of = Some((from, tsi, now));
        self.demand.heard(now, &packet.repr);
    }

    fn look(&mut self, access: &Access, clock: &Clock, say: &mut dyn FnMut(&ReceiveEvent<'_>)) {
        let Some((to, tsi, _)) = self.of else { return };
        if let Some(level) = self.demand.take_due(clock.now()) {
            let mac = self.options.group_key.as_ref().map(|key| FeedbackMac::new(key, tsi));
            let mut room = [0; MAX_REPORT + TAG_BYTES];
            let demand = Demand { tsi, level, lost: 0 }.to_bytes();
            let protected =
                mac.as_ref().map_or(Some(demand.as_slice()), |mac| mac.protect(&demand, &mut room));
            let message = protected.unwrap_or_default();
            // Packets of a session come from the port that takes its feedback.
            let sent = access.send_feedback(message, to);
            if let Err(error) = sent.unwrap_or_else(|| self.reports.send_to(message, to).map(|_| ())) {
                tracing::debug!(%error, "a demand was not sent");
            }
        }
        if self.demand.take_unheard() {
            say(&ReceiveEvent::Notice(&Notice::NotHeard));
        }
    }
}

/// The session number of a packet.
fn tsi_of(bytes: &[u8]) -> Option<u32> {
    View::new(bytes).ok().and_then(|view| view.tsi()).and_then(|tsi| u32::try_from(tsi).ok())
}

/// Whether the receiver has the key that the session names, or no key where it names none.
fn check_key(options: &ReceiveOptions, session: &Session) -> Result<(), Error> {
    let Some(fingerprint) = &session.group_key else {
        return if options.group_key.is_some() { Err(Error::NotAuthenticated) } else { Ok(()) };
    };
    let reason = match &options.group_key {
        None => "give it with --group-key FILE".to_owned(),
        Some(key) => match key.check(fingerprint) {
            Ok(()) => return Ok(()),
            Err(error) => error.to_string(),
        },
    };
    Err(Error::GroupKey { fingerprint: fingerprint.clone(), reason })
}

/// Why no valid packet arrived, from the packets that did.
pub(super) fn reasons(counters: &AcceptCounters, forged: u64, began: bool) -> String {
    let mut seen = Vec::new();
    let mut say = |count: u64, what: &str| {
        if count > 0 {
            seen.push(format!("{count} {what}"));
        }
    };
    say(forged, "packets that the group key does not authenticate (has the sender another one, or none?)");
    say(counters.other_session, "packets of another session (was the source restarted?)");
    say(counters.other_source, "packets from another source");
    say(counters.malformed, "packets of another format (does another program use this group and port?)");
    say(counters.misplaced, "packets on the wrong group");
    if !began {
        say(counters.packets, "packets of a session without a usable file delivery table");
    }
    if !seen.is_empty() {
        return format!("There were {}", seen.join(", "));
    }
    if began {
        return "The source may have stopped without announcing it, the path to it may be broken, or it may have another \
                address now, which a receiver that was given the old one (--source, a URL) does not follow"
            .to_owned();
    }
    "Likely reasons: the source is not sending, or to another group or port; this is the wrong interface; \
     a firewall drops UDP; or no router forwards the group here (on a snooping switch without a querier \
     a group also stays silent)"
        .to_owned()
}
