//! What a source asks, and what it knows from the answers.

use core::num::NonZeroU64;
use std::collections::VecDeque;
use std::net::SocketAddr;

use layercast_core::Always as _;
use layercast_core::units::{Duration, Time};

use super::estimate::{Interval, Total, weight};
use super::known::{Known, KnownReceiver};
use super::plan::{Plan, Sample};
use super::{EXPONENT_STEP, FEW, FIRST_EXPONENT, POLL_EVERY, POLL_FEW_EVERY, WAY};
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
    /// How many there are: those present and those that were complete and have left. Of few receivers those that were heard, which
    /// is the least of the interval until all have been asked.
    pub receivers: Interval,
    /// How many of them are complete: those that said so, or an estimate with many.
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
    /// Receivers that had left and were complete when it ended.
    finished: Total,
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
    finished_known: usize,
    /// How many receivers said that they are complete otherwise, each once.
    completions: usize,
    /// Polls that are over.
    polls: u32,
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
            completions: 0,
            polls: 0,
            known: Known::new(),
            counters: CollectorCounters::default(),
            has_news: false,
        }
    }

    /// The poll for a table packet that is sent now.
    pub fn poll(&mut self, now: Time) -> Poll {
        let begun = *self.begun.get_or_insert(now);
        let passed = now.since(begun);
        let length = self.length();
        let is_cut = self.count >= CUT && passed >= CUT_AFTER;
        if passed < length && !is_cut {
            return self.plan.poll.with_left(length.saturating_sub(WAY + passed));
        }
        self.begun = Some(now);
        self.judge(passed, length.saturating_sub(WAY));
        self.known.forget(now);
        self.has_news = true;
        self.plan.poll.with_left(self.length().saturating_sub(WAY))
    }

    /// The length of the present poll, which does not change while it lasts.
    fn length(&self) -> Duration {
        let are_few = self.past.back().is_none_or(|last| last.samples.len() as u64 <= FEW);
        if self.plan.poll.all() == 0 && are_few { POLL_FEW_EVERY } else { POLL_EVERY }
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
                self.finished.add(report.exponent, 1.0);
                self.finished_known += 1;
                self.samples.retain(|sample| sample.receiver != report.receiver);
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
            let ReceptionReport { receiver, share, exponent, is_complete, .. } = report;
            self.samples.push(Sample { receiver, share, exponent, is_complete });
        }
        self.count += 1;
    }

    /// A receiver said otherwise that it is complete, as so many have done now.
    pub fn complete(&mut self, receiver: NonZeroU64, completions: usize) {
        self.completions = completions;
        self.known.complete(receiver);
        let past = self.past.iter_mut().flat_map(|past| &mut past.samples);
        for sample in past.chain(&mut self.samples).filter(|sample| sample.receiver == receiver) {
            sample.is_complete = true;
        }
    }

    /// Whether a poll has ended since the last call.
    pub fn take_news(&mut self) -> bool {
        core::mem::take(&mut self.has_news)
    }

    /// The polls that an estimate rests on. One that all were asked in says more than those before, as does one after many came or
    /// left.
    fn recent(&self) -> impl Iterator<Item = &Past> {
        let last = self.past.back().map_or(0.0, |last| last.precision);
        let alike = move |past: &&Past| (last / 4.0..=last * 4.0).contains(&past.precision);
        self.past.iter().rev().take(if last == 1.0 { 1 } else { POLLS }).take_while(alike)
    }

    /// The receivers that are complete, if all of them say so and not only those that are asked.
    fn counted(&self) -> Option<Total> {
        let certain = self.completions as f64;
        (self.completions > 0).then_some(Total { certain, ..Total::default() })
    }

    /// The answers to a poll, without those of receivers that are counted otherwise.
    fn samples_of<'p>(&self, past: &'p Past) -> impl Iterator<Item = &'p Sample> {
        let are_counted = self.completions > 0;
        past.samples.iter().filter(move |sample| !(are_counted && sample.is_complete))
    }

    /// What is known now.
    pub fn summary(&self, now: Time) -> Summary {
        let precision: f64 = self.recent().map(|past| past.precision).sum();
        let counted = self.counted();
        let (mut receivers, mut complete) = (Total::default(), Total::default());
        for past in self.recent() {
            let by = past.precision / precision;
            for sample in self.samples_of(past) {
                receivers.add(sample.exponent, by);
                if sample.is_complete {
                    complete.add(sample.exponent, by);
                }
            }
            if counted.is_none() {
                receivers.add_scaled(past.finished, by);
                complete.add_scaled(past.finished, by);
            }
        }
        receivers.add_scaled(counted.unwrap_or_default(), 1.0);
        complete.add_scaled(counted.unwrap_or_default(), 1.0);
        let (present, done) = self.known.present(now, PRESENT);
        let done = self.completions.max(self.finished_known + if counted.is_none() { done } else { 0 });
        let unseen = if precision > 0.0 { 1.0 / precision } else { weight(FIRST_EXPONENT) };
        Summary {
            receivers: receivers.interval(unseen, (present + done) as f64),
            complete: complete.interval(0.0, done as f64).mean,
            median: self.median(precision),
            slowest: self.known.slowest(now),
            counters: self.counters,
        }
    }

    /// Ends the present poll, which lasted so long and had so much time for answers, and plans the next.
    fn judge(&mut self, passed: Duration, window: Duration) {
        let passed = passed.as_secs_f64() / window.as_secs_f64();
        let each = (self.count as f64 / self.samples.len().max(1) as f64).max(1.0);
        // Receivers that were there from the first poll on have answered it with their own probability.
        let ramp = u32::from(FIRST_EXPONENT).saturating_sub(self.polls * u32::from(EXPONENT_STEP)) as u8;
        let exponent = self.plan.poll.all().max(ramp);
        self.polls = self.polls.saturating_add(1).min(u32::from(FIRST_EXPONENT));
        // A poll that was cut says nothing of the answers that were still to come.
        if passed >= 1.0 && each == 1.0 {
            // The oldest gives its memory.
            let mut past = match self.past.len() {
                POLLS => self.past.pop_front().always("past polls are as many as are kept"),
                _ => Past { samples: Vec::with_capacity(SAMPLES_MAX), ..Past::default() },
            };
            (past.precision, past.finished) = (1.0 / weight(exponent), self.finished);
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
    fn median(&self, precision: f64) -> Option<f64> {
        let each = self.recent().flat_map(|past| {
            let by = past.precision / precision;
            self.samples_of(past).map(move |sample| (sample.share, weight(sample.exponent) * by))
        });
        let mut shares: Vec<(u16, f64)> = each.collect();
        let finished = self.counted().unwrap_or(self.finished);
        let finished = finished.certain + finished.sum;
        if finished > 0.0 {
            shares.push((WHOLE, finished));
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
