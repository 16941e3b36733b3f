//! Heartbeats: the round-trip time to the source and its variation (report, section 4.3).

use crate::amca::Answer;
use crate::amca::estimates::{rtt_to_source_us, rtt_variation_us};
use layercast_core::contract::Peer;
use layercast_core::units::{Duration, Time};

/// The most outstanding heartbeats that are remembered.
const OUTSTANDING: usize = 4;

/// What a node knows of its path up, from heartbeats of its own.
#[derive(Clone, Debug, Default)]
pub(in crate::amca) struct Heartbeats {
    /// The send times of unanswered heartbeats, the newest last.
    outstanding: [Option<Time>; OUTSTANDING],
    parent: Option<Peer>,
    last: Option<(Time, Duration)>,
    before: Option<(Time, Duration)>,
    /// Whether the last two samples have not been reported yet.
    is_fresh: bool,
    to_source_us: Option<u32>,
    deviation_us: u32,
}

impl Heartbeats {
    /// Sends a heartbeat. Returns its time stamp.
    pub(in crate::amca) fn send(&mut self, now: Time) -> u64 {
        self.outstanding.rotate_left(1);
        self.outstanding[OUTSTANDING - 1] = Some(now);
        now.as_ns()
    }

    /// An answer came from `from`. Returns whether it answers a heartbeat that was still unanswered.
    pub(in crate::amca) fn on_answer(&mut self, now: Time, from: Peer, answer: Answer) -> bool {
        let sent = Time::from_ns(answer.echo_ns);
        let Some(place) = self.outstanding.iter().position(|at| *at == Some(sent)) else { return false };
        self.outstanding[place] = None;
        let section = now.since(sent);
        if self.parent.replace(from) != Some(from) {
            (self.last, self.before) = (None, None);
        }
        (self.before, self.last, self.is_fresh) = (self.last, Some((now, section)), true);
        // 0 means unknown on the wire, so a known time is at least 1.
        let to_source_us = rtt_to_source_us(answer.rtt_to_source_us, section).max(1);
        self.deviation_us = match self.to_source_us {
            None => to_source_us / 2,
            Some(old) => {
                let (old, error) = (self.deviation_us, old.abs_diff(to_source_us));
                (old - old / 4).saturating_add(error / 4)
            }
        };
        self.to_source_us = Some(to_source_us);
        true
    }

    /// The round-trip time to the source in microseconds; 0 if it is not known.
    pub(in crate::amca) fn to_source_us(&self) -> u32 {
        self.to_source_us.unwrap_or(0)
    }

    /// The round-trip time to the source.
    pub(in crate::amca) fn to_source(&self) -> Option<Duration> {
        self.to_source_us.map(|us| Duration::from_us(u64::from(us)))
    }

    /// The round-trip time to the parent.
    pub(in crate::amca) fn to_parent(&self) -> Option<Duration> {
        self.last.map(|(_, section)| section)
    }

    /// How long an answer to a NACK may take: the round-trip time and four deviations.
    pub(in crate::amca) fn patience(&self) -> Option<Duration> {
        let patience_us = |us| u64::from(us) + 4 * u64::from(self.deviation_us);
        self.to_source_us.map(|us| Duration::from_us(patience_us(us)))
    }

    /// The variation of the round-trip time to the parent over a period, in microseconds. Each change is
    /// reported once: a period without an answer of its own has none.
    pub(in crate::amca) fn take_variation_us(&mut self, period: Duration) -> i64 {
        let is_fresh = core::mem::take(&mut self.is_fresh);
        match (self.before, self.last) {
            (Some((at, old)), Some((now, new))) if is_fresh => {
                rtt_variation_us(old, new, now.since(at), period)
            }
            _ => 0,
        }
    }
}

/// Limits events to a number per second.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::amca) struct PerSecond {
    second: u64,
    count: u32,
}

