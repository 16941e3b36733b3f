use layercast_core::math;
use layercast_core::units::{Duration, Layer, Seq};
use layercast_kit::estimator::{
    Boundary, ImpactAverage, Interval, Lap, Lip, LossConfig, LossIntervals, LossOutcome, Packet, SendTime,
    WindowScope, interval_weights,
};
use layercast_testkit::golden::{Case, group, number, numbers, text, whole, wholes};
use serde_json::Value;

use crate::golden::EQUATION_BASED;

/// The estimators of the vectors: no discounting, everything counted.
fn config() -> LossConfig {
    LossConfig { discounting: None, window: 1, ..LossConfig::default() }
}

fn restored(case: &Case, threshold: Option<f64>) -> LossIntervals {
    let mut intervals = LossIntervals::new(case.whole("n") as usize, threshold);
    let closed = numbers(&case.input["closed"]);
    let discount = |i: usize| case.input["df_i"].get(i).map_or(1.0, number);
    let interval = |(i, &length): (usize, &f64)| Interval { length, impact: 1.0, discount: discount(i) };
    intervals.restore(closed.iter().enumerate().map(interval));
    intervals
}

#[test]
fn weights() {
    for case in group(EQUATION_BASED, "wali_weights") {
        case.check_list("weights", &interval_weights(case.whole("n") as usize), &case.expected);
    }
}

#[test]
fn average_interval() {
    for case in group(EQUATION_BASED, "wali") {
        let average = restored(&case, None).average(case.number("open"));
        assert_eq!(average.is_none(), case.expected["avg"].is_null(), "{}", case.id);
        if let Some(average) = average {
            case.check("average", average, number(&case.expected["avg"]));
        }
        case.check("p", average.map_or(0.0, |average| 1.0 / average), number(&case.expected["p"]));
    }
}

#[test]
fn average_interval_with_discounting() {
    for case in group(EQUATION_BASED, "wali_discount") {
        let intervals = restored(&case, Some(case.number("threshold")));
        let open = case.number("open");
        let average = intervals.average(open).unwrap();
        case.check("average", average, number(&case.expected["avg"]));
        case.check("p", 1.0 / average, number(&case.expected["p"]));
        case.check("df", intervals.discount_factor(open), number(&case.expected["df"]));
    }
}

#[test]
fn average_impact() {
    for case in group(EQUATION_BASED, "lap_impact") {
        let impacts = wholes(&case.input["impacts"]);
        let average = case.number("avg");
        for (impact, what, p_name) in
            [(ImpactAverage::Mean, "mean", "p_mean"), (ImpactAverage::Weighted, "weighted", "p_weighted")]
        {
            let mut lap = Lap::new(&LossConfig { impact, initial_rtt: Duration::from_us(1000), ..config() });
            // Each event: its losses at the start of an interval of `avg` packets, 50 us apart, so that a
            // period holds 20 of them.
            let mut us = 0;
            for &losses in impacts.iter().rev() {
                for i in 0..average as u64 {
                    let packet = packet(0, us, us);
                    us += 50;
                    if i < losses {
                        let _ = lap.on_lost(&packet);
                    } else {
                        lap.on_received(&packet)
                    }
                }
            }
            case.check(what, lap.average_impact(), number(&case.expected[what]));
            // The first interval is cut short by its period, so p is checked from its parts.
            let p = (lap.average_impact() / average).min(1.0);
            case.check(p_name, p, number(&case.expected[p_name]));
        }
    }
}

fn packet(layer: u16, seq: u64, us: u64) -> Packet {
    Packet { layer: Layer(layer), seq: Seq(seq), sent: SendTime::from_us(us) }
}

fn name(outcome: LossOutcome) -> &'static str {
    match outcome {
        LossOutcome::NewEvent => "event",
        LossOutcome::Counted => "counted",
        LossOutcome::Ignored => "ignored",
    }
}

fn lengths(intervals: &LossIntervals) -> Vec<f64> {
    intervals.closed().map(|interval| interval.length).collect()
}

