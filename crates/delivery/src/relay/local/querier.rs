//! The querier of a link: one router, that with the lowest address, asks what hosts hold (RFC 3376, section 6.6; RFC 3810, section 7.6).

use std::collections::BTreeMap;
use std::net::IpAddr;

use layercast_core::units::{Duration, Time};

use crate::membership::query::Query;
use crate::membership::subscriptions::Subscription;

/// Robustness Variable (RFC 3376, section 8.1).
const ROBUSTNESS: u8 = 2;
/// Query Interval (section 8.2), which is 125 s by default (CHOICE: a host that is gone without a leave holds layers up to 70 s).
const INTERVAL: Duration = Duration::from_secs(30);
/// Query Response Interval (section 8.3).
const RESPONSE: Duration = Duration::from_secs(10);
/// Last Member Query Interval (section 8.8), 1 s by default (CHOICE: layers are left often, and congestion control waits for it).
const LAST_MEMBER: Duration = Duration::from_ms(500);
/// The most queries of groups that wait.
const PENDING_MAX: usize = 512;

/// A router that queries in place of this one.
#[derive(Clone, Copy, Debug)]
struct Other {
    address: IpAddr,
    until: Time,
    robustness: u8,
    interval: Duration,
    response: Duration,
}

/// Queries of a group that are still to be sent.
#[derive(Clone, Copy, Debug)]
struct Pending {
    left: u8,
    next: Time,
}

/// The part of a router as querier.
#[derive(Debug)]
pub(super) struct Querier {
    address: IpAddr,
    other: Option<Other>,
    /// The next general query, and how many follow it soon (section 8.6).
    next: Time,
    startup: u8,
    pending: BTreeMap<Subscription, Pending>,
}

impl Querier {
    pub(super) fn new(address: IpAddr, now: Time) -> Querier {
        Querier { address, other: None, next: now, startup: ROBUSTNESS, pending: BTreeMap::new() }
    }

    pub(super) fn other(&self) -> Option<IpAddr> {
        self.other.map(|other| other.address)
    }

    /// How long a membership holds that is not reported again: Group Membership Interval (section 8.4).
    pub(super) fn membership_interval(&self) -> Duration {
        let (robustness, interval, response) = match &self.other {
            Some(other) => (other.robustness, other.interval, other.response),
            None => (ROBUSTNESS, INTERVAL, RESPONSE),
        };
        Duration::from_ns(u64::from(robustness) * interval.as_ns() + response.as_ns())
    }

    /// Hears a query. Returns after which time what is not tracked of its group ends, if the querier asks for one.
    pub(super) fn heard(&mut self, now: Time, query: &Query) -> Option<Duration> {
        let is_router = match query.from {
            IpAddr::V4(address) => !address.is_unspecified(),
            IpAddr::V6(address) => address.is_unicast_link_local(),
        };
        let least = self.other.map_or(self.address, |other| other.address.min(self.address));
        if !is_router || query.from > least || query.from == self.address {
            return None;
        }
        let Query { from, robustness, interval, response, .. } = *query;
        if query.group.is_some() {
            let is_querier = self.other.is_some_and(|other| other.address == from);
            let most = Duration::from_ns(u64::from(robustness) * response.as_ns());
            return (is_querier && query.source.is_none()).then_some(most);
        }
        // Other Querier Present Interval (section 8.5).
        let present = u64::from(robustness) * interval.as_ns() + response.as_ns() / 2;
        let until = now + Duration::from_ns(present);
        self.other = Some(Other { address: from, until, robustness, interval, response });
        self.pending.clear();
        None
    }

    /// A host has left: the group is asked for. Returns after which time what is not tracked of it ends; none if another router
    /// asks, or too many queries wait.
    pub(super) fn left(&mut self, now: Time, subscription: Subscription) -> Option<Duration> {
        let is_known = self.pending.contains_key(&subscription);
        if self.other.is_some() || (!is_known && self.pending.len() >= PENDING_MAX) {
            return None;
        }
        let pending = self.pending.entry(subscription).or_insert(Pending { left: 0, next: now });
        pending.left = ROBUSTNESS;
        // Last Member Query Time, after the query that is sent now or in at most one interval.
        Some(Duration::from_ns(LAST_MEMBER.as_ns() * (u64::from(ROBUSTNESS) + 1)))
    }

    /// A query that is due.
    pub(super) fn poll(&mut self, now: Time) -> Option<Vec<u8>> {
        if let Some(other) = self.other {
            if now < other.until {
                return None;
            }
            (self.other, self.next) = (None, now);
        }
        let query = Query {
            from: self.address,
            group: None,
            source: None,
            response: RESPONSE,
            robustness: ROBUSTNESS,
            interval: INTERVAL,
        };
        if now >= self.next {
            let quarter = Duration::from_ns(INTERVAL.as_ns() / 4);
            self.next = now + if self.startup > 1 { quarter } else { INTERVAL };
            self.startup = self.startup.saturating_sub(1);
            return Some(query.to_bytes());
        }
        let mut due = None;
        self.pending.retain(|subscription, pending| {
            if due.is_some() || now < pending.next {
                return true;
            }
            if pending.left == 0 {
                return false;
            }
            pending.left -= 1;
            pending.next = now + LAST_MEMBER;
            due = Some(*subscription);
            true
        });
        let Subscription { group, source } = due?;
        Some(Query { group: Some(group), source, response: LAST_MEMBER, ..query }.to_bytes())
    }
}
