use std::collections::VecDeque;

use layercast_core::units::{Rate, RateEstimate};
use layercast_kit::estimator::FlowStat;
use proptest::prelude::*;

proptest! {
    /// The statistics are those of a plain list of the last values.
    #[test]
    fn agrees_with_a_plain_list(
        values in prop::collection::vec(prop::option::weighted(0.9, 0.0..2e6f64), 0..300),
        capacity in 1..60u32,
        q in 0.0..=1.0f64,
    ) {
        let largest = Rate::from_bps(1e6);
        let mut stat = FlowStat::new(capacity, largest, false);
        let mut list = VecDeque::new();
        for value in values {
            let rate = match value {
                Some(bps) => RateEstimate::Known(Rate::from_bps(bps)),
                None => RateEstimate::Unbounded,
            };
            stat.push(rate);
            if list.len() == capacity as usize {
                list.pop_front();
            }
            list.push_back(value.map(|bps| bps.min(1e6)));
            let mut sorted: Vec<f64> = list.iter().map(|value| value.unwrap_or(f64::INFINITY)).collect();
            sorted.sort_by(f64::total_cmp);
            let rank = ((q * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len()) - 1;
            let expected = match sorted[rank] {
                f64::INFINITY => RateEstimate::Unbounded,
                bps => RateEstimate::Known(Rate::from_bps(bps)),
            };
            prop_assert_eq!(stat.percentile(q), expected);
            let sum: f64 = list.iter().map(|value| value.unwrap_or(1e6)).sum();
            let mean = stat.mean().unwrap().as_bps();
            prop_assert!((mean - sum / list.len() as f64).abs() < 1e-3);
            prop_assert_eq!(stat.unbounded(), list.iter().filter(|value| value.is_none()).count());
        }
    }
}
