//! Relays and their children over a network that loses, delays, doubles and reorders messages.

mod local;
mod world;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Time};
use layercast_delivery::relay::child::{Child, ParentEvent};
use layercast_delivery::relay::message::{Alternatives, DATA_HEAD_MAX, Data, MESSAGE_MAX, Message, Reason};
use layercast_delivery::relay::parent::{Limits, Parent};
use layercast_delivery::relay::session::{Allowed, SessionKey};
use layercast_testkit::cases;
use proptest::prelude::*;

use world::{World, allowed, at, key, parent};

/// The address of a forged message.
fn forged(number: u32) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + (number >> 4))), 1000 + (number & 15) as u16)
}

#[test]
fn memberships_arrive_in_spite_of_loss_and_the_relay_holds_what_some_child_holds() {
    for seed in 0..20 {
        let mut world = World::new(seed, 1, 12, Limits::default());
        world.loss = 0.2;
        let mut random = Stream::new(seed, "joins");
        for _ in 0..200 {
            let child = (random.bits() % 12) as usize;
            let channel = Channel((random.bits() % 9) as u16);
            let now = world.now;
            if random.chance(0.6) {
                world.children[child].join(now, channel);
            } else {
                world.children[child].leave(now, channel);
            }
            world.run(Duration::from_ms(40));
        }
        world.run(Duration::from_secs(8));
        assert_eq!(world.parents[0].count(), 12, "seed {seed}");
        for child in &world.children {
            let link = child.link().expect("served");
            assert!(link.is_settled, "seed {seed}: {link:?}");
        }
        let mut wanted: BTreeMap<Channel, usize> = BTreeMap::new();
        for child in &world.children {
            child.held().iter().for_each(|channel| *wanted.entry(channel).or_default() += 1);
        }
        let held: BTreeMap<Channel, usize> = (0..9)
            .map(|number| (Channel(number), world.parents[0].holders(0, Channel(number)).len()))
            .filter(|(_, count)| *count > 0)
            .collect();
        assert_eq!(held, wanted, "seed {seed}");
        assert_eq!(world.joined[0], wanted.keys().copied().collect(), "seed {seed}");
    }
}

#[test]
fn children_of_a_dead_relay_are_at_the_next_within_three_seconds_and_not_all_at_once() {
    for seed in 0..10 {
        let mut world = World::new(seed, 2, 50, Limits::default());
        world.loss = 0.02;
        world.each_child(|child, now| child.join(now, Channel(0)));
        world.run(Duration::from_secs(5));
        assert_eq!(world.parents[0].count(), 50, "seed {seed}: {:?}", world.news);
        world.dead = Some(0);
        let died = world.now;
        let mut moved = Vec::new();
        while moved.len() < 50 && world.now.since(died) < Duration::from_secs(6) {
            world.run(Duration::from_ms(10));
            moved.resize(world.parents[1].count(), world.now.since(died));
        }
        let at = |place: usize| moved.get(place).copied().unwrap_or(Duration::MAX).as_secs_f64();
        // A lost hello costs one more wait of 0.3 s.
        assert!(at(49) < 3.3, "seed {seed}: the last after {} s", at(49));
        assert!(at(44) < 3.0, "seed {seed}: most after {} s", at(44));
        assert!(at(40) - at(9) > 0.3, "seed {seed}: between {} and {} s", at(9), at(40));
        world.run(Duration::from_secs(2));
        assert_eq!(world.parents[1].holders(0, Channel(0)).len(), 50);
    }
}

#[test]
fn forged_hellos_cost_no_memory_and_answers_are_no_longer_than_they_are() {
    let limits = Limits { answers_per_s: 1_000_000, ..Limits::default() };
    let mut parent = Parent::new(limits, allowed(), Alternatives::default(), [1; 32]);
    let mut room = [0; MESSAGE_MAX];
    let mut hello = [0; MESSAGE_MAX];
    for number in 0..cases(1_000_000) {
        let session = if number % 3 == 0 { key(9) } else { key(0) };
        let cookie = (number % 2 == 0).then_some([number as u8; 16]);
        let length =
            Message::Hello { nonce: number.into(), session, cookie, previous: None }.write(&mut hello);
        let from = forged(number);
        let now = Time::from_ns(u64::from(number) * 10_000);
        assert!(parent.message(now, from, &hello[..length]).is_none());
        let mut answered = 0;
        while let Some((to, length)) = parent.take_reply(&mut room) {
            assert_eq!(to, from);
            answered += length;
        }
        assert!(answered <= length, "{answered} bytes for {length}");
    }
    assert_eq!((parent.count(), parent.sessions().count()), (0, 0));
    assert_eq!(parent.deadline(), None);
}

