use layercast_core::units::Time;

use super::*;
use crate::packet::EcnField;
use crate::queue::testing::{Driver, copy_of};
use crate::queue::{Queue, QueueConfig};

fn new(config: FqCoDelConfig, seed: u64) -> FqCoDelQueue {
    FqCoDelQueue::new(config, Stream::new(seed, "queue"))
}

fn queue(config: FqCoDelConfig) -> Queue {
    let rate = layercast_core::units::Rate::from_mbps(10.0);
    Queue::new(QueueConfig::FqCoDel(config), rate, Duration::ZERO, Stream::new(1, "queue"))
}

/// The routes of the next packets.
fn routes(queue: &mut Queue, driver: &mut Driver, count: usize) -> Vec<u32> {
    let taken = std::iter::from_fn(|| driver.dequeue(queue, Time::ZERO)).take(count);
    taken.map(|copy| copy.route).collect()
}

#[test]
fn flows_spread_over_queues_as_chance_would() {
    // 10,000 flows over 100 queues: 100 each, with a standard deviation of 10. The largest of 100
    // deviations passes five of them once in 17,000 tries.
    let config = FqCoDelConfig { queues: 100, ..FqCoDelConfig::default() };
    let queue = new(config, 1);
    let mut counts = [0_i32; 100];
    for route in 0..100 {
        for channel in 0..100 {
            counts[queue.classify(&copy_of((route, channel), 0, 100)) as usize] += 1;
        }
    }
    assert!(counts.iter().all(|count| (count - 100).abs() < 50), "{counts:?}");
    // The salt decides which flows share a queue, and the stream decides the salt.
    let place = |seed| {
        let queue = new(config, seed);
        (0..20).map(|route| queue.classify(&copy_of((route, 0), 0, 100))).collect::<Vec<_>>()
    };
    assert_eq!(place(1), place(1));
    assert_ne!(place(1), place(2));
}

#[test]
fn one_position_more_is_the_same_flow_and_another_channel_is_not() {
    let queue = new(FqCoDelConfig::default(), 1);
    let copy = copy_of((7, 1), 0, 100);
    assert_eq!(queue.classify(&copy), queue.classify(&PacketCopy { position: 3, ..copy }));
    assert_ne!(queue.classify(&copy), queue.classify(&copy_of((7, 2), 0, 100)));
}

#[test]
fn a_new_flow_goes_first_and_then_all_have_turns_of_equal_bytes() {
    let config = FqCoDelConfig { quantum: Size::from_bytes(2000), ..FqCoDelConfig::default() };
    let (mut queue, mut driver) = (queue(config), Driver::default());
    for number in 0..8 {
        driver.enqueue(&mut queue, Time::ZERO, copy_of((1, 0), number, 1000));
    }
    assert_eq!(routes(&mut queue, &mut driver, 3), [1, 1, 1], "alone");
    for number in 0..8 {
        driver.enqueue(&mut queue, Time::ZERO, copy_of((2, 0), number, 500));
    }
    // Flow 1 has used its quantum and is old; it has 1000 bytes left of the second.
    assert_eq!(routes(&mut queue, &mut driver, 11), [2, 2, 2, 2, 1, 2, 2, 2, 2, 1, 1]);
}

/// A flow sends a packet as soon as another flow has been served after it, against four flows that are
/// always backlogged. If it counted as new each time, it would get every second turn; as it is, it gets
/// every fifth.
#[test]
fn a_flow_that_has_emptied_its_queue_waits_for_the_old_ones() {
    let (mut queue, mut driver) = (queue(FqCoDelConfig::default()), Driver::default());
    for number in 0..400 {
        driver.enqueue(&mut queue, Time::ZERO, copy_of((number % 4, 0), number, 1500));
    }
    let (mut served, mut waits) = (0, false);
    for number in 0..200 {
        if routes(&mut queue, &mut driver, 1) == [9] {
            served += 1;
            waits = false;
        } else if !waits {
            driver.enqueue(&mut queue, Time::ZERO, copy_of((9, 0), number, 1500));
            waits = true;
        }
    }
    assert!((36..=44).contains(&served), "{served}");
}

#[test]
fn overflow_takes_half_of_the_longest_queue_from_its_front() {
    let config = FqCoDelConfig { limit: QueueLimit::Packets(20), ..FqCoDelConfig::default() };
    let (mut queue, mut driver) = (queue(config), Driver::default());
    for number in 0..16 {
        driver.enqueue(&mut queue, Time::ZERO, copy_of((1, 0), number, 1000));
    }
    for number in 100..105 {
        driver.enqueue(&mut queue, Time::ZERO, copy_of((2, 0), number, 1200));
    }
    let gone: Vec<_> = driver.dropped.iter().map(|dropped| dropped.0.packet).collect();
    assert_eq!(gone, (0..8).map(crate::packet::PacketId::from_number).collect::<Vec<_>>());
    assert_eq!((queue.len(), driver.counters.queue_drops, driver.counters.chosen_drops), (13, 8, 0));
}

#[test]
fn overflow_takes_at_most_64_packets_at_once() {
    let config = FqCoDelConfig { limit: QueueLimit::Packets(400), ..FqCoDelConfig::default() };
    let (mut queue, mut driver) = (queue(config), Driver::default());
    for number in 0..401 {
        driver.enqueue(&mut queue, Time::ZERO, copy_of((1, 0), number, 100));
    }
    assert_eq!((queue.len(), driver.counters.queue_drops), (337, 64));
}

/// A flow with a standing queue is dropped from, or marked if it is ECN-capable; a competing flow without a
/// queue is not.
#[test]
fn each_queue_has_a_codel_of_its_own() {
    for ecn in [EcnField::NotCapable, EcnField::Classic] {
        let (mut queue, mut driver) = (queue(FqCoDelConfig::default()), Driver::default());
        let mut calm = 0;
        for number in 0..2000 {
            let now = Time::from_ns(u64::from(number) * 2_000_000);
            for _ in 0..2 {
                driver.enqueue(
                    &mut queue,
                    now,
                    PacketCopy { ecn: ecn.into(), ..copy_of((1, 0), number, 1000) },
                );
            }
            if number % 4 == 0 {
                driver.enqueue(
                    &mut queue,
                    now,
                    PacketCopy { ecn: ecn.into(), ..copy_of((2, 0), number, 1000) },
                );
            }
            if let Some(taken) = driver.dequeue(&mut queue, now) {
                calm += u32::from(taken.route == 2 && !taken.is_marked());
            }
        }
        let counters = driver.counters;
        let hits = if ecn == EcnField::Classic { counters.marks } else { counters.chosen_drops };
        assert!(hits > 50, "{ecn:?} {counters:?}");
        assert_eq!(hits, counters.marks + counters.queue_drops);
        assert!(driver.dropped.iter().all(|dropped| dropped.0.route == 1));
        // 500 came; the last may still wait.
        assert!((499..=500).contains(&calm), "{calm}");
    }
}
