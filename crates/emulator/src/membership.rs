//! What each host has joined, as its reports say (RFC 3376, section 6.4; RFC 3810, section 7.4). A host's kernel
//! merges the wishes of its sockets, and there is one host on each link, so its reports give its state exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use layercast_delivery::membership::report::{Record, RecordKind};

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
    pub fn apply(&mut self, record: &Record) -> Result<(), TooMany> {
        use RecordKind::{Allow, Block, IsExclude, IsInclude, ToExclude, ToInclude};
        let nothing = || Filter::Include(BTreeSet::new());
        let before = self.groups.get(&record.group).cloned().unwrap_or_else(nothing);
        let reported = || record.sources.iter().copied().collect::<BTreeSet<IpAddr>>();
        let with = |known: &BTreeSet<IpAddr>| known.union(&reported()).copied().collect();
        let without = |known: &BTreeSet<IpAddr>| known.difference(&reported()).copied().collect();
        let after = match (record.kind, before) {
            (IsInclude | ToInclude, _) => Filter::Include(reported()),
            (IsExclude | ToExclude, _) => Filter::Exclude(reported()),
            (Allow, Filter::Include(known)) => Filter::Include(with(&known)),
            (Allow, Filter::Exclude(known)) => Filter::Exclude(without(&known)),
            (Block, Filter::Include(known)) => Filter::Include(without(&known)),
            (Block, Filter::Exclude(known)) => Filter::Exclude(with(&known)),
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

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: [u8; 4] = [239, 1, 2, 3];

    fn record(kind: RecordKind, sources: &[u8]) -> Record {
        let sources = sources.iter().map(|&last| [10, 0, 0, last].into()).collect();
        Record { kind, group: GROUP.into(), sources }
    }

    fn wanted(joined: &Joined) -> Vec<u8> {
        (1..=4).filter(|&last| joined.wants(GROUP.into(), [10, 0, 0, last].into())).collect()
    }

    /// The table of RFC 3376, section 6.4.
    #[test]
    fn reports_change_the_sources_that_a_host_wants() {
        use RecordKind::{Allow, Block, IsExclude, IsInclude, ToExclude, ToInclude};
        let mut joined = Joined::default();
        let mut after = |kind: RecordKind, sources: &[u8]| {
            joined.apply(&record(kind, sources)).unwrap();
            wanted(&joined)
        };
        assert_eq!(after(Allow, &[1, 2]), [1, 2]);
        assert_eq!(after(Block, &[1]), [2]);
        assert_eq!(after(ToExclude, &[3]), [1, 2, 4]);
        assert_eq!(after(Block, &[1]), [2, 4], "block while excluding");
        assert_eq!(after(Allow, &[3]), [2, 3, 4], "allow while excluding");
        assert_eq!(after(IsExclude, &[]), [1, 2, 3, 4]);
        assert_eq!(after(IsInclude, &[2]), [2]);
        assert!(after(ToInclude, &[]).is_empty());
        assert_eq!(joined.groups().count(), 0);
    }

    #[test]
    fn what_cannot_be_kept_changes_nothing() {
        let mut joined = Joined::default();
        let record = |group: u32, sources: u16| Record {
            group: std::net::Ipv4Addr::from(0xef00_0000 + group).into(),
            sources: (0..u32::from(sources)).map(|source| std::net::Ipv4Addr::from(source).into()).collect(),
            ..record(RecordKind::Allow, &[])
        };
        assert_eq!(joined.apply(&record(0, MOST_SOURCES as u16 + 1)), Err(TooMany));
        assert_eq!(joined.groups().count(), 0);
        for group in 0..MOST_GROUPS as u32 {
            assert_eq!(joined.apply(&record(group, 1)), Ok(()));
        }
        assert_eq!(joined.apply(&record(MOST_GROUPS as u32, 1)), Err(TooMany));
        assert_eq!(joined.apply(&record(0, 2)), Ok(()), "a known group can change");
    }
}
