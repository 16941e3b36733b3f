//! A relay (RFC 7450, section 5.3): answers gateways without state until an update with a right MAC has arrived, and says which
//! tunnels a multicast packet goes to.
//!
//! Tunnels, tunnels of one address, and subscriptions of one tunnel are bounded. The answer to a Request of 8 bytes has 66 (IGMP)
//! or 106 (MLD), as the RFC has it, so a relay that strangers can reach needs a limit on the rate of requests in front of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use layercast_core::cannot_be;
use layercast_core::units::{Duration, Time};

use super::message::{Message, ResponseMac, TunnelEndpoint};
use super::secret::{Secrets, Seed};
use crate::ip::Datagram;
use crate::membership::memberships::{Change, Memberships};
use crate::membership::query::Query;
use crate::membership::report::Report;
use crate::membership::subscriptions::Subscription;
use crate::membership::{MembershipError, Reporting};

/// The time between two searches for subscriptions that have expired.
const SWEEP: Duration = Duration::from_secs(1);

/// The settings of a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelaySettings {
    /// What is advertised to discoveries over IPv4; none to answer none.
    pub address_v4: Option<Ipv4Addr>,
    /// The same over IPv6.
    pub address_v6: Option<Ipv6Addr>,
    /// The most tunnels; beyond them queries have the L flag (section 5.3.3.8).
    pub tunnels: usize,
    /// The most tunnels of one address of gateways.
    pub tunnels_of_address: usize,
    /// The most subscriptions of one tunnel.
    pub subscriptions: usize,
    /// How often gateways report changes (QRV).
    pub robustness: u8,
    /// After which time gateways ask for the next query (QQIC).
    pub query_interval: Duration,
    /// The Query Response Interval, at least 10 s (section 5.3.3.7).
    pub response_interval: Duration,
    /// How long a private secret is used (section 5.3.6).
    pub secret_lifetime: Duration,
}

impl Default for RelaySettings {
    /// The values that RFC 7450, RFC 3376 and RFC 3810 recommend.
    fn default() -> RelaySettings {
        RelaySettings {
            address_v4: None,
            address_v6: None,
            tunnels: 10_000,
            tunnels_of_address: 64,
            subscriptions: 1024,
            robustness: 2,
            query_interval: Duration::from_secs(125),
            response_interval: Duration::from_secs(10),
            secret_lifetime: Duration::from_secs(7200),
        }
    }
}

impl RelaySettings {
    /// How long a subscription lasts without a report (section 5.3.3.7).
    fn lifetime(&self) -> Duration {
        self.query_interval * u64::from(self.robustness.max(1)) + self.response_interval
    }
}

/// A change of what all tunnels together want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// The first tunnel wants it.
    Join(Subscription),
    /// The last tunnel no longer wants it.
    Leave(Subscription),
}

/// What became of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelayCounters {
    /// Discoveries and requests that were answered.
    pub answered: u64,
    /// Updates that were taken.
    pub updates: u64,
    /// Teardowns that were taken.
    pub teardowns: u64,
    /// Messages and reports that are malformed, or that relays do not take.
    pub malformed: u64,
    /// Updates and teardowns whose MAC is wrong.
    pub forged: u64,
    /// Updates of new tunnels, and subscriptions, beyond the limits.
    pub refused: u64,
}

/// A tunnel.
#[derive(Debug)]
struct Tunnel {
    /// Where its packets go.
    to: SocketAddr,
    held: Memberships,
}

/// A relay.
#[derive(Debug)]
pub struct Relay {
    settings: RelaySettings,
    secrets: Secrets,
    tunnels: BTreeMap<TunnelEndpoint, Tunnel>,
    /// How many tunnels each address has.
    addresses: BTreeMap<[u8; 16], usize>,
    /// Where packets of each subscription go.
    holders: BTreeMap<Subscription, BTreeSet<TunnelEndpoint>>,
    demands: VecDeque<Demand>,
    next_sweep: Time,
    counters: RelayCounters,
}

impl Relay {
    /// A relay without tunnels. The seed must be random and secret.
    pub fn new(settings: RelaySettings, seed: &Seed) -> Relay {
        let grace = settings.query_interval * 2;
        Relay {
            settings,
            secrets: Secrets::new(seed, settings.secret_lifetime, grace),
            tunnels: BTreeMap::new(),
            addresses: BTreeMap::new(),
            holders: BTreeMap::new(),
            demands: VecDeque::new(),
            next_sweep: Time::ZERO + SWEEP,
            counters: RelayCounters::default(),
        }
    }

    /// The counters.
    pub fn counters(&self) -> &RelayCounters {
        &self.counters
    }

    /// How many tunnels there are.
    pub fn tunnels(&self) -> usize {
        self.tunnels.len()
    }

    /// What the tunnel of an address wants.
    pub fn subscriptions(&self, gateway: SocketAddr) -> Vec<Subscription> {
        self.tunnels
            .get(&gateway.into())
            .map(|tunnel| tunnel.held.subscriptions().collect())
            .unwrap_or_default()
    }

    /// The next change of what all tunnels together want.
    pub fn take_demand(&mut self) -> Option<Demand> {
        self.demands.pop_front()
    }

    /// The tunnels that a multicast packet goes to, by the addresses of their gateways.
    pub fn gateways(&self, group: IpAddr, source: IpAddr) -> Vec<SocketAddr> {
        let of = |source| self.holders.get(&Subscription { group, source }).into_iter().flatten();
        // A tunnel that wants all sources and this one gets one copy.
        let holders: BTreeSet<&TunnelEndpoint> = of(Some(source)).chain(of(None)).collect();
        holders.into_iter().filter_map(|endpoint| Some(self.tunnels.get(endpoint)?.to)).collect()
    }