impl PerSecond {
    /// Whether one more event is among the first `most` of this second.
    pub(in crate::amca) fn allow(&mut self, now: Time, most: u32) -> bool {
        let second = now.as_ns() / 1_000_000_000;
        if second != self.second {
            (self.second, self.count) = (second, 0);
        }
        self.count = self.count.saturating_add(1);
        self.count <= most
    }
}

/// Limits events to a number in any second: half of them at once, the others evenly spaced, so that a
/// flood cannot use up the allowance of a whole second in an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::amca) struct EvenPerSecond {
    /// When the first half would be allowed at once again.
    full: Time,
}

impl EvenPerSecond {
    /// Whether one more event is allowed.
    pub(in crate::amca) fn allow(&mut self, now: Time, most: u32) -> bool {
        let half = u64::from(most.div_ceil(2).max(1));
        let full = self.full.max(now) + Duration::from_ns(1_000_000_000 / half);
        let is_allowed = full.since(now) <= Duration::from_secs(1);
        if is_allowed {
            self.full = full;
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn a_flood_leaves_room_in_every_part_of_a_second() {
        let mut limit = EvenPerSecond::default();
        let allowed: Vec<u64> =
            (0..3000).filter(|ms| limit.allow(Time::ZERO + Duration::from_ms(*ms), 100)).collect();
        let within = |from: u64, to: u64| allowed.iter().filter(|ms| (from..to).contains(*ms)).count();
        assert!((0..=2000).step_by(100).all(|from| within(from, from + 1000) <= 100));
        assert!((1000..2900).step_by(100).all(|from| within(from, from + 100) >= 4), "{allowed:?}");
        assert!((0..50).all(|ms| allowed.contains(&ms)), "the first half comes at once");
    }

    fn answer(echo_ns: u64, rtt_to_source_us: u32) -> Answer {
        Answer { echo_ns, rtt_to_source_us, is_from_source: false }
    }

    #[test]
    fn only_what_was_asked_is_taken_and_once() {
        let mut beats = Heartbeats::default();
        let at = |ms: u64| Time::from_ns(ms * 1_000_000);
        let sent = beats.send(at(10));
        assert!(!beats.on_answer(at(30), Peer(1), answer(sent + 1, 0)));
        assert_eq!(beats.to_source_us(), 0);
        assert!(beats.on_answer(at(30), Peer(1), answer(sent, 5_000)));
        assert!(!beats.on_answer(at(30), Peer(1), answer(sent, 5_000)));
        assert_eq!(beats.to_source_us(), 25_000);
        assert_eq!(beats.patience(), Some(Duration::from_us(25_000 + 4 * 12_500)));
        assert_eq!(beats.take_variation_us(Duration::from_ms(100)), 0, "one sample");

        let sent = beats.send(at(110));
        assert!(beats.on_answer(at(140), Peer(1), answer(sent, 5_000)));
        let variation_us = beats.take_variation_us(Duration::from_ms(110));
        assert_eq!(variation_us, 10_000, "from 20 to 30 ms within 110 ms");
        assert_eq!(beats.take_variation_us(Duration::from_ms(110)), 0, "reported before");

        let sent = beats.send(at(200));
        assert!(beats.on_answer(at(290), Peer(2), answer(sent, 5_000)));
        assert_eq!(beats.take_variation_us(Duration::from_ms(100)), 0, "another parent");
        // The oldest are forgotten.
        let sent = beats.send(at(300));
        (1..=4).for_each(|ms| {
            beats.send(at(300 + ms));
        });
        assert!(!beats.on_answer(at(310), Peer(2), answer(sent, 0)));
    }

    #[test]
    fn a_second_has_room_for_ten() {
        let mut answers = PerSecond::default();
        let allowed = (0..30).filter(|&tenth| answers.allow(Time::from_ns(tenth * 50_000_000), 10)).count();
        assert_eq!(allowed, 20);
    }
}
