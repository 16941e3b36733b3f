use layercast_core::layers::LayerTable;
use layercast_core::units::{Duration, Layer, Rate};
use layercast_protocols::wei_zhang::{Points, TICKS, points_to_skip, theory};
use layercast_testkit::golden::{Case, number, numbers, vector, whole};

use crate::golden::JOIN_LEAVE;

fn cumulative(kbps: &[f64]) -> LayerTable {
    LayerTable::from_cumulative(kbps.iter().map(|&rate| Rate::from_kbps(rate))).expect("a layer table")
}

#[test]
fn wz_01_to_03_spacings() {
    for id in ["WZ-01", "WZ-02", "WZ-03"] {
        let case = vector(JOIN_LEAVE, id);
        let layers = cumulative(&numbers(&case.input["B"]));
        let points = Points::new(Duration::from_secs_f64(case.number("tau0")), &layers);
        let spacings: Vec<f64> = layers.layers().map(|layer| points.spacing(layer).as_secs_f64()).collect();
        case.check_list("tau", &spacings, &case.expected["tau"]);
        if !case.expected["K"].is_null() {
            let ratios: Vec<f64> =
                layers.layers().skip(1).map(|j| points.ratio(j) / points.ratio(Layer(j.0 - 1))).collect();
            case.check_list("K", &ratios, &case.expected["K"]);
        }
    }
}

#[test]
fn wz_04_share_of_the_upper_level() {
    let case = vector(JOIN_LEAVE, "WZ-04");
    let share = theory::upper_share(case.number("B_avg"), case.number("B_i"), case.number("B_next"));
    case.check("alpha", share, number(&case.expected["alpha"]));
}

#[test]
fn wz_05_and_06_scale() {
    let case = vector(JOIN_LEAVE, "WZ-05");
    let scale = theory::scale(case.number("K"), case.number("m"), case.number("alpha"));
    case.check("K'", scale, number(&case.expected["Kprime"]));
    let case = vector(JOIN_LEAVE, "WZ-06");
    let ratio = (case.number("i") + 2.0) / (case.number("i") + 1.0);
    case.check("K", ratio, number(&case.expected["K"]));
    let scale = theory::scale(ratio, case.number("m"), case.number("alpha"));
    case.check("K'", scale, number(&case.expected["Kprime"]));
    assert!((scale - number(&case.expected["printed_eq26"])).abs() > 0.02, "the printed form differs");
}

/// Level i and the next, both forms of the mean rate.
fn check_throughput(id: &str, layers: impl Fn(Rate, u16) -> LayerTable) {
    let case = vector(JOIN_LEAVE, id);
    let (level, share) = (case.whole("i") as u16, case.number("alpha"));
    let base = Rate::from_bps(case.number("B0"));
    let table = layers(base, level + 2);
    let tau0_s = case.number("tau0");
    let points = Points::new(Duration::from_secs_f64(tau0_s), &table);
    let spacing_s = points.spacing(Layer(level + 1)).as_secs_f64();
    case.check("tau", spacing_s, number(&case.expected["tau_next"]));
    let packet_bytes = case.number("s_bits") / 8.0;
    let (lower, upper) = (
        table.cumulative(Layer(level)).as_bytes_per_s(),
        table.cumulative(Layer(level + 1)).as_bytes_per_s(),
    );
    let losses = theory::loss_event_rate(lower, upper, share, spacing_s, packet_bytes);
    case.check("p", losses, number(&case.expected["loss_event_rate"]));
    let packets = theory::packets_per_interval(tau0_s, base.as_bytes_per_s(), packet_bytes);
    case.check("m", packets, number(&case.expected["m"]));
    let mean = lower + share * (upper - lower);
    case.check("mean", mean * 8.0, number(&case.expected["B_avg"]));
    let scale = theory::scale(upper / lower, packets, share);
    let by_scale = theory::mean_rate(scale, losses, packet_bytes, tau0_s);
    case.check("mean by K'", by_scale * 8.0, number(&case.expected["B_avg_eq16"]));
}

#[test]
fn wz_07_and_08_throughput() {
    check_throughput("WZ-07", |base, count| LayerTable::equal(base, count).unwrap());
    check_throughput("WZ-08", |base, count| LayerTable::doubling(base, count).unwrap());
}

#[test]
fn wz_09_and_10_choice_of_parameters() {
    let case = vector(JOIN_LEAVE, "WZ-09");
    let intervals = numbers(&case.input["tau0_ms"]);
    let rates = numbers(&case.input["B0_kbps"]);
    let per_interval = |(ms, kbps): (&f64, &f64)| {
        theory::packets_per_interval(ms / 1e3, Rate::from_kbps(*kbps).as_bytes_per_s(), 1000.0)
    };
    let packets: Vec<f64> = intervals.iter().zip(&rates).map(per_interval).collect();
    case.check_list("m", &packets, &case.expected["m"]);
    let case = vector(JOIN_LEAVE, "WZ-10");
    let interval_s = theory::matched_interval_s(case.number("Kprime"), case.number("rtt"), case.number("c"));
    case.check("tau0", interval_s, number(&case.expected["tau0"]));
}

#[test]
fn wz_11_and_12_backoff() {
    let case = vector(JOIN_LEAVE, "WZ-11");
    let cap = case.whole("cap_doublings") as u32;
    let failures = numbers(&case.input["failures"]);
    let skip: Vec<f64> = failures.iter().map(|&n| f64::from(points_to_skip(n as u32, cap))).collect();
    case.check_list("skip", &skip, &case.expected["skip"]);
    let case = vector(JOIN_LEAVE, "WZ-12");
    let (lower, upper, share) = (case.number("B_i"), case.number("B_next"), case.number("alpha"));
    let means: Vec<f64> = numbers(&case.input["M"])
        .iter()
        .map(|&cycles| theory::mean_with_backoff(lower, upper, share, cycles as u32))
        .collect();
    case.check_list("B_avg", &means, &case.expected["B_avg"]);
}

/// When a receiver that samples the source's time in small steps reaches each level.
fn climb(case: &Case, layers: &LayerTable) -> Vec<f64> {
    let points = Points::new(Duration::from_secs(1), layers);
    let mut now = (case.number("start") * TICKS as f64) as u64;
    let step = TICKS / 64;
    let mut reached = Vec::new();
    while reached.len() < whole(&case.input["levels"]) as usize {
        let above = Layer(reached.len() as u16 + 1);
        if points.is_due(above, now, now + step) {
            reached.push((now + step) as f64 / TICKS as f64);
        }
        now += step;
    }
    reached
}

#[test]
fn wz_14_and_15_climb() {
    for id in ["WZ-14", "WZ-15"] {
        let case = vector(JOIN_LEAVE, id);
        let (base, count) = (Rate::from_kbps(100.0), 8);
        let linear = climb(&case, &LayerTable::equal(base, count).unwrap());
        case.check_list("linear", &linear, &case.expected["linear"]);
        let exponential = climb(&case, &LayerTable::doubling(base, count).unwrap());
        case.check_list("exponential", &exponential, &case.expected["exponential"]);
    }
}
