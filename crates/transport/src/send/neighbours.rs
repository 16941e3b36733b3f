//! Other senders on a source's group.

use std::net::{IpAddr, SocketAddr};

use layercast_core::units::Channel;
use socket2::SockRef;

use super::SendEvent;
use crate::host::{Clock, Inbox, Interface, PacketSocket, open_group};
use crate::notice::Notice;
use layercast_delivery::packet::View;
use layercast_delivery::session::Session;

/// The receive buffer: a sample of what is on the group is enough, and the source's own packets, which come back,
/// must cost little.
const BUFFER: usize = 32 << 10;
/// The part of a packet that is read: more than the longest LCT header.
const HEAD: usize = 256;
/// The maximum number of other senders that are named.
const NAMED_MAX: usize = 8;

/// A socket that is a member of the source's own group.
#[derive(Debug)]
pub(super) struct Neighbours {
    /// None where the group cannot be joined: then nothing is noticed.
    socket: Option<PacketSocket>,
    inbox: Inbox,
    group: SocketAddr,
    source: IpAddr,
    tsi: u32,
    named: Vec<IpAddr>,
}

impl Neighbours {
    pub(super) fn open(interface: &Interface, session: &Session) -> Neighbours {
        let socket = open_group(interface, session.group, None).and_then(|socket| {
            let small = SockRef::from(socket.as_udp()).set_recv_buffer_size(BUFFER);
            small.map(|()| socket).map_err(|error| crate::Error::socket("set a buffer", session.group, error))
        });
        Neighbours {
            socket: socket.inspect_err(|error| tracing::debug!(%error, "other senders are not noticed")).ok(),
            inbox: Inbox::new(HEAD),
            group: session.group,
            source: session.source,
            tsi: session.tsi,
            named: Vec::new(),
        }
    }

    /// Reads what has come, and reports each other sender once.
    pub(super) fn look(&mut self, clock: &Clock, say: &mut dyn FnMut(&SendEvent<'_>)) {
        let Some(socket) = &self.socket else { return };
        self.inbox.clear();
        if let Err(error) = self.inbox.drain(socket, Some(Channel(0)), clock) {
            tracing::debug!(%error, "the source's own group could not be read");
        }
        for index in 0..self.inbox.len() {
            let Some((datagram, bytes)) = self.inbox.get(index) else { break };
            let from = datagram.from.ip();
            let tsi = View::new(bytes).ok().and_then(|view| view.tsi());
            let is_own = from == self.source && tsi == Some(u64::from(self.tsi));
            if !is_own && self.named.len() < NAMED_MAX && !self.named.contains(&from) {
                self.named.push(from);
                let is_ours = tsi.is_some();
                say(&SendEvent::Notice(&Notice::OtherSender { from, group: self.group, is_ours }));
            }
        }
    }
}
