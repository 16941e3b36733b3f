use layercast_testkit::golden;

use super::*;
use crate::packet::EcnField;
use crate::queue::Queue;
use crate::queue::testing::{Driver, copy};
use layercast_core::units::Time;

#[test]
fn golden_prices() {
    for id in ["rem-01", "rem-02", "rem-03"] {
        let case = golden::vector("vectors-active-and-unicast.json", id);
        let defaults = RemConfig::default();
        let input = |name: &str, default: f64| {
            if case.input[name].is_null() { default } else { case.number(name) }
        };
        let config = RemConfig {
            gamma: input("gamma", defaults.gamma),
            input_weight: input("inw", defaults.input_weight),
            ..defaults
        };
        let mut price = Price::new(config, case.number("c"));
        let arrivals = golden::numbers(&case.input["arrivals"]);
        let queues = golden::numbers(&case.input["queue"]);
        let rows = case.expected["price_prob"].as_array().unwrap();
        for ((&arrived, &queue), row) in arrivals.iter().zip(&queues).zip(rows) {
            price.update(arrived, queue);
            // The vectors have 12 digits, and 1 - phi^-price loses some of the digits of a price.
            let close =
                |actual: f64, expected: &serde_json::Value| (actual - golden::number(expected)).abs() < 1e-12;
            assert!(close(price.price, &row[0]), "{id}: {} {row}", price.price);
            assert!(close(price.probability, &row[1]), "{id}: {} {row}", price.probability);
        }
    }
}

#[test]
fn golden_sum_of_prices() {
    let case = golden::vector("vectors-active-and-unicast.json", "rem-04");
    let phi = case.number("phi");
    let links: Vec<f64> =
        golden::numbers(&case.input["prices"]).iter().map(|&price| probability(price, phi)).collect();
    case.check_list("links", &links, &case.expected["link_probs"]);
    let all = 1.0 - links.iter().map(|mark| 1.0 - mark).product::<f64>();
    case.check("end to end", all, golden::number(&case.expected["end_to_end_prob"]));
}

#[test]
fn marks_on_departure_and_drops_nothing_for_it() {
    // The price increases so fast that every packet is marked once the queue has persisted for an update.
    let config =
        RemConfig { gamma: 100.0, phi: 2.0, ecn: true, limit: QueueLimit::Unlimited, ..RemConfig::default() };
    let new = RemQueue::new(config, Rate::from_mbps(10.0), Stream::new(1, "queue"));
    let mut queue = Queue::Rem(Box::new(new));
    let mut driver = Driver::default();
    for number in 0..100 {
        let ecn = if number % 2 == 0 { EcnField::Classic } else { EcnField::NotCapable };
        driver.enqueue(&mut queue, Time::ZERO, copy(number, 1000, ecn));
    }
    let later = Time::from_ns(3_000_000);
    let taken: Vec<bool> =
        std::iter::from_fn(|| driver.dequeue(&mut queue, later)).map(|copy| copy.is_marked()).collect();
    assert_eq!(taken.len(), 100);
    assert!(taken.iter().enumerate().all(|(number, &marked)| marked == (number % 2 == 0)));
    assert_eq!((driver.counters.marks, driver.counters.queue_drops), (50, 0));
}
