//! What a source asks, and what it knows from the answers.

use core::num::NonZeroU64;
use std::collections::VecDeque;
use std::net::SocketAddr;

use layercast_core::Always as _;
use layercast_core::units::{Duration, Time};

use super::estimate::{Interval, Total, weight};
use super::known::{Known, KnownReceiver};
use super::plan::{Plan, Sample};
use super::{FIRST_EXPONENT, POLL_EVERY, WINDOW};
use crate::packet::{Poll, ReceptionReport, WHOLE};

/// Answers that end a poll before its time, since far more come than were aimed at (CHOICE).
const CUT: u64 = 64;
/// A poll lasts so long at least: receivers answer no sooner.
const CUT_AFTER: Duration = Duration::from_secs(1);
/// The maximum number of answers to a poll that are kept; further ones are counted.
const SAMPLES_MAX: usize = 512;
/// How many polls an estimate rests on: 40 s.
const POLLS: usize = 8;
/// A receiver that was heard within this time is present.
const PRESENT: Duration = Duration::from_secs(15);

/// What became of reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectorCounters {
    /// Reports used.
    pub accepted: u64,
    /// Reports whose probability nobody asked for.
    pub refused: u64,
    /// Polls that were ended before their time.
    pub cut: u64,
}

/// What a source knows of its receivers.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How many there are: those present and those that were complete and have left.
    pub receivers: Interval,
    /// How many of them are complete.
    pub complete: f64,
    /// The share of the objects that half of them hold at least, from 0 to 1; none while there is no answer.
    pub median: Option<f64>,
    /// Incomplete receivers that are known one by one, the slowest first.
    pub slowest: Vec<KnownReceiver>,
    /// What became of reports.
    pub counters: CollectorCounters,
}

/// The answers to a poll that is over.
#[derive(Debug, Default)]
struct Past {
    /// How much it counts: its probability, which is known before its answers are.
    precision: f64,
    total: Total,
    complete: Total,
    samples: Vec<Sample>,
}

/// A source's part. Memory is bounded, whatever arrives.
#[derive(Debug)]
pub struct Collector {
    plan: Plan,
    begun: Option<Time>,
    answered: Vec<NonZeroU64>,
    samples: Vec<Sample>,
    /// Answers to the present poll.
    count: u64,
    past: VecDeque<Past>,
    /// Receivers that left and were complete.
    finished: Total,
    /// How many of them reported it.
    finished_known: u64,
    known: Known,
    counters: CollectorCounters,
    has_news: bool,
}

impl Collector {
    /// A source that has heard nobody.
    #[expect(clippy::new_without_default, reason = "a beginning, not a default value")]
    pub fn new() -> Collector {
        Collector {
            plan: Plan::new(),
            begun: None,
            answered: Vec::with_capacity(SAMPLES_MAX),
            samples: Vec::with_capacity(SAMPLES_MAX),
            count: 0,
            past: VecDeque::with_capacity(POLLS),
            finished: Total::default(),
            finished_known: 0,
            known: Known::new(),
            counters: CollectorCounters::default(),
            has_news: false,
        }
    }

    /// The poll for a table packet that is sent now.
    pub fn poll(&mut self, now: Time) -> Poll {
        let begun = *self.begun.get_or_insert(now);
        let passed = now.since(begun);
        let is_cut = self.count >= CUT && passed >= CUT_AFTER;
        if passed < POLL_EVERY && !is_cut {
            return self.plan.poll.with_left(WINDOW.saturating_sub(passed));
        }
        self.begun = Some(now);
        self.judge(passed);
        self.known.forget(now);
        self.has_news = true;
        self.plan.poll.with_left(WINDOW)
    }

    /// A report of this session came.
    pub fn report(&mut self, now: Time, from: SocketAddr, report: ReceptionReport) {
        if report.exponent > self.plan.poll.all().max(self.plan.before).max(FIRST_EXPONENT) {
            self.counters.refused += 1;
            return;
        }
        self.counters.accepted += 1;
        let had_left = self.known.note(KnownReceiver { from, at: now, report });
        if report.is_leaving {
            if report.is_complete && !had_left {
                self.finished.add(report.exponent);
                self.finished_known += 1;
            }
            return;
        }
        // Later answers than to the present poll say something of the receiver alone.
        if report.poll != self.plan.poll.number {
            return;
        }
        if self.answered.len() < SAMPLES_MAX {
            if self.answered.contains(&report.receiver) {
                return;
            }
            self.answered.push(report.receiver);
            let ReceptionReport { share, exponent, is_complete, .. } = report;
            self.samples.push(Sample { share, exponent, is_complete });
        }
        self.count += 1;
    }

