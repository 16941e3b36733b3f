use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_protocols::amca::estimates::{
    Summary, backlog, bottleneck_bps, packets_per_report, queue_change_packets, queue_estimate, repair_gap_s,
    rtt_to_source_us, unacknowledged,
};
use layercast_protocols::amca::{Control, Options, Phase, Rules, Step};
use layercast_testkit::golden::{Case, number, numbers, vector, whole};
use serde_json::Value;

use crate::golden::ACTIVE;

#[test]
fn queue_estimates() {
    let ids = [
        "amca-est-01",
        "amca-est-02",
        "amca-est-03",
        "amca-est-04",
        "amca-est-05",
        "amca-est-06",
        "amca-est-07",
        "amca-est-08",
    ];
    for id in ids {
        let case = vector(ACTIVE, id);
        let (rate, period, var) = (case.number("rate_bps"), case.number("T_s"), case.number("dtau_s"));
        let estimate = queue_estimate(period, var, 2.0);
        let expected = |name: &str| number(&case.expected[name]);
        case.check("gamma", estimate.gamma, expected("gamma"));
        case.check("growth", estimate.growth.unwrap(), expected("dqp"));
        case.check("bottleneck", bottleneck_bps(rate, period, var).unwrap(), expected("rb_bps"));
        let change = queue_change_packets(rate, period, var, case.number("S_bits")).unwrap();
        case.check("change", change, expected("dq_pkts"));
    }
    let case = vector(ACTIVE, "amca-est-guard");
    let (period, var) = (case.number("T_s"), case.number("dtau_s"));
    let estimate = queue_estimate(period, var, case.number("gamma_max"));
    assert_eq!(case.expected["estimate_valid"], false);
    assert_eq!(estimate.growth, None);
    assert_eq!(bottleneck_bps(case.number("rate_bps"), period, var), None);
    case.check("gamma", estimate.gamma, number(&case.expected["gamma"]));
}

#[test]
fn unacknowledged_packets() {
    for id in ["amca-dqa-01", "amca-dqa-02", "amca-dqa-03", "amca-dqa-04", "amca-dqa-05"] {
        let case = vector(ACTIVE, id);
        let advance = || case.whole("lo1") as i64 - case.whole("lo0") as i64;
        let seen = match case.input["mode"].as_str().unwrap() {
            "literal" => unacknowledged(case.whole("n"), advance()),
            "count" => unacknowledged(case.whole("sent"), advance()),
            _ => {
                let outstanding = case.whole("maxsent") - case.whole("lo1");
                backlog(outstanding, case.number("rate"), case.number("rttbase"), 8192.0)
            }
        };
        case.check("unacknowledged", seen, number(&case.expected["dqa"]));
    }
}

fn microseconds(seconds: &Value) -> i64 {
    (number(seconds) * 1e6).round() as i64
}

fn variation(rtt_var_us: i64) -> Summary {
    Summary {
        below: 0,
        end: 0,
        limit: 0,
        rtt_max_us: 0,
        rtt_min_us: 0,
        period_us: 0,
        rtt_var_us,
        count: 0,
        is_marked: false,
    }
}

#[test]
fn aggregation() {
    let case = vector(ACTIVE, "amca-agg-01");
    let sections = case.input["sections_dtheta_from_receiver_up"].as_array().unwrap();
    let sum = sections.iter().fold(variation(0), |sum, var| sum.over_section(microseconds(var)));
    assert_eq!(sum.rtt_var_us, microseconds(&case.expected["dtau_at_source"]));

    for id in ["amca-agg-02", "amca-agg-03"] {
        let case = vector(ACTIVE, id);
        let children = case.input["children_dtau"].as_array().unwrap().iter();
        let children = children.map(|var| variation(microseconds(var))).reduce(Summary::with).unwrap();
        let seen = children.over_section(microseconds(&case.input["dtheta_up"])).rtt_var_us;
        assert_eq!(seen, microseconds(&case.expected["dtau"]), "{id}");
    }

    let case = vector(ACTIVE, "amca-agg-04");
    let child = |child: &Value| Summary {
        below: whole(&child["lo"]) + 1,
        end: whole(&child["lr"]) + 1,
        limit: whole(&child["maxseq"]) + 1,
        rtt_max_us: microseconds(&child["rtt2s"]) as u32,
        rtt_min_us: microseconds(&child["rtt2s"]) as u32,
        period_us: microseconds(&child["period"]) as u32,
        ..variation(microseconds(&child["dtau"]))
    };
    let children = case.input["children"].as_array().unwrap().iter().map(child);
    let seen = children.reduce(Summary::with).unwrap().over_section(microseconds(&case.input["dtheta_up"]));
    let expected = &case.expected;
    assert_eq!(seen.below, whole(&expected["lo"]) + 1);
    assert_eq!(seen.end, whole(&expected["lr"]) + 1);
    assert_eq!(seen.limit, whole(&expected["maxseq"]) + 1);
    assert_eq!(seen.rtt_var_us, microseconds(&expected["dtau"]));
    assert_eq!(i64::from(seen.rtt_max_us), microseconds(&expected["rtt_max"]));
    assert_eq!(i64::from(seen.rtt_min_us), microseconds(&expected["rtt_min"]));
    assert_eq!(i64::from(seen.period_us), microseconds(&expected["period"]));
}

