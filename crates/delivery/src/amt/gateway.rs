//! A gateway (RFC 7450, section 5.2): finds a relay, keeps up the membership update cycle, and takes multicast packets out of
//! the tunnel.
//!
//! Beyond what the RFC requires: a gateway with subscriptions that gets no Multicast Data for a while asks for a query early
//! (section 4.2.1.4 allows it), so that the restart of a relay, which then knows nothing of the tunnel, costs seconds instead of a
//! query interval. Each such request in a row waits twice as long.

mod exchange;
mod handshake;
mod outcome;
mod settings;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use layercast_core::cannot_be;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

use super::data::{DataError, Inner};
use super::message::Message;
use super::secret::{Nonces, Seed};
use crate::ip::Datagram;
use crate::membership::query::Query;
use crate::membership::report::{self, Record};
use crate::membership::subscriptions::{Subscription, Subscriptions};
use crate::membership::{MembershipError, Reporting};

use exchange::{Exchange, Kind};
use handshake::{Handshake, Teardowns};

pub use outcome::{Arrived, GatewayCounters, Outgoing};
pub use settings::{GatewaySettings, RelayAddress};

/// The longest time between two reports of a change (RFC 3376, section 8.11: Unsolicited Report Interval).
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// The repetitions of a change until a relay has said how many.
const ROBUSTNESS: u8 = 2;
/// The shortest query interval that is obeyed, so that no relay makes a gateway send without pause.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);

/// A gateway of one tunnel.
#[derive(Debug)]
pub struct Gateway {
    settings: GatewaySettings,
    nonces: Nonces,
    random: Stream,
    subscriptions: Subscriptions,
    /// The relay; none before it is discovered.
    relay: Option<SocketAddr>,
    /// The message that waits for its answer.
    exchange: Option<Exchange>,
    /// The last query.
    handshake: Option<Handshake>,
    /// The query whose MAC the last update had, while there are subscriptions by it.
    reported: Option<Handshake>,
    /// When changes are reported again.
    report_at: Option<Time>,
    teardowns: Teardowns,
    /// When Multicast Data last arrived, or its absence was last acted on.
    heard: Time,
    silence: Duration,
    /// Nothing arrives, so the relay may have forgotten the tunnel.
    is_suspect: bool,
    outgoing: VecDeque<Outgoing>,
    counters: GatewayCounters,
}

impl Gateway {
    /// A gateway without subscriptions, which sends nothing. The seed must be random and secret.
    pub fn new(settings: GatewaySettings, seed: &Seed) -> Gateway {
        let mut nonces = Nonces::new(seed);
        let number = u64::from(nonces.next());
        let relay = match settings.relay {
            RelayAddress::Given(address) => Some(address),
            RelayAddress::Discover(_) => None,
        };
        Gateway {
            settings,
            nonces,
            random: Stream::new(number, "amt/gateway"),
            subscriptions: Subscriptions::default(),
            relay,
            exchange: None,
            handshake: None,
            reported: None,
            report_at: None,
            teardowns: Teardowns::default(),
            heard: Time::ZERO,
            silence: settings.silence,
            is_suspect: false,
            outgoing: VecDeque::new(),
            counters: GatewayCounters::default(),
        }
    }

    /// The relay; none before it is discovered.
    pub fn relay(&self) -> Option<SocketAddr> {
        self.relay
    }

    /// Whether the relay has answered the last request, so that updates can be sent.
    pub fn is_connected(&self) -> bool {
        self.handshake.is_some() && self.exchange.is_none()
    }

    /// The address that has not answered, and how many messages it was sent; none if no answer is awaited.
    pub fn unanswered(&self) -> Option<(SocketAddr, u32)> {
        self.exchange.as_ref().map(|exchange| (exchange.to(), exchange.attempts()))
    }

    /// The counters.
    pub fn counters(&self) -> &GatewayCounters {
        &self.counters
    }

    /// Whether packets of a source to a group are wanted.
    pub fn wants(&self, group: IpAddr, source: IpAddr) -> bool {
        self.subscriptions.wants(group, source)
    }

