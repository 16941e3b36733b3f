//! One number per window from a flow's probes: the mean of the samples in it, or the total for quantities
//! that are counted since the last sample.

use layercast_core::contract::GaugeKind;

use crate::scenario::{Gauge, ProbePlan, Quantity, Subject};

/// The function that reduces the samples of a flow's quantity to one number; none for quantities that are
/// not reported this way. The throughput and the level are measured exactly, without probes.
fn fold(quantity: Quantity) -> Option<fn(&[f64]) -> f64> {
    match quantity {
        Quantity::Gauge(Gauge { spec, .. }) if spec.kind == GaugeKind::Count => {
            Some(|looks| looks.iter().sum())
        }
        Quantity::Cwnd
        | Quantity::Flight
        | Quantity::Rate
        | Quantity::SmoothedRate
        | Quantity::Loss
        | Quantity::Rtt
        | Quantity::Gauge(_) => Some(|looks| looks.iter().sum::<f64>() / looks.len() as f64),
        _ => None,
    }
}

/// The values of a flow's probes in a window, by quantity; none where no sample has a value. If two probes
/// record the same quantity, the first is reported.
pub(super) fn of_flow(
    probes: &[ProbePlan],
    kept: &[Vec<Vec<f64>>],
    flow: usize,
    [from_s, to_s]: [f64; 2],
) -> Vec<(&'static str, Option<f64>)> {
    let mut reported: Vec<(&'static str, Option<f64>)> = Vec::new();
    for (plan, kept) in probes.iter().zip(kept) {
        if plan.subject != Subject::Flow(flow) {
            continue;
        }
        for (&quantity, looks) in plan.what.iter().zip(kept) {
            let Some(fold) = fold(quantity) else { continue };
            if reported.iter().any(|(known, _)| *known == quantity.name()) {
                continue;
            }
            // A sample describes the time before it.
            let time_s = |look: usize| (plan.every * (look as u64 + 1)).as_ns() as f64 / 1e9;
            let is_within = |look: usize| time_s(look) > from_s && time_s(look) <= to_s;
            let looks =
                looks.iter().enumerate().filter(|(look, value)| is_within(*look) && value.is_finite());
            let known: Vec<f64> = looks.map(|(_, value)| *value).collect();
            reported.push((quantity.name(), (!known.is_empty()).then(|| fold(&known))));
        }
    }
    reported
}

#[cfg(test)]
mod tests {
    use layercast_protocols::registry::Registry;

    use crate::scenario::Catalogue;
    use layercast_core::units::Duration;

    use super::*;

    use crate::sweep::metric;

    fn probe(flow: usize, what: &[&str]) -> ProbePlan {
        let gauges = Catalogue::of::<Registry>().gauges("cbr");
        let what = what.iter().map(|name| Quantity::named(name, gauges).unwrap()).collect();
        let every = Duration::from_secs(1);
        ProbePlan { name: String::new(), subject: Subject::Flow(flow), what, every }
    }

    #[test]
    fn looks_of_the_window_make_a_mean_or_a_total() {
        let probes = [
            probe(0, &["lip_loss", "packets", "throughput_kbps"]),
            probe(0, &["lip_loss"]),
            probe(1, &["rtt_ms"]),
        ];
        let looks = vec![9.0, 1.0, 3.0, f64::NAN, 9.0];
        let kept = [vec![looks.clone(), looks, vec![5.0; 5]], vec![vec![7.0; 5]], vec![vec![f64::NAN; 5]]];
        let reported = |flow| of_flow(&probes, &kept, flow, [1.0, 4.0]);
        assert_eq!(reported(0), [("lip_loss", Some(2.0)), ("packets", Some(4.0))]);
        assert_eq!(reported(1), [("rtt_ms", None)]);
        assert_eq!(reported(2), []);
    }

    #[test]
    fn what_is_reported_has_a_metric() {
        let metrics = metric::all(&Catalogue::of::<Registry>());
        let reported = Quantity::ALL.iter().filter(|quantity| fold(**quantity).is_some());
        let names: Vec<&str> = reported.map(|quantity| quantity.name()).collect();
        assert_eq!(names.len(), 6);
        for name in names.into_iter().chain(["lip_loss", "suspect", "signal", "source_limiting_changes"]) {
            let found = metrics.iter().filter(|metric| metric.name == name).count();
            assert_eq!(found, 1, "{name} can be asked for");
        }
    }
}
