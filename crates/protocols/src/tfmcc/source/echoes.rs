//! Which time stamp is echoed next (RFC 4654, section 3.5).

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::tfmcc::header::{Echo, FloatRate, ReceiverId};
use layercast_core::units::{Duration, Time};

/// The most time stamps that wait.
const MAX_WAITING: usize = 256;
/// A time stamp that waited longer is dropped: two packets at the slowest pace, and more.
const MAX_AGE: Duration = Duration::from_secs(20);

/// A time stamp to be echoed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) receiver: ReceiverId,
    pub(super) timestamp_us: u32,
    pub(super) arrived: Time,
    pub(super) has_rtt: bool,
    /// The feedback round that its report answered.
    pub(super) round: u8,
    pub(super) rate: FloatRate,
}

impl Waiting {
    fn echo(&self, now: Time) -> Echo {
        let held_us = now.since(self.arrived).as_us() as u32;
        Echo { receiver: self.receiver, timestamp_us: self.timestamp_us.wrapping_add(held_us) }
    }
}

/// Time stamps, one per receiver, and that of the limiting receiver, which stays.
#[derive(Clone, Debug)]
pub(super) struct Echoes {
    waiting: Vec<Waiting>,
    limiting: Option<Waiting>,
    /// The limiting receiver is new and has had no echo as such.
    owed: bool,
    /// The last round in which the limiting receiver had an echo.
    limiting_round: u8,
}

impl Echoes {
    pub(super) fn new() -> Echoes {
        Echoes { waiting: Vec::with_capacity(MAX_WAITING), limiting: None, owed: false, limiting_round: 0 }
    }

    /// Adds the time stamp of a report. `is_limiting` says whether it comes from the present
    /// limiting receiver. False if there was no room.
    pub(super) fn push(&mut self, new: Waiting, is_limiting: bool) -> bool {
        let place = self.waiting.iter().position(|old| old.receiver == new.receiver);
        if is_limiting {
            self.owed |= self.limiting.is_none_or(|old| old.receiver != new.receiver);
            self.limiting = Some(new);
            if let Some(place) = place {
                self.waiting.swap_remove(place);
            }
            return true;
        }
        if let Some(old) = place.and_then(|place| self.waiting.get_mut(place)) {
            *old = new;
            return true;
        }
        let fits = self.waiting.len() < MAX_WAITING;
        if fits {
            self.waiting.push(new);
        }
        fits
    }

    /// Sets the limiting receiver: the time stamp of the former one is dropped.
    pub(super) fn set_limiting(&mut self, limiting: Option<ReceiverId>) {
        if self.limiting.is_some_and(|stamp| Some(stamp.receiver) != limiting) {
            self.limiting = None;
            self.owed = false;
        }
    }

    /// The echo for the next packet in feedback round `round`: a new limiting receiver, or one that has
    /// no round-trip time; others without one, the oldest report first; others; the limiting receiver.
    /// If it has had none in this round and the round is late, the limiting receiver goes first.
    pub(super) fn pop(&mut self, now: Time, round: u8, is_late: bool) -> Option<Echo> {
        self.waiting.retain(|entry| now.since(entry.arrived) <= MAX_AGE);
        let urgent =
            |limiting: &&Waiting| self.owed || !limiting.has_rtt || is_late && self.limiting_round != round;
        let first = self.limiting.as_ref().filter(urgent);
        if first.is_none()
            && let Some(place) = self.best(round)
        {
            return Some(self.waiting.swap_remove(place).echo(now));
        }
        let echo = self.limiting.as_ref()?.echo(now);
        self.owed = false;
        self.limiting_round = round;
        Some(echo)
    }

    fn best(&self, round: u8) -> Option<usize> {
        // The receiver's number comes last, so that the order in the list decides nothing.
        let key = |entry: &Waiting| {
            (entry.has_rtt, Reverse(round.wrapping_sub(entry.round)), entry.rate.0, entry.receiver)
        };
        let places = self.waiting.iter().enumerate();
        places.min_by_key(|(_, entry)| key(entry)).map(|(place, _)| place)
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU64;

    use super::*;

    fn id(number: u64) -> ReceiverId {
        ReceiverId(NonZeroU64::new(number).unwrap())
    }

    fn stamp(number: u64, has_rtt: bool, round: u8, rate: u16) -> Waiting {
        let (receiver, rate) = (id(number), FloatRate(rate));
        Waiting { receiver, timestamp_us: 1000, arrived: Time::ZERO, has_rtt, round, rate }
    }

    fn order(echoes: &mut Echoes, count: usize) -> Vec<u64> {
        let mut next = || echoes.pop(Time::ZERO, 9, false).unwrap().receiver.0.get();
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn the_order_is_that_of_the_rfc() {
        let mut echoes = Echoes::new();
        echoes.push(stamp(1, true, 9, 5), false);
        echoes.push(stamp(2, true, 8, 9), false);
        echoes.push(stamp(3, false, 9, 7), false);
        echoes.push(stamp(4, false, 9, 6), false);
        echoes.push(stamp(5, false, 8, 9), false);
        echoes.push(stamp(6, true, 9, 1), true);
        assert_eq!(order(&mut echoes, 8), [6, 5, 4, 3, 2, 1, 6, 6]);
        // The same receiver reports again: it is not new, and waits behind the others.
        echoes.push(stamp(6, true, 9, 1), true);
        echoes.push(stamp(7, true, 9, 1), false);
        assert_eq!(order(&mut echoes, 3), [7, 6, 6]);
        // Without a round-trip time it goes first until it has one.
        echoes.push(stamp(8, false, 9, 1), true);
        echoes.push(stamp(7, true, 9, 1), false);
        assert_eq!(order(&mut echoes, 3), [8, 8, 8]);
        echoes.set_limiting(None);
        assert_eq!(order(&mut echoes, 1), [7]);
        assert_eq!(echoes.pop(Time::ZERO, 9, false), None);
    }

    #[test]
    fn the_limiting_receiver_has_one_echo_a_round_at_least() {
        let mut echoes = Echoes::new();
        echoes.push(stamp(1, true, 1, 1), true);
        assert_eq!(echoes.pop(Time::ZERO, 1, false).unwrap().receiver, id(1));
        for number in 2..6 {
            echoes.push(stamp(number, false, 1, 1), false);
        }
        let mut next = |round, late| echoes.pop(Time::ZERO, round, late).unwrap().receiver.0.get();
        let order = [next(1, true), next(2, false), next(2, true), next(2, true)];
        assert_eq!(order, [2, 3, 1, 4]);
    }

    #[test]
    fn the_hold_time_is_added_and_old_stamps_are_dropped() {
        let mut echoes = Echoes::new();
        echoes.push(stamp(1, false, 1, 1), false);
        echoes.push(stamp(2, true, 1, 1), false);
        let echo = echoes.pop(Time::ZERO + Duration::from_ms(3), 1, false).unwrap();
        assert_eq!((echo.receiver, echo.timestamp_us), (id(1), 4000));
        assert_eq!(echoes.pop(Time::ZERO + Duration::from_secs(21), 1, false), None);
    }

    #[test]
    fn there_is_room_for_so_many() {
        let mut echoes = Echoes::new();
        for number in 1..=MAX_WAITING as u64 {
            assert!(echoes.push(stamp(number, false, 1, 1), false));
        }
        assert!(!echoes.push(stamp(1000, false, 1, 1), false));
        assert!(echoes.push(stamp(5, false, 1, 1), false), "a receiver that waits already keeps its place");
    }
}
