//! What the next poll asks: probabilities and floor, from the answers to the last one.

use core::num::NonZeroU64;

use super::estimate::weight;
use super::{ANSWERS, EXPONENT_STEP, SLOW_ANSWERS};
use crate::packet::{EXPONENT_MAX, Poll};
use layercast_core::Always as _;

/// By how much exponents fall from poll to poll at most: a probability four times as high, so that receivers of which
/// none has answered by chance do not all answer at once.
const STEP: u8 = 2;
/// With fewer slow receivers below the floor, others are looked for (CHOICE).
const SLOW_MIN: usize = 4;
/// The maximum number of polls with one floor once all below it answer; then others are looked for, since a
/// floor found by chance leaves some out (CHOICE).
const HELD_MAX: u32 = 4;
/// A floor above which nobody is slow.
const NO_FLOOR: u16 = u16::MAX;

/// An answer to a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) receiver: NonZeroU64,
    pub(super) share: u16,
    pub(super) exponent: u8,
    pub(super) is_complete: bool,
}

/// What is asked now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) poll: Poll,
    /// The exponent of the poll before.
    pub(super) before: u8,
    /// The exponent that the answers to the poll before would have asked for.
    needed: u8,
    /// For how many polls all below the floor have been asked to answer.
    held: u32,
}

impl Plan {
    pub(super) fn new() -> Plan {
        // Receivers begin with a low probability of their own.
        Plan { poll: Poll::new(0, 0, 0, NO_FLOOR), before: 0, needed: 0, held: 0 }
    }

    /// Plans the next poll. `answers` came in the part `passed` of the time to answer; they are sorted here.
    /// `each` is for how many answers each of them stands, if there were too many to keep.
    pub(super) fn next(&mut self, answers: &mut [Sample], passed: f64, each: f64) {
        let poll = self.poll;
        let scale = each / passed.clamp(0.05, 1.0);
        let expected = |sample: &Sample, exponent: u8| {
            // A receiver whose own probability is still low raises it, whatever is asked.
            let is_new = sample.exponent > poll.exponent(sample.share);
            let least = if is_new { sample.exponent.saturating_sub(EXPONENT_STEP) } else { 0 };
            scale * weight(sample.exponent) / weight(exponent.max(least))
        };
        let needed = (0..EXPONENT_MAX)
            .find(|&all| answers.iter().map(|sample| expected(sample, all)).sum::<f64>() <= ANSWERS)
            .unwrap_or(EXPONENT_MAX);
        // Two polls must agree that fewer receivers are there, so that chance does not raise the probability.
        let all = needed.max(self.needed).max(poll.all().saturating_sub(STEP));
        (self.before, self.needed) = (poll.all(), needed);
        answers.sort_unstable_by_key(|sample| (sample.is_complete, sample.share));
        let end = answers.partition_point(|sample| !sample.is_complete && sample.share < poll.floor);
        let below = answers.get(..end).always("a partition point is within");
        let (slow, floor) = self.slow(all, below, expected);
        self.held = if slow == 0 && floor == poll.floor { self.held + 1 } else { 0 };
        self.poll = Poll::new(poll.number.wrapping_add(1), all, slow, floor);
    }

