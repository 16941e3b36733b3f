//! A relay towards a link on which it sends on by multicast: which groups the hosts there hold, and the queries that ask them. It
//! is the router side of IGMPv3 (RFC 3376, section 6) and MLDv2 (RFC 3810, section 7), as in a proxy (RFC 4605).
//!
//! Hosts that report by the newer versions are tracked each for itself (RFC 3376, appendix A.2), so the last one's leave has effect at once, without a
//! query. What cannot be tracked is held in common, and ends by time: reports of IGMPv1, IGMPv2 and MLDv1, where hosts are silent
//! when another has reported; hosts without an address; and all above the limits. A query of the group follows each leave all the
//! same: switches that snoop wait for it before they prune a port.
//!
//! The host of this machine passes IP datagrams, and sends those that [`Local::poll`] returns.

mod querier;

use std::collections::BTreeMap;
use std::net::IpAddr;

use layercast_core::cannot_be;
use layercast_core::units::{Channel, Duration, Time};

use super::channels::ChannelSet;
use super::session::SessionKey;
use crate::ip::Datagram;
use crate::membership::Reporting;
use crate::membership::memberships::{Change, Memberships};
use crate::membership::query::Query;
use crate::membership::report::{Record, RecordKind, Report};
use crate::membership::subscriptions::Subscription;
use crate::session::MAX_CHANNELS;
use querier::Querier;

/// The time between two searches for memberships that have expired.
const SWEEP: Duration = Duration::from_secs(1);

/// What a relay keeps of a link at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalLimits {
    /// Hosts that are tracked.
    pub hosts: usize,
    /// Subscriptions of one host.
    pub subscriptions_of_host: usize,
    /// Subscriptions of all hosts that are tracked, and as many that are not.
    pub subscriptions: usize,
}

impl Default for LocalLimits {
    fn default() -> LocalLimits {
        LocalLimits { hosts: 1024, subscriptions_of_host: 1024, subscriptions: 16_384 }
    }
}

/// What was heard on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalCounters {
    /// Reports.
    pub reports: u64,
    /// Queries of other routers.
    pub queries: u64,
    /// Datagrams that were neither.
    pub malformed: u64,
    /// Subscriptions that did not fit, and are held without their host.
    pub untracked: u64,
}

/// A relay towards a link.
#[derive(Debug)]
pub struct Local {
    reporting: Reporting,
    sessions: Vec<SessionKey>,
    limits: LocalLimits,
    hosts: BTreeMap<IpAddr, Memberships>,
    /// What hosts hold that cannot be tracked.
    others: Memberships,
    /// How many of both hold it.
    holders: BTreeMap<Subscription, usize>,
    /// The subscriptions of hosts that are tracked.
    tracked: usize,
    querier: Querier,
    next_sweep: Time,
    is_changed: bool,
    counters: LocalCounters,
}

impl Local {
    /// A relay with this address on the link, which over IPv6 is link-local (RFC 3810, section 5.1.14). Groups of other sessions
    /// than these are passed over.
    pub fn new(address: IpAddr, sessions: &[SessionKey], limits: LocalLimits, now: Time) -> Local {
        let is_v4 = address.is_ipv4();
        Local {
            reporting: Reporting::of(address),
            sessions: sessions.iter().filter(|key| key.group.is_ipv4() == is_v4).copied().collect(),
            limits,
            hosts: BTreeMap::new(),
            others: Memberships::default(),
            holders: BTreeMap::new(),
            tracked: 0,
            querier: Querier::new(address, now),
            next_sweep: now + SWEEP,
            is_changed: false,
            counters: LocalCounters::default(),
        }
    }

    /// What was heard.
    pub fn counters(&self) -> &LocalCounters {
        &self.counters
    }

    /// How many hosts hold something and are tracked.
    pub fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// The router that queries in place of this relay; none if this one does.
    pub fn other_querier(&self) -> Option<IpAddr> {
        self.querier.other()
    }

    /// Takes a datagram of IGMP or MLD that came from the link.
    pub fn receive(&mut self, now: Time, bytes: &[u8]) {
        let Ok(datagram) = Datagram::read(bytes) else {
            self.counters.malformed += 1;
            return;
        };
        if let Ok(query) = Query::read(&datagram)
            && datagram.hops == 1
        {
            self.counters.queries += 1;
            // Switches that only snoop ask without an address, and are no querier (RFC 4541, section 2.1.1).
            if let Some(shorter) = self.querier.heard(now, &query)
                && let Some(group) = query.group
            {
                self.others.shorten(group, now + shorter);
            }
            return;
        }
        match Report::read(&datagram) {
            Ok(report) if Reporting::of(report.from) == self.reporting => {
                self.counters.reports += 1;
                for record in &report.records {
                    if self.is_served(record.group) {
                        self.record(now, &report, record);
                    }
                }
            }
            _ => self.counters.malformed += 1,
        }
    }

