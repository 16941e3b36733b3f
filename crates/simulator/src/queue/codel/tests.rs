use layercast_core::units::{Duration, Time};
use layercast_testkit::golden;

use super::*;
use crate::packet::EcnField;
use crate::queue::testing::{Driver, copy};
use crate::queue::{Queue, QueueConfig};

fn queue(ecn: bool) -> Queue {
    let config = CoDelConfig { ecn, ..CoDelConfig::default() };
    Queue::CoDel(Box::new(CoDelQueue::new(config)))
}

#[test]
fn golden_control_law() {
    let case = golden::vector("vectors-active-and-unicast.json", "codel-01");
    let interval = Duration::from_secs_f64(case.number("interval"));
    let mut codel = CoDel::new(&CoDelConfig { interval, ..CoDelConfig::default() });
    let mut at = Time::from_secs_f64(case.number("t0"));
    let mut times = Vec::new();
    for count in 1..=case.whole("n") as u32 {
        codel.count = count;
        at = codel.next_drop(at);
        times.push(at.as_secs_f64());
    }
    case.check_list("drop_next", &times, &case.expected["drop_next"]);
}

/// Packets that all came at once leave one each 10 ms. Returns when packets were dropped or marked.
fn standing(queue: &mut Queue, driver: &mut Driver, ecn: EcnField, departures: u64) -> Vec<u64> {
    for number in 0..500 {
        driver.enqueue(queue, Time::ZERO, copy(number, 1000, ecn));
    }
    let mut hits = Vec::new();
    for number in 1..=departures {
        let before = driver.counters.queue_drops + driver.counters.marks;
        let taken = driver.dequeue(queue, Time::from_ns(number * 10_000_000));
        assert_eq!(taken.is_some_and(|copy| copy.is_marked()), driver.counters.marks > before);
        if driver.counters.queue_drops + driver.counters.marks > before {
            hits.push(number * 10);
        }
    }
    hits
}

#[test]
fn drops_ever_more_often_while_the_wait_stays_above_the_target() {
    // The first packet to have waited longer than 5 ms leaves at 10 ms, so the first drop comes at
    // 110 ms; the next at the first departures at or after 210, 280.71, 338.44 ms, and so on.
    let mut driver = Driver::default();
    let hits = standing(&mut queue(false), &mut driver, EcnField::NotCapable, 40);
    assert_eq!(hits, [110, 210, 290, 340, 390]);
    assert_eq!(driver.counters.chosen_drops, driver.counters.queue_drops);
    assert_eq!(driver.counters.marks, 0);
}

#[test]
fn marks_ecn_capable_packets_at_the_same_moments() {
    let (mut dropping, mut marking) = (Driver::default(), Driver::default());
    let drops = standing(&mut queue(true), &mut dropping, EcnField::NotCapable, 60);
    let marks = standing(&mut queue(true), &mut marking, EcnField::Classic, 60);
    assert_eq!(drops, marks);
    assert_eq!(marking.counters.queue_drops, 0);
    assert_eq!(marking.counters.marks as usize, marks.len());
}

#[test]
fn a_short_queue_is_left_alone_however_old() {
    let mut driver = Driver::default();
    let mut queue = queue(false);
    for number in 0..200 {
        let now = Time::from_ns(number * 50_000_000);
        // Two wait at a time: behind the one that leaves there is never more than one packet.
        driver.enqueue(&mut queue, now, copy(number as u32, 1000, EcnField::NotCapable));
        if number > 0 {
            assert!(driver.dequeue(&mut queue, now).is_some());
        }
    }
    assert_eq!(driver.counters.queue_drops, 0);
}

#[test]
fn dropping_soon_again_goes_on_at_its_pace() {
    let mut codel = CoDel::new(&CoDelConfig::default());
    let second = |s: f64| Time::from_secs_f64(s);
    codel.begin_dropping(second(1.0));
    assert_eq!((codel.count, codel.drop_next), (1, second(1.1)));
    codel.count = 9;
    codel.drop_next = second(2.0);
    codel.begin_dropping(second(2.5));
    assert_eq!(codel.count, 8, "9 less the 1 it began with");
    codel.count = 20;
    codel.drop_next = second(3.0);
    codel.begin_dropping(second(4.6));
    assert_eq!(codel.count, 1, "sixteen intervals later it has forgotten");
}

#[test]
fn holds_what_its_limit_says() {
    let config = CoDelConfig { limit: QueueLimit::Packets(3), ..CoDelConfig::default() };
    let mut queue = Queue::new(
        QueueConfig::CoDel(config),
        layercast_core::units::Rate::from_mbps(1.0),
        Duration::ZERO,
        layercast_core::stream::Stream::new(1, "queue"),
    );
    let mut driver = Driver::default();
    for number in 0..5 {
        driver.enqueue(&mut queue, Time::ZERO, copy(number, 1000, EcnField::NotCapable));
    }
    assert_eq!((queue.len(), driver.counters.queue_drops, driver.counters.chosen_drops), (3, 2, 0));
}
