//! Reception reports of many receivers in virtual time: how many come, what the source knows from them, and when.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Level, Time};
use layercast_delivery::packet::{ReceptionReport, WHOLE};
use layercast_delivery::reporting::{Answer, Collector, KNOWN_MAX, Reporter, Summary};
use layercast_testkit::{cases, runs_long};

/// The interval of table packets.
const TABLE: Duration = Duration::from_ms(800);
/// From a source to a receiver or back.
const DELAY: Duration = Duration::from_ms(60);

/// 40 answers per poll are aimed at, of which the general ones are known to a fifth: more than 80 in five seconds, or
/// 32 in one, would be six standard deviations or a flood. (The second poll of a session may have 24 in a second and a half: 16 in one, four
/// standard deviations below 32.)
const MOST_IN_FIVE: u32 = 80;
const MOST: u32 = 32;

/// A receiver that joins, and then receives at its own rate until it is complete and leaves.
struct Member {
    reporter: Reporter,
    joined: Time,
    /// Seconds until it is complete; none if it receives nothing.
    takes_s: Option<f64>,
    has_left: bool,
}

impl Member {
    fn share(&self, now: Time) -> u16 {
        let share = self.takes_s.map_or(0.0, |takes| now.since(self.joined).as_secs_f64() / takes);
        (share.min(1.0) * f64::from(WHOLE)) as u16
    }

    fn left_s(&self, now: Time) -> Option<u16> {
        self.takes_s.map(|takes| (takes - now.since(self.joined).as_secs_f64()).max(0.0) as u16)
    }
}

/// A report as every receiver may send it.
fn report(receiver: u64, poll: u8, exponent: u8, share: u16) -> ReceptionReport {
    ReceptionReport {
        tsi: 1,
        receiver: NonZeroU64::new(receiver).unwrap(),
        poll,
        exponent,
        is_complete: share == WHOLE,
        is_leaving: false,
        disk_fails: false,
        share,
        level: Level::NONE,
        lost: None,
        left_s: None,
        objects: 0,
        failed: 0,
    }
}

fn somewhere() -> SocketAddr {
    SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 1)
}

struct World {
    now: Time,
    collector: Collector,
    members: Vec<Member>,
    /// When somebody may have to report.
    due: BinaryHeap<Reverse<(Time, usize)>>,
    random: Stream,
    polls_lost: f64,
    reports_lost: f64,
    /// Reports that arrived, by second.
    arrived: Vec<u32>,
}

impl World {
    fn new(seed: u64, polls_lost: f64, reports_lost: f64) -> World {
        World {
            now: Time::ZERO,
            collector: Collector::new(),
            members: Vec::new(),
            due: BinaryHeap::new(),
            random: Stream::new(seed, "world"),
            polls_lost,
            reports_lost,
            arrived: Vec::new(),
        }
    }

    fn join(&mut self, count: usize, mut takes_s: impl FnMut(&mut Stream) -> Option<f64>) {
        for _ in 0..count {
            let reporter = Reporter::new(self.random.bits());
            let takes_s = takes_s(&mut self.random);
            self.members.push(Member { reporter, joined: self.now, takes_s, has_left: false });
        }
    }

    fn report(&mut self, number: usize, at: Time, answer: Answer, is_leaving: bool) {
        if self.random.chance(self.reports_lost) {
            return;
        }
        let share = self.members[number].share(at);
        let arrives = at + DELAY;
        let left_s = self.members[number].left_s(at);
        let report = report(number as u64 + 1, answer.poll, answer.exponent, share);
        let report = ReceptionReport { is_leaving, left_s, ..report };
        let second = arrives.as_secs_f64() as usize;
        if self.arrived.len() <= second {
            self.arrived.resize(second + 1, 0);
        }
        self.arrived[second] += 1;
        self.collector.report(arrives, somewhere(), report);
    }

