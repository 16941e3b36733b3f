//! What a flow's probes kept, as one number for a window: the mean of the looks in it, or for what is
//! counted since the last look, the total.

use layercast_core::contract::GaugeKind;

use crate::scenario::{Gauge, ProbePlan, Quantity, Subject};

/// What makes one number of the looks at a quantity of flows; none for what is not told in this way. The
/// throughput and the level are measured without probes, and exactly.
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

/// What the probes of a flow say of a window, by quantity; none where no look knew a value. Of two probes
/// that keep the same, the first is told.
pub(super) fn of_flow(
    probes: &[ProbePlan],
    kept: &[Vec<Vec<f64>>],
    flow: usize,
    [from_s, to_s]: [f64; 2],
) -> Vec<(&'static str, Option<f64>)> {
    let mut told: Vec<(&'static str, Option<f64>)> = Vec::new();
    for (plan, kept) in probes.iter().zip(kept) {
        if plan.subject != Subject::Flow(flow) {
            continue;
        }
        for (&quantity, looks) in plan.what.iter().zip(kept) {
            let Some(fold) = fold(quantity) else { continue };
            if told.iter().any(|(known, _)| *known == quantity.name()) {
                continue;
            }
            // A look tells of the time before it.
            let time_s = |look: usize| (plan.every * (look as u64 + 1)).as_ns() as f64 / 1e9;
            let is_within = |look: usize| time_s(look) > from_s && time_s(look) <= to_s;
            let looks =
                looks.iter().enumerate().filter(|(look, value)| is_within(*look) && value.is_finite());
            let known: Vec<f64> = looks.map(|(_, value)| *value).collect();
            told.push((quantity.name(), (!known.is_empty()).then(|| fold(&known))));
        }
    }
    told
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
        let told = |flow| of_flow(&probes, &kept, flow, [1.0, 4.0]);
        assert_eq!(told(0), [("lip_loss", Some(2.0)), ("packets", Some(4.0))]);
        assert_eq!(told(1), [("rtt_ms", None)]);
        assert_eq!(told(2), []);
    }

    #[test]
    fn what_is_told_has_a_metric() {
        let metrics = metric::all(&Catalogue::of::<Registry>());
        let told = Quantity::ALL.iter().filter(|quantity| fold(**quantity).is_some());
        let names: Vec<&str> = told.map(|quantity| quantity.name()).collect();
        assert_eq!(names.len(), 6);
        for name in names.into_iter().chain(["lip_loss", "suspect", "signal", "source_limiting_changes"]) {
            let found = metrics.iter().filter(|metric| metric.name == name).count();
            assert_eq!(found, 1, "{name} can be asked for");
        }
    }
}
