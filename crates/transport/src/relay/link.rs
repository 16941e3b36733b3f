//! The link on which a relay sends on by multicast, as a router does: it reads reports of memberships there, queries, and sends
//! packets with the source's address as theirs. So joins by source, switches that snoop, and reports to the source work as
//! in native multicast. Raw sockets need CAP_NET_RAW.

use std::io::{IoSlice, Read as _};
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsFd as _, BorrowedFd};

use layercast_core::Always as _;
use layercast_core::contract::Ecn;
use layercast_core::units::Time;
use layercast_delivery::ip::{HEAD_MAX, write_head};
use layercast_delivery::node::Copies;
use layercast_delivery::relay::channels::ChannelSet;
use layercast_delivery::relay::local::{Local, LocalLimits};
use layercast_delivery::relay::session::{Prefix, SessionKey};
use socket2::{MsgHdr, Socket};

use super::sending::send;
use crate::error::Error;
use crate::event::LinkStatus;
use crate::host::{Interface, open_memberships, open_raw};

/// The time to live of packets, less one for each relay that they have come through (CHOICE): routers beyond the link forward them
/// as they do those of the source, and no circle of relays is endless.
const HOPS: u8 = 64;
/// The longest report that is read, and how many between two looks at the time.
const REPORT_MAX: usize = 9216;
const READS: usize = 256;

/// A link, with what it has of each version of IP.
#[derive(Debug)]
pub(super) struct Link {
    name: String,
    index: u32,
    sides: Vec<Side>,
    prefixes: Vec<Prefix>,
    /// A source on the link itself, of which an operator has been warned.
    warned: Option<IpAddr>,
    room: Vec<u8>,
}

/// A link by one version of IP.
#[derive(Debug)]
struct Side {
    is_v4: bool,
    machine: Local,
    reports: Socket,
    raw: Socket,
}

impl Link {
    /// Opens the sockets, for these sessions.
    ///
    /// # Errors
    /// [`Error::NoSuchInterface`], [`Error::NoPermission`], or what the system says.
    pub(super) fn open(name: &str, sessions: &[SessionKey], now: Time) -> Result<Link, Error> {
        let mut link = Link {
            name: name.to_owned(),
            index: 0,
            sides: Vec::new(),
            prefixes: Vec::new(),
            warned: None,
            room: vec![0; REPORT_MAX],
        };
        for is_v4 in [true, false] {
            let Some(session) = sessions.iter().find(|key| key.group.is_ipv4() == is_v4) else { continue };
            let (interface, prefixes) = Interface::of_link(name, !is_v4)?;
            let failed = |source| {
                let what = format!(
                    "read reports of {} and send packets of sources there, which takes the capability CAP_NET_RAW",
                    interface.name
                );
                Error::socket(what, session.group, source)
            };
            let reports = open_memberships(&interface, is_v4).map_err(failed)?;
            let raw = open_raw(&interface, is_v4).map_err(failed)?;
            let machine = Local::new(interface.address, sessions, LocalLimits::default(), now);
            link.sides.push(Side { is_v4, machine, reports, raw });
            (link.name, link.index, link.prefixes) = (interface.name, interface.index, prefixes);
        }
        Ok(link)
    }

    /// The number of its interface.
    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// The sockets of reports.
    pub(super) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.sides.iter().map(|side| side.reports.as_fd())
    }

    /// Reads what hosts report, ends what they no longer do, and queries. Returns what the link holds of each session, if that
    /// has changed.
    pub(super) fn work(&mut self, now: Time) -> Option<Vec<(SessionKey, ChannelSet)>> {
        let mut is_changed = false;
        let index = self.index;
        for side in &mut self.sides {
            for _ in 0..READS {
                let Ok(length) = (&side.reports).read(&mut self.room) else { break };
                side.machine
                    .receive(now, self.room.get(..length).always("a socket fills no more than the room"));
            }
            side.machine.expire(now);
            is_changed |= side.machine.take_changed();
            while let Some(query) = side.machine.poll(now) {
                let parts = [IoSlice::new(&query)];
                let Some(to) = destination(&query, index) else { continue };
                let to = to.into();
                let message = MsgHdr::new().with_addr(&to).with_buffers(&parts);
                if let Err(error) = send(&side.raw, &message, &mut 0) {
                    tracing::debug!(%error, link = %self.name, "a query was not sent");
                }
            }
        }
        is_changed.then(|| self.sides.iter().flat_map(|side| side.machine.held()).collect())
    }

    /// Whether packets from a source to a group go to the link: some host wants them, and they do not come from there.
    pub(super) fn wants(&mut self, group: IpAddr, source: IpAddr) -> bool {
        if self.prefixes.iter().any(|prefix| prefix.contains(source)) {
            if self.warned.replace(source) != Some(source) {
                tracing::warn!(%source, link = %self.name, "the source is on the link itself, so its packets are not sent on there");
            }
            return false;
        }
        let is_v4 = group.is_ipv4();
        self.sides.iter().any(|side| side.is_v4 == is_v4 && side.machine.wants(group, source))
    }

    /// Sends packets from their source to their group; how many were sent. Counts system calls.
    pub(super) fn send(&self, copies: &Copies, payloads: &[IoSlice<'_>], ecn: Ecn, calls: &mut u64) -> u64 {
        let (source, group, hops) = (copies.head.source, copies.group, copies.head.hops);
        let Some(side) = self.sides.iter().find(|side| side.is_v4 == group.is_ipv4()) else { return 0 };
        let to = address(group.ip(), self.index).into();
        let mut room = [0; HEAD_MAX];
        let hops = HOPS.saturating_sub(hops).max(1);
        // A relay does not know the source's port.
        let source = SocketAddr::new(source, group.port());
        let mut sent = 0;
        for payload in payloads {
            let Some(length) = write_head(source, group, hops, ecn, payload, &mut room) else { continue };
            let parts =
                [IoSlice::new(room.get(..length).always("a head fits its room")), IoSlice::new(payload)];
            let message = MsgHdr::new().with_addr(&to).with_buffers(&parts);
            match send(&side.raw, &message, calls) {
                Ok(()) => sent += 1,
                Err(error) => tracing::trace!(%error, %group, link = %self.name, "a packet was dropped"),
            }
        }
        sent
    }

    /// What it does now.
    pub(super) fn status(&self) -> LinkStatus {
        let counters =
            |of: fn(&Local) -> u64| -> u64 { self.sides.iter().map(|side| of(&side.machine)).sum() };
        LinkStatus {
            interface: self.name.clone(),
            hosts: self.sides.iter().map(|side| side.machine.hosts()).sum(),
            other_queriers: self.sides.iter().filter_map(|side| side.machine.other_querier()).collect(),
            reports: counters(|machine| machine.counters().reports),
            untracked: counters(|machine| machine.counters().untracked),
        }
    }
}

/// Where a raw socket sends: over IPv6 the port would be a protocol's number.
fn address(group: IpAddr, index: u32) -> SocketAddr {
    match group {
        IpAddr::V4(_) => SocketAddr::new(group, 0),
        IpAddr::V6(group) => SocketAddrV6::new(group, 0, 0, index).into(),
    }
}

/// The destination of a datagram.
fn destination(datagram: &[u8], index: u32) -> Option<SocketAddr> {
    let to = match datagram.first()? >> 4 {
        4 => IpAddr::from(*datagram.get(16..)?.first_chunk::<4>()?),
        _ => IpAddr::from(*datagram.get(24..)?.first_chunk::<16>()?),
    };
    Some(address(to, index))
}
