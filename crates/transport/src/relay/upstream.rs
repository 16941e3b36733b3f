//! The sockets by which a relay has the packets of its sessions, and by which it sends what its children say.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;

use layercast_core::cannot_be;
use layercast_core::units::Channel;
use layercast_delivery::node::RelayOutput;
use layercast_delivery::relay::parent::Change;
use layercast_delivery::session::PACKET_BYTES;
use rustix::event::epoll::{self, EventData, EventFlags};

use super::server::Server;
use super::tunnel::for_socket;
use crate::error::Error;
use crate::event::Event;
use crate::host::{Groups, Inbox, Interface, PacketSocket, open_unicast, reaching};

/// The sockets of a session.
#[derive(Debug)]
enum Sockets {
    /// Of the groups that are joined.
    Groups(Groups),
    /// Towards the relay above.
    Relay(PacketSocket),
}

impl Sockets {
    /// The socket of a channel, or of all.
    fn of(&self, channel: Channel) -> Option<&PacketSocket> {
        match self {
            Sockets::Groups(groups) => groups.socket(channel),
            Sockets::Relay(socket) => Some(socket),
        }
    }
}

/// The sockets of all sessions.
#[derive(Debug)]
pub(super) struct Upstreams<'o> {
    interface: Option<&'o str>,
    parents: &'o [SocketAddr],
    epoll: OwnedFd,
    /// By the place of the session.
    sessions: BTreeMap<usize, Sockets>,
    /// For messages to sources, of both versions of IP.
    to_sources: [Option<UdpSocket>; 2],
    inbox: Inbox,
}

