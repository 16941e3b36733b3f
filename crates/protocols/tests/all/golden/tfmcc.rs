//! TFMCC: feedback timers, suppression, largest round-trip time, first interval, one-way delay.

use layercast_core::units::{Duration, Rate, Size};
use layercast_kit::equation::Path;
use layercast_kit::response::Response;
use layercast_protocols::tfmcc::rules::{
    OneWayDelay, biased_delay, feedback_delay, first_loss_rate, hold_back, is_suppressed,
    max_rtt_after_round, rescaled_interval, rescaled_rate,
};
use layercast_testkit::golden::{Case, group, number};

use crate::golden::EQUATION_BASED;

/// Vectors allow an error of 1e-9 where nothing is expected; a relative one would allow none.
fn check_delay(case: &Case, what: &str, actual: f64) {
    let expected = number(&case.expected[what]);
    if expected == 0.0 {
        assert!(actual.abs() < 1e-9, "{} {what}: {actual}", case.id);
    } else {
        case.check(what, actual, expected);
    }
}

fn span(case: &Case, name: &str) -> Duration {
    Duration::from_secs_f64(case.number(name))
}

#[test]
fn timers() {
    for case in group(EQUATION_BASED, "tfmcc_timer") {
        let round = case.number("T");
        let delay = feedback_delay(round, case.number("x"), case.number("N"));
        let back = hold_back(case.number("r"));
        check_delay(&case, "t", delay);
        check_delay(&case, "rr", back);
        let biased = biased_delay(round, delay, back, case.number("zeta"));
        check_delay(&case, "biased", biased);
    }
}

#[test]
fn suppression() {
    for case in group(EQUATION_BASED, "tfmcc_suppress") {
        let suppressed = is_suppressed(case.number("x_r"), case.number("x_supp"), case.number("g"));
        assert_eq!(Some(suppressed), case.expected.as_bool(), "{}", case.id);
    }
}

#[test]
fn largest_round_trip_time() {
    for case in group(EQUATION_BASED, "tfmcc_rmax") {
        let size = Size::from_bytes(case.whole("s") as u32);
        let spacing = Rate::from_bytes_per_s(case.number("x")).time_to_send(size);
        let next =
            max_rtt_after_round(span(&case, "r_max"), span(&case, "r_peak"), spacing, span(&case, "gran"));
        case.check("r_max", next.as_secs_f64(), number(&case.expected));
    }
}

#[test]
fn rescaled_rates() {
    for case in group(EQUATION_BASED, "tfmcc_rate_rescale") {
        let rate = rescaled_rate(
            Response::Reno,
            1000.0,
            case.number("x_r"),
            span(&case, "r_max"),
            span(&case, "r_r"),
        );
        case.check("rate", rate, number(&case.expected));
    }
}

#[test]
fn first_intervals() {
    for case in group(EQUATION_BASED, "tfmcc_first_interval") {
        if case.input.get("l").is_some() {
            let length = rescaled_interval(
                Response::Reno,
                case.number("l"),
                0.01,
                span(&case, "r_true"),
                span(&case, "r_init"),
            );
            case.check("length", length, number(&case.expected));
        } else {
            let rtt = case.number("rtt");
            let path = Path::from_secs(case.number("s"), rtt, 4.0 * rtt);
            let loss_rate = first_loss_rate(Response::Reno, &path, case.number("x")).expect("a path");
            case.check("p", loss_rate, number(&case.expected["p"]));
            case.check("interval", 1.0 / loss_rate, number(&case.expected["interval"]));
        }
    }
}

/// A one-way delay as two time stamps: the receiver's clock may be behind the source's, and both wrap.
#[test]
fn one_way_delays() {
    for case in group(EQUATION_BASED, "tfmcc_owd") {
        for sent_us in [0, 1_000_000, u32::MAX - 10] {
            let came = |name| sent_us.wrapping_add((case.number(name) * 1e6).round() as i64 as u32);
            let mut delay = OneWayDelay::default();
            assert_eq!(delay.rtt(came("d"), sent_us), None);
            delay.measured(span(&case, "r"), came("d0"), sent_us);
            let rtt = delay.rtt(came("d"), sent_us).expect("a round-trip time");
            case.check("rtt", rtt.as_secs_f64(), number(&case.expected));
        }
    }
}
