//! Contents that are complete and have a wrong hash.

use crate::object::Sha256;
use crate::reception::event::{TRIES, TRIES_MAX};

/// The wrong contents of an object, or of a part of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wrong {
    count: u32,
    /// The last wrong hash, and how many times it came one after the other.
    last: Option<(Sha256, u32)>,
}

impl Wrong {
    /// How many there were.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Whether there were so few that each is reported.
    pub(super) fn is_reported(&self) -> bool {
        self.count <= TRIES
    }

    /// Notes that the hash of the whole is wrong, and what it is. Whether that is what the sender has: the same content came
    /// several times, one after the other. What is damaged or forged at random differs each time; it does not go on for ever.
    pub(super) fn is_hopeless(&mut self, content: Sha256) -> bool {
        self.count = self.count.saturating_add(1);
        let times = match self.last {
            Some((wrong, times)) if wrong == content => times.saturating_add(1),
            _ => 1,
        };
        self.last = Some((content, times));
        times >= TRIES || self.count >= TRIES_MAX
    }
}
