//! The tunnel between a receiver, or a relay, and the relay above it.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration as StdDuration;

use layercast_core::Always as _;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::relay::child::{Child, LinkReport};
use layercast_delivery::relay::message::{Data, MESSAGE_MAX};
use layercast_delivery::relay::session::SessionKey;

use crate::error::Error;
use crate::host::{Clock, Inbox, PacketSocket, Tunnel, Unwrapped, open_unicast, reaching, until};
use crate::notice::Notice;
use crate::random_secret;

/// The longest time without work.
const REST_MAX: StdDuration = StdDuration::from_secs(1);

/// What comes from a relay so long after a round-trip time may have been on its way when the relay died (CHOICE).
const IN_FLIGHT: Duration = Duration::from_ms(200);

/// By which path messages to the source go where packets come through a relay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedbackPath {
    /// Through the relay.
    #[default]
    Relay,
    /// Directly.
    Direct,
    /// None: they are not sent.
    None,
}

/// A tunnel to the first relay of a list that serves it, and to the next one when that is gone.
#[derive(Debug)]
pub struct RelayTunnel {
    socket: PacketSocket,
    is_v6: bool,
    child: Child,
    clock: Clock,
    feedback: FeedbackPath,
    /// Through how many relays the last packet has come.
    hops: u8,
    /// Since when the relay serves this host that was sent the last completion, and when it was sent the first.
    completed: Cell<Option<(Time, Time)>>,
    notices: VecDeque<Notice>,
}

impl RelayTunnel {
    /// Opens the socket. The first relay is asked after a random part of `within`.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(
        session: SessionKey,
        relays: &[SocketAddr],
        within: Duration,
        feedback: FeedbackPath,
    ) -> Result<RelayTunnel, Error> {
        let any = reaching(relays);
        let socket = open_unicast(any)?;
        let random = random_secret()?;
        let clock = Clock::default();
        let child = Child::new(session, relays, clock.now(), within, random);
        Ok(RelayTunnel {
            socket,
            is_v6: any.is_ipv6(),
            child,
            clock,
            feedback,
            hops: 0,
            completed: Cell::default(),
            notices: VecDeque::new(),
        })
    }

    /// What is known of the relay that serves it; none if none does.
    pub fn link(&self) -> Option<LinkReport> {
        self.child.link()
    }

    /// Through how many relays the last packet has come.
    pub fn hops(&self) -> u8 {
        self.hops
    }

    fn send(&self, to: SocketAddr, bytes: &[u8]) -> io::Result<()> {
        self.socket.as_udp().send_to(bytes, for_socket(to, self.is_v6)).map(|_| ())
    }

    /// Sends what is due.
    fn poll(&mut self) {
        let now = self.clock.now();
        let mut room = [0; MESSAGE_MAX];
        while let Some((to, length)) = self.child.poll(now, &mut room) {
            if let Err(error) = self.send(to, room.get(..length).always("a message fits its room")) {
                tracing::debug!(%error, %to, "a message to a relay was not sent");
            }
        }
        while let Some(news) = self.child.take_news() {
            self.notices.push_back(Notice::Relay { news });
        }
    }
}

/// An address as a socket takes it: one of IPv6 takes those of IPv4 as mapped ones.
pub(crate) fn for_socket(to: SocketAddr, is_v6: bool) -> SocketAddr {
    match to.ip() {
        IpAddr::V4(address) if is_v6 => SocketAddr::new(address.to_ipv6_mapped().into(), to.port()),
        _ => to,
    }
}

impl Tunnel for RelayTunnel {
    fn socket(&self) -> &PacketSocket {
        &self.socket
    }

    fn join(&mut self, channel: Channel, _group: SocketAddr) -> Result<(), Error> {
        self.child.join(self.clock.now(), channel);
        self.poll();
        Ok(())
    }

    fn leave(&mut self, channel: Channel, _group: SocketAddr) {
        self.child.leave(self.clock.now(), channel);
        self.poll();
    }

    fn rest(&self) -> StdDuration {
        self.child.deadline().map_or(REST_MAX, |due| until(self.clock.now(), due)).min(REST_MAX)
    }

    fn work(&mut self, inbox: &mut Inbox) {
        let now = self.clock.now();
        let RelayTunnel { child, hops, .. } = self;
        inbox.unwrap(|datagram, bytes| {
            if !Data::is_data(bytes) {
                child.message(now, datagram.from, bytes);
                return None;
            }
            let (data, length) = child.packet(now, datagram.from, bytes)?;
            *hops = data.hops;
            let from = SocketAddr::new(data.source, 0);
            Some(Unwrapped { channel: data.channel, from, bytes: length..bytes.len(), ecn: None })
        });
        self.poll();
    }

    fn send_feedback(&self, message: &[u8], to: SocketAddr) -> Option<io::Result<()>> {
        match self.feedback {
            FeedbackPath::Direct => None,
            FeedbackPath::None => Some(Ok(())),
            FeedbackPath::Relay => {
                let mut room = [0; MESSAGE_MAX];
                let sent = self.child.feedback(to, message, &mut room);
                let sent = sent.ok_or(io::ErrorKind::NotConnected.into());
                Some(sent.and_then(|(to, length)| {
                    self.send(to, room.get(..length).always("a message fits its room"))
                }))
            }
        }
    }

    fn note_completion(&self) -> bool {
        let since = self.child.link().map(|link| link.since);
        let is_first = since != self.completed.get().map(|(since, _)| since);
        if is_first {
            self.completed.set(since.map(|since| (since, self.clock.now())));
        }
        is_first
    }

    fn has_carried(&self) -> bool {
        let carried = |link: LinkReport| {
            let (since, first) = self.completed.get()?;
            let came_later = link.heard > first + link.rtt.unwrap_or_default() + IN_FLIGHT;
            Some(link.since == since && came_later)
        };
        self.feedback != FeedbackPath::Relay || self.child.link().and_then(carried).unwrap_or(false)
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }
}

impl Drop for RelayTunnel {
    fn drop(&mut self) {
        let mut room = [0; MESSAGE_MAX];
        if let Some((to, length)) = self.child.close(&mut room) {
            // Without it the relay notices by itself a little later.
            let _ = self.send(to, room.get(..length).always("a message fits its room"));
        }
    }
}
