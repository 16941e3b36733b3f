//! Discovery of a session from a group's address, by the file delivery table on the base layer.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use layercast_core::units::Channel;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::{Known, ReceiveEvent, ReceiveOptions};
use crate::error::Error;
use crate::host::{Clock, Datagram, Inbox, Interface, ReceiverCounters, accept, open_group};
use crate::notice::Notice;
use layercast_delivery::object::{TOI_TABLE, Table, TableReader};
use layercast_delivery::session::{PACKET_BYTES, Session, is_usable_group};

/// The maximum number of sources whose tables are reassembled at the same time. Others are ignored.
const SOURCES_MAX: usize = 8;

/// The interval of checks for an interruption by the user.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A session and its file.
pub(super) struct Found {
    pub(super) session: Session,
    pub(super) table: Table,
    /// The base layer's socket, joined.
    pub(super) base: UdpSocket,
    /// The source of source-specific joins.
    pub(super) join_source: Option<Ipv4Addr>,
}

/// Joins the base layer and waits for the table.
pub(super) fn find(
    options: &ReceiveOptions,
    interface: &Interface,
    stop: &AtomicBool,
    begin: Instant,
    say: &mut dyn FnMut(&ReceiveEvent<'_>),
) -> Result<Found, Error> {
    let (group, source) = match &options.known {
        Known::Group(group, source) => (*group, *source),
        Known::Session(session) => (session.group, Some(session.source)),
    };
    if !is_usable_group(*group.ip()) {
        return Err(Error::WrongGroup { address: *group.ip(), layers: 1 });
    }
    let base = open_group(interface, group, source)?;
    let mut search = Search {
        options,
        group,
        source,
        tables: Vec::new(),
        rejected: Vec::new(),
        counters: ReceiverCounters::default(),
    };
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
        if waited.elapsed() >= options.start_within {
            let reasons = reasons(&search.counters, false);
            return Err(Error::Silent { group, waited: options.start_within, reasons });
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
            let Some((datagram, bytes)) = inbox.get(index) else { break };
            if let Some((session, table)) = search.inspect(&datagram, bytes, say) {
                return Ok(Found { session, table, base, join_source: source });
            }
        }
    }
}

struct Search<'a> {
    options: &'a ReceiveOptions,
    group: SocketAddrV4,
    source: Option<Ipv4Addr>,
    tables: Vec<((Ipv4Addr, u32), TableReader)>,
    /// Where tables that cannot be used came from.
    rejected: Vec<Ipv4Addr>,
    counters: ReceiverCounters,
}

impl Search<'_> {
    /// Inspects a packet; returns the session when its table is complete and consistent with it.
    fn inspect(
        &mut self,
        datagram: &Datagram,
        bytes: &[u8],
        say: &mut dyn FnMut(&ReceiveEvent<'_>),
    ) -> Option<(Session, Table)> {
        let from = *datagram.from.ip();
        if self.source.is_some_and(|source| source != from) {
            self.counters.other_source += 1;
            return None;
        }
        let known = match &self.options.known {
            Known::Group(..) => None,
            Known::Session(session) => Some((session.source, session.tsi)),
        };
        let packet = accept(datagram, bytes, known, &mut self.counters)?;
        let (TOI_TABLE, Some(fdt), Some(fti)) = (packet.repr.toi, packet.repr.fdt, packet.repr.fti) else {
            return None;
        };
        let key = (from, packet.repr.tsi);
        if !self.tables.iter().any(|(of, _)| *of == key) && self.tables.len() < SOURCES_MAX {
            self.tables.push((key, TableReader::default()));
        }
        let (_, reader) = self.tables.iter_mut().find(|(of, _)| *of == key)?;
        let table = reader.insert(fdt, fti, packet.payload)?;
        match fitting(&self.options.known, self.group, table, key) {
            Ok(found) => Some(found),
            Err(error) => {
                self.counters.malformed += 1;
                // It is repeated every second.
                if self.rejected.len() < SOURCES_MAX && !self.rejected.contains(&from) {
                    self.rejected.push(from);
                    let notice = Notice::TableRejected { from, reason: error.to_string() };
                    say(&ReceiveEvent::Notice(&notice));
                }
                None
            }
        }
    }
}

/// A table and its session, if they are consistent with the packets that carried them.
fn fitting(
    known: &Known,
    group: SocketAddrV4,
    table: &[u8],
    (from, tsi): (Ipv4Addr, u32),
) -> Result<(Session, Table), Error> {
    let table = Table::from_xml(table)?;
    let session: Session = match known {
        Known::Session(session) => (**session).clone(),
        Known::Group(..) => table.session.parse()?,
    };
    let mismatch = |what: String| Err(layercast_delivery::session::SessionError::Mismatch(what).into());
    if session.source != from {
        return mismatch(format!("it names the source {}, but came from {from}", session.source));
    }
    if session.group != group || session.tsi != tsi {
        return mismatch(format!("it is of another session: {} on {}", session.tsi, session.group));
    }
    // A symbol that does not fit a packet could never be received.
    if table.oti.symbol_size() > session.packet.as_bytes() as usize {
        return mismatch("its symbols are longer than its packets".to_owned());
    }
    Ok((session, table))
}

/// Why no valid packet arrived, from the packets that did.
pub(super) fn reasons(counters: &ReceiverCounters, began: bool) -> String {
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
