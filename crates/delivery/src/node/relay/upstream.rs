//! The packets of a relay's session: from whom they come, and who may be sent messages.

use std::net::SocketAddr;

use crate::relay::child::Child;
use crate::relay::session::SessionKey;

/// The most sources of a session that messages may go to.
const SOURCES_MAX: usize = 4;

/// The packets of a session.
#[derive(Debug)]
pub(super) struct Upstream {
    pub(super) key: SessionKey,
    /// The relay above; none if packets come by multicast.
    pub(super) child: Option<Child>,
    /// Through how many relays the last packet has come.
    pub(super) hops: u8,
    /// The addresses that sent packets of this session: where messages may go.
    sources: Vec<SocketAddr>,
}

impl Upstream {
    /// Nothing is joined yet.
    pub(super) fn new(key: SessionKey, child: Option<Child>) -> Upstream {
        Upstream { key, child, hops: 0, sources: Vec::with_capacity(SOURCES_MAX) }
    }

    /// A packet of a source came. Through how many relays; none if it is not of this session.
    ///
    /// One socket of each address is known: a program that sends on from another one is a source that was restarted.
    pub(super) fn know(&mut self, source: SocketAddr) -> Option<u8> {
        if self.key.source.is_some_and(|wanted| wanted != source.ip()) {
            return None;
        }
        if let Some(known) = self.sources.iter_mut().find(|known| known.ip() == source.ip()) {
            *known = source;
        } else if self.sources.len() < SOURCES_MAX {
            self.sources.push(source);
        }
        Some(self.hops)
    }

    /// Where a message is sent: to an address that sends packets of the session, and without a port to the one that they come
    /// from. None if it is to be dropped.
    pub(super) fn reach(&self, to: SocketAddr) -> Option<SocketAddr> {
        let known = self.sources.iter().find(|known| known.ip() == to.ip())?;
        Some(if to.port() == 0 { *known } else { to }).filter(|to| to.port() != 0)
    }
}
