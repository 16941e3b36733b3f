use layercast_core::units::Duration;
use layercast_protocols::rlm::{DetectionTime, JoinTimers, Options, Profile, join_delay_s};
use layercast_testkit::golden::{number, numbers, vector};
use serde_json::Value;

use crate::golden::JOIN_LEAVE;

#[test]
fn rm_01_and_02_failed_experiments() {
    for (id, profile) in [("RM-01", Profile::Ns2), ("RM-02", Profile::Paper)] {
        let case = vector(JOIN_LEAVE, id);
        let options = Options {
            profile,
            backoff_factor: case.number("alpha"),
            join_timer_min: Duration::from_secs_f64(case.number("start")),
            ..Options::default()
        };
        assert_eq!(options.longest_join_timer().as_secs_f64(), case.number("max"), "{id}");
        let mut timers = JoinTimers::new(&options, 3);
        let mut seen = Vec::new();
        for _ in 0..case.whole("failures") {
            timers.on_failure(2);
            seen.push(timers.of(2));
            assert!(timers.of(3) >= timers.of(2), "{id}: those above wait as long");
        }
        case.check_list("TJ", &seen, &case.expected["TJ"]);
        assert_eq!(timers.of(1), case.number("start"), "{id}: those below do not");
    }
}

#[test]
fn rm_03_relaxation() {
    let case = vector(JOIN_LEAVE, "RM-03");
    let least = case.number("min");
    let options = Options {
        relax_factor: case.number("beta"),
        join_timer_min: Duration::from_secs_f64(least),
        ..Options::default()
    };
    let mut timers = JoinTimers::new(&options, 2);
    while timers.of(2) < case.number("start") {
        timers.on_failure(2);
    }
    assert_eq!(timers.of(2), case.number("start"));
    let mut seen = Vec::new();
    for _ in 0..case.whole("steps") {
        timers.relax(2);
        seen.push(timers.of(2));
    }
    case.check_list("TJ", &seen, &case.expected["TJ"]);
}

#[test]
fn rm_04_delay_of_an_experiment() {
    let case = vector(JOIN_LEAVE, "RM-04");
    let draws = numbers(&case.input["u"]);
    let expected = case.expected["delay"].as_array().unwrap();
    assert_eq!(draws.len(), expected.len());
    for (&uniform, expected) in draws.iter().zip(expected) {
        match (join_delay_s(case.number("I"), uniform), expected) {
            (None, Value::Null) => {}
            (Some(delay_s), expected) => case.check("delay", delay_s, number(expected)),
            (None, _) => panic!("{uniform} was refused"),
        }
    }
}

#[test]
fn rm_05_and_06_detection_time() {
    let case = vector(JOIN_LEAVE, "RM-05");
    let options = Options {
        detection_time: Duration::from_secs_f64(case.number("TD")),
        detection_deviation: Duration::from_secs_f64(case.number("TDVAR")),
        detection_weight: case.number("g1"),
        deviation_weight: case.number("g2"),
        ..Options::default()
    };
    let mut detection = DetectionTime::new(&options);
    for (took_s, expected) in numbers(&case.input["D"]).iter().zip(case.expected["steps"].as_array().unwrap())
    {
        detection.on_sample(*took_s);
        let seen = [detection.mean_s, detection.deviation_s, detection.conservative_s()];
        case.check_list("estimate", &seen, expected);
    }
    let case = vector(JOIN_LEAVE, "RM-06");
    let options = Options {
        detection_time: Duration::from_secs_f64(case.number("TD")),
        detection_deviation: Duration::from_secs_f64(case.number("TDVAR")),
        ..Options::default()
    };
    let detection = DetectionTime::new(&options);
    let waits: Vec<f64> =
        numbers(&case.input["level"]).iter().map(|&level| detection.wait_s(level as u16)).collect();
    case.check_list("wait", &waits, &case.expected["wait"]);
}
