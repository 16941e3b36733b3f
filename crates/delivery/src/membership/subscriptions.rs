//! What a gateway reports: the host side of IGMPv3 (RFC 3376, section 5) and MLDv2 (RFC 3810, section 6), whose reports of
//! changes are repeated, and merged with later changes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::report::{Record, RecordKind};

/// A group subscription: to one source, or to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subscription {
    /// The group.
    pub group: IpAddr,
    /// The source; none for all: (*,G).
    pub source: Option<IpAddr>,
}

/// The state of one group.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Whether all sources are wanted: the filter mode EXCLUDE without sources.
    is_any: bool,
    /// The sources that are wanted by name.
    sources: BTreeSet<IpAddr>,
    /// In how many more reports a change of the filter mode appears.
    mode_left: u8,
    /// The same for sources that were added or removed.
    sources_left: BTreeMap<IpAddr, u8>,
}

impl Group {
    fn is_wanted(&self) -> bool {
        self.is_any || !self.sources.is_empty()
    }

    fn has_changes(&self) -> bool {
        self.mode_left > 0 || !self.sources_left.is_empty()
    }

    fn set_any(&mut self, is_any: bool, reports: u8) {
        if self.is_any != is_any {
            self.is_any = is_any;
            self.mode_left = reports;
            // The record of the mode has the sources.
            self.sources_left.clear();
        }
    }

    /// After a source was added or removed: with all sources wanted there is nothing to report.
    fn changed(&mut self, source: IpAddr, reports: u8) {
        if !self.is_any && self.mode_left == 0 {
            self.sources_left.insert(source, reports);
        } else if !self.is_any {
            // The record of the mode, whose sources have changed, begins again.
            self.mode_left = reports;
        }
    }
}

/// The subscriptions of a gateway, and what remains to be reported of their changes.
#[derive(Clone, Debug, Default)]
pub struct Subscriptions {
    groups: BTreeMap<IpAddr, Group>,
}

impl Subscriptions {
    /// Adds a subscription, to appear in so many reports.
    pub fn join(&mut self, subscription: Subscription, reports: u8) {
        let group = self.groups.entry(subscription.group).or_default();
        match subscription.source {
            None => group.set_any(true, reports),
            Some(source) => {
                if group.sources.insert(source) {
                    group.changed(source, reports);
                }
            }
        }
    }

    /// Removes a subscription; its end appears in so many reports.
    pub fn leave(&mut self, subscription: Subscription, reports: u8) {
        let Some(group) = self.groups.get_mut(&subscription.group) else { return };
        match subscription.source {
            None => group.set_any(false, reports),
            Some(source) => {
                if group.sources.remove(&source) {
                    group.changed(source, reports);
                }
            }
        }
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        !self.groups.values().any(Group::is_wanted)
    }

    /// Whether packets of a source to a group are wanted.
    pub fn wants(&self, group: IpAddr, source: IpAddr) -> bool {
        self.groups.get(&group).is_some_and(|state| state.is_any || state.sources.contains(&source))
    }

    /// The records of the current state, which answer a General Query (RFC 3376, section 5.2).
    pub fn current(&self) -> Vec<Record> {
        let wanted = self.groups.iter().filter(|(_, state)| state.is_wanted());
        let record = |(&group, state): (&IpAddr, &Group)| {
            if state.is_any {
                Record { kind: RecordKind::IsExclude, group, sources: Vec::new() }
            } else {
                let sources = state.sources.iter().copied().collect();
                Record { kind: RecordKind::IsInclude, group, sources }
            }
        };
        wanted.map(record).collect()
    }

    /// Whether changes remain to be reported.
    pub fn has_changes(&self) -> bool {
        self.groups.values().any(Group::has_changes)
    }

    /// The records of the next report of changes (RFC 3376, section 5.1), each of which counts as reported once more.
    pub fn changes(&mut self) -> Vec<Record> {
        let mut records = Vec::new();
        for (&group, state) in &mut self.groups {
            if state.mode_left > 0 {
                state.mode_left -= 1;
                let (kind, sources) = if state.is_any {
                    (RecordKind::ToExclude, Vec::new())
                } else {
                    (RecordKind::ToInclude, state.sources.iter().copied().collect())
                };
                records.push(Record { kind, group, sources });
                continue;
            }
            let (mut allowed, mut blocked) = (Vec::new(), Vec::new());
            state.sources_left.retain(|&source, left| {
                let list = if state.sources.contains(&source) { &mut allowed } else { &mut blocked };
                list.push(source);
                *left = left.saturating_sub(1);
                *left > 0
            });
            for (kind, sources) in [(RecordKind::Allow, allowed), (RecordKind::Block, blocked)] {
                if !sources.is_empty() {
                    records.push(Record { kind, group, sources });
                }
            }
        }
        self.groups.retain(|_, state| state.is_wanted() || state.has_changes());
        records
    }

    /// Reports everything that is wanted again, as if it had just been joined: to a relay that knows nothing of it. Ends that
    /// were not yet reported need no report.
    pub fn renew(&mut self, reports: u8) {
        self.groups.retain(|_, state| state.is_wanted());
        for state in self.groups.values_mut() {
            state.mode_left = if state.is_any { reports } else { 0 };
            state.sources_left.clear();
            if !state.is_any {
                state.sources_left.extend(state.sources.iter().map(|&source| (source, reports)));
            }
        }
    }

    /// The records that end all subscriptions.
    pub fn ends(&self) -> Vec<Record> {
        let wanted = self.groups.iter().filter(|(_, state)| state.is_wanted());
        wanted.map(|(&group, _)| Record { kind: RecordKind::ToInclude, group, sources: Vec::new() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn changes_are_repeated_and_merged() {
        let group = ip("232.1.1.1");
        let (a, b) = (ip("192.0.2.1"), ip("192.0.2.2"));
        let from = |source| Subscription { group, source: Some(source) };
        let mut held = Subscriptions::default();
        held.join(from(a), 2);
        let record = |kind, sources: &[IpAddr]| Record { kind, group, sources: sources.to_vec() };
        assert_eq!(held.changes(), [record(RecordKind::Allow, &[a])]);
        held.join(from(b), 2);
        assert_eq!(held.changes(), [record(RecordKind::Allow, &[a, b])]);
        held.leave(from(a), 2);
        assert_eq!(held.changes(), [record(RecordKind::Allow, &[b]), record(RecordKind::Block, &[a])]);
        assert_eq!(held.changes(), [record(RecordKind::Block, &[a])]);
        assert!(!held.has_changes() && held.changes().is_empty());
        assert_eq!(held.current(), [record(RecordKind::IsInclude, &[b])]);
        assert!(held.wants(group, b) && !held.wants(group, a));
        // All sources, and back to one of them.
        let all = Subscription { group, source: None };
        held.join(all, 2);
        assert_eq!(held.changes(), [record(RecordKind::ToExclude, &[])]);
        held.leave(from(b), 2);
        held.join(from(a), 2);
        held.leave(all, 2);
        assert_eq!(held.changes(), [record(RecordKind::ToInclude, &[a])]);
        held.leave(from(a), 2);
        assert_eq!(held.changes(), [record(RecordKind::ToInclude, &[])]);
        assert_eq!(held.changes(), [record(RecordKind::ToInclude, &[])]);
        assert!(held.is_empty() && held.groups.is_empty());
    }
}