#[test]
fn strangers_get_only_so_many_answers() {
    let mut parent = Parent::new(Limits::default(), allowed(), Alternatives::default(), [1; 32]);
    let mut hello = [0; MESSAGE_MAX];
    let length = Message::Hello { nonce: 7, session: key(0), cookie: None, previous: None }.write(&mut hello);
    let mut room = [0; MESSAGE_MAX];
    let mut answers = 0;
    for number in 0..100_000 {
        parent.message(Time::from_ns(u64::from(number) * 10_000), forged(number), &hello[..length]);
        while parent.take_reply(&mut room).is_some() {
            answers += 1;
        }
    }
    // In one second: those saved, and those of the second.
    assert!((2000..=4001).contains(&answers), "{answers}");
    assert_eq!(parent.counters().unanswered + answers, 100_000);
}

#[test]
fn a_full_relay_names_another_and_its_children_go_there() {
    let limits = Limits { children: 5, ..Limits::default() };
    let mut world = World::new(3, 2, 8, limits);
    // The children know the first one only.
    world.parents[0] = parent(limits, Alternatives::new([at(1)]), 4);
    world.parents[1] = parent(Limits::default(), Alternatives::default(), 5);
    world.make_children(8, &[at(0)]);
    world.run(Duration::from_secs(5));
    assert_eq!((world.parents[0].count(), world.parents[1].count()), (5, 3));
    assert_eq!(world.parents[0].counters().refused, 3);
    let refused =
        world.news.iter().filter(|news| matches!(news, ParentEvent::Refused(_, Reason::Full))).count();
    assert_eq!(refused, 3);
}

#[test]
fn a_child_whose_address_has_changed_is_served_there_once_it_has_shown_that_it_is_there() {
    let mut world = World::new(5, 1, 1, Limits::default());
    world.each_child(|child, now| child.join(now, Channel(2)));
    world.run(Duration::from_secs(2));
    let before = world.parents[0].children().next().unwrap().address;
    world.shift_port = 1000;
    world.run(Duration::from_secs(2));
    let after = world.parents[0].children().next().unwrap().clone();
    assert_eq!(after.address.unwrap().port(), before.unwrap().port() + 1000);
    assert_eq!((world.parents[0].count(), world.parents[0].counters().moved), (1, 1));
    assert_eq!(world.parents[0].holders(0, Channel(2)).len(), 1);
    assert!(world.joined[0].contains(&Channel(2)));
}

#[test]
fn a_relay_that_was_restarted_is_asked_again_at_once() {
    let mut world = World::new(6, 1, 4, Limits::default());
    world.each_child(|child, now| child.join(now, Channel(1)));
    world.run(Duration::from_secs(2));
    world.parents[0] = parent(Limits::default(), Alternatives::default(), 99);
    world.joined[0].clear();
    world.run(Duration::from_ms(900));
    assert_eq!(world.parents[0].holders(0, Channel(1)).len(), 4);
}

#[test]
fn a_relay_that_ends_sends_its_children_elsewhere_at_once() {
    let mut world = World::new(7, 2, 6, Limits::default());
    world.run(Duration::from_secs(2));
    world.parents[0].close();
    world.run(Duration::from_ms(600));
    assert_eq!((world.parents[0].count(), world.parents[1].count()), (0, 6));
}

#[test]
fn a_child_that_falls_silent_is_gone_and_its_channels_are_left() {
    let mut world = World::new(8, 1, 3, Limits::default());
    world.each_child(|child, now| child.join(now, Channel(0)));
    world.run(Duration::from_secs(1));
    world.children.truncate(1);
    world.children[0].leave(world.now, Channel(0));
    world.run(Duration::from_secs(4));
    assert_eq!((world.parents[0].count(), world.parents[0].counters().lost), (1, 2));
    assert!(world.joined[0].is_empty());
}

#[test]
fn data_counts_from_the_parent_with_its_number_and_of_held_channels_alone() {
    let mut world = World::new(9, 1, 1, Limits::default());
    world.each_child(|child, now| child.join(now, Channel(3)));
    world.run(Duration::from_secs(1));
    let handle = world.parents[0].handle(0).unwrap();
    let mut room = [0; DATA_HEAD_MAX];
    let source = Ipv4Addr::new(192, 0, 2, 1).into();
    let data = |handle, channel| Data { hops: 1, channel: Channel(channel), handle, source };
    let (now, child) = (world.now, &mut world.children[0]);
    let length = data(handle, 3).write(&mut room);
    assert_eq!(child.data(now, at(0), &room[..length]), Some((data(handle, 3), length)));
    assert_eq!(child.data(now, at(1), &room[..length]), None);
    let length = data(handle ^ 1, 3).write(&mut room);
    assert_eq!(child.data(now, at(0), &room[..length]), None);
    let length = data(handle, 4).write(&mut room);
    assert_eq!(child.data(now, at(0), &room[..length]), None);
}

