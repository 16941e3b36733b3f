//! What a source that is started again needs: which symbols it had reached, the hashes of its files, and the packet numbers
//! that it may have used.
//!
//! Bottom-up: [`fingerprint`] (what a file is known by) · [`mod@file`] (a state as bytes) · [`Storing`] (when it is stored, and which
//! packet numbers may be used by then). Reading and replacing the file belong to the host. The file must be replaced as a whole: after a
//! crash there is the one before or the new one.

pub mod file;
pub mod fingerprint;

use layercast_core::units::{Duration, Time};

use crate::security::encryption::Salt;
use crate::security::sequence::Sequence;

/// The interval of storing, for each started megabyte.
const EVERY: Duration = Duration::from_secs(1);
const MEGABYTE: usize = 1 << 20;
/// How much is passed over by a source that is started again, of what was sent between the last two states (CHOICE: it
/// may have sent as much since, and the disk takes its time). There are 2^24 symbols of each block: some are never sent.
const RESERVE: f64 = 2.0;

/// The packet numbers of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// What packets are encrypted with; none if none were.
    pub salt: Option<Salt>,
    /// The highest number that may have been used.
    pub granted: u64,
}

impl Numbers {
    /// The salt of packets that are encrypted: the one that was used goes on, as do the packet numbers, so that receivers who know it
    /// can go on too.
    pub fn salt_or(&mut self, new: impl FnOnce() -> Salt) -> Salt {
        *self.salt.get_or_insert_with(new)
    }
}

/// When a source stores its state, and which packet numbers it may use: those that a stored state grants.
#[derive(Debug)]
pub struct Storing {
    /// The highest number that an earlier source may have used.
    before: u64,
    /// What is stored.
    numbers: Numbers,
    /// How many packet numbers a state grants.
    grant: u64,
    next: Time,
    /// The rounds that were sent when the last state was taken.
    rounds: f64,
}

/// A state that is to be stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Due {
    /// How much of what is sent a later source passes over ([`file::encode`]).
    pub reserve: f64,
    /// Its packet numbers.
    pub numbers: Numbers,
    rounds: f64,
}

impl Storing {
    /// After what an earlier source left. Where packets have numbers, each state grants `grant` of them. What is left of them when the
    /// source ends is lost.
    pub fn after(saved: Numbers, grant: u64) -> Storing {
        Storing { before: saved.granted, numbers: saved, grant, next: Time::ZERO, rounds: 0.0 }
    }

    /// What is to be stored before anything is sent.
    pub fn first(&self) -> Due {
        let granted = self.numbers.granted.saturating_add(self.grant);
        Due { numbers: Numbers { granted, ..self.numbers }, ..self.last() }
    }

    /// What is to be stored when nothing is sent any more.
    pub fn last(&self) -> Due {
        Due { reserve: 0.0, numbers: self.numbers, rounds: 0.0 }
    }

    /// What is to be stored now, if anything is. The source has sent so many `rounds`, and of its packet numbers these are `left`, if it
    /// has any: with few of them more are granted.
    pub fn due(&self, now: Time, rounds: f64, left: Option<u64>) -> Option<Due> {
        let more = if left.is_some_and(|left| left < self.grant / 2) { self.grant } else { 0 };
        let numbers = Numbers { granted: self.numbers.granted.saturating_add(more), ..self.numbers };
        let due = Due { reserve: RESERVE * (rounds - self.rounds), numbers, rounds };
        Some(due).filter(|_| now >= self.next)
    }

    /// What was due has so many bytes, and the disk `takes` it now. If it is still busy, the next one has more in reserve.
    pub fn begun(&mut self, now: Time, due: &Due, bytes: usize, takes: bool) {
        self.next = now + EVERY * (1 + bytes / MEGABYTE) as u64;
        if takes {
            self.rounds = due.rounds;
        }
    }

    /// A state that grants packet numbers up to this one is stored, and survives a crash.
    pub fn stored(&mut self, granted: u64) {
        self.numbers.granted = self.numbers.granted.max(granted);
    }

    /// What is stored.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// The source's packet numbers, those granted that are stored.
    pub fn sequence(&self) -> Sequence {
        let mut sequence = Sequence::after(self.before);
        sequence.grant(self.numbers.granted);
        sequence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAVED: Numbers = Numbers { salt: Some(Salt([7; 16])), granted: 100 };
    const AT: Time = Time::from_ns(5_000_000_000);

    #[test]
    fn a_number_is_used_after_a_state_that_grants_it_is_stored() {
        let mut storing = Storing::after(SAVED, 10);
        assert_eq!((storing.sequence().left(), storing.first().numbers.granted), (0, 110));
        storing.stored(110);
        let mut sequence = storing.sequence();
        assert_eq!((sequence.next_number(), sequence.left()), (Ok(101), 9));
        let granted = |storing: &Storing, left| storing.due(AT, 0.0, left).map(|due| due.numbers.granted);
        assert_eq!([None, Some(5), Some(4)].map(|left| granted(&storing, left)), [110, 110, 120].map(Some));
        let due = storing.due(AT, 0.0, Some(0)).expect("it is time");
        storing.begun(AT, &due, 0, true);
        assert_eq!(storing.numbers().granted, 110, "it is on its way");
        storing.stored(due.numbers.granted);
        storing.stored(110);
        assert_eq!(*storing.numbers(), Numbers { granted: 120, ..SAVED });
    }

    #[test]
    fn a_state_passes_over_what_may_be_sent_until_the_next_one() {
        let mut storing = Storing::after(Numbers::default(), 0);
        assert_eq!(storing.first().numbers, Numbers::default(), "packets have no numbers");
        let due = storing.due(AT, 0.5, None).expect("it is time");
        assert_eq!(due.reserve, 1.0);
        storing.begun(AT, &due, MEGABYTE, true);
        let later = |seconds| AT + Duration::from_secs(seconds);
        assert_eq!(storing.due(later(1), 0.6, None), None, "it is long");
        let due = storing.due(later(2), 0.75, None).expect("it is time");
        assert_eq!(due.reserve, 0.5);
        storing.begun(later(2), &due, 0, false);
        assert_eq!(storing.due(later(3), 1.0, None).map(|due| due.reserve), Some(1.0), "the disk was busy");
    }
}