    /// The exponent of slow receivers and the floor, from the answers of those below the last floor, sorted.
    fn slow(&self, all: u8, below: &[Sample], expected: impl Fn(&Sample, u8) -> f64) -> (u8, u16) {
        let everyone = (all, NO_FLOOR);
        let (last, floor) = (self.poll.slow(), self.poll.floor);
        let is_over = last == 0 && (below.len() < SLOW_MIN || self.held >= HELD_MAX);
        if all == 0 || is_over && floor != NO_FLOOR {
            return everyone;
        }
        let Some(slowest) = below.first() else {
            // Nobody, or nobody by chance.
            return if last > 0 { (last.saturating_sub(STEP).min(all), floor) } else { everyone };
        };
        for slow in last.saturating_sub(STEP)..all {
            let mut answers = 0.0;
            let beyond = below.iter().find(|sample| {
                answers += expected(sample, slow);
                answers > SLOW_ANSWERS
            });
            let floor = beyond.map_or(floor, |sample| sample.share);
            // Where many hold equally little, none of them is below a floor at that share.
            if floor > slowest.share {
                return (slow, floor);
            }
        }
        everyone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(count: u16, exponent: u8, share: impl Fn(u16) -> u16) -> Vec<Sample> {
        let receiver = NonZeroU64::MIN;
        (0..count).map(|at| Sample { receiver, share: share(at), exponent, is_complete: false }).collect()
    }

    fn plan(all: u8, slow: u8, floor: u16) -> Plan {
        Plan { poll: Poll::new(7, all, slow, floor), before: all, needed: 0, held: 0 }
    }

    #[test]
    fn few_receivers_all_answer() {
        let mut plan = Plan::new();
        for _ in 0..10 {
            plan.next(&mut samples(20, 0, |at| at), 1.0, 1.0);
            assert_eq!((plan.poll.all(), plan.poll.slow()), (0, 0));
        }
        assert_eq!(plan.poll.number, 10);
    }

    #[test]
    fn new_receivers_are_counted_with_the_probability_that_they_will_have() {
        let mut plan = Plan::new();
        // One of 10^5: at 2^-12 there would be 16, so nothing is changed.
        plan.next(&mut samples(1, 16, |_| 0), 1.0, 1.0);
        assert_eq!(plan.poll.all(), 0);
        // These 24 would be 384 at 2^-8.
        plan.next(&mut samples(24, 12, |_| 0), 1.0, 1.0);
        assert_eq!((plan.poll.all(), plan.poll.slow()), (12, 12));
        // Too many in a tenth of the time, a quarter of them kept.
        plan.next(&mut samples(24, 12, |_| 0), 0.1, 4.0);
        assert_eq!(plan.poll.all(), 18);
    }

    #[test]
    fn chance_does_not_raise_the_probability_and_silence_does_slowly() {
        let mut plan = plan(10, 10, NO_FLOOR);
        plan.needed = 10;
        plan.next(&mut [], 1.0, 1.0);
        assert_eq!(plan.poll.all(), 10);
        plan.next(&mut [], 1.0, 1.0);
        assert_eq!(plan.poll.all(), 8);
        plan.next(&mut [], 1.0, 1.0);
        assert_eq!(plan.poll.all(), 6);
    }

    #[test]
    fn the_slowest_quarter_is_looked_for_until_all_of_it_answers() {
        let mut plan = plan(6, 6, NO_FLOOR);
        plan.needed = 6;
        // 24 of 1536 receivers answered; the four slowest stand for 256, and 16 of these answer at 2^-4.
        plan.next(&mut samples(24, 6, |at| 100 + at), 1.0, 1.0);
        assert_eq!((plan.poll.all(), plan.poll.slow(), plan.poll.floor), (6, 4, 104));
        let mut both = samples(12, 4, |at| 80 + at);
        both.extend(samples(20, 6, |at| 200 + at));
        plan.next(&mut both, 1.0, 1.0);
        assert_eq!((plan.poll.all(), plan.poll.slow(), plan.poll.floor), (6, 2, 84));
        let mut both = samples(10, 2, |at| 60 + at);
        both.extend(samples(20, 6, |at| 200 + at));
        plan.next(&mut both, 1.0, 1.0);
        assert_eq!((plan.poll.slow(), plan.poll.floor), (0, 64));
        // They stay until few are left.
        let mut both = samples(9, 0, |at| 40 + at);
        both.extend(samples(20, 6, |at| 200 + at));
        plan.next(&mut both.clone(), 1.0, 1.0);
        assert_eq!((plan.poll.slow(), plan.poll.floor), (0, 64));
        plan.next(&mut both[7..], 1.0, 1.0);
        assert_eq!((plan.poll.slow(), plan.poll.floor), (6, NO_FLOOR));
    }

    #[test]
    fn receivers_that_hold_equally_little_are_not_all_asked() {
        let mut plan = plan(10, 10, NO_FLOOR);
        plan.needed = 10;
        for _ in 0..5 {
            let slow = plan.poll.slow();
            plan.next(&mut samples(24, slow, |_| 0), 1.0, 1.0);
            assert!(plan.poll.slow() >= 10, "{plan:?}");
        }
    }

    #[test]
    fn complete_receivers_are_not_slow() {
        let mut plan = plan(6, 6, NO_FLOOR);
        let mut complete = samples(24, 6, |_| 5);
        complete.iter_mut().for_each(|sample| sample.is_complete = true);
        plan.next(&mut complete, 1.0, 1.0);
        assert_eq!(plan.poll.all(), 6);
    }
}
