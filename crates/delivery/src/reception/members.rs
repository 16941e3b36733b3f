//! What a receiver knows of the files of a package.

use super::event::ObjectError;
use crate::package::{Head, Member};
use layercast_core::Always as _;

/// What became of a file of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// A newer object has its path, or it was removed, or it is not known yet whether the session still has it.
    Stale,
    /// What is at its path is not known.
    Unknown,
    /// Its content is needed.
    Missing,
    Placed,
    Failed(ObjectError),
}

/// The files of a package.
#[derive(Debug)]
pub(super) struct Members {
    head: Head,
    fates: Vec<Fate>,
}

impl Members {
    /// Files of which none is known to be current.
    pub(super) fn new(head: Head) -> Members {
        Members { fates: vec![Fate::Stale; head.members().len()], head }
    }

    pub(super) fn head(&self) -> &Head {
        &self.head
    }

    pub(super) fn get(&self, place: usize) -> Option<(&Member, Fate)> {
        self.head.members().get(place).zip(self.fates.get(place).copied())
    }

    pub(super) fn set(&mut self, place: usize, fate: Fate) {
        if let Some(of) = self.fates.get_mut(place) {
            *of = fate;
        }
    }

    /// A file is current from now on. Whether it was not.
    pub(super) fn renew(&mut self, place: usize) -> bool {
        let was_stale = self.fates.get(place) == Some(&Fate::Stale);
        if was_stale {
            self.set(place, Fate::Unknown);
        }
        was_stale
    }

    /// A newer object has the path, or it was removed.
    pub(super) fn supersede(&mut self, path: &str) {
        if let Some(place) = self.head.find(path) {
            self.set(place, Fate::Stale);
        }
    }

    /// None is known to be current.
    pub(super) fn supersede_all(&mut self) {
        self.fates.fill(Fate::Stale);
    }

    /// What the disk refused, and may take later, is looked at again. Whether there is any.
    pub(super) fn try_again(&mut self) -> bool {
        let may_pass = |fate: &&mut Fate| matches!(fate, Fate::Failed(reason) if reason.may_pass());
        self.fates.iter_mut().filter(may_pass).map(|fate| *fate = Fate::Unknown).count() > 0
    }

    /// The next file, from this place on, of this kind.
    pub(super) fn next(&self, from: usize, is_wanted: impl Fn(Fate) -> bool) -> Option<usize> {
        let fates = self.fates.get(from..).always("the next place is after one that exists");
        fates.iter().position(|&fate| is_wanted(fate)).map(|at| from + at)
    }

    /// Files that are current, of these those in their places, and those that cannot be received.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let count = |wanted: fn(&&Fate) -> bool| self.fates.iter().filter(wanted).count();
        (
            count(|fate| **fate != Fate::Stale),
            count(|fate| **fate == Fate::Placed),
            count(|fate| matches!(fate, Fate::Failed(_))),
        )
    }

    /// Files in their places, and files that cannot be received.
    pub(super) fn results(&self) -> impl Iterator<Item = (&str, Result<(), ObjectError>)> {
        self.head.members().iter().zip(&self.fates).filter_map(|(member, fate)| match fate {
            Fate::Placed => Some((member.path.as_str(), Ok(()))),
            Fate::Failed(reason) => Some((member.path.as_str(), Err(*reason))),
            Fate::Stale | Fate::Unknown | Fate::Missing => None,
        })
    }
}

/// Whether the content of a file is, or may be, needed.
pub(super) fn is_needed(fate: Fate) -> bool {
    matches!(fate, Fate::Unknown | Fate::Missing)
}
