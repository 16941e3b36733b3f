//! Packet numbers of a session (RFC 6584, section 3.3.2): the sender never gives one twice, and a receiver takes each
//! once.
//!
//! The numbers count the packets of all channels of a session together, so that no two packets have the same one.

/// The largest number: the field has 40 bits.
pub const SEQUENCE_MAX: u64 = (1 << 40) - 1;

/// How far a packet's number may be below the highest before it is refused: half a second of 1 Gbit/s in packets of
/// 1000 bytes. Channels may take different paths, so some order is lost.
pub const WINDOW: u64 = 1 << 16;

/// Why a sender has no number for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SequenceError {
    /// All numbers up to the one that was stored are used; store a higher one and grant it.
    #[error("no packet number is granted: store a higher one first")]
    Granted,
    /// The session has sent as many packets as it can.
    #[error("the session has used all its packet numbers; start one with another session number")]
    Exhausted,
}

/// The numbers of a sender.
///
/// A number that was used must never be used again, also after a crash: encryption would be broken, and receivers would
/// refuse the packets. So numbers are granted in advance: the host stores a number where it survives, then grants the
/// numbers up to it. After a restart it goes on from the number that is stored, whether or not all below were used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    last: u64,
    granted: u64,
}

impl Sequence {
    /// Numbers from the one that was stored last; 0 for a new session. The first packet of a session has number 1.
    pub fn after(stored: u64) -> Sequence {
        let stored = stored.min(SEQUENCE_MAX);
        Sequence { last: stored, granted: stored }
    }

    /// All numbers, granted: of a session that stores none, so its number, and a salt, are drawn for each start.
    pub fn all() -> Sequence {
        Sequence { last: 0, granted: SEQUENCE_MAX }
    }

    /// How many numbers are left before more must be granted.
    pub fn left(&self) -> u64 {
        self.granted - self.last
    }

    /// The number to store before so many more are granted.
    pub fn grant_of(&self, more: u64) -> u64 {
        self.granted.saturating_add(more).min(SEQUENCE_MAX)
    }

    /// Grants the numbers up to one that is stored. A lower one than before changes nothing.
    pub fn grant(&mut self, stored: u64) {
        self.granted = self.granted.max(stored.min(SEQUENCE_MAX));
    }

    /// The number of the next packet.
    ///
    /// # Errors
    /// Why there is none.
    pub fn next_number(&mut self) -> Result<u64, SequenceError> {
        if self.last < self.granted {
            self.last += 1;
            Ok(self.last)
        } else if self.granted == SEQUENCE_MAX {
            Err(SequenceError::Exhausted)
        } else {
            Err(SequenceError::Granted)
        }
    }
}

const WORDS: usize = (WINDOW / 64) as usize;

/// Which packet numbers came already (RFC 4303, section 3.4.3): all below the window count as come.
#[derive(Clone, Debug)]
pub struct ReplayWindow {
    highest: u64,
    /// One bit for each of the last [`WINDOW`] numbers, in a ring.
    came: Box<[u64; WORDS]>,
}

/// Why a packet's number is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is below the window.
    Old,
    /// It came before.
    Again,
}

impl ReplayWindow {
    /// A window above a number that was stored, all of whose predecessors are refused; 0 for a new session.
    pub fn above(stored: u64) -> ReplayWindow {
        ReplayWindow { highest: stored, came: Box::new([u64::MAX; WORDS]) }
    }

    /// The highest number that came: what a receiver stores.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    fn place(number: u64) -> (usize, u64) {
        ((number % WINDOW / 64) as usize, 1 << (number % 64))
    }

    /// Whether a number may still come. To be asked before anything costly is done with the packet.
    ///
    /// # Errors
    /// Why it may not.
    pub fn check(&self, number: u64) -> Result<(), Refused> {
        if number > self.highest {
            return Ok(());
        }
        if self.highest - number >= WINDOW {
            return Err(Refused::Old);
        }
        let (word, bit) = ReplayWindow::place(number);
        if self.came.get(word).is_none_or(|word| word & bit != 0) { Err(Refused::Again) } else { Ok(()) }
    }

    /// Notes a number whose packet was verified and passed [`check`](ReplayWindow::check).
    pub fn note(&mut self, number: u64) {
        let ahead = number.saturating_sub(self.highest);
        if ahead >= WINDOW {
            self.came.fill(0);
        } else {
            // Numbers that are skipped have not come.
            for skipped in self.highest + 1..=self.highest + ahead {
                let (word, bit) = ReplayWindow::place(skipped);
                if let Some(word) = self.came.get_mut(word) {
                    *word &= !bit;
                }
            }
        }
        self.highest = self.highest.max(number);
        let (word, bit) = ReplayWindow::place(number);
        if let Some(word) = self.came.get_mut(word) {
            *word |= bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{Refused, ReplayWindow, SEQUENCE_MAX, Sequence, SequenceError, WINDOW};

    #[test]
    fn numbers_are_never_given_twice_across_restarts() {
        let mut stored = 0;
        let mut given = BTreeSet::new();
        for used in [0, 3, 10, 1] {
            let mut sequence = Sequence::after(stored);
            assert_eq!(sequence.next_number(), Err(SequenceError::Granted));
            stored = sequence.grant_of(10);
            sequence.grant(stored);
            assert_eq!(sequence.left(), 10);
            for _ in 0..used {
                assert!(given.insert(sequence.next_number().unwrap()));
            }
        }
        assert_eq!(stored, 40);
        assert_eq!(given.first(), Some(&11), "the first ten were granted and not used");
    }

    #[test]
    fn the_last_number_ends_the_session() {
        let mut sequence = Sequence::after(SEQUENCE_MAX - 1);
        assert_eq!(sequence.grant_of(10), SEQUENCE_MAX);
        sequence.grant(u64::MAX);
        assert_eq!(sequence.next_number(), Ok(SEQUENCE_MAX));
        assert_eq!(sequence.next_number(), Err(SequenceError::Exhausted));
    }

    #[test]
    fn what_was_stored_is_refused_and_the_first_packet_is_taken() {
        let window = ReplayWindow::above(100_000);
        assert_eq!(window.check(100_000), Err(Refused::Again));
        assert_eq!(window.check(100_000 - WINDOW), Err(Refused::Old));
        assert_eq!(window.check(100_001), Ok(()));
        assert_eq!(ReplayWindow::above(0).check(0), Err(Refused::Again));
        assert_eq!(ReplayWindow::above(0).check(1), Ok(()));
    }

    proptest! {
        /// Against a set that forgets nothing.
        #[test]
        fn the_window_takes_each_number_once(
            steps in prop::collection::vec((0..6u8, any::<u32>()), 1..400),
        ) {
            let mut window = ReplayWindow::above(0);
            let (mut came, mut highest) = (BTreeSet::new(), 0u64);
            for (kind, random) in steps {
                let random = u64::from(random);
                let number = match kind {
                    0 | 1 => highest + 1,
                    2 => highest + 1 + random % 200,
                    3 => highest.saturating_sub(random % 300),
                    4 => highest.saturating_sub(random % (2 * WINDOW)),
                    _ => highest + random % (3 * WINDOW),
                };
                let expected = if number > highest {
                    Ok(())
                } else if highest - number >= WINDOW {
                    Err(Refused::Old)
                } else if number == 0 || came.contains(&number) {
                    Err(Refused::Again)
                } else {
                    Ok(())
                };
                prop_assert_eq!(window.check(number), expected);
                if expected.is_ok() {
                    window.note(number);
                    came.insert(number);
                    highest = highest.max(number);
                }
                prop_assert_eq!(window.highest(), highest);
            }
        }
    }
}
