//! Sources and receivers in virtual time.

use layercast_core::math::pow;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Level, Rate, Time};

use super::{Asked, Demands, FLOOR, FLOOR_MOST, MARGIN};
use crate::packet::ALL;

/// Levels, each of 1.33 times the rate of the one before, from 128 kbit/s to 1 Gbit/s.
const LEVELS: u16 = 33;
/// The interval of table packets that are sent in their turn.
const TABLE_EVERY: Duration = Duration::from_ms(800);
/// The time that a packet takes, either way.
const DELAY: Duration = Duration::from_ms(25);
const STEP: Duration = Duration::from_ms(5);

fn rates() -> Vec<Rate> {
    (0..LEVELS).map(|at| Rate::from_kbps(128.0 * pow(1.33, f64::from(at)))).collect()
}

fn level(count: u16) -> Level {
    Level::from_count(count)
}

fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// A session: receivers that hold levels, a path that loses packets in both directions.
struct World {
    demands: Demands,
    asked: Vec<Asked>,
    held: Vec<Level>,
    now: Time,
    next_table: Time,
    exponent: u8,
    loss: f64,
    random: Stream,
    down: Vec<(Time, Level)>,
    up: Vec<(Time, Level)>,
    /// When messages were sent.
    messages: Vec<Time>,
    /// The levels sent, when they changed.
    sent: Vec<(Time, Level)>,
}

impl World {
    fn new(seed: u64, loss: f64) -> World {
        World {
            demands: Demands::new(rates(), Time::ZERO).unwrap(),
            asked: Vec::new(),
            held: Vec::new(),
            now: Time::ZERO,
            next_table: Time::ZERO,
            exponent: 0,
            loss,
            random: Stream::new(seed, "world"),
            down: Vec::new(),
            up: Vec::new(),
            messages: Vec::new(),
            sent: vec![(Time::ZERO, level(LEVELS))],
        }
    }

    fn join(&mut self, held: Level) -> usize {
        let seed = self.random.bits();
        let mut asked = Asked::new(seed, LEVELS);
        asked.hold(self.now, held);
        self.asked.push(asked);
        self.held.push(held);
        self.asked.len() - 1
    }

    fn hold(&mut self, receiver: usize, held: Level) {
        self.held[receiver] = held;
        let now = self.now;
        self.asked[receiver].hold(now, held);
    }

    /// Until so many seconds. The level sent is never below what someone has held for two seconds.
    fn run_to(&mut self, seconds: f64) {
        while self.now < at(seconds) {
            self.step();
        }
    }

    fn step(&mut self) {
        let now = self.now;
        if now >= self.next_table || self.demands.is_urgent(now) {
            if now >= self.next_table {
                self.next_table = now + TABLE_EVERY;
            }
            let known = self.demands.announce(now);
            self.down.push((now + DELAY, known));
        }
        for (_, known) in self.down.extract_if(.., |(arrives, _)| *arrives <= now) {
            for asked in &mut self.asked {
                if !self.random.chance(self.loss) {
                    asked.heard(now, known, self.exponent);
                }
            }
        }
        for asked in &mut self.asked {
            if asked.deadline().is_some_and(|due| due <= now)
                && let Some(wanted) = asked.take_due(now)
            {
                self.messages.push(now);
                if !self.random.chance(self.loss) {
                    self.up.push((now + DELAY, wanted));
                }
            }
        }
        for (_, wanted) in self.up.extract_if(.., |(arrives, _)| *arrives <= now) {
            self.demands.note(now, wanted);
        }
        if let Some(level) = self.demands.take_change(now) {
            self.sent.push((now, level));
        }
        self.now = now + STEP;
    }

    /// The maximum number of messages in a time that long.
    fn most_in(&self, span: Duration, from: f64) -> usize {
        let sent = || self.messages.iter().filter(|sent| **sent >= at(from));
        let within = |first: &Time| sent().filter(|sent| **sent >= *first && **sent < *first + span).count();
        sent().map(within).max().unwrap_or(0)
    }
}

#[test]
fn where_nobody_was_ever_heard_everything_is_sent() {
    let mut world = World::new(1, 0.0);
    world.run_to(300.0);
    assert_eq!(world.sent.len(), 1);
    // One that reports its progress can speak: if it says nothing of its level, it holds none.
    world.demands.heard();
    world.run_to(400.0);
    let floor = world.demands.sent();
    let rate = |of: Level| rates()[usize::from(of.layer_count()) - 1].as_bps();
    assert!(rate(floor) >= FLOOR * rate(level(1)) && rate(floor) < 1.34 * FLOOR * rate(level(1)));
}

#[test]
fn a_session_whose_levels_are_all_near_the_lowest_has_nothing_to_leave_out() {
    let narrow = |top: f64| vec![Rate::from_kbps(250.0), Rate::from_kbps(2000.0), Rate::from_kbps(top)];
    assert!(Demands::new(narrow(16_000.0), Time::ZERO).is_none());
    assert!(Demands::new(vec![Rate::from_kbps(1000.0)], Time::ZERO).is_none());
    assert!(Demands::new(Vec::new(), Time::ZERO).is_none());
    assert!(Demands::new([narrow(16_000.0), vec![Rate::from_kbps(1e6)]].concat(), Time::ZERO).is_some());
}

/// What is sent of levels with these rates where receivers can speak and none holds anything.
fn always_sent(mbps: &[f64]) -> Rate {
    let rates: Vec<Rate> = mbps.iter().map(|&rate| Rate::from_mbps(rate)).collect();
    let mut demands = Demands::new(rates.clone(), Time::ZERO).unwrap();
    demands.heard();
    for second in 0..100 {
        demands.take_change(at(f64::from(second)));
    }
    rates[usize::from(demands.sent().layer_count()) - 1]
}

