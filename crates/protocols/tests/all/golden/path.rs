use layercast_core::units::Duration;
use layercast_kit::estimator::{RtoEstimator, RtoRule, RttEstimator, RttFilter, rtt_sample};
use layercast_testkit::golden::{group, number, numbers, vector};

use crate::golden::{ACTIVE, EQUATION_BASED};

#[test]
fn round_trip_time_filter() {
    for case in group(EQUATION_BASED, "rtt_ewma") {
        let mut rtt = RttEstimator::new(RttFilter::Ewma, case.number("q"), 1);
        let after = |&sample_s: &f64| {
            rtt.on_sample(Duration::from_secs_f64(sample_s));
            rtt.rtt_s().unwrap()
        };
        let smoothed_s: Vec<f64> = numbers(&case.input["samples"]).iter().map(after).collect();
        case.check_list("rtt", &smoothed_s, &case.expected);
    }
}

#[test]
fn round_trip_time_sample() {
    for case in group(EQUATION_BASED, "rtt_sample") {
        let us = |name: &str| case.whole(name) as u32;
        let sample = rtt_sample(us("now"), us("echo"), us("hold"));
        if case.expected == "reject" {
            assert_eq!(sample, None, "{}", case.id);
        } else {
            case.check("sample", sample.unwrap().as_us() as f64, number(&case.expected));
        }
    }
}

#[test]
fn timeout_of_four_round_trips() {
    for case in group(EQUATION_BASED, "rto_simple") {
        for rule in [RtoRule::FourR, RtoRule::FourSample] {
            let mut rto = RtoEstimator::new(rule, Duration::ZERO, Duration::ZERO);
            rto.on_sample(case.number("r"), case.number("r"));
            case.check("rto", rto.rto_s().unwrap(), number(&case.expected));
        }
    }
}

#[test]
fn timeout_of_tcp() {
    for case in group(EQUATION_BASED, "rto_6298") {
        let span = |name: &str| Duration::from_secs_f64(case.number(name));
        let mut rto = RtoEstimator::new(RtoRule::Rfc6298, span("min_rto"), span("g"));
        let after = |&sample_s: &f64| {
            rto.on_sample(sample_s, sample_s);
            rto.rto_s().unwrap()
        };
        let rto_s: Vec<f64> = numbers(&case.input["samples"]).iter().map(after).collect();
        case.check_list("rto", &rto_s, &case.expected);
    }
}

#[test]
fn timeout_of_tcp_with_its_state() {
    for id in ["rto-6298-01", "rto-6298-02"] {
        let case = vector(ACTIVE, id);
        let span = |name: &str| Duration::from_secs_f64(case.number(name));
        let mut rto = RtoEstimator::new(RtoRule::Rfc6298, span("min_rto"), span("G"));
        let rows = case.expected["srtt_rttvar_rto"].as_array().unwrap();
        for (sample_s, row) in numbers(&case.input["samples"]).into_iter().zip(rows) {
            rto.on_sample(sample_s, sample_s);
            let (mean_s, deviation_s) = rto.mean_and_deviation().unwrap();
            case.check_list("row", &[mean_s, deviation_s, rto.rto_s().unwrap()], row);
        }
    }
}

#[test]
fn timeout_in_ticks() {
    let case = vector(ACTIVE, "rto-ns2-01");
    let tick_s = case.number("tick");
    let mut rto = RtoEstimator::new(RtoRule::NsTick, Duration::ZERO, Duration::from_secs_f64(tick_s));
    let rows = case.expected["rows"].as_array().unwrap();
    for (ticks, row) in numbers(&case.input["rtt_ticks"]).into_iter().zip(rows) {
        rto.on_sample(ticks * tick_s, ticks * tick_s);
        let (mean, deviation) = rto.mean_and_deviation().unwrap();
        let row = numbers(row);
        case.check("mean", mean, row[0]);
        case.check("deviation", deviation, row[1]);
        case.check("rto", rto.rto_s().unwrap(), row[2]);
    }
}
