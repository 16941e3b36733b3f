//! What each host has joined, as its reports say (RFC 3376, section 6.4; RFC 3810, section 7.4). A host's kernel
//! merges the wishes of its sockets, and there is one host on each link, so its reports give its state exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::packet::{GroupRecord, RecordKind};

/// How many groups of a host are kept.
pub const MOST_GROUPS: usize = 4096;

/// How many sources of a group are kept.
pub const MOST_SOURCES: usize = 1024;

/// From which sources a host wants a group.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Filter {
    /// From these only.
    Include(BTreeSet<IpAddr>),
    /// From all but these.
    Exclude(BTreeSet<IpAddr>),
}

/// The groups that a host has joined.
#[derive(Clone, Debug, Default)]
pub struct Joined {
    groups: BTreeMap<IpAddr, Filter>,
}

/// A host has joined more than can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has joined more than {MOST_GROUPS} groups, or a group from more than {MOST_SOURCES} sources")]
pub struct TooMany;

impl Joined {
    /// Whether the host wants packets of a group from this source.
    pub fn wants(&self, group: IpAddr, source: IpAddr) -> bool {
        match self.groups.get(&group) {
            Some(Filter::Include(sources)) => sources.contains(&source),
            Some(Filter::Exclude(sources)) => !sources.contains(&source),
            None => false,
        }
    }

    /// The groups that it wants from some source.
    pub fn groups(&self) -> impl Iterator<Item = IpAddr> {
        self.groups.keys().copied()
    }

    /// Takes note of a record.
    ///
    /// # Errors
    /// [`TooMany`]; the record then changes nothing.
    pub fn apply(&mut self, record: &GroupRecord<'_>) -> Result<(), TooMany> {
        let nothing = || Filter::Include(BTreeSet::new());
        let before = self.groups.get(&record.group).cloned().unwrap_or_else(nothing);
        let reported = || record.sources().collect::<BTreeSet<IpAddr>>();
        let with = |known: &BTreeSet<IpAddr>| known.union(&reported()).copied().collect();
        let without = |known: &BTreeSet<IpAddr>| known.difference(&reported()).copied().collect();
        let after = match (record.kind, before) {
            (RecordKind::Include, _) => Filter::Include(reported()),
            (RecordKind::Exclude, _) => Filter::Exclude(reported()),
            (RecordKind::Allow, Filter::Include(known)) => Filter::Include(with(&known)),
            (RecordKind::Allow, Filter::Exclude(known)) => Filter::Exclude(without(&known)),
            (RecordKind::Block, Filter::Include(known)) => Filter::Include(without(&known)),
            (RecordKind::Block, Filter::Exclude(known)) => Filter::Exclude(with(&known)),
        };
        let (Filter::Include(sources) | Filter::Exclude(sources)) = &after;
        if sources.len() > MOST_SOURCES {
            return Err(TooMany);
        }
        if after == nothing() {
            self.groups.remove(&record.group);
        } else if self.groups.len() < MOST_GROUPS || self.groups.contains_key(&record.group) {
            self.groups.insert(record.group, after);
        } else {
            return Err(TooMany);
        }
        Ok(())
    }
}