fn control(case: &Case) -> Control {
    let options = Options {
        epsilon: case.number("eps"),
        beta: case.number("beta"),
        increase: case.number("gamma_inc"),
        increase_max: case.number("gamma_max"),
        rate_min: case.number("r_min_bps") / case.number("S_bits"),
        rate_max: case.number("r_max_bps") / case.number("S_bits"),
        // The vectors are of the specification's rule, which the literal profile keeps.
        once_per_rtt: Some(false),
        drain: Some(false),
        ..Options::default()
    };
    let rules = Rules::new(&options, Size::from_bytes((case.number("S_bits") / 8.0) as u32));
    assert_eq!(case.input["initial_phase"], "ss");
    Control::new(rules).at_rate(Rate::from_bps(case.number("r0_bps")))
}

#[test]
fn the_rate_of_the_source() {
    for id in ["amca-rate-01", "amca-rate-02", "amca-rate-03"] {
        let case = vector(ACTIVE, id);
        let mut control = control(&case);
        let events = case.input["events"].as_array().unwrap();
        let expected = case.expected["phase_rate"].as_array().unwrap();
        assert_eq!(events.len(), expected.len());
        for (event, expected) in events.iter().zip(expected) {
            let now = Time::from_secs_f64(number(&event["t"]));
            match event["type"].as_str().unwrap() {
                "cr" => {
                    let step = Step {
                        period_s: number(&event["T"]),
                        rtt_var_s: number(&event["dtau"]),
                        unacknowledged: number(&event["dqa"]),
                        received_bps: None,
                        rtt_max_s: Some(number(&event["rtt_max"])),
                        is_marked: false,
                    };
                    control.on_report(now, step);
                }
                "nack" => {
                    let gap = whole(&event["lr"]) - whole(&event["lo"]);
                    control.on_nack(now, gap, Duration::from_secs_f64(case.number("ignore_s")));
                }
                _ => control.on_silence(),
            }
            let phase = if expected[0] == "ss" { Phase::SlowStart } else { Phase::Avoidance };
            assert_eq!(control.phase(), phase, "{id} {event}");
            case.check("rate", control.rate().as_bps(), number(&expected[1]));
        }
    }
}

#[test]
fn when_receivers_report_and_repliers_repair() {
    let case = vector(ACTIVE, "amca-cadence-01");
    let every = case.whole("N") as u32;
    let per_report = |rate| {
        f64::from(packets_per_report(every, rate, case.number("S_bits"), case.number("cr_max_interval")))
    };
    let seen: Vec<f64> = numbers(&case.input["rates_bps"]).into_iter().map(per_report).collect();
    case.check_list("packets", &seen, &case.expected["n_eff"]);

    let case = vector(ACTIVE, "amca-repair-01");
    let gap = case.whole("lr") - case.whole("lo");
    let gap_s = repair_gap_s(case.number("rate_bps"), case.number("S_bits"), gap);
    case.check("gap", gap_s, number(&case.expected["gap_s"]));
    case.check("rate", 1.0 / gap_s, number(&case.expected["pkts_per_s"]));
}

#[test]
fn round_trip_times_add_up() {
    let case = vector(ACTIVE, "amca-rtt-01");
    let mut sum_us = 0;
    let sections = numbers(&case.input["section_rtts"]);
    let seen = sections.into_iter().map(|section_s| {
        sum_us = rtt_to_source_us(sum_us, Duration::from_secs_f64(section_s));
        f64::from(sum_us) / 1e6
    });
    case.check_list("to the source", &seen.collect::<Vec<_>>(), &case.expected["rtt_to_source"]);
}