impl<'o> Upstreams<'o> {
    /// Sessions come from these relays, or are joined on this interface if there are none. `epoll` awaits the sockets.
    pub(super) fn new(
        interface: Option<&'o str>,
        parents: &'o [SocketAddr],
        epoll: OwnedFd,
    ) -> Upstreams<'o> {
        let bound = |any: IpAddr| {
            let socket = UdpSocket::bind((any, 0)).ok()?;
            socket.set_nonblocking(true).ok().map(|()| socket)
        };
        Upstreams {
            interface,
            parents,
            epoll,
            sessions: BTreeMap::new(),
            to_sources: [bound(Ipv4Addr::UNSPECIFIED.into()), bound(Ipv6Addr::UNSPECIFIED.into())],
            inbox: Inbox::new(*PACKET_BYTES.end() as usize),
        }
    }

    /// What awaits the sockets.
    pub(super) fn epoll(&self) -> &OwnedFd {
        &self.epoll
    }

    /// The port from which the relay above a session is asked.
    pub(super) fn port(&self, session: usize) -> Option<u16> {
        let Some(Sockets::Relay(socket)) = self.sessions.get(&session) else { return None };
        socket.as_udp().local_addr().ok().map(|address| address.port())
    }

    /// Carries out what the relay wants.
    pub(super) fn carry_out(&mut self, output: RelayOutput, on_event: &mut dyn FnMut(&Event)) {
        let sent = match output {
            RelayOutput::Channel(change) => {
                if self.parents.is_empty()
                    && let Err(error) = self.change(&change)
                {
                    tracing::warn!("a group could not be joined, so its children lack it: {error}");
                }
                return on_event(&Event::Channel(change));
            }
            RelayOutput::Close(session) => {
                // A socket that is closed is awaited no longer.
                self.sessions.remove(&session);
                return;
            }
            RelayOutput::Notice(notice) => return on_event(&Event::Notice(notice)),
            RelayOutput::ToRelay(session, to, message) => self.ask_relay(session, to, message.bytes()),
            RelayOutput::ToSource(to, message) => {
                let [v4, v6] = &self.to_sources;
                let socket = if to.is_ipv4() { v4 } else { v6 };
                socket.as_ref().map_or(Ok(0), |socket| socket.send_to(message.bytes(), to))
            }
            RelayOutput::ToChild(..) => return cannot_be("the server answers children itself"),
            RelayOutput::Heard(..) => return cannot_be("a relay has something above it"),
        };
        if let Err(error) = sent {
            tracing::debug!(%error, "a message to a relay or a source was not sent");
        }
    }

    /// Joins or leaves a group.
    fn change(&mut self, change: &Change) -> Result<(), Error> {
        let Change { session, key, channel, is_join } = *change;
        let Some(group) = key.address(channel) else { return Ok(()) };
        if !is_join {
            if let Some(Sockets::Groups(groups)) = self.sessions.get_mut(&session) {
                groups.leave(channel);
            }
            return Ok(());
        }
        let interface = self.interface;
        let sockets = self.sockets(session, || {
            let groups = Groups::new(Interface::find(interface, key.group)?, key.source);
            Ok(Sockets::Groups(groups))
        })?;
        if let Sockets::Groups(groups) = sockets {
            groups.join(channel, group)?;
        }
        self.watch(session, channel);
        Ok(())
    }

    /// Sends a message to the relay above, from the session's own socket.
    fn ask_relay(&mut self, session: usize, to: SocketAddr, message: &[u8]) -> io::Result<usize> {
        let any = reaching(self.parents.iter().chain([&to]));
        let is_new = !self.sessions.contains_key(&session);
        let open = || Ok(Sockets::Relay(open_unicast(any)?));
        let sent = match self.sockets(session, open) {
            Ok(Sockets::Relay(socket)) => socket.as_udp().send_to(message, for_socket(to, any.is_ipv6())),
            Ok(Sockets::Groups(..)) => Ok(0),
            Err(error) => {
                tracing::warn!("a session cannot be joined: {error}");
                return Ok(0);
            }
        };
        if is_new {
            self.watch(session, Channel(0));
        }
        sent
    }

    /// The sockets of a session, which are opened if need be.
    fn sockets(
        &mut self,
        session: usize,
        open: impl FnOnce() -> Result<Sockets, Error>,
    ) -> Result<&mut Sockets, Error> {
        Ok(match self.sessions.entry(session) {
            Entry::Occupied(sockets) => sockets.into_mut(),
            Entry::Vacant(place) => place.insert(open()?),
        })
    }

    fn watch(&self, session: usize, channel: Channel) {
        let Some(sockets) = self.sessions.get(&session) else { return };
        let Some(socket) = sockets.of(channel) else { return };
        let data = EventData::new_u64(token(session, channel));
        match epoll::add(&self.epoll, socket, data, EventFlags::IN) {
            // It is awaited already.
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => tracing::warn!(%error, "a group cannot be read"),
        }
    }

    /// Reads what waits at the socket with a token, and forwards it.
    pub(super) fn read(&mut self, token: u64, server: &mut Server) {
        let (session, channel) = of_token(token);
        let Some(sockets) = self.sessions.get(&session) else { return };
        let Some(socket) = sockets.of(channel) else { return };
        let is_native = matches!(sockets, Sockets::Groups(..));
        let inbox = &mut self.inbox;
        inbox.clear();
        if let Err(error) = inbox.drain(socket, is_native.then_some(channel), &server.clock()) {
            tracing::debug!(%error, "packets could not be read");
        }
        if !is_native {
            server.unwrap(session, inbox);
        }
        inbox.sort();
        let mut next = 0;
        while let Some((first, _)) = inbox.get(next) {
            let alike = |index: usize| {
                let (one, bytes) = inbox.get(index)?;
                let is_alike = (one.channel, one.from.ip(), one.ecn, one.cut)
                    == (first.channel, first.from.ip(), first.ecn, first.cut);
                is_alike.then_some(bytes)
            };
            let count = (next..inbox.len()).take_while(|index| alike(*index).is_some()).count().max(1);
            if let Some(channel) = first.channel.filter(|_| !first.cut) {
                let packets = (next..next + count).filter_map(alike);
                server.forward(session, channel, first.from, packets, first.ecn);
            }
            next += count;
        }
    }
}

/// The number by which the socket of a channel is awaited.
fn token(session: usize, channel: Channel) -> u64 {
    (session as u64) << 16 | u64::from(channel.0)
}

fn of_token(token: u64) -> (usize, Channel) {
    ((token >> 16) as usize, Channel(token as u16))
}
