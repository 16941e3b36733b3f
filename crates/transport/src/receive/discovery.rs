//! Discovery of a session from a group's address, by the file delivery table on the base channel.

use std::net::{IpAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use layercast_core::units::Channel;
use layercast_delivery::accept::{AcceptCounters, accept};
use layercast_delivery::packet::View;
use layercast_delivery::search::{FoundSession, Known, Search};
use layercast_delivery::security::keys::GroupKey;
use layercast_delivery::security::protection::Incoming;
use layercast_delivery::session::{PACKET_BYTES, Session, is_usable_group};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::{ReceiveEvent, ReceiveOptions};
use crate::error::Error;
use crate::host::{Clock, Inbox, Interface, open_group};
use crate::notice::Notice;

/// The maximum number of sessions whose packets are checked at the same time.
const CHECKS_MAX: usize = 8;
/// The interval of checks for an interruption by the user.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A session and its base channel.
pub(super) struct Found {
    pub(super) session: FoundSession,
    /// The base channel's socket, joined.
    pub(super) base: UdpSocket,
}

/// Joins the base channel and waits for the table of a session, for as long as `patience`. A session `not` is passed
/// over.
pub(super) fn find(
    options: &ReceiveOptions,
    interface: &Interface,
    not: Option<(IpAddr, u32)>,
    patience: Duration,
    stop: &AtomicBool,
    begin: Instant,
    say: &mut dyn FnMut(&ReceiveEvent<'_>),
) -> Result<Found, Error> {
    let (group, source) = (options.known.group(), options.known.source());
    if !is_usable_group(group.ip()) {
        return Err(Error::WrongGroup { address: group.ip(), layers: 1 });
    }
    let base = open_group(interface, group, source)?;
    let of = match &options.known {
        Known::Group(..) | Known::Flute(_) => None,
        Known::Session(session) => Some((session.source, session.tsi)),
    };
    let mut search = Search::new(options.known.clone(), not);
    let mut counters = AcceptCounters::default();
    let (mut checks, mut forged) = (Vec::new(), 0u64);
    let clock = Clock::default();
    let mut inbox = Inbox::new(*PACKET_BYTES.end() as usize);
    let waited = Instant::now();
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if let Some(after) = options.within.filter(|&within| begin.elapsed() >= within) {
            return Err(Error::TimeOver { after, held: 0, needed: 0 });
        }
        if waited.elapsed() >= patience {
            let mut reasons = reasons(&counters, false);
            if forged > 0 {
                reasons = format!(
                    "There were {forged} packets that the group key does not authenticate: has the sender another one, or none?"
                );
            }
            return Err(Error::Silent { group, waited: patience, reasons });
        }
        let mut waits = [PollFd::new(base.as_fd(), PollFlags::POLLIN)];
        if ppoll(&mut waits, Some(TimeSpec::from(LOOK_EVERY)), None).unwrap_or(0) == 0 {
            continue;
        }
        inbox.clear();
        inbox
            .drain(&base, Some(Channel(0)), &clock)
            .map_err(|error| Error::socket("read from the group", group, error.into()))?;
        for index in 0..inbox.len() {
            let Some((datagram, bytes)) = inbox.get_mut(index) else { break };
            let from = datagram.from.ip();
            if source.is_some_and(|source| source != from) {
                counters.other_source += 1;
                continue;
            }
            if let Some(key) = &options.group_key
                && !is_authentic(key, &mut checks, bytes)
            {
                forged += 1;
                continue;
            }
            let Some(packet) = accept(datagram.incoming(), bytes, of, &mut counters) else { continue };
            match search.packet(from, &packet.repr, packet.payload) {
                None => {}
                Some(Ok(session)) => {
                    check_key(options, &session.session)?;
                    return Ok(Found { session, base });
                }
                Some(Err(error)) => {
                    counters.malformed += 1;
                    say(&ReceiveEvent::Notice(&Notice::TableRejected { from, reason: error.to_string() }));
                }
            }
        }
    }
}

/// Whether the group key authenticates a packet. `checks` are those of the sessions that were seen.
fn is_authentic(key: &GroupKey, checks: &mut Vec<(u32, Incoming)>, bytes: &mut [u8]) -> bool {
    let Some(tsi) = View::new(bytes).ok().and_then(|view| view.tsi()).and_then(|tsi| u32::try_from(tsi).ok())
    else {
        return false;
    };
    let place = checks.iter().position(|(of, _)| *of == tsi).unwrap_or_else(|| {
        if checks.len() >= CHECKS_MAX {
            checks.remove(0);
        }
        checks.push((tsi, Incoming::by_mac(key, tsi)));
        checks.len() - 1
    });
    checks.get_mut(place).is_some_and(|(_, check)| check.accept(bytes).is_ok())
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
pub(super) fn reasons(counters: &AcceptCounters, began: bool) -> String {
    let mut seen = Vec::new();
    let mut say = |count: u64, what: &str| {
        if count > 0 {
            seen.push(format!("{count} {what}"));
        }
    };
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
        return "The source may have stopped without announcing it, or the path to it may be broken"
            .to_owned();
    }
    "Likely reasons: the source is not sending, or to another group or port; this is the wrong interface; \
     a firewall drops UDP; or no router forwards the group here (on a snooping switch without a querier \
     a group also stays silent)"
        .to_owned()
}
