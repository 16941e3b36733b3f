//! When a receiver answers the polls of its source.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Time};

use super::{EXPONENT_STEP, FIRST_EXPONENT};
use crate::packet::Poll;

/// The least time between two polls that are answered, whatever is asked: the source starts none sooner than twice this.
const GAP: Duration = Duration::from_ms(500);

/// A report is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The number of the poll.
    pub poll: u8,
    /// It is sent with probability 2^-exponent.
    pub exponent: u8,
}

/// A receiver's part: whether and when it answers.
#[derive(Debug)]
pub struct Reporter {
    random: Stream,
    /// The least exponent for the next poll.
    least: u8,
    heard: Option<(Poll, Time)>,
    due: Option<(Time, Answer)>,
}

impl Reporter {
    /// A receiver of a session that has heard no poll yet. Receivers must not have equal seeds.
    pub fn new(seed: u64) -> Reporter {
        let random = Stream::new(seed, "reporting");
        Reporter { random, least: FIRST_EXPONENT, heard: None, due: None }
    }

    /// A poll was heard by a receiver that has this share of its objects. A new one takes the place of the last, whose
    /// answer is not sent any more; further packets of one poll change nothing.
    pub fn poll(&mut self, poll: Poll, share: u16, now: Time) {
        if self.heard.is_some_and(|(last, at)| last.number == poll.number || now.since(at) < GAP) {
            return;
        }
        self.heard = Some((poll, now));
        let exponent = poll.exponent(share).max(self.least);
        self.least = self.least.saturating_sub(EXPONENT_STEP);
        let delay = self.random.uniform_duration(poll.left());
        let answer = Answer { poll: poll.number, exponent };
        self.due = self.draw(exponent).then_some((now + delay, answer));
    }

    /// When [`Reporter::take_due`] has an answer, if it will.
    pub fn deadline(&self) -> Option<Time> {
        self.due.map(|(at, _)| at)
    }

    /// The answer that is due.
    pub fn take_due(&mut self, now: Time) -> Option<Answer> {
        self.due.take_if(|(at, _)| *at <= now).map(|(_, answer)| answer)
    }

    /// The last report of a receiver that ends, which is sent at once, if it is sent: with the probability of any answer,
    /// since many may end at the same time.
    pub fn leave(&mut self, share: u16) -> Option<Answer> {
        let (poll, _) = self.heard?;
        self.due = None;
        let exponent = poll.exponent(share).max(self.least);
        self.draw(exponent).then_some(Answer { poll: poll.number, exponent })
    }

    fn draw(&mut self, exponent: u8) -> bool {
        self.random.chance(probability(exponent))
    }
}

/// 2^-exponent.
fn probability(exponent: u8) -> f64 {
    1.0 / (1u64 << exponent.min(63)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn poll(number: u8, all: u8) -> Poll {
        Poll::new(number, all, 0, 100).with_left(Duration::from_secs(4))
    }

    /// Polls from 0 on, until this one answers for certain.
    fn settled(seed: u64) -> Reporter {
        let mut reporter = Reporter::new(seed);
        for number in 0..10 {
            reporter.poll(poll(number, 0), 0, at(u64::from(number) * 5000));
        }
        reporter
    }

    #[test]
    fn probabilities_rise_sixteenfold_from_poll_to_poll() {
        let mut answers = [0u32; 6];
        for seed in 0..40_000 {
            let mut reporter = Reporter::new(seed);
            for (number, count) in (0..).zip(&mut answers) {
                reporter.poll(poll(number, 0), 0, at(u64::from(number) * 5000));
                let answer = reporter.take_due(at(u64::from(number) * 5000 + 4000));
                assert!(answer.is_none_or(|answer| {
                    answer == Answer { poll: number, exponent: 16u8.saturating_sub(4 * number) }
                }));
                *count += u32::from(answer.is_some());
            }
        }
        // 40000 / 2^16, / 2^12 and so on; five standard deviations of a Poisson count.
        for (count, expected) in answers.into_iter().zip([0.6, 9.8, 156.3, 2500.0, 40_000.0, 40_000.0]) {
            assert!((f64::from(count) - expected).abs() <= 5.0 * f64::sqrt(expected) + 1.0, "{answers:?}");
        }
        assert_eq!(answers[4..], [40_000, 40_000], "certain");
    }

    #[test]
    fn one_answer_per_poll_within_its_time() {
        let mut reporter = settled(1);
        reporter.poll(poll(10, 0), 0, at(50_000));
        reporter.poll(poll(10, 0), 0, at(50_800));
        let due = reporter.deadline().expect("an answer");
        assert!((at(50_000)..=at(54_000)).contains(&due), "{due:?}");
        assert_eq!(reporter.take_due(due), Some(Answer { poll: 10, exponent: 0 }));
        reporter.poll(poll(10, 0), 0, at(54_500));
        assert_eq!(reporter.deadline(), None);
    }

    #[test]
    fn a_new_poll_cancels_and_polls_in_a_rush_are_not_answered() {
        let mut reporter = settled(1);
        reporter.poll(poll(20, 0), 0, at(100_000));
        for number in 21..200 {
            reporter.poll(poll(number, 0), 0, at(100_000 + u64::from(number)));
        }
        assert_eq!(reporter.take_due(at(104_000)).map(|answer| answer.poll), Some(20));
        reporter.poll(poll(30, 0), 0, at(110_000));
        // One in 2^24 answers this one.
        reporter.poll(poll(31, 24), 200, at(111_000));
        assert_eq!(reporter.take_due(at(120_000)), None);
    }

    #[test]
    fn slow_receivers_answer_with_their_own_probability() {
        let count = |share: u16| {
            let answers = (0..4000).filter(|&seed| {
                let mut reporter = settled(seed);
                reporter.poll(poll(10, 4), share, at(50_000));
                reporter.deadline().is_some()
            });
            answers.count() as i32
        };
        assert_eq!(count(99), 4000);
        // One in 16 of 4000: 250, with a standard deviation of 15.
        assert!((count(100) - 250).abs() < 75);
    }

    #[test]
    fn the_last_report_is_as_rare_as_any() {
        assert_eq!(Reporter::new(1).leave(0), None, "nobody asked");
        assert_eq!(settled(1).leave(0), Some(Answer { poll: 9, exponent: 0 }));
        let mut reporter = settled(1);
        reporter.poll(poll(10, 24), 200, at(50_000));
        assert_eq!(reporter.leave(200), None);
    }
}
