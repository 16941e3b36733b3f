use layercast_core::math;
use layercast_core::units::{Rate, RateEstimate};
use layercast_kit::equation::{Formula, MIN_LOSS_RATE, Path};
use layercast_kit::fair::FairEquation;
use layercast_kit::response::Response;
use proptest::prelude::*;

const ALL: [Formula; 4] =
    [Formula::Simple, Formula::PftkSimplified, Formula::PftkSimplifiedClamped, Formula::PftkFull];

const CUBIC: FairEquation = FairEquation { fair_to: Response::Cubic, formula: Formula::PftkSimplified };

fn path() -> impl Strategy<Value = Path> {
    (40.0..9000.0f64, 0.001..2.0f64, 1.0..10.0f64, 1.0..2.0f64).prop_map(|(s, rtt_s, timeouts, b)| Path {
        packets_per_ack: b,
        ..Path::from_secs(s, rtt_s, rtt_s * timeouts)
    })
}

/// A loss rate, evenly over the orders of magnitude from 1e-7 to 0.9.
fn loss_rate() -> impl Strategy<Value = f64> {
    (-7.0..-0.05f64).prop_map(|exponent| math::pow(10.0, exponent))
}

fn bytes_per_s(formula: Formula, path: &Path, p: f64) -> f64 {
    match formula.rate(path, p) {
        Ok(RateEstimate::Known(rate)) => rate.as_bytes_per_s(),
        other => panic!("{other:?}"),
    }
}

fn cubic_bytes_per_s(path: &Path, p: f64) -> f64 {
    match CUBIC.rate(path, p) {
        Ok(RateEstimate::Known(rate)) => rate.as_bytes_per_s(),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn cubic_falls_with_loss_and_round_trip_times_and_has_an_inverse(
        path in path(), one in loss_rate(), other in loss_rate(), longer in 1.0..10.0f64,
    ) {
        let rate = cubic_bytes_per_s(&path, one);
        let (low, high) = (one.min(other), one.max(other));
        prop_assert!(cubic_bytes_per_s(&path, low) >= cubic_bytes_per_s(&path, high));
        let far = Path { rtt_s: longer * path.rtt_s, ..path };
        prop_assert!(cubic_bytes_per_s(&far, one) <= rate);
        let back = CUBIC.loss_rate(&path, rate).unwrap();
        prop_assert!((back - one).abs() <= 1e-6 * one, "{one} {back}");
    }

    /// Without its timeouts CUBIC is never slower than Reno.
    #[test]
    fn cubic_is_at_least_reno_where_timeouts_are_rare(path in path(), exponent in -7.0..-4.0f64) {
        let path = Path { packets_per_ack: 1.0, ..path };
        let p = math::pow(10.0, exponent);
        let reno = bytes_per_s(Formula::Simple, &path, p);
        // Timeouts take 3 sqrt(3 p / 8) p (RTT + 200 ms) a packet, and RTT sqrt(2 p / 3) the rest.
        let timeouts = 2.25 * p * (1.0 + 0.2 / path.rtt_s);
        let cubic = cubic_bytes_per_s(&path, p);
        prop_assume!(timeouts < 0.05 && reno > 0.0);
        prop_assert!(cubic >= 0.95 * reno, "{cubic} {reno}");
    }

    #[test]
    fn no_input_of_cubic_gives_nonsense(
        s in -3.0..=9.0f64, rtt in -9.0..=6.0f64, p in any::<f64>(), x in any::<f64>(),
    ) {
        let path = Path::from_secs(math::pow(10.0, s), math::pow(10.0, rtt), 1.0);
        if let Ok(RateEstimate::Known(rate)) = CUBIC.rate(&path, p) {
            prop_assert!(rate.as_bps().is_finite() && !rate.is_zero(), "{path:?} {p} {rate:?}");
        }
        if let Ok(p) = CUBIC.loss_rate(&path, x) {
            prop_assert!((MIN_LOSS_RATE..=1.0).contains(&p), "{path:?} {x} {p}");
        }
    }

    #[test]
    fn more_loss_never_gives_more_rate(path in path(), one in loss_rate(), other in loss_rate()) {
        let (low, high) = (one.min(other), one.max(other));
        for formula in ALL {
            let rates = (bytes_per_s(formula, &path, low), bytes_per_s(formula, &path, high));
            prop_assert!(rates.0 >= rates.1 * (1.0 - 1e-12), "{formula:?} {rates:?}");
        }
    }

    #[test]
    fn the_inverse_comes_back_to_the_loss_rate(path in path(), p in loss_rate()) {
        for formula in ALL {
            let rate = bytes_per_s(formula, &path, p);
            let back = formula.loss_rate(&path, rate).unwrap();
            prop_assert!((back - p).abs() <= 1e-6 * p, "{formula:?} {p} {back}");
        }
    }

    #[test]
    fn no_input_gives_nonsense(
        s in any::<f64>(), rtt_s in any::<f64>(), rto_s in any::<f64>(), p in any::<f64>(), x in any::<f64>(),
    ) {
        let path = Path::from_secs(s, rtt_s, rto_s);
        for formula in ALL {
            if let Ok(RateEstimate::Known(rate)) = formula.rate(&path, p) {
                prop_assert!(rate.as_bps().is_finite());
            }
            if let Ok(p) = formula.loss_rate(&path, x) {
                prop_assert!((MIN_LOSS_RATE..=1.0).contains(&p), "{formula:?} {path:?} {x} {p}");
            }
        }
    }

    /// The same at the edges of what a path may be.
    #[test]
    fn extreme_paths_give_rates(
        s in -3.0..=9.0f64, rtt in -9.0..=6.0f64, rto in -9.0..=6.0f64, p in any::<f64>(), x in any::<f64>(),
        window in -3.0..300.0f64, b in -3.0..=3.0f64,
    ) {
        let mut path = Path::from_secs(math::pow(10.0, s), math::pow(10.0, rtt), math::pow(10.0, rto));
        path.window_packets = math::pow(10.0, window);
        path.packets_per_ack = math::pow(10.0, b);
        for formula in ALL {
            if let Ok(rate) = formula.rate(&path, p) {
                prop_assert!(rate != RateEstimate::Unknown);
                let is_rate = |rate: Rate| rate.as_bps().is_finite() && !rate.is_zero();
                prop_assert!(rate.known().is_none_or(is_rate), "{formula:?} {path:?} {p} {rate:?}");
            }
            if let Ok(p) = formula.loss_rate(&path, x) {
                prop_assert!((MIN_LOSS_RATE..=1.0).contains(&p), "{formula:?} {path:?} {x} {p}");
            }
        }
    }
}