    /// When [`Relay::timer`] is due.
    pub fn deadline(&self) -> Time {
        self.next_sweep
    }

    /// Ends subscriptions that were not reported for too long.
    pub fn timer(&mut self, now: Time) {
        if now < self.next_sweep {
            return;
        }
        self.next_sweep = now + SWEEP;
        let endpoints: Vec<TunnelEndpoint> = self.tunnels.keys().copied().collect();
        for endpoint in endpoints {
            let Some(tunnel) = self.tunnels.get_mut(&endpoint) else {
                cannot_be::<()>("changes of a tunnel remove no other one");
                continue;
            };
            let changes = tunnel.held.expire(now);
            self.changed(endpoint, changes);
        }
    }

    /// Takes a message from an address. The answer, if there is one, goes back to it.
    pub fn receive(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Option<Vec<u8>> {
        let from = SocketAddr::new(from.ip().to_canonical(), from.port());
        let answer = match Message::read(bytes) {
            Ok(Message::RelayDiscovery { nonce }) => self.advertise(from, nonce),
            Ok(Message::Request { reporting, nonce }) => Some(self.query(now, from, reporting, nonce)),
            Ok(Message::MembershipUpdate { mac, nonce, report }) => {
                self.update(now, from, nonce, &mac, report);
                None
            }
            Ok(Message::Teardown { mac, nonce, gateway }) => {
                if self.secrets.is_right(now, gateway, nonce, &mac) {
                    self.counters.teardowns += 1;
                    let changes =
                        self.tunnels.get_mut(&gateway).map(|tunnel| tunnel.held.clear()).unwrap_or_default();
                    self.changed(gateway, changes);
                } else {
                    self.counters.forged += 1;
                }
                None
            }
            Ok(_) | Err(_) => {
                self.counters.malformed += 1;
                None
            }
        };
        self.counters.answered += u64::from(answer.is_some());
        answer
    }

    fn advertise(&self, from: SocketAddr, nonce: u32) -> Option<Vec<u8>> {
        let relay = match from {
            SocketAddr::V4(_) => self.settings.address_v4?.into(),
            SocketAddr::V6(_) => self.settings.address_v6?.into(),
        };
        Some(Message::RelayAdvertisement { nonce, relay }.to_bytes())
    }

    fn query(&self, now: Time, from: SocketAddr, reporting: Reporting, nonce: u32) -> Vec<u8> {
        let gateway = TunnelEndpoint::from(from);
        let (robustness, interval) = (self.settings.robustness.max(1), self.settings.query_interval);
        let query = Query::general(reporting, robustness, interval).to_bytes();
        let mac = self.secrets.mac(now, gateway, nonce);
        let is_full = !self.tunnels.contains_key(&gateway) && !self.has_room(&gateway);
        Message::MembershipQuery { is_full, mac, nonce, query: &query, gateway: Some(gateway) }.to_bytes()
    }

    /// Whether another tunnel of an address fits.
    fn has_room(&self, gateway: &TunnelEndpoint) -> bool {
        let of_address = self.addresses.get(&gateway.address).copied().unwrap_or_default();
        self.tunnels.len() < self.settings.tunnels && of_address < self.settings.tunnels_of_address
    }

    fn update(&mut self, now: Time, from: SocketAddr, nonce: u32, mac: &ResponseMac, report: &[u8]) {
        let gateway = TunnelEndpoint::from(from);
        // The report costs less than the MAC, and most of what is not a report is no attack.
        let report = Datagram::read(report).map_err(MembershipError::from);
        let Ok(Report { records, .. }) = report.and_then(|datagram| Report::read(&datagram)) else {
            self.counters.malformed += 1;
            return;
        };
        if !self.secrets.is_right(now, gateway, nonce, mac) {
            self.counters.forged += 1;
            return;
        }
        if !self.tunnels.contains_key(&gateway) && !self.has_room(&gateway) {
            self.counters.refused += 1;
            return;
        }
        self.counters.updates += 1;
        let of_address = &mut self.addresses;
        let tunnel = self.tunnels.entry(gateway).or_insert_with(|| {
            *of_address.entry(gateway.address).or_default() += 1;
            Tunnel { to: from, held: Memberships::default() }
        });
        let expires = now + self.settings.lifetime();
        let mut changes = Vec::new();
        for record in &records {
            let most = self.settings.subscriptions;
            self.counters.refused += tunnel.held.apply(record, expires, most, &mut changes);
        }
        self.changed(gateway, changes);
    }

    /// Carries changes of one tunnel into what all want, and removes the tunnel if it wants nothing.
    fn changed(&mut self, endpoint: TunnelEndpoint, changes: Vec<Change>) {
        for change in changes {
            match change {
                Change::Added(subscription) => {
                    let holders = self.holders.entry(subscription).or_default();
                    if holders.is_empty() {
                        self.demands.push_back(Demand::Join(subscription));
                    }
                    holders.insert(endpoint);
                }
                Change::Removed(subscription) => {
                    let Some(holders) = self.holders.get_mut(&subscription) else {
                        cannot_be::<()>("what ends was held");
                        continue;
                    };
                    holders.remove(&endpoint);
                    if holders.is_empty() {
                        self.holders.remove(&subscription);
                        self.demands.push_back(Demand::Leave(subscription));
                    }
                }
            }
        }
        if self.tunnels.get(&endpoint).is_some_and(|tunnel| tunnel.held.is_empty()) {
            self.tunnels.remove(&endpoint);
            if let Some(count) = self.addresses.get_mut(&endpoint.address) {
                *count -= 1;
                if *count == 0 {
                    self.addresses.remove(&endpoint.address);
                }
            }
        }
    }
}