    /// Lets one table packet go to all, and time pass until the next. What is known if a poll ended.
    fn step(&mut self) -> Option<Summary> {
        let (sent, heard) = (self.now, self.now + DELAY);
        let poll = self.collector.poll(sent);
        let summary = self.collector.take_news().then(|| self.collector.summary(sent));
        let mut left = Vec::new();
        for (number, member) in self.members.iter_mut().enumerate().filter(|(_, member)| !member.has_left) {
            let share = member.share(heard);
            if share == WHOLE {
                member.has_left = true;
                left.extend(member.reporter.leave(share).map(|answer| (number, answer)));
                continue;
            }
            if self.random.chance(self.polls_lost) {
                continue;
            }
            member.reporter.poll(poll, share, heard);
            if let Some(at) = member.reporter.deadline().filter(|at| *at < heard + TABLE) {
                self.due.push(Reverse((at, number)));
            }
        }
        for (number, answer) in left {
            self.report(number, heard, answer, true);
        }
        while let Some(Reverse((at, number))) = self.due.pop() {
            if let Some(answer) = self.members[number].reporter.take_due(at) {
                self.report(number, at, answer, false);
            }
        }
        self.now = sent + TABLE;
        summary
    }

    /// What is known after each poll of so many seconds.
    fn run(&mut self, seconds: u64) -> Vec<(f64, Summary)> {
        let end = self.now + Duration::from_secs(seconds);
        let mut known = Vec::new();
        while self.now < end {
            let at = self.now.as_secs_f64();
            known.extend(self.step().map(|summary| (at, summary)));
        }
        known
    }

    /// The largest number of reports in a second, and in five seconds, of a part of the run.
    fn most(&self, from_s: usize) -> (u32, u32) {
        let part = &self.arrived[from_s.min(self.arrived.len())..];
        let five = part.windows(5).map(|five| five.iter().sum());
        (part.iter().copied().max().unwrap_or(0), five.max().unwrap_or(0))
    }
}

/// The share of summaries whose interval has the right number.
fn covered(known: &[(f64, Summary)], right: f64) -> f64 {
    let inside = known
        .iter()
        .filter(|(_, summary)| (summary.receivers.low..=summary.receivers.high).contains(&right))
        .count();
    inside as f64 / known.len() as f64
}

fn ids(summary: &Summary, count: usize) -> BTreeSet<u64> {
    summary.slowest.iter().take(count).map(|known| known.report.receiver.get()).collect()
}

/// When these members are the slowest that are known.
fn found(known: &[(f64, Summary)], members: std::ops::Range<u64>) -> Option<f64> {
    let expected: BTreeSet<u64> = members.map(|number| number + 1).collect();
    let fits = |summary: &Summary| ids(summary, expected.len()) == expected;
    known.iter().find(|(_, summary)| fits(summary)).map(|(at, _)| *at)
}

/// Between 20 minutes and an hour.
fn usual(random: &mut Stream) -> Option<f64> {
    Some(random.uniform_in(1200.0, 3600.0))
}

#[test]
fn one_receiver_and_ten_are_all_listed() {
    for count in [1, 10] {
        let mut world = World::new(count, 0.1, 0.0);
        world.join(count as usize, usual);
        let known = world.run(120);
        let listed = known.iter().find(|(_, summary)| summary.slowest.len() == count as usize);
        let (at, _) = listed.unwrap();
        println!("{count}: all listed after {at:.0} s");
        assert!(*at <= 35.0, "{count}: {at}");
        for (_, summary) in known.iter().filter(|(from, _)| *from >= at + 10.0) {
            let receivers = summary.receivers;
            assert_eq!(
                (receivers.low, receivers.mean, receivers.high),
                (count as f64, count as f64, count as f64)
            );
        }
        // Polls are of 2.4 s while few answer.
        assert!(world.most(0).1 <= 3 * count as u32);
    }
}

