//! The set-up of Wei and Zhang's report: delays, and the product of delay and bandwidth.

use crate::running::{built_in, read};
use layercast_core::units::Duration;
use layercast_laboratory::scenario::{Scenario, Traffic};
use layercast_testkit::golden::{numbers, vector};

fn scenario(name: &str) -> Scenario {
    read(name, built_in(name), &[]).unwrap()
}

fn delay_s(scenario: &Scenario, link: &str) -> f64 {
    let link = scenario.links.iter().find(|one| one.name == link).unwrap();
    assert_eq!(link.forward.delay, link.backward.delay);
    link.forward.delay.high().as_secs_f64()
}

/// The round-trip time to a receiver without queueing, in ms.
fn rtt_ms(scenario: &Scenario, receiver: usize) -> f64 {
    let links = ["S-RL".to_owned(), "RL-RR".to_owned(), format!("RR-R{receiver}")];
    2e3 * links.iter().map(|link| delay_s(scenario, link)).sum::<f64>()
}

/// WZ-13: the delays that the report states, and what it says of the product of delay and bandwidth,
/// follow from the scenarios. These give delays in microseconds, so times agree within a few of them.
#[test]
fn the_scenarios_have_the_reports_delays() {
    let case = vector("vectors-join-leave.json", "WZ-13");
    let furthest = numbers(&case.expected["rtt_max_ms"]);
    let four = scenario("wei-zhang/four-flows");
    assert!((rtt_ms(&four, 4) - furthest[0]).abs() < 0.005, "{}", rtt_ms(&four, 4));
    for receiver in 1..=4 {
        // A receiver's own part of the delay grows by a third of a millisecond, one way.
        let shortest = rtt_ms(&four, receiver) - 2.0 / 3.0 * receiver as f64;
        assert!((shortest - 44.0).abs() < 0.005, "R{receiver}: {shortest}");
    }
    let bottleneck = four.links.iter().find(|link| link.name == "RL-RR").unwrap();
    let Traffic::Tcp { options, .. } = &four.flows[0].traffic else { panic!("they are TCPs") };
    let packet = options.packet_size.as_bytes();
    assert!(four.sessions.iter().all(|session| session.packet_size.as_bytes() == packet));
    let rate = bottleneck.forward.rate.as_bytes_per_s() / f64::from(packet);
    let longest_s = furthest[1] / 1e3;
    case.check_list(
        "bdp",
        &[rate * Duration::from_ms(44).as_secs_f64(), rate * longest_s],
        &case.expected["bdp"],
    );
}
