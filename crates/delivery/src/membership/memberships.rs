//! The memberships of one host, in a tunnel or on a link: the router side of IGMPv3 (RFC 3376, section 6.4) and MLDv2 (RFC 3810,
//! section 7.4) for a link with one host.
//!
//! With one host, each of whose reports arrives or is repeated, queries of one group are not needed: a source that is blocked
//! ends at once. All sources but some are taken as all, which section 5.3.3.4 of RFC 7450 allows.

use std::collections::BTreeMap;
use std::net::IpAddr;

use layercast_core::units::Time;

use super::report::{Record, RecordKind};
use super::subscriptions::Subscription;

/// A change of a host's subscriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Added(Subscription),
    Removed(Subscription),
}

/// The subscriptions of a host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memberships {
    /// Each with the time when it ends unless it is reported again.
    held: BTreeMap<Subscription, Time>,
}

impl Memberships {
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub(crate) fn subscriptions(&self) -> impl Iterator<Item = Subscription> {
        self.held.keys().copied()
    }

    /// Applies a record; how many subscriptions did not fit.
    pub(crate) fn apply(
        &mut self,
        record: &Record,
        expires: Time,
        most: usize,
        changes: &mut Vec<Change>,
    ) -> u64 {
        let group = record.group;
        let all = Subscription { group, source: None };
        let of = |source: &IpAddr| Subscription { group, source: Some(*source) };
        let mut refused = 0;
        let mut add = |host: &mut Memberships, subscription: Subscription, changes: &mut Vec<Change>| {
            refused += u64::from(!host.add(subscription, expires, most, changes));
        };
        match record.kind {
            RecordKind::IsExclude | RecordKind::ToExclude => add(self, all, changes),
            RecordKind::IsInclude | RecordKind::ToInclude => {
                self.remove(all, changes);
                if record.kind == RecordKind::ToInclude {
                    // A current state may come in several reports; a change names all sources that remain.
                    let gone: Vec<Subscription> = self
                        .held
                        .keys()
                        .filter(|held| held.group == group)
                        .filter(|held| held.source.is_some_and(|source| !record.sources.contains(&source)))
                        .copied()
                        .collect();
                    gone.into_iter().for_each(|subscription| self.remove(subscription, changes));
                }
                record.sources.iter().for_each(|source| add(self, of(source), changes));
            }
            RecordKind::Allow => record.sources.iter().for_each(|source| add(self, of(source), changes)),
            RecordKind::Block => record.sources.iter().for_each(|source| self.remove(of(source), changes)),
        }
        refused
    }

    /// How many subscriptions there are.
    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// Has all subscriptions of a group end at a time, if they would end later.
    pub(crate) fn shorten(&mut self, group: IpAddr, until: Time) {
        self.held
            .iter_mut()
            .filter(|(subscription, _)| subscription.group == group)
            .for_each(|(_, expires)| *expires = until.min(*expires));
    }

    /// Ends what was not reported in time.
    pub(crate) fn expire(&mut self, now: Time) -> Vec<Change> {
        let mut changes = Vec::new();
        self.held.retain(|&subscription, &mut expires| {
            let is_held = expires > now;
            if !is_held {
                changes.push(Change::Removed(subscription));
            }
            is_held
        });
        changes
    }

    /// Ends everything.
    pub(crate) fn clear(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.held).into_keys().map(Change::Removed).collect()
    }

    /// Adds or refreshes a subscription; whether it fits.
    fn add(
        &mut self,
        subscription: Subscription,
        expires: Time,
        most: usize,
        changes: &mut Vec<Change>,
    ) -> bool {
        if let Some(held) = self.held.get_mut(&subscription) {
            *held = expires;
            return true;
        }
        if self.held.len() >= most {
            return false;
        }
        self.held.insert(subscription, expires);
        changes.push(Change::Added(subscription));
        true
    }

    fn remove(&mut self, subscription: Subscription, changes: &mut Vec<Change>) {
        if self.held.remove(&subscription).is_some() {
            changes.push(Change::Removed(subscription));
        }
    }
}