#[test]
fn a_hundred_thousand_receivers_neither_flood_the_source_nor_stay_unknown() {
    if !runs_long("ten minutes of a hundred thousand receivers") {
        return;
    }
    let mut settled = Vec::new();
    for seed in 0..3 {
        let mut world = World::new(seed, 0.1, 0.01);
        // The ten slowest take three hours and more.
        let mut number = 0.0;
        world.join(10, |_| {
            number += 1.0;
            Some(10_800.0 + 600.0 * number)
        });
        world.join(99_990, usual);
        let known = world.run(600);
        let (second, five) = world.most(0);
        let rate = f64::from(world.arrived.iter().sum::<u32>()) / 600.0;
        settled.extend(known.iter().filter(|(at, _)| *at >= 60.0).cloned());
        let at = found(&known, 0..10);
        println!("{seed}: {rate:.1} reports/s, at most {second} in 1 s and {five} in 5 s");
        println!("{seed}: the slowest known after {at:?} s");
        let last = &known.last().unwrap().1;
        println!("{seed}: {:?}, {:?} hold half", last.receivers, last.median);
        assert!(five <= MOST_IN_FIVE && second <= MOST);
        // 20 polls.
        assert!(at.unwrap() <= 112.0);
        assert!((last.median.unwrap() - 600.0 / 2400.0).abs() < 0.05);
    }
    let right = covered(&settled, 100_000.0);
    println!("in the interval {:.1} % of {} polls", right * 100.0, settled.len());
    assert!(right >= 0.9);
}

#[test]
fn a_hundred_thousand_that_join_ten_at_once_are_noticed_before_they_flood() {
    for seed in 0..u64::from(cases(3)) {
        let mut world = World::new(seed, 0.1, 0.0);
        world.join(10, usual);
        world.run(90);
        world.join(99_990, usual);
        let known = world.run(240);
        let (second, five) = world.most(90);
        let settled: Vec<_> = known.iter().filter(|(at, _)| *at >= 150.0).cloned().collect();
        println!(
            "{seed}: at most {second} in 1 s and {five} in 5 s, {:?}",
            settled.last().unwrap().1.receivers
        );
        assert!(five <= MOST_IN_FIVE && second <= MOST);
        assert!(covered(&settled, 100_000.0) >= 0.9);
    }
}

#[test]
fn receivers_that_hold_nothing_and_receivers_that_end_at_once_do_not_flood() {
    let mut world = World::new(1, 0.1, 0.0);
    world.join(100_000, |_| None);
    world.run(200);
    let (second, five) = world.most(0);
    println!("nothing: at most {second} in 1 s and {five} in 5 s");
    assert!(five <= MOST_IN_FIVE && second <= MOST);
    let mut world = World::new(2, 0.1, 0.0);
    world.join(100_000, |_| Some(100.0));
    let known = world.run(160);
    let (second, five) = world.most(0);
    let last = &known.last().unwrap().1;
    println!("at once: at most {second} in 1 s and {five} in 5 s, {last:?}");
    assert!(five <= MOST_IN_FIVE && second <= MOST);
    // About 24 answers stand for all of them.
    assert!((30_000.0..300_000.0).contains(&last.complete), "{last:?}");
    assert_eq!(last.median, Some(1.0));
}

/// The errors of what is said of so many receivers over many seeds: of the number at each poll, and of those complete at the end.
struct Errors {
    /// Shares of polls from so many seconds on: exactly right, and in the interval.
    exact: f64,
    covered: f64,
    /// The largest number that was said of all, and the root of the mean square of the relative error of the settled ones.
    most: f64,
    error: f64,
    /// The largest number of complete receivers that was said.
    most_complete: f64,
    last: Vec<(f64, f64)>,
}

