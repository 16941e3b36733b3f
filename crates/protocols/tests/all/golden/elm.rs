//! ELM: strategies, slow start, feedback interval.

use layercast_core::units::{Duration, Rate, RateEstimate, Time};
use layercast_protocols::elm::Options;
use layercast_protocols::elm::feedback::next_interval;
use layercast_protocols::elm::options::Strategy;
use layercast_protocols::elm::slow_start::deaf_period;
use layercast_protocols::elm::strategy::{Manager, RateBounds, Step, join_excess, leave_excess};
use layercast_testkit::golden::{Case, group, number, whole};
use serde_json::Value;

use crate::golden::EQUATION_BASED;

const TABLE_KBPS: [f64; 6] = [128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0];

fn bounds(level: usize) -> RateBounds {
    let rate = |level: usize| TABLE_KBPS.get(level).map(|&kbps| Rate::from_kbps(kbps));
    let below = level.checked_sub(1).and_then(rate);
    RateBounds { below, here: rate(level).expect("a level of the table"), above: rate(level + 1) }
}

fn known(kbps: f64) -> RateEstimate {
    RateEstimate::Known(Rate::from_kbps(kbps))
}

fn lazy(case: &Case) -> Manager {
    let t_join_max = Duration::from_secs_f64(case.number("t_join_max"));
    let t_leave_max = Duration::from_secs_f64(case.number("t_leave_max"));
    Manager::new(&Options { strategy: Strategy::Lazy, t_join_max, t_leave_max, ..Options::default() })
}

/// An expected number or null, for what the case says does not hold.
fn check_optional(case: &Case, what: &str, actual: Option<f64>) {
    let expected = &case.expected[what];
    match actual {
        Some(actual) if !expected.is_null() => case.check(what, actual, number(expected)),
        actual => assert_eq!((actual, expected), (None, &Value::Null), "{} {what}", case.id),
    }
}

#[test]
fn lazy_excess_and_delay() {
    for case in group(EQUATION_BASED, "lazy") {
        let bounds = bounds(case.whole("level") as usize);
        let (kbps, rate) = (case.number("x"), known(case.number("x")));
        let above = bounds.above.filter(|above| kbps > above.as_kbps());
        let below = bounds.below.filter(|_| kbps < bounds.here.as_kbps());
        check_optional(&case, "delta_join", above.map(|above| join_excess(rate, bounds.here, above)));
        check_optional(&case, "delta_leave", below.map(|below| leave_excess(rate, below, bounds.here)));

        let mut manager = lazy(&case);
        manager.on_rate(Time::ZERO, rate, &bounds);
        let due = manager.next_deadline().map(Time::as_secs_f64);
        let step = manager.next_deadline().and_then(|at| manager.poll(at));
        check_optional(&case, "join_delay", due.filter(|_| step == Some(Step::Join)));
        check_optional(&case, "leave_delay", due.filter(|_| step == Some(Step::Leave)));
    }
}

/// Runs rate samples through a manager and returns the changes as (seconds, new level).
fn run(manager: &mut Manager, mut level: usize, samples: &[(f64, f64)], end: f64) -> Vec<(f64, usize)> {
    let mut changes = Vec::new();
    for (index, &(at, kbps)) in samples.iter().enumerate() {
        let until = Time::from_secs_f64(samples.get(index + 1).map_or(end, |&(next, _)| next));
        let mut now = Time::from_secs_f64(at);
        manager.on_rate(now, known(kbps), &bounds(level));
        loop {
            if let Some(step) = manager.poll(now) {
                level = if step == Step::Join { level + 1 } else { level - 1 };
                manager.level_changed(now, step);
                changes.push((now.as_secs_f64(), level));
            }
            match manager.next_deadline() {
                Some(at) if at < until => now = at,
                _ => break,
            }
        }
    }
    changes
}

#[test]
fn lazy_timeline() {
    for case in group(EQUATION_BASED, "lazy_timeline") {
        let pairs = case.input["samples"].as_array().expect("samples");
        let samples: Vec<_> = pairs.iter().map(|pair| (number(&pair[0]), number(&pair[1]))).collect();
        let changes = run(&mut lazy(&case), case.whole("level") as usize, &samples, case.number("end"));
        let expected = case.expected.as_array().expect("changes");
        assert_eq!(changes.len(), expected.len(), "{}", case.id);
        for (change, expected) in changes.iter().zip(expected) {
            case.check("time", change.0, number(&expected[0]));
            assert_eq!(change.1 as u64, whole(&expected[1]), "{}", case.id);
        }
    }
}

#[test]
fn naive() {
    for case in group(EQUATION_BASED, "naive") {
        let level = case.whole("level") as usize;
        let mut manager = Manager::new(&Options { strategy: Strategy::Naive, ..Options::default() });
        let changes = run(&mut manager, level, &[(0.0, case.number("x"))], 1.0);
        let after = changes.last().map_or(level, |change| change.1);
        assert_eq!(after as u64, whole(&case.expected), "{}", case.id);
    }
}

#[test]
fn slow_start_deaf() {
    for case in group(EQUATION_BASED, "slow_start_deaf") {
        let interval = Duration::from_secs_f64(case.number("interval"));
        let level = Rate::from_kbps(TABLE_KBPS[case.whole("level") as usize]);
        let deaf = deaf_period(interval, Rate::from_kbps(TABLE_KBPS[0]), level);
        case.check("deaf", deaf.as_secs_f64(), number(&case.expected));
    }
}

#[test]
fn feedback_interval() {
    for case in group(EQUATION_BASED, "feedback_interval") {
        let next =
            next_interval(case.number("t"), case.number("r_current"), case.number("r_target"), 0.1, 600.0);
        case.check("interval", next, number(&case.expected));
    }
}