#[test]
fn what_is_always_sent_is_bounded_by_a_rate_too() {
    assert_eq!(always_sent(&[4.8, 8.0, 16.0, 32.0, 64.0, 128.0]), Rate::from_mbps(32.0));
    assert!(FLOOR_MOST < Rate::from_mbps(32.0));
    // Four times the lowest rate in any case.
    assert_eq!(always_sent(&[10.0, 20.0, 40.0, 80.0, 160.0, 1000.0]), Rate::from_mbps(40.0));
}

#[test]
fn layers_far_above_the_highest_receiver_are_closed_and_opened_in_time() {
    let mut world = World::new(2, 0.0);
    world.run_to(5.0);
    world.join(level(20));
    let fast = world.join(level(24));
    world.run_to(60.0);
    let rate = |of: Level| rates()[usize::from(of.layer_count()) - 1].as_bps();
    let closed = world.demands.sent();
    assert!(rate(closed) >= MARGIN * rate(level(24)) && closed < level(LEVELS), "{closed:?}");
    let changes = world.sent.len();
    // A little more or less changes little.
    for second in 60..200 {
        world.hold(fast, level(22 + second % 4));
        world.run_to(f64::from(second));
    }
    let near = |of: &(Time, Level)| of.1.layer_count().abs_diff(closed.layer_count()) <= 3;
    assert!(world.sent[changes..].iter().all(near), "{:?}", world.sent);
    // Two messages for each time that it is asked, of either receiver, are few.
    assert!(world.messages.len() <= 30, "{}", world.messages.len());
    // A start elsewhere, and a rise here.
    let before = world.now;
    world.join(level(1));
    world.run_to(202.0);
    let opened = world.sent.last().copied().unwrap();
    assert_eq!(opened.1, level(LEVELS));
    assert!(opened.0.since(before) < Duration::from_ms(1300), "{opened:?}: a table packet, and one way back");
    world.run_to(260.0);
    assert!(near(&(world.now, world.demands.sent())));
    world.hold(fast, level(29));
    let before = world.now;
    world.run_to(262.0);
    let opened = world.sent.last().copied().unwrap();
    assert_eq!(opened.1, level(LEVELS));
    assert!(opened.0.since(before) < Duration::from_ms(300), "{opened:?}");
    // When all have gone, the floor is left.
    world.asked.clear();
    world.run_to(400.0);
    assert!(world.demands.sent() < closed);
}

#[test]
fn lost_messages_cost_seconds_and_nothing_else() {
    for seed in 0..20 {
        let mut world = World::new(seed, 0.3);
        let slow = world.join(level(3));
        let fast = world.join(level(25));
        let mut low = 0;
        for second in 1..600 {
            world.run_to(f64::from(second));
            low += u32::from(world.demands.sent() < level(25));
            assert!(world.demands.sent() >= level(3));
        }
        assert!(low <= 3, "{seed}: {low} of 600 s without what a receiver holds");
        println!("{seed}: {low} s low, {} messages", world.messages.len());
        assert!(world.messages.len() < 600 / 2, "{}", world.messages.len());
        assert!(!world.asked[slow].is_unheard() && !world.asked[fast].is_unheard());
    }
}

#[test]
fn a_receiver_that_cannot_be_heard_notices() {
    let mut world = World::new(3, 0.0);
    world.demands.heard();
    world.run_to(60.0);
    let deaf = world.join(level(24));
    while world.now < at(90.0) {
        world.step();
        world.up.clear();
    }
    assert!(world.asked[deaf].is_unheard());
    assert!(world.messages.len() <= 20, "{}", world.messages.len());
    assert!(world.demands.sent() < level(24), "nothing is known of it");
    world.run_to(110.0);
    assert!(!world.asked[deaf].is_unheard(), "until it is heard");
    assert_eq!(world.demands.sent(), level(LEVELS));
}

#[test]
fn of_many_receivers_few_speak() {
    // Twenty thousand start within a second while nobody is known; later the polls have counted them.
    let mut world = World::new(4, 0.01);
    world.demands.heard();
    world.run_to(60.0);
    for part in 0..20u16 {
        (0..1000u16).for_each(|one| _ = world.join(level(1 + (one + 7 * part) % 20)));
        world.run_to(60.0 + 0.05 * f64::from(part + 1));
    }
    world.run_to(62.5);
    assert_eq!(world.demands.sent(), level(LEVELS));
    let started = world.messages.len();
    world.exponent = 10;
    world.run_to(180.0);
    let rate = |of: Level| rates()[usize::from(of.layer_count()) - 1].as_bps();
    let sent = world.demands.sent();
    assert!(rate(sent) >= MARGIN * rate(level(20)) && sent < level(LEVELS), "{sent:?}");
    let (most, later) = (world.most_in(Duration::from_secs(1), 90.0), world.messages.len() - started);
    println!("{started} messages at the start of 20,000, {later} in 2 minutes, at most {most} in 1 s");
    assert!(started < 1000, "{started}");
    assert!(most <= 60, "{most} in 1 s");
    assert!(later <= 400, "{later} in 2 minutes");
}

#[test]
fn whatever_is_said_levels_stay_in_range() {
    let mut demands = Demands::new(rates(), Time::ZERO).unwrap();
    let mut random = Stream::new(5, "forger");
    let mut now = Time::ZERO;
    for _ in 0..100_000 {
        now += random.uniform_duration(Duration::from_ms(400));
        demands.note(now, level(random.bits() as u16));
        let known = demands.announce(now);
        assert!(known == ALL || known <= level(LEVELS));
        assert!(demands.sent() <= level(LEVELS) && demands.sent() > level(10));
    }
}
