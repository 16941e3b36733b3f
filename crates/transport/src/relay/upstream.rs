//! From where a relay has the packets of a session: multicast of its network, or another relay.

use std::net::SocketAddr;

use layercast_core::units::{Channel, Duration};
use layercast_delivery::relay::session::SessionKey;

use super::server::Server;
use super::tunnel::{FeedbackPath, RelayTunnel};
use crate::error::Error;
use crate::host::{Clock, Groups, Inbox, Interface, PacketSocket, Tunnel as _};

/// The most sources of a session that feedback may go to.
const SOURCES_MAX: usize = 4;

/// The packets of a session.
#[derive(Debug)]
pub(super) struct Upstream {
    pub(super) key: SessionKey,
    pub(super) by: By,
    /// The addresses that sent packets of this session: where feedback may go.
    sources: Vec<SocketAddr>,
}

/// How they come.
#[derive(Debug)]
pub(super) enum By {
    Groups(Groups),
    Relay(Box<RelayTunnel>),
}

impl Upstream {
    /// Nothing is joined yet.
    pub(super) fn open(
        key: SessionKey,
        interface: Option<&str>,
        parents: &[SocketAddr],
    ) -> Result<Upstream, Error> {
        let by = if parents.is_empty() {
            By::Groups(Groups::new(Interface::find(interface, key.group)?, key.source))
        } else {
            let tunnel = RelayTunnel::open(key, parents, Duration::ZERO, FeedbackPath::Relay)?;
            By::Relay(Box::new(tunnel))
        };
        Ok(Upstream { key, by, sources: Vec::new() })
    }

    /// The socket of a channel, or of the tunnel.
    pub(super) fn socket(&self, channel: Channel) -> Option<&PacketSocket> {
        match &self.by {
            By::Groups(groups) => groups.socket(channel),
            By::Relay(tunnel) => Some(tunnel.socket()),
        }
    }

    /// Reads what waits, and forwards it.
    pub(super) fn read(
        &mut self,
        place: usize,
        channel: Channel,
        (inbox, clock): (&mut Inbox, &Clock),
        server: &mut Server,
    ) {
        inbox.clear();
        let of = matches!(self.by, By::Groups(_)).then_some(channel);
        if let Some(socket) = self.socket(channel)
            && let Err(error) = inbox.drain(socket, of, clock)
        {
            tracing::debug!(%error, "packets could not be read");
        }
        let mut hops = 0;
        if let By::Relay(tunnel) = &mut self.by {
            tunnel.work(inbox);
            hops = tunnel.hops();
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
                let source = first.from.ip();
                if self.key.source.is_none_or(|wanted| wanted == source) {
                    self.know(first.from);
                    let of = (hops + 1, channel, source);
                    server.forward(place, of, (next..next + count).filter_map(alike), first.ecn);
                }
            }
            next += count;
        }
    }

    /// One socket of each address is known: a program that sends on from another one is a source that was restarted.
    fn know(&mut self, source: SocketAddr) {
        if let Some(known) = self.sources.iter_mut().find(|known| known.ip() == source.ip()) {
            *known = source;
        } else if self.sources.len() < SOURCES_MAX {
            self.sources.push(source);
        }
    }

    /// Where a message is sent: to an address that sends packets of the session, and without a port to the one that they come
    /// from. None if it is to be dropped.
    pub(super) fn reach(&self, to: SocketAddr) -> Option<SocketAddr> {
        let known = self.sources.iter().find(|known| known.ip() == to.ip())?;
        Some(if to.port() == 0 { *known } else { to }).filter(|to| to.port() != 0)
    }
}