    /// Subscribes. Groups of the other IP version are ignored.
    pub fn join(&mut self, now: Time, subscription: Subscription) {
        if Reporting::of(subscription.group) != self.settings.reporting {
            return;
        }
        if self.subscriptions.is_empty() {
            (self.heard, self.silence) = (now, self.settings.silence);
        }
        self.subscriptions.join(subscription, self.robustness());
        self.report(now);
    }

    /// Ends a subscription.
    pub fn leave(&mut self, now: Time, subscription: Subscription) {
        self.subscriptions.leave(subscription, self.robustness());
        self.report(now);
    }

    /// Ends the tunnel (section 5.2.3.8). Nothing is repeated later, so the message is queued more than once.
    pub fn stop(&mut self) {
        let copies = self.robustness();
        if let Some(handshake) = self.reported.take() {
            for _ in 0..copies {
                match handshake.teardown() {
                    Some(message) => self.outgoing.push_back(message),
                    None => self.update(&handshake, &self.subscriptions.ends()),
                }
            }
        }
        self.subscriptions = Subscriptions::default();
        (self.exchange, self.handshake, self.report_at) = (None, None, None);
        self.teardowns.clear();
    }

    /// The next message to be sent.
    pub fn transmit(&mut self) -> Option<Outgoing> {
        self.outgoing.pop_front()
    }

    /// When [`Gateway::timer`] is due; [`Time::MAX`] for never.
    pub fn deadline(&self) -> Time {
        let wants = !self.subscriptions.is_empty();
        let next = self.exchange.as_ref().map(Exchange::due).filter(|_| wants);
        let idle = wants && self.exchange.is_none() && self.handshake.is_some();
        let refresh = self.handshake.map(|handshake| handshake.refresh).filter(|_| idle);
        let silence = idle.then(|| self.heard + self.silence);
        let teardown = self.teardowns.due();
        [next, refresh, silence, teardown, self.report_at].into_iter().flatten().min().unwrap_or(Time::MAX)
    }

    /// Does what is due.
    pub fn timer(&mut self, now: Time) {
        self.teardowns.repeat(now, &mut self.outgoing);
        if self.report_at.is_some_and(|at| at <= now) {
            self.report(now);
        }
        if self.subscriptions.is_empty() {
            // A relay is spared the requests of gateways without subscriptions (section 5.2.3.5.1).
            self.exchange = None;
            if self.handshake.is_some_and(|handshake| handshake.refresh <= now) {
                self.handshake = None;
            }
            return;
        }
        if let Some(exchange) = &self.exchange {
            if exchange.due() <= now {
                self.retry(now);
            }
            return;
        }
        let Some(handshake) = self.handshake else {
            self.begin(now);
            return;
        };
        let is_silent = now >= self.heard + self.silence;
        if is_silent {
            (self.heard, self.is_suspect) = (now, true);
            self.silence = self.silence.scaled(2.0).min(handshake.interval.max(self.settings.silence));
        }
        if is_silent || handshake.refresh <= now {
            self.begin(now);
        }
    }

