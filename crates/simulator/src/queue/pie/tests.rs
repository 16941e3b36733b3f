use layercast_core::units::Time;
use layercast_testkit::golden;

use super::*;
use crate::packet::EcnField;
use crate::queue::Queue;
use crate::queue::testing::{Driver, copy};

#[test]
fn golden_probabilities() {
    for id in ["pie-01", "pie-02"] {
        let case = golden::vector("vectors-active-and-unicast.json", id);
        let mut controller = Controller::new(PieConfig::default());
        if !case.input["p0"].is_null() {
            controller.probability = case.number("p0");
        }
        let delays = golden::numbers(&case.input["qdelay"]);
        let probabilities: Vec<f64> = delays
            .iter()
            .map(|&delay| {
                controller.update(delay);
                controller.probability
            })
            .collect();
        case.check_list("prob", &probabilities, &case.expected["prob"]);
    }
}

/// Three packets come each 10 ms and two leave; the share of drops over some seconds.
fn overload(ecn: EcnField) -> (Driver, u64) {
    let config = PieConfig { ecn: true, ..PieConfig::default() };
    let mut queue = Queue::Pie(Box::new(PieQueue::new(config, Stream::new(1, "queue"))));
    let mut driver = Driver::default();
    let mut offered = 0;
    for step in 0..6000_u64 {
        let now = Time::from_ns(step * 10_000_000);
        for _ in 0..3 {
            driver.enqueue(&mut queue, now, copy(0, 1000, ecn));
            offered += 1;
        }
        for _ in 0..2 {
            driver.dequeue(&mut queue, now);
        }
    }
    (driver, offered)
}

#[test]
fn drops_the_excess_of_a_load_that_does_not_yield() {
    // A third must be dropped. The capacity of the queue is negligible, and the draws of 18,000 packets
    // have a standard deviation of 0.35 %; the start, when the probability still increases, adds some.
    let (driver, offered) = overload(EcnField::NotCapable);
    let share = driver.counters.queue_drops as f64 / offered as f64;
    assert!((share - 1.0 / 3.0).abs() < 0.02, "{share}");
    assert_eq!(driver.counters.queue_drops, driver.counters.chosen_drops);
}

#[test]
fn marks_only_while_marks_are_rare() {
    let (driver, _) = overload(EcnField::Classic);
    assert!(driver.counters.marks > 0);
    assert!(driver.counters.queue_drops > driver.counters.marks, "marks alone would not help here");
}

#[test]
fn a_burst_after_calm_passes() {
    let mut queue = Queue::Pie(Box::new(PieQueue::new(PieConfig::default(), Stream::new(1, "queue"))));
    let mut driver = Driver::default();
    for number in 0..100 {
        driver.enqueue(&mut queue, Time::from_ns(1_000_000 * number), copy(0, 1000, EcnField::NotCapable));
    }
    assert_eq!((queue.len(), driver.counters.queue_drops), (100, 0));
}