    /// A receiver said otherwise that it is complete.
    pub fn complete(&mut self, receiver: NonZeroU64) {
        self.known.complete(receiver);
    }

    /// Whether a poll has ended since the last call.
    pub fn take_news(&mut self) -> bool {
        core::mem::take(&mut self.has_news)
    }

    /// What is known now.
    pub fn summary(&self, now: Time) -> Summary {
        // A poll that everyone answered is exact, and says more than those before.
        let exact = self.past.back().is_some_and(|last| last.precision == 1.0 && last.total.variance == 0.0);
        let from = if exact { self.past.len() - 1 } else { 0 };
        let past = || self.past.iter().skip(from);
        let precision: f64 = past().map(|past| past.precision).sum();
        let pooled = |of: fn(&Past) -> Total| {
            let mut total = Total::default();
            past().for_each(|past| {
                total.add_scaled(of(past), past.precision / precision.max(f64::MIN_POSITIVE))
            });
            total
        };
        let (mut receivers, mut complete) = (pooled(|past| past.total), pooled(|past| past.complete));
        receivers.add_scaled(self.finished, 1.0);
        complete.add_scaled(self.finished, 1.0);
        let mut receivers = receivers.interval(1.0 / precision.max(f64::MIN_POSITIVE));
        if precision == 0.0 {
            receivers.high = 0.0;
        }
        let present = self.known.present(now, PRESENT) as f64 + self.finished_known as f64;
        receivers.mean = receivers.mean.max(present);
        receivers.low = receivers.low.max(present);
        receivers.high = receivers.high.max(present);
        Summary {
            receivers,
            complete: complete.sum,
            median: self.median(from, precision),
            slowest: self.known.slowest(now),
            counters: self.counters,
        }
    }

    /// Ends the present poll, which lasted so long, and plans the next.
    fn judge(&mut self, passed: Duration) {
        let passed = passed.as_secs_f64() / WINDOW.as_secs_f64();
        let each = (self.count as f64 / self.samples.len().max(1) as f64).max(1.0);
        // A poll that was cut says nothing of the answers that were still to come.
        if passed >= 1.0 && each == 1.0 {
            // The oldest gives its memory.
            let mut past = match self.past.len() {
                POLLS => self.past.pop_front().always("past polls are as many as are kept"),
                _ => Past { samples: Vec::with_capacity(SAMPLES_MAX), ..Past::default() },
            };
            (past.total, past.complete) = (Total::default(), Total::default());
            for sample in &self.samples {
                past.total.add(sample.exponent);
                if sample.is_complete {
                    past.complete.add(sample.exponent);
                }
            }
            past.precision = 1.0 / weight(self.plan.poll.all());
            core::mem::swap(&mut past.samples, &mut self.samples);
            self.past.push_back(past);
            let samples = self.past.back_mut().map(|past| past.samples.as_mut_slice());
            self.plan.next(samples.always("it was appended"), passed, each);
        } else {
            self.counters.cut += 1;
            self.plan.next(&mut self.samples, passed, each);
        }
        self.samples.clear();
        self.answered.clear();
        self.count = 0;
    }

    /// The share that half of the receivers hold at least.
    fn median(&self, from: usize, precision: f64) -> Option<f64> {
        let mut shares: Vec<(u16, f64)> = self
            .past
            .iter()
            .skip(from)
            .flat_map(|past| {
                let by = past.precision / precision.max(f64::MIN_POSITIVE);
                past.samples.iter().map(move |sample| (sample.share, weight(sample.exponent) * by))
            })
            .collect();
        if self.finished.sum > 0.0 {
            shares.push((WHOLE, self.finished.sum));
        }
        shares.sort_by_key(|&(share, _)| core::cmp::Reverse(share));
        let all: f64 = shares.iter().map(|&(_, weight)| weight).sum();
        let mut upper = 0.0;
        let half = shares.into_iter().find(|&(_, weight)| {
            upper += weight;
            upper >= all / 2.0
        });
        half.map(|(share, _)| f64::from(share) / f64::from(WHOLE))
    }
}