fn errors(
    count: usize,
    seeds: u64,
    seconds: u64,
    from_s: f64,
    takes_s: impl Fn(&mut Stream) -> f64,
) -> Errors {
    let right = count as f64;
    let mut errors =
        Errors { exact: 0.0, covered: 0.0, most: 0.0, error: 0.0, most_complete: 0.0, last: Vec::new() };
    let mut polls = 0.0;
    for seed in 0..seeds {
        let mut world = World::new(seed, 0.0, 0.0);
        world.join(count, |random| Some(takes_s(random)));
        let known = world.run(seconds);
        for (at, summary) in &known {
            let receivers = summary.receivers;
            errors.most = errors.most.max(receivers.mean);
            errors.most_complete = errors.most_complete.max(summary.complete);
            if *at < from_s {
                continue;
            }
            polls += 1.0;
            let is_exact = [receivers.low, receivers.mean, receivers.high] == [right; 3];
            errors.exact += f64::from(u8::from(is_exact));
            errors.covered += f64::from(u8::from((receivers.low..=receivers.high).contains(&right)));
            let error = receivers.mean / right - 1.0;
            errors.error += error * error;
        }
        let last = world.collector.summary(world.now);
        errors.last.push((last.receivers.mean, last.complete));
    }
    let Errors { exact, covered, error, .. } = errors;
    Errors { exact: exact / polls, covered: covered / polls, error: (error / polls).sqrt(), ..errors }
}

/// Up to 24 receivers are counted, once they have heard five polls, of two seconds with few and of five with more. Sessions of
/// all lengths end with the right number, or with those that were heard.
#[test]
fn few_receivers_are_counted_exactly_and_many_estimated() {
    for count in [1, 2, 3, 10] {
        // Two polls more, if many of them answered the first ones by chance.
        let errors = errors(count, 200, 60, 25.0, |_| 1000.0);
        println!("{count}: {:.1} % exact, at most {}", errors.exact * 100.0, errors.most);
        // Ten may be asked for an answer with a probability of a half, in which case there is an estimate of 10 with a deviation of 3.
        assert!(errors.exact == 1.0 && errors.most <= if count < 10 { count as f64 } else { 16.0 });
    }
    // Eight polls of about 12.5 answers, one of 24 at a time: 1/sqrt(100) * sqrt(7/8) is 9 %, and more until there are eight.
    for (count, seeds, most) in [(100, 40, 0.15), (10_000, 10, 0.25)] {
        let errors = errors(count, seeds, 120, 40.0, |_| 1000.0);
        println!("{count}: error {:.1} %, {:.1} % covered", errors.error * 100.0, errors.covered * 100.0);
        assert!(errors.error <= most && errors.covered >= 0.9);
    }
}

#[test]
fn short_sessions_of_few_receivers_say_no_more_than_was_heard() {
    for count in [1, 2, 3, 10] {
        let right = count as f64;
        for takes_s in [3.0, 6.0, 12.0, 25.0, 40.0] {
            // They end within a fifth of that time.
            let errors = errors(count, 200, 60, 0.0, |random| takes_s * random.uniform_in(0.9, 1.1));
            let ended_right = errors.last.iter().filter(|last| **last == (right, right)).count();
            println!("{count} for {takes_s} s: {ended_right} of 200 ended right, at most {}", errors.most);
            let most = if count < 10 { right } else { 16.0 };
            assert!(errors.most <= most && errors.most_complete <= most);
            // Up to ten take part in a fifth poll after 8 s or, as they are more than eight, after 20 s.
            let settled_s = if count > 8 { 25.0 } else { 12.0 };
            assert!(takes_s < settled_s || ended_right >= 195);
            assert!(takes_s < 40.0 || ended_right == 200);
        }
    }
}

