//! Receiving through an AMT relay (RFC 7450): the receiver is a gateway with one tunnel.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration as StdDuration;

use layercast_core::units::Channel;
use layercast_delivery::amt::data::decapsulated;
use layercast_delivery::amt::gateway::{Arrived, Gateway, GatewayCounters, GatewaySettings};
use layercast_delivery::amt::{PORT, discovery_address};
use layercast_delivery::membership::Reporting;
use layercast_delivery::membership::subscriptions::Subscription;

pub use layercast_delivery::amt::gateway::RelayAddress;

use crate::error::Error;
use crate::host::{Clock, Inbox, PacketSocket, Tunnel, Unwrapped, open_unicast, reaching, until};
use crate::notice::{AmtNews, Notice};
use crate::random_secret;

/// The longest time without work.
const REST_MAX: StdDuration = StdDuration::from_secs(1);
/// After so many messages without an answer the operator is informed.
const UNANSWERED: u32 = 3;

/// Which relay a receiver uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmtRelay {
    /// The one at this address.
    At(SocketAddr),
    /// The next one that anycast finds, by the IP version of the session.
    Discover,
}

impl AmtRelay {
    /// The address for a session's group.
    fn address(self, group: SocketAddr) -> RelayAddress {
        match self {
            AmtRelay::At(relay) => RelayAddress::Given(relay),
            AmtRelay::Discover => {
                RelayAddress::Discover(SocketAddr::new(discovery_address(group.is_ipv4()), PORT))
            }
        }
    }
}

/// What became of packets in a tunnel, besides what the gateway counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TunnelCounters {
    /// Packets of a joined group to another port.
    pub other_port: u64,
    /// Packets that were marked on the path of the tunnel, and cannot carry the mark (RFC 6040, section 4.2).
    pub unmarkable: u64,
}

/// A tunnel to an AMT relay.
#[derive(Debug)]
pub struct AmtTunnel {
    socket: PacketSocket,
    gateway: Gateway,
    /// The source of source-specific joins, if any.
    source: Option<IpAddr>,
    /// The channel of each group that is joined.
    channels: BTreeMap<SocketAddr, Channel>,
    clock: Clock,
    counters: TunnelCounters,
    /// What the gateway's counters were when they were last looked at.
    seen: GatewayCounters,
    /// The last news.
    news: Option<AmtNews>,
    notices: VecDeque<Notice>,
}

impl AmtTunnel {
    /// Opens the socket for a session with this group of the base layer. With a source all joins are of that source alone (RFC
    /// 4607). Nothing is sent before the first join.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(relay: AmtRelay, group: SocketAddr, source: Option<IpAddr>) -> Result<AmtTunnel, Error> {
        let address = relay.address(group);
        let (RelayAddress::Given(to) | RelayAddress::Discover(to)) = address;
        let socket = open_unicast(reaching([&to]))?;
        let seed = random_secret()?;
        let settings = GatewaySettings::new(address, Reporting::of(group.ip()));
        Ok(AmtTunnel {
            socket,
            gateway: Gateway::new(settings, &seed),
            source,
            channels: BTreeMap::new(),
            clock: Clock::default(),
            counters: TunnelCounters::default(),
            seen: GatewayCounters::default(),
            news: None,
            notices: VecDeque::new(),
        })
    }

    /// The counters of the gateway.
    pub fn gateway(&self) -> &GatewayCounters {
        self.gateway.counters()
    }

    /// The counters of packets that passed the gateway.
    pub fn counters(&self) -> &TunnelCounters {
        &self.counters
    }

    fn subscription(&self, group: SocketAddr) -> Subscription {
        Subscription { group: group.ip(), source: self.source }
    }

    /// Sends what is queued.
    fn flush(&mut self) {
        while let Some(message) = self.gateway.transmit() {
            if let Err(error) = self.socket.as_udp().send_to(&message.bytes, message.to) {
                tracing::debug!(%error, to = %message.to, "a message to an AMT relay was not sent");
            }
        }
    }

    /// Notes what the operator should know, each once in a row.
    fn note(&mut self) {
        let (before, now) = (self.seen, *self.gateway.counters());
        self.seen = now;
        let relay = self.gateway.relay();
        let unanswered = self.gateway.unanswered().filter(|(_, attempts)| *attempts >= UNANSWERED);
        let news = if now.packets > before.packets {
            relay.map(AmtNews::Served)
        } else if now.refusals > before.refusals {
            relay.map(AmtNews::Full)
        } else if let Some((to, _)) = unanswered {
            Some(AmtNews::Silent(to))
        } else if now.handshakes > before.handshakes && self.news.is_none() && before.handshakes > 0 {
            // The second handshake, after silence.
            relay.map(AmtNews::NoData)
        } else {
            None
        };
        // A relay that is full does not answer the next request at once.
        let is_same_trouble = matches!((self.news, news), (Some(AmtNews::Full(_)), Some(AmtNews::Silent(_))));
        if let Some(news) = news.filter(|news| self.news != Some(*news) && !is_same_trouble) {
            self.news = Some(news);
            self.notices.push_back(Notice::Amt { news });
        }
    }
}

impl Tunnel for AmtTunnel {
    fn socket(&self) -> &PacketSocket {
        &self.socket
    }

    fn join(&mut self, channel: Channel, group: SocketAddr) -> Result<(), Error> {
        self.channels.insert(group, channel);
        self.gateway.join(self.clock.now(), self.subscription(group));
        self.flush();
        Ok(())
    }

    fn leave(&mut self, _channel: Channel, group: SocketAddr) {
        self.channels.remove(&group);
        self.gateway.leave(self.clock.now(), self.subscription(group));
        self.flush();
    }

    fn rest(&self) -> StdDuration {
        until(self.clock.now(), self.gateway.deadline()).min(REST_MAX)
    }

    fn work(&mut self, inbox: &mut Inbox) {
        let now = self.clock.now();
        let AmtTunnel { gateway, channels, counters, .. } = self;
        inbox.unwrap(|datagram, bytes| {
            // A socket for both IP versions has IPv4 addresses as mapped ones.
            let from = SocketAddr::new(datagram.from.ip().to_canonical(), datagram.from.port());
            let Arrived::Packet(inner) = gateway.receive(now, from, bytes) else { return None };
            let Some(&channel) = channels.get(&inner.group) else {
                counters.other_port += 1;
                return None;
            };
            let Some(ecn) = decapsulated(inner.ecn, datagram.ecn) else {
                counters.unmarkable += 1;
                return None;
            };
            let start = inner.payload.as_ptr().addr() - bytes.as_ptr().addr();
            Some(Unwrapped {
                channel,
                from: inner.from,
                bytes: start..start + inner.payload.len(),
                ecn: Some(ecn),
            })
        });
        if self.gateway.deadline() <= now {
            self.gateway.timer(now);
        }
        self.flush();
        self.note();
    }

    /// An AMT relay carries nothing to sources: messages to the source go past it.
    fn send_feedback(&self, _message: &[u8], _to: SocketAddr) -> Option<io::Result<()>> {
        None
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }
}

impl Drop for AmtTunnel {
    fn drop(&mut self) {
        self.gateway.stop();
        self.flush();
    }
}
