use layercast_core::units::{Rate, RateEstimate};
use layercast_kit::estimator::{FlowStat, Smoother, Smoothing, SmoothingConfig};
use layercast_testkit::golden::{group, number, numbers, whole};

use crate::golden::EQUATION_BASED;

fn known(bps: f64) -> RateEstimate {
    RateEstimate::Known(Rate::from_bps(bps))
}

fn bps(rate: RateEstimate) -> f64 {
    rate.known().expect("a bounded rate").as_bps()
}

#[test]
fn order_statistics() {
    for case in group(EQUATION_BASED, "flowstat") {
        let mut stat = FlowStat::new(case.whole("cap") as u32, Rate::from_bps(1e9), true);
        for value in numbers(&case.input["values"]) {
            stat.push(known(value));
        }
        assert_eq!(stat.len() as u64, whole(&case.expected["n"]), "{}", case.id);
        let got = [
            ("mean", stat.mean().unwrap().as_bps()),
            ("p20", bps(stat.percentile(0.2))),
            ("p50", bps(stat.percentile(0.5))),
            ("p80", bps(stat.percentile(0.8))),
            ("mid", bps(stat.middle(0.2, 0.8))),
            ("min", bps(stat.percentile(0.0))),
            ("max", bps(stat.percentile(1.0))),
        ];
        for (what, value) in got {
            case.check(what, value, number(&case.expected[what]));
        }
    }
}

#[test]
fn weighted_mean() {
    for case in group(EQUATION_BASED, "smooth_ewma") {
        let mut smoother = Smoother::new(&SmoothingConfig {
            smoothing: Smoothing::Ewma,
            weight: case.number("alpha"),
            ..SmoothingConfig::elm(Rate::from_bps(1e9))
        });
        let values = numbers(&case.input["values"]);
        let smoothed: Vec<f64> = values.into_iter().map(|value| bps(smoother.push(known(value)))).collect();
        case.check_list("smoothed", &smoothed, &case.expected);
    }
}
