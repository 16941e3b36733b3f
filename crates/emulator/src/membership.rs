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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{View, group_records, tests::packet_v4};

    const GROUP: [u8; 4] = [239, 1, 2, 3];

    /// Applies an IGMPv3 report of one record.
    fn report(joined: &mut Joined, kind: u8, sources: &[u8]) -> Result<(), TooMany> {
        let mut payload = vec![0x22, 0, 0, 0, 0, 0, 0, 1, kind, 0, 0, sources.len() as u8];
        payload.extend(GROUP);
        sources.iter().for_each(|last| payload.extend([10, 0, 0, *last]));
        let bytes = packet_v4([10, 0, 0, 1], [224, 0, 0, 22], 2, &payload);
        let mut records = group_records(&View::of(&bytes).unwrap(), &bytes).unwrap();
        joined.apply(&records.next().unwrap())
    }

    fn wanted(joined: &Joined) -> Vec<u8> {
        (1..=4).filter(|&last| joined.wants(GROUP.into(), [10, 0, 0, last].into())).collect()
    }

    /// The table of RFC 3376, section 6.4.
    #[test]
    fn reports_change_the_sources_that_a_host_wants() {
        let mut joined = Joined::default();
        let mut after = |kind: u8, sources: &[u8]| {
            report(&mut joined, kind, sources).unwrap();
            wanted(&joined)
        };
        assert_eq!(after(5, &[1, 2]), [1, 2], "allow");
        assert_eq!(after(6, &[1]), [2], "block");
        assert_eq!(after(4, &[3]), [1, 2, 4], "change to exclude");
        assert_eq!(after(6, &[1]), [2, 4], "block while excluding");
        assert_eq!(after(5, &[3]), [2, 3, 4], "allow while excluding");
        assert_eq!(after(2, &[]), [1, 2, 3, 4], "mode is exclude");
        assert_eq!(after(1, &[2]), [2], "mode is include");
        assert!(after(3, &[]).is_empty(), "change to include nothing");
        assert_eq!(joined.groups().count(), 0);
    }

    #[test]
    fn what_cannot_be_kept_changes_nothing() {
        let mut joined = Joined::default();
        let bytes = |group: u32, sources: u16| {
            let mut payload = vec![0x22, 0, 0, 0, 0, 0, 0, 1, 5, 0];
            payload.extend(sources.to_be_bytes());
            payload.extend((0xef00_0000 + group).to_be_bytes());
            (0..u32::from(sources)).for_each(|source| payload.extend(source.to_be_bytes()));
            packet_v4([10, 0, 0, 1], [224, 0, 0, 22], 2, &payload)
        };
        let apply = |joined: &mut Joined, bytes: &[u8]| {
            let mut records = group_records(&View::of(bytes).unwrap(), bytes).unwrap();
            records.try_for_each(|record| joined.apply(&record))
        };
        assert_eq!(apply(&mut joined, &bytes(0, MOST_SOURCES as u16 + 1)), Err(TooMany));
        assert_eq!(joined.groups().count(), 0);
        for group in 0..MOST_GROUPS as u32 {
            assert_eq!(apply(&mut joined, &bytes(group, 1)), Ok(()));
        }
        assert_eq!(apply(&mut joined, &bytes(MOST_GROUPS as u32, 1)), Err(TooMany));
        assert_eq!(apply(&mut joined, &bytes(0, 2)), Ok(()), "a known group can change");
    }
}