    fn record(&mut self, now: Time, report: &Report, record: &Record) {
        let expires = now + self.querier.membership_interval();
        let is_known = self.hosts.contains_key(&report.from);
        let has_room = is_known || self.hosts.len() < self.limits.hosts;
        let mut changes = Vec::new();
        if report.is_own && has_room && is_address_of_host(report.from) {
            let host = self.hosts.entry(report.from).or_default();
            let most = self.limits.subscriptions_of_host;
            let most = most.min(host.len() + self.limits.subscriptions.saturating_sub(self.tracked));
            let before = host.len();
            let refused = host.apply(record, expires, most, &mut changes);
            self.tracked = self.tracked + host.len() - before;
            if host.is_empty() {
                self.hosts.remove(&report.from);
            }
            if refused > 0 {
                self.counters.untracked += refused;
                self.hold(expires, record.group, &mut changes);
            }
        } else if record.kind == RecordKind::ToInclude && record.sources.is_empty() {
            // Other hosts that hold it answer the query.
            if let Some(shorter) = self.querier.left(now, Subscription { group: record.group, source: None })
            {
                self.others.shorten(record.group, now + shorter);
            }
        } else if record.kind != RecordKind::Block && !is_nothing(record) {
            self.counters.untracked += u64::from(report.is_own);
            self.hold(expires, record.group, &mut changes);
        }
        self.changed(now, &changes);
    }

    /// Holds all of a group for hosts that are not tracked.
    fn hold(&mut self, expires: Time, group: IpAddr, changes: &mut Vec<Change>) {
        let all = Record { kind: RecordKind::IsExclude, group, sources: Vec::new() };
        self.others.apply(&all, expires, self.limits.subscriptions, changes);
    }

    /// Carries changes of one holder into what all hold.
    fn changed(&mut self, now: Time, changes: &[Change]) {
        for change in changes {
            match *change {
                Change::Added(subscription) => {
                    let count = self.holders.entry(subscription).or_default();
                    self.is_changed |= *count == 0;
                    *count += 1;
                }
                Change::Removed(subscription) => {
                    self.querier.left(now, subscription);
                    let Some(count) = self.holders.get_mut(&subscription) else {
                        cannot_be::<()>("what ends was counted");
                        continue;
                    };
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        self.holders.remove(&subscription);
                        self.is_changed = true;
                    }
                }
            }
        }
    }

    /// Ends memberships that were not reported in time.
    pub fn expire(&mut self, now: Time) {
        if now < self.next_sweep {
            return;
        }
        self.next_sweep = now + SWEEP;
        let mut changes = self.others.expire(now);
        let before = changes.len();
        self.hosts.retain(|_, host| {
            changes.append(&mut host.expire(now));
            !host.is_empty()
        });
        self.tracked = self.tracked.saturating_sub(changes.len() - before);
        self.changed(now, &changes);
    }

    /// A query that is due, as an IP datagram. Called until there is none.
    pub fn poll(&mut self, now: Time) -> Option<Vec<u8>> {
        self.querier.poll(now)
    }

    /// Whether what the link holds has changed since the last call.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }

    /// Whether some host wants packets from a source to a group.
    pub fn wants(&self, group: IpAddr, source: IpAddr) -> bool {
        [None, Some(source)]
            .into_iter()
            .any(|source| self.holders.contains_key(&Subscription { group, source }))
    }

    /// The channels of each session that some host holds.
    pub fn held(&self) -> Vec<(SessionKey, ChannelSet)> {
        let mut all: Vec<(SessionKey, ChannelSet)> =
            self.sessions.iter().map(|key| (*key, ChannelSet::default())).collect();
        for subscription in self.holders.keys() {
            let Some((base, channel)) = self.channel(subscription.group) else { continue };
            for (key, held) in &mut all {
                let fits = |source: IpAddr| subscription.source.is_none_or(|wanted| wanted == source);
                if key.group.ip() == base && key.source.is_none_or(fits) {
                    held.insert(channel);
                }
            }
        }
        all
    }

    fn is_served(&self, group: IpAddr) -> bool {
        self.channel(group).is_some()
    }

    /// The base channel's group of the sessions that a group belongs to, and its channel. Reports have no ports, and do not say where
    /// a session ends: the group is of those that begin at or next below it.
    fn channel(&self, group: IpAddr) -> Option<(IpAddr, Channel)> {
        let bases = self.sessions.iter().map(|key| key.group.ip());
        let base = bases.filter(|base| *base <= group && base.is_ipv4() == group.is_ipv4()).max()?;
        let distance = match (base, group) {
            (IpAddr::V4(base), IpAddr::V4(group)) => u128::from(group.to_bits() - base.to_bits()),
            (IpAddr::V6(base), IpAddr::V6(group)) => group.to_bits() - base.to_bits(),
            _ => return None,
        };
        let number = u16::try_from(distance).ok().filter(|number| *number < MAX_CHANNELS)?;
        Some((base, Channel(number)))
    }
}

/// Whether a report of this address can be of one host alone (RFC 3376, section 4.2.13; RFC 3810, section 5.2.13).
fn is_address_of_host(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !address.is_unspecified() && !address.is_multicast(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// Whether a record says that no source is wanted.
fn is_nothing(record: &Record) -> bool {
    matches!(record.kind, RecordKind::IsInclude | RecordKind::ToInclude | RecordKind::Allow)
        && record.sources.is_empty()
}