/// Between a leave and a join soon after it the parent sends nothing: what was sent before would make that gap seem a loss.
#[test]
fn a_channel_that_is_joined_again_soon_has_no_packets_from_before() {
    let mut world = World::new(13, 1, 1, Limits::default());
    world.each_child(|child, now| child.join(now, Channel(3)));
    world.run(Duration::from_secs(1));
    let handle = world.parents[0].handle(0).unwrap();
    let mut room = [0; DATA_HEAD_MAX];
    let source = Ipv4Addr::new(192, 0, 2, 1).into();
    let length = Data { hops: 1, channel: Channel(3), handle, source }.write(&mut room);
    let comes = |world: &mut World| {
        let now = world.now;
        world.children[0].data(now, at(0), &room[..length]).is_some()
    };
    assert!(comes(&mut world));
    world.each_child(|child, now| child.leave(now, Channel(3)));
    world.run(Duration::from_ms(3));
    world.each_child(|child, now| child.join(now, Channel(3)));
    assert!(!comes(&mut world));
    world.run(Duration::from_secs(1));
    assert!(comes(&mut world) && world.children[0].link().unwrap().is_settled);
}

#[test]
fn feedback_is_passed_on_at_a_bounded_rate() {
    let mut world = World::new(10, 1, 1, Limits { feedback_per_s: 10, ..Limits::default() });
    world.run(Duration::from_secs(1));
    let mut room = [0; MESSAGE_MAX];
    let to: SocketAddr = "192.0.2.1:5501".parse().unwrap();
    let mut passed = 0;
    for _ in 0..100 {
        let (_, length) = world.children[0].feedback(to, b"report", &mut room).unwrap();
        let from = world.address_of(0);
        if let Some(feedback) = world.parents[0].message(world.now, from, &room[..length]) {
            assert_eq!((feedback.to, feedback.message), (to, &b"report"[..]));
            passed += 1;
        }
    }
    assert_eq!((passed, world.parents[0].counters().feedback_dropped), (10, 90));
    assert!(world.children[0].feedback(to, &[0; MESSAGE_MAX], &mut room).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever is recorded and sent again from anywhere, and whatever else is sent: the table is bounded, and the relay and its
    /// genuine children agree in the end.
    #[test]
    fn replays_and_noise_change_nothing(seed: u64, noise: Vec<(u32, Vec<u8>, u8)>) {
        let limits = Limits { children: 8, ..Limits::default() };
        let mut world = World::new(seed, 1, 4, limits);
        world.each_child(|child, now| child.join(now, Channel(1)));
        world.record = true;
        world.run(Duration::from_secs(1));
        let recorded = std::mem::take(&mut world.recorded);
        let now = world.now;
        let mut room = [0; MESSAGE_MAX];
        for (index, message) in recorded.iter().enumerate() {
            world.parents[0].message(now, forged(index as u32), message);
            world.children[index % 4].message(now, at(0), message);
            world.children[index % 4].message(now, forged(7), message);
        }
        for (from, mut bytes, kind) in noise {
            bytes.insert(0, 0x40 | (kind & 15));
            world.parents[0].message(now, forged(from), &bytes);
            world.children[0].message(now, at(0), &bytes);
            let _ = world.children[0].data(now, at(0), &bytes);
        }
        while world.parents[0].take_reply(&mut room).is_some() {}
        prop_assert!(world.parents[0].count() <= 8);
        world.run(Duration::from_secs(6));
        prop_assert_eq!(world.parents[0].count(), 4);
        prop_assert_eq!(world.parents[0].holders(0, Channel(1)).len(), 4);
    }
}

#[test]
fn sessions_that_are_not_allowed_are_refused() {
    let mut world = World::new(11, 1, 0, Limits::default());
    let child = Child::new(key(9), &[at(0)], world.now, Duration::ZERO, [3; 32]);
    world.children.push(child);
    world.run(Duration::from_secs(1));
    assert_eq!(world.news.first(), Some(&ParentEvent::Refused(at(0), Reason::Session)));
    assert_eq!(world.parents[0].count(), 0);
}

/// A child without the source's address shares the session of those that know it.
#[test]
fn the_source_of_a_named_session_is_used_for_all() {
    let source = Some(Ipv4Addr::new(192, 0, 2, 1).into());
    let named = SessionKey { source, ..key(0) };
    let allowed = Allowed { sessions: vec![named], prefixes: Vec::new() };
    let mut world = World::new(12, 1, 1, Limits::default());
    world.parents[0] = Parent::new(Limits::default(), allowed, Alternatives::default(), [4; 32]);
    world.children.push(Child::new(named, &[at(0)], world.now, Duration::ZERO, [5; 32]));
    world.run(Duration::from_secs(1));
    assert_eq!(world.parents[0].count(), 2);
    assert_eq!(world.parents[0].sessions().collect::<Vec<_>>(), [(0, named)]);
    world.shift_port = 7;
    world.run(Duration::from_secs(2));
    assert_eq!(world.parents[0].counters().moved, 2);
}