#[test]
fn periods_over_a_trace() {
    for case in group(EQUATION_BASED, "loss_trace") {
        let boundary = match case.input.get("boundary") {
            Some(boundary) if boundary == "rfc" => Boundary::Inside,
            _ => Boundary::Outside,
        };
        let config = LossConfig {
            boundary,
            history: case.input["history"].as_u64().unwrap_or(8) as u32,
            initial_rtt: Duration::from_us(case.whole("rtt_us")),
            window: case.whole("window") as u32,
            ..config()
        };
        let lost = wholes(&case.input["lost"]);
        let mut lip = Lip::new(&config);
        let mut lap = Lap::new(&LossConfig { impact: ImpactAverage::Weighted, ..config });
        let mut lap_mean = Lap::new(&LossConfig { impact: ImpactAverage::Mean, ..config });
        let (mut events, mut decisions) = (Vec::new(), Vec::new());
        for seq in 0..case.whole("n") {
            let packet = packet(0, seq, seq * case.whole("spacing_us"));
            if !lost.contains(&seq) {
                lip.on_received(&packet);
                lap.on_received(&packet);
                lap_mean.on_received(&packet);
                continue;
            }
            if lip.on_lost(&packet) == LossOutcome::NewEvent {
                events.push(seq);
            }
            lap_mean.on_lost(&packet);
            decisions.push((seq, name(lap.on_lost(&packet))));
        }

        let expected = &case.expected["lip"];
        assert_eq!(events, wholes(&expected["events"]), "{}", case.id);
        case.check_list("LIP closed", &lengths(lip.intervals()), &expected["closed"]);
        assert_eq!(lip.open_length(), whole(&expected["open"]), "{}", case.id);
        case.check("LIP p", lip.loss_rate(), number(&expected["p"]));

        let expected = &case.expected["lap"];
        if expected.is_null() {
            continue;
        }
        let closed: Vec<Vec<f64>> = lap.intervals().closed().map(|i| vec![i.length, i.impact]).collect();
        let closed_expected: Vec<Vec<f64>> =
            expected["closed"].as_array().unwrap().iter().map(numbers).collect();
        assert_eq!(closed, closed_expected, "{}", case.id);
        let provisional = lap.provisional().map(|(length, impact)| vec![length, impact]);
        let provisional_expected = match &expected["provisional"] {
            Value::Null => None,
            pair => Some(wholes(pair)),
        };
        assert_eq!(provisional, provisional_expected, "{}", case.id);
        assert_eq!(lap.open_length(), whole(&expected["open"]), "{}", case.id);
        check_decisions(&case, &decisions, &expected["decisions"]);
        case.check("LAP p, mean", lap_mean.loss_rate(), number(&expected["p_mean"]));
        case.check("LAP p, weighted", lap.loss_rate(), number(&expected["p_weighted"]));
    }
}

fn check_decisions(case: &Case, decisions: &[(u64, &str)], expected: &Value) {
    let expected = expected.as_array().expect("a list");
    assert_eq!(decisions.len(), expected.len(), "{}", case.id);
    for (&(seq, decision), expected) in decisions.iter().zip(expected) {
        assert_eq!((seq, decision), (whole(&expected[0]), text(&expected[1]).as_str()), "{}", case.id);
    }
}

#[test]
fn window_over_layers() {
    for case in group(EQUATION_BASED, "layered_window") {
        let scope = match text(&case.input["scope"]).as_str() {
            "session" => WindowScope::Session,
            _ => WindowScope::Layer,
        };
        let mut lap = Lap::new(&LossConfig { window: case.whole("window") as u32, scope, ..config() });
        let mut decisions = Vec::new();
        for fields in case.input["packets"].as_array().unwrap() {
            let packet = packet(whole(&fields[0]) as u16, whole(&fields[1]), whole(&fields[2]));
            if fields[3] == true {
                let outcome = name(lap.on_lost(&packet));
                decisions.push((u64::from(packet.layer.0), packet.seq.0, outcome));
            } else {
                lap.on_received(&packet);
            }
        }
        let expected = case.expected["decisions"].as_array().unwrap();
        assert_eq!(decisions.len(), expected.len(), "{}", case.id);
        for (decision, row) in decisions.iter().zip(expected) {
            let row_name = text(&row[2]);
            let row = (whole(&row[0]), whole(&row[1]), row_name.as_str());
            assert_eq!(*decision, row, "{}", case.id);
        }
        assert_eq!(lap.provisional().map(|(_, impact)| impact), case.expected["impact"].as_u64());
    }
}

#[test]
fn bias_of_insensitive_periods() {
    for case in group(EQUATION_BASED, "lip_bias") {
        // The formulas themselves; that the estimators converge to them is tested statistically.
        let (p, n) = (case.number("p"), case.number("n"));
        let slotted = (1.0 - math::pow(1.0 - p, n)) / n;
        case.check("slotted", slotted, number(&case.expected["slotted"]));
        case.check("renewal", p / (1.0 + (n - 1.0) * p), number(&case.expected["renewal"]));
        case.check("lap", p, number(&case.expected["lap"]));
    }
}