    /// Takes a message.
    pub fn receive<'a>(&mut self, now: Time, from: SocketAddr, bytes: &'a [u8]) -> Arrived<'a> {
        let message = match Message::read(bytes) {
            Ok(message) => message,
            Err(_) => {
                self.counters.malformed += 1;
                return Arrived::Nothing;
            }
        };
        match message {
            Message::MulticastData(packet) => self.packet(now, from, packet),
            Message::RelayAdvertisement { nonce, relay } => self.advertisement(now, from, nonce, relay),
            Message::MembershipQuery { is_full, mac, nonce, query, gateway } => {
                let Some(relay) = self.expected(from, Kind::Request, nonce) else { return Arrived::Nothing };
                let datagram = Datagram::read(query).map_err(MembershipError::from);
                let query = match datagram.and_then(|datagram| Query::read_general(&datagram)) {
                    Ok(query) if Reporting::of(query.from) == self.settings.reporting => query,
                    _ => {
                        self.counters.malformed += 1;
                        return Arrived::Nothing;
                    }
                };
                let interval = query.interval.max(SHORTEST_INTERVAL);
                let refresh = now + interval;
                let (endpoint, robustness) = (gateway, query.robustness);
                let handshake = Handshake { relay, nonce, mac, endpoint, robustness, interval, refresh };
                self.query(now, is_full, handshake);
                Arrived::Control
            }
            // What only relays take.
            _ => {
                self.counters.unexpected += 1;
                Arrived::Nothing
            }
        }
    }

    /// The peer of an exchange, if the message answers it.
    fn expected(&mut self, from: SocketAddr, kind: Kind, nonce: u32) -> Option<SocketAddr> {
        let Some(exchange) = self.exchange.as_ref().filter(|exchange| exchange.is(kind, nonce)) else {
            self.counters.unexpected += 1;
            return None;
        };
        if exchange.to() != from {
            self.counters.foreign += 1;
            return None;
        }
        Some(from)
    }

    fn packet<'a>(&mut self, now: Time, from: SocketAddr, packet: &'a [u8]) -> Arrived<'a> {
        // The relay of the last update may be an earlier one than that of the request that waits.
        let is_known = |address: Option<SocketAddr>| address == Some(from);
        if !is_known(self.relay) && !is_known(self.reported.map(|handshake| handshake.relay)) {
            self.counters.foreign += 1;
            return Arrived::Nothing;
        }
        match Inner::read(packet) {
            Ok(inner) if self.subscriptions.wants(inner.group.ip(), inner.from.ip()) => {
                self.counters.packets += 1;
                (self.heard, self.silence, self.is_suspect) = (now, self.settings.silence, false);
                Arrived::Packet(inner)
            }
            other => {
                let counter = match other {
                    Ok(_) => &mut self.counters.unwanted,
                    Err(DataError::Fragment) => &mut self.counters.fragments,
                    Err(_) => &mut self.counters.malformed,
                };
                *counter += 1;
                Arrived::Nothing
            }
        }
    }

    fn advertisement(&mut self, now: Time, from: SocketAddr, nonce: u32, relay: IpAddr) -> Arrived<'static> {
        if self.expected(from, Kind::Discovery, nonce).is_none() {
            return Arrived::Nothing;
        }
        // The relay's address is of the IP version of the discovery (section 5.1.2.5).
        if relay.is_ipv4() != from.is_ipv4() {
            self.counters.malformed += 1;
            return Arrived::Nothing;
        }
        let relay = SocketAddr::new(relay, from.port());
        if let Some(old) = self.reported.filter(|old| old.relay != relay) {
            // The old relay sends to this gateway until it is asked to stop (section 5.2.3.4.4).
            self.teardowns.add(now, &old, &mut self.outgoing);
            self.reported = None;
            self.handshake = None;
        }
        self.relay = Some(relay);
        self.exchange = None;
        self.request(now, relay);
        Arrived::Control
    }

    fn query(&mut self, now: Time, is_full: bool, handshake: Handshake) {
        let failures = self.exchange.take().map_or(0, |exchange| exchange.attempts());
        let before = self.reported.filter(|before| before.relay == handshake.relay);
        let has_moved = before.is_some_and(|before| {
            before.endpoint.is_some() && handshake.endpoint.is_some() && before.endpoint != handshake.endpoint
        });
        if let Some(before) = before.filter(|_| has_moved) {
            self.counters.address_changes += 1;
            self.teardowns.add(now, &before, &mut self.outgoing);
            self.reported = None;
        }
        if is_full && (self.reported.is_none() || self.is_suspect) {
            // No update of ours would be taken (section 5.2.3.5.4).
            self.counters.refusals += 1;
            self.handshake = None;
            self.again(now, failures);
            return;
        }
        self.counters.handshakes += 1;
        self.handshake = Some(handshake);
        if self.reported.is_none() || self.is_suspect {
            // A tunnel that the relay may not know, by reports that are repeated.
            self.subscriptions.renew(handshake.robustness);
            self.report(now);
            return;
        }
        let current = self.subscriptions.current();
        if !current.is_empty() {
            self.update(&handshake, &current);
            self.reported = Some(handshake);
        }
        self.report(now);
    }

    /// Reports changes, if there are any, and plans the next report.
    fn report(&mut self, now: Time) {
        self.report_at = None;
        let Some(handshake) = self.handshake else {
            if self.subscriptions.is_empty() {
                // No relay knows of what was joined and left meanwhile.
                self.subscriptions = Subscriptions::default();
            } else if self.exchange.is_none() {
                self.begin(now);
            }
            return;
        };
        if !self.subscriptions.has_changes() {
            return;
        }
        let records = self.subscriptions.changes();
        self.update(&handshake, &records);
        let is_empty = self.subscriptions.is_empty();
        self.reported = if is_empty && !self.subscriptions.has_changes() { None } else { Some(handshake) };
        if self.subscriptions.has_changes() {
            self.report_at = Some(now + self.random_wait(REPORT_INTERVAL));
        }
    }

    /// Starts with discovery, or with a request to a relay that is known.
    fn begin(&mut self, now: Time) {
        match (self.relay, self.settings.relay) {
            (Some(relay), _) => self.request(now, relay),
            (None, RelayAddress::Given(relay)) => self.request(now, relay),
            (None, RelayAddress::Discover(at)) => self.start(now, Kind::Discovery, at, 0),
        }
    }

    fn request(&mut self, now: Time, relay: SocketAddr) {
        self.start(now, Kind::Request, relay, 0);
    }

    fn start(&mut self, now: Time, kind: Kind, to: SocketAddr, attempts: u32) {
        let nonce = self.nonces.next();
        self.exchange = Some(Exchange::new(kind, to, nonce, attempts, now));
        self.retry(now);
    }

    /// Sends the message of the exchange, again or for the first time.
    fn retry(&mut self, now: Time) {
        let Some(mut exchange) = self.exchange.take() else {
            return cannot_be("what is tried again has begun");
        };
        if let RelayAddress::Discover(at) = self.settings.relay
            && exchange.kind() == Kind::Request
            && exchange.attempts() > self.settings.request_retries
        {
            self.counters.lost_relays += 1;
            self.relay = None;
            self.start(now, Kind::Discovery, at, 0);
            return;
        }
        let bytes = exchange.message(self.settings.reporting).to_bytes();
        self.outgoing.push_back(Outgoing { to: exchange.to(), bytes });
        exchange.sent(now, &self.settings, &mut self.random);
        self.exchange = Some(exchange);
    }

    /// After a refusal: looks for another relay, or asks the same again, later.
    fn again(&mut self, now: Time, attempts: u32) {
        let (kind, to) = match (self.settings.relay, self.relay) {
            (RelayAddress::Discover(at), _) => (Kind::Discovery, at),
            (RelayAddress::Given(relay), None) => (Kind::Request, relay),
            (RelayAddress::Given(_), Some(relay)) => (Kind::Request, relay),
        };
        let mut exchange = Exchange::new(kind, to, self.nonces.next(), attempts.max(1), now);
        exchange.wait(now, &self.settings, &mut self.random);
        self.exchange = Some(exchange);
    }

    fn update(&mut self, handshake: &Handshake, records: &[Record]) {
        let Handshake { relay: to, nonce, mac, .. } = *handshake;
        for report in report::write(self.settings.reporting, records) {
            let bytes = Message::MembershipUpdate { mac, nonce, report: &report }.to_bytes();
            self.outgoing.push_back(Outgoing { to, bytes });
        }
    }

    fn robustness(&self) -> u8 {
        self.handshake.or(self.reported).map_or(ROBUSTNESS, |handshake| handshake.robustness)
    }

    /// A random time, more than zero (RFC 3376, section 5.1).
    fn random_wait(&mut self, longest: Duration) -> Duration {
        self.random.uniform_duration(longest).max(Duration::from_ms(1))
    }
}
