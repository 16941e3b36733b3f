//! Sources and receivers in virtual time.

use layercast_core::math::pow;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Level, Rate, Size, Time};
use layercast_testkit::cases;

use super::{ANNOUNCEMENT_EVERY, Asked, Demands, FLOOR, FLOOR_MOST, MARGIN, SILENCE, Sending};
use crate::packet::ALL;

/// Levels, each of 1.33 times the rate of the one before, from 128 kbit/s to 1 Gbit/s.
const LEVELS: u16 = 33;
/// The interval of table packets that are sent in their turn.
const TABLE_EVERY: Duration = Duration::from_ms(800);
/// The time that a packet takes, either way.
const DELAY: Duration = Duration::from_ms(25);
const STEP: Duration = Duration::from_ms(5);
const PACKET: Size = Size::from_bytes(1000);

fn rates() -> Vec<Rate> {
    (0..LEVELS).map(|at| Rate::from_kbps(128.0 * pow(1.33, f64::from(at)))).collect()
}

fn level(count: u16) -> Level {
    Level::from_count(count)
}

fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// What is sent by endpoints themselves.
fn layers(level: Level) -> Sending {
    Sending { level, every: None }
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
    /// What is sent, when it changed.
    sent: Vec<(Time, Sending)>,
}

impl World {
    fn new(seed: u64, loss: f64) -> World {
        World {
            demands: Demands::new(rates(), PACKET, Time::ZERO),
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
            sent: Vec::new(),
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
        let every = self.sent.last().and_then(|(_, sending)| sending.every);
        if now >= self.next_table || every.is_none() && self.demands.is_urgent(now) {
            if now >= self.next_table {
                self.next_table = now + every.unwrap_or(TABLE_EVERY);
            }
            let known = self.demands.announce(now).unwrap();
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
        if let Some(sending) = self.demands.take_change(now) {
            self.sent.push((now, sending));
        }
        self.now = now + STEP;
    }

    /// The level that is sent.
    fn level(&self) -> Level {
        self.sent.last().unwrap().1.level
    }

    /// The maximum number of messages in a time that long.
    fn most_in(&self, span: Duration, from: f64) -> usize {
        let sent = || self.messages.iter().filter(|sent| **sent >= at(from));
        let within = |first: &Time| sent().filter(|sent| **sent >= *first && **sent < *first + span).count();
        sent().map(within).max().unwrap_or(0)
    }
}

#[test]
fn where_nobody_is_heard_the_base_is_sent_and_after_half_a_minute_a_packet_now_and_then() {
    let mut world = World::new(1, 0.0);
    world.run_to(300.0);
    let alone = Sending { level: level(1), every: Some(ANNOUNCEMENT_EVERY) };
    assert_eq!(world.sent, [(Time::ZERO, layers(level(1))), (Time::ZERO + SILENCE, alone)]);
    // News for those that nobody hears: the same again.
    world.demands.renew(world.now);
    world.run_to(400.0);
    assert_eq!(world.sent[2..], [(at(300.0), layers(level(1))), (at(300.0) + SILENCE, alone)]);
    // One that comes late has all layers when one packet has come.
    let before = world.now;
    world.join(level(20));
    world.run_to(410.0);
    let opened = world.sent.last().copied().unwrap();
    assert_eq!(opened.1, layers(level(LEVELS)));
    assert!(opened.0.since(before) < ANNOUNCEMENT_EVERY + Duration::from_ms(400), "{opened:?}");
    // It goes without a word: it is asked for in vain, and half a minute has passed.
    world.asked.clear();
    world.run_to(500.0);
    assert_eq!(world.sent.last().unwrap().1, alone);
    assert!(world.sent.last().unwrap().0 < at(447.0), "{:?}", world.sent.last());
}

#[test]
fn one_that_says_it_leaves_or_is_complete_closes_the_layers_within_seconds() {
    for seed in 0..u64::from(cases(200)) {
        let mut world = World::new(seed, 0.0);
        world.run_to(50.0);
        let receivers = [20, 20, 8].map(|count| world.join(level(count)));
        world.run_to(55.0);
        assert_eq!(world.level(), level(LEVELS));
        // Not all of them have spoken. The slowest stays.
        for (receiver, second) in receivers.into_iter().zip([56, 58, 70]) {
            let now = world.now;
            world.asked[receiver].rest(now);
            world.run_to(f64::from(second));
        }
        let last = world.sent.iter().rev().find(|(_, sending)| *sending == layers(level(1))).unwrap();
        assert!(last.0 < at(63.0), "{seed}: {:?}", world.sent);
        assert_eq!(world.level(), level(1));
        // It is still there, which it says when it is polled: the base goes on.
        for second in 70..200 {
            world.run_to(f64::from(second));
            world.demands.heard(world.now);
        }
        assert_eq!(world.sent.last().unwrap().1, layers(level(1)));
        // It needs more.
        let (now, before) = (world.now, world.sent.len());
        world.asked[receivers[2]].begin(now);
        world.run_to(203.0);
        let opened = world.sent[before];
        assert_eq!(opened.1, layers(level(LEVELS)));
        assert!(opened.0.since(now) < Duration::from_ms(1500), "{opened:?}");
    }
}

#[test]
fn those_that_stay_keep_their_layers_when_others_leave() {
    for seed in 0..u64::from(cases(50)) {
        let mut world = World::new(seed, 0.05);
        let slow = world.join(level(12));
        let mut leaving: Vec<usize> = (0..20).map(|one| world.join(level(14 + one % 8))).collect();
        let mut low = 0;
        for second in 1..300 {
            world.run_to(f64::from(second));
            if second % 7 == 0
                && let Some(one) = leaving.pop()
            {
                let now = world.now;
                world.asked[one].rest(now);
            }
            low += u32::from(world.level() < level(12));
        }
        assert!(low <= 3, "{seed}: {low} of 300 s without what a receiver holds");
        assert!(!world.asked[slow].is_unheard());
    }
}

#[test]
fn a_source_that_asks_nobody_sends_everything() {
    let mut demands = Demands::all(rates(), PACKET, Time::ZERO);
    for second in 0..1000 {
        let now = at(f64::from(second));
        assert_eq!(demands.take_change(now), None);
        assert_eq!(
            (demands.announce(now), demands.is_urgent(now), demands.is_alone(now)),
            (None, false, false)
        );
    }
}

#[test]
fn a_session_whose_levels_are_all_near_the_lowest_is_sent_as_a_whole_to_a_receiver() {
    for rates in [vec![250.0, 2000.0, 16_000.0], vec![1000.0]] {
        let rates: Vec<Rate> = rates.into_iter().map(Rate::from_kbps).collect();
        let top = Level::from_count(rates.len() as u16);
        let mut demands = Demands::new(rates, PACKET, Time::ZERO);
        let mut sent = demands.take_change(Time::ZERO).map_or(top, |sending| sending.level);
        assert_eq!(sent, level(1));
        for second in 0..100 {
            demands.note(at(f64::from(second)), level(1));
            sent = demands.take_change(at(f64::from(second))).map_or(sent, |sending| sending.level);
            assert_eq!(sent, top);
        }
    }
}

/// What is sent of levels with these rates where a receiver holds the lowest.
fn always_sent(mbps: &[f64]) -> Rate {
    let rates: Vec<Rate> = mbps.iter().map(|&rate| Rate::from_mbps(rate)).collect();
    let mut demands = Demands::new(rates.clone(), PACKET, Time::ZERO);
    let mut sent = level(1);
    for second in 0..100 {
        demands.note(at(f64::from(second)), level(1));
        sent = demands.take_change(at(f64::from(second))).map_or(sent, |sending| sending.level);
    }
    rates[usize::from(sent.layer_count()) - 1]
}

#[test]
fn what_is_always_sent_is_bounded_by_a_rate_too() {
    assert_eq!(always_sent(&[4.8, 8.0, 16.0, 32.0, 64.0, 128.0]), Rate::from_mbps(32.0));
    assert!(FLOOR_MOST < Rate::from_mbps(32.0));
    // Four times the lowest rate in any case.
    assert_eq!(always_sent(&[10.0, 20.0, 40.0, 80.0, 160.0, 1000.0]), Rate::from_mbps(40.0));
    let rate = |of: Level| rates()[usize::from(of.layer_count()) - 1].as_bps();
    let floor = always_sent(&rates().iter().map(|rate| rate.as_bps() / 1e6).collect::<Vec<_>>()).as_bps();
    assert!(floor >= FLOOR * rate(level(1)) && floor < 1.34 * FLOOR * rate(level(1)));
}

/// An uplink with so many bit/s and a source that offers what it decides on, for so many seconds; what it sends at the end.
fn uplink(demands: &mut Demands, carries: &dyn Fn(u64) -> f64, seconds: std::ops::Range<u64>) -> (f64, u32) {
    let rate = |sending: Sending| match sending.every {
        Some(every) => PACKET.as_bits() as f64 / every.as_secs_f64(),
        None => rates()[usize::from(sending.level.layer_count()) - 1].as_bps(),
    };
    let mut sending = demands.taken;
    let mut lossy = 0;
    for half in 2 * seconds.start..2 * seconds.end {
        let now = at(half as f64 / 2.0);
        let (offered, carries) = (rate(sending) / 2.0, carries(half / 2) / 2.0);
        let taken = offered.min(carries);
        demands.check_uplink(now, (taken / 8.0) as u64, ((offered - taken) / 8.0) as u64);
        sending = demands.take_change(now).unwrap_or(sending);
        lossy += u32::from(taken < 0.9 * offered);
    }
    (rate(sending), lossy)
}

#[test]
fn a_source_behind_a_narrow_uplink_sends_what_it_carries() {
    // At 600 Mbit/s the next level is refused less than a tenth.
    for (mbps, tries) in [(10.0, 1), (0.5, 1), (600.0, 0)] {
        let mut demands = Demands::all(rates(), PACKET, Time::ZERO);
        let (sent, lossy) = uplink(&mut demands, &|_| mbps * 1e6, 0..10);
        assert!((0.5..=1.0).contains(&(sent / mbps / 1e6)), "{sent} of {mbps} Mbit/s");
        assert!(lossy <= 4, "{mbps} Mbit/s: {lossy} half seconds of losses");
        let (carried, is_seen) = demands.take_uplink_news().unwrap();
        assert!((carried.as_bps() / mbps / 1e6 - 1.0).abs() < 0.01 && is_seen, "{carried}");
        assert_eq!(demands.take_uplink_news(), None);
        // It tries more, and rarely: for an hour 40 half seconds of losses are 0.6 %.
        let (_, lossy) = uplink(&mut demands, &|_| mbps * 1e6, 10..3600);
        assert!((tries..=40).contains(&lossy), "{mbps} Mbit/s: {lossy} half seconds of losses");
        assert_eq!(demands.take_uplink_news(), None, "that is known");
    }
}

#[test]
fn a_base_above_the_uplink_is_sent_more_slowly_and_an_uplink_that_grows_is_used() {
    let mut demands = Demands::all(rates(), PACKET, Time::ZERO);
    let (sent, _) = uplink(&mut demands, &|_| 64e3, 0..20);
    assert!((32e3..=64e3).contains(&sent), "{sent}");
    assert!(demands.take_uplink_news().is_some_and(|(carried, _)| carried < rates()[0]));
    let (sent, lossy) = uplink(&mut demands, &|_| 1e10, 20..1200);
    assert_eq!((sent, lossy), (rates()[usize::from(LEVELS) - 1].as_bps(), 0));
}

/// A path behind the source's router that carries so many bit/s, and receivers at the base that complain each second of what they lose
/// there and on paths of their own; the rate at the end of each second.
fn complained(demands: &mut Demands, carries: f64, own: &[f64], seconds: u64) -> Vec<f64> {
    let mut sent = layers(level(LEVELS));
    let mut all = Vec::new();
    for tenth in 0..10 * seconds {
        let now = at(tenth as f64 / 10.0);
        sent = demands.take_change(now).unwrap_or(sent);
        let rate = rates()[usize::from(sent.level.layer_count()) - 1].as_bps();
        if tenth % 10 == 5 {
            for own in own {
                let lost = 1.0 - (1.0 - own) * (carries / rate).min(1.0);
                if lost >= 0.2 {
                    demands.complain(now, (255.0 * lost) as u8);
                }
            }
            all.push(rate);
        }
    }
    all
}

#[test]
fn where_all_receivers_lose_much_of_the_base_fewer_layers_are_sent() {
    let mut demands = Demands::new(rates(), PACKET, Time::ZERO);
    demands.note(Time::ZERO, ALL);
    let sent = complained(&mut demands, 10e6, &[0.0, 0.1, 0.0], 25);
    assert!(sent[0] > 9e8 && sent[3] < 10e6 && sent[24] > 5e6, "{sent:?}");
    let (carried, is_seen) = demands.take_uplink_news().unwrap();
    // Shares are in 255ths, of 1.17 Gbit/s here.
    assert!((carried.as_bps() - 10e6).abs() < 1.2e9 / 255.0 && !is_seen, "{carried}");
}

#[test]
fn receivers_whose_own_paths_lose_take_nothing_from_others() {
    // One holds more, and says so when it is asked.
    let mut demands = Demands::new(rates(), PACKET, Time::ZERO);
    demands.note(Time::ZERO, ALL);
    let mut lowest = level(LEVELS);
    for second in 0..25 {
        let now = at(f64::from(second));
        demands.complain(now, 200);
        lowest = demands.take_change(now).map_or(lowest, |sending| lowest.min(sending.level));
        if demands.announce(now) != Some(ALL) {
            demands.note(now, level(26));
        }
    }
    assert!(lowest > level(26), "{lowest:?}");
    assert_eq!(demands.take_uplink_news(), None);
    // Where nobody else is there fewer layers do not help, and soon they are sent again.
    let mut demands = Demands::new(rates(), PACKET, Time::ZERO);
    demands.note(Time::ZERO, ALL);
    let sent = complained(&mut demands, 1e10, &[0.5], 28);
    assert!(sent.iter().any(|rate| *rate < 5e6) && sent[27] > 8e6, "{sent:?}");
}

#[test]
fn a_few_refused_packets_or_half_a_second_of_them_change_nothing() {
    let mut demands = Demands::all(rates(), PACKET, Time::ZERO);
    for half in 0..200 {
        // Two per cent, and each tenth time all.
        let (taken, refused) = if half % 10 == 0 { (0, 5_000_000) } else { (4_900_000, 100_000) };
        demands.check_uplink(at(f64::from(half) / 2.0), taken, refused);
        assert_eq!(demands.take_change(at(f64::from(half) / 2.0)), None);
    }
}

#[test]
fn layers_far_above_the_highest_receiver_are_closed_and_opened_in_time() {
    let mut world = World::new(2, 0.0);
    world.run_to(5.0);
    world.join(level(20));
    let fast = world.join(level(24));
    world.run_to(60.0);
    let rate = |of: Level| rates()[usize::from(of.layer_count()) - 1].as_bps();
    let closed = world.level();
    assert!(rate(closed) >= MARGIN * rate(level(24)) && closed < level(LEVELS), "{closed:?}");
    let changes = world.sent.len();
    // A little more or less changes little.
    for second in 60..200 {
        world.hold(fast, level(22 + second % 4));
        world.run_to(f64::from(second));
    }
    let near = |of: &(Time, Sending)| of.1.level.layer_count().abs_diff(closed.layer_count()) <= 3;
    assert!(world.sent[changes..].iter().all(near), "{:?}", world.sent);
    // Two messages for each time that it is asked, of either receiver, are few.
    assert!(world.messages.len() <= 30, "{}", world.messages.len());
    // A start elsewhere, and a rise here.
    let before = world.now;
    world.join(level(1));
    world.run_to(202.0);
    let opened = world.sent.last().copied().unwrap();
    assert_eq!(opened.1, layers(level(LEVELS)));
    assert!(opened.0.since(before) < Duration::from_ms(1300), "{opened:?}: a table packet, and one way back");
    world.run_to(260.0);
    assert!(near(world.sent.last().unwrap()));
    world.hold(fast, level(29));
    let before = world.now;
    world.run_to(262.0);
    let opened = world.sent.last().copied().unwrap();
    assert_eq!(opened.1, layers(level(LEVELS)));
    assert!(opened.0.since(before) < Duration::from_ms(300), "{opened:?}");
}

#[test]
fn lost_messages_cost_seconds_and_nothing_else() {
    for seed in 0..u64::from(cases(20)) {
        let mut world = World::new(seed, 0.3);
        let slow = world.join(level(3));
        let fast = world.join(level(25));
        let mut low = 0;
        for second in 1..600 {
            world.run_to(f64::from(second));
            low += u32::from(world.level() < level(25));
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
    world.run_to(60.0);
    let deaf = world.join(level(24));
    while world.now < at(90.0) {
        world.step();
        world.up.clear();
    }
    assert!(world.asked[deaf].is_unheard());
    assert!(world.messages.len() <= 20, "{}", world.messages.len());
    assert_eq!(world.level(), level(1), "nothing is known of it");
    world.run_to(110.0);
    assert!(!world.asked[deaf].is_unheard(), "until it is heard");
    assert_eq!(world.level(), level(LEVELS));
}

#[test]
fn of_many_receivers_few_speak() {
    // Twenty thousand (or 1260) start within a second while nobody is known; later the polls have counted them.
    let part_of = cases(1000).max(63) as u16;
    let mut world = World::new(4, 0.01);
    world.run_to(60.0);
    for part in 0..20u16 {
        (0..part_of).for_each(|one| _ = world.join(level(1 + (one + 7 * part) % 20)));
        world.run_to(60.0 + 0.05 * f64::from(part + 1));
    }
    world.run_to(64.5);
    assert_eq!(world.level(), level(LEVELS));
    let started = world.messages.len();
    // About twenty answer each poll.
    world.exponent = (part_of / 20).ilog2() as u8 + 5;
    world.run_to(180.0);
    let rate = |of: Level| rates()[usize::from(of.layer_count()) - 1].as_bps();
    let sent = world.level();
    assert!(rate(sent) >= MARGIN * rate(level(20)) && sent < level(LEVELS), "{sent:?}");
    let (most, later) = (world.most_in(Duration::from_secs(1), 90.0), world.messages.len() - started);
    println!(
        "{started} messages at the start of 20 times {part_of}, {later} in 2 minutes, at most {most} in 1 s"
    );
    assert!(started < 1000, "{started}");
    assert!(most <= 60, "{most} in 1 s");
    assert!(later <= 400, "{later} in 2 minutes");
    // All are complete within a second: those that have spoken lately say so, each twice.
    let before = world.messages.len();
    for part in 0..20u16 {
        let now = world.now;
        world
            .asked
            .chunks_mut(part_of.into())
            .nth(part.into())
            .into_iter()
            .flatten()
            .for_each(|asked| asked.rest(now));
        world.run_to(180.0 + 0.05 * f64::from(part + 1));
    }
    world.run_to(190.0);
    assert_eq!(world.level(), level(1));
    let farewells = world.messages.len() - before;
    println!("{farewells} messages when all are complete");
    assert!(farewells <= 400, "{farewells}");
}

#[test]
fn whatever_is_said_levels_stay_in_range() {
    let mut demands = Demands::new(rates(), PACKET, Time::ZERO);
    let mut random = Stream::new(5, "forger");
    let mut now = Time::ZERO;
    for _ in 0..100_000 {
        now += random.uniform_duration(Duration::from_ms(4000));
        match random.bits() % 8 {
            0 => demands.left(now),
            1 => demands.check_uplink(now, random.bits() >> 40, random.bits() >> 40),
            2 => demands.note(now, Level::NONE),
            3 => demands.complain(now, random.bits() as u8),
            _ => demands.note(now, level(random.bits() as u16)),
        }
        let known = demands.announce(now).unwrap();
        assert!(known == ALL || known <= level(LEVELS));
        let sent = demands.take_change(now);
        assert!(sent.is_none_or(|sent| (level(1)..=level(LEVELS)).contains(&sent.level)), "{sent:?}");
        assert!(sent.and_then(|sent| sent.every).is_none_or(|every| every > Duration::ZERO), "{sent:?}");
    }
}