#[test]
fn completions_are_counted_in_place_of_last_reports() {
    let mut collector = Collector::new();
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    collector.poll(at(0));
    // A lucky one of two that have heard four polls.
    collector.report(at(1000), somewhere(), report(1, 0, 4, 5000));
    collector.poll(at(2000));
    let last = ReceptionReport { is_leaving: true, ..report(1, 1, 4, WHOLE) };
    collector.report(at(2500), somewhere(), last);
    let summary = collector.summary(at(2500));
    assert_eq!((summary.receivers.mean, summary.complete), (1.0, 1.0));
    for (number, receiver) in [1, 2].into_iter().enumerate() {
        collector.complete(NonZeroU64::new(receiver).unwrap(), number + 1);
    }
    let summary = collector.summary(at(3000));
    assert_eq!((summary.receivers.mean, summary.complete, summary.median), (2.0, 2.0, Some(1.0)));
}

#[test]
fn an_answer_counts_once_and_in_its_poll() {
    let mut collector = Collector::new();
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    assert_eq!(collector.poll(at(0)).number, 0);
    // A copy, an answer to another poll, and one with a probability that nobody was asked for.
    for (receiver, poll, exponent) in [(1, 0, 4), (1, 0, 4), (2, 7, 4), (3, 0, 17)] {
        collector.report(at(1000), somewhere(), report(receiver, poll, exponent, 1000));
    }
    assert_eq!(collector.poll(at(1999)).number, 0);
    assert!(!collector.take_news());
    assert_eq!(collector.poll(at(2000)).number, 1);
    assert!(collector.take_news() && !collector.take_news());
    let summary = collector.summary(at(5000));
    assert_eq!((summary.receivers.mean, ids(&summary, 9)), (2.0, BTreeSet::from([1, 2])));
    // One of 16, as far as is known: more than two, and fewer than a hundred.
    assert!((80.0..100.0).contains(&summary.receivers.high), "{summary:?}");
    assert_eq!((summary.counters.accepted, summary.counters.refused), (3, 1));
    // The last report of a complete receiver, twice: one that is known, for however many it stands.
    let last = ReceptionReport { is_leaving: true, ..report(1, 1, 2, WHOLE) };
    collector.report(at(6000), somewhere(), last);
    collector.report(at(6001), somewhere(), last);
    let summary = collector.summary(at(6000));
    assert_eq!((summary.complete, ids(&summary, 9)), (1.0, BTreeSet::from([2])));
}

#[test]
fn a_poll_that_too_many_answer_ends_early() {
    let mut collector = Collector::new();
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    collector.poll(at(0));
    for receiver in 1..=100 {
        collector.report(at(100), somewhere(), report(receiver, 0, 4, 0));
    }
    // Receivers would not listen to another one sooner.
    assert_eq!(collector.poll(at(900)).number, 0);
    let next = collector.poll(at(1000));
    // 1600 in two thirds of the time are 2400: one of 128 gives 19.
    assert_eq!((next.number, next.all(), next.slow()), (1, 7, 7));
    assert_eq!(collector.summary(at(1000)).counters.cut, 1);
}

#[test]
fn forged_reports_neither_grow_anything_nor_stay() {
    let mut world = World::new(1, 0.0, 0.0);
    world.join(50, usual);
    world.run(60);
    let forged = |number: u64| ReceptionReport {
        is_complete: number.is_multiple_of(7),
        is_leaving: number.is_multiple_of(5),
        ..report(1_000_000 + number, (number / 5000) as u8, (number % 25) as u8, number as u16)
    };
    let now = world.now;
    let counted = allocation_counter::measure(|| {
        (0..1_000_000).for_each(|number| world.collector.report(now, somewhere(), forged(number)));
    });
    assert_eq!((counted.count_total, counted.bytes_max), (0, 0), "{counted:?}");
    let summary = world.collector.summary(now);
    assert!(summary.slowest.len() <= KNOWN_MAX && summary.counters.refused >= 300_000, "{summary:?}");
    // The names are forgotten after two minutes, and the source hears all of its own again.
    let known = world.run(200);
    let last = &known.last().unwrap().1;
    assert_eq!(ids(last, 100), (1..=50).collect(), "{last:?}");
}
