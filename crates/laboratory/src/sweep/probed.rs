//! What a flow's probes kept, as one number for a window: the mean of the looks in it, or for what is
//! counted since the last look, the total.

use crate::results::ProbeInfo;
use crate::scenario::Quantity;

/// The quantities of flows that a cell tells, each with what makes one number of its looks. The
/// throughput and the level are measured without probes, and exactly.
pub(super) fn fold(quantity: &str) -> Option<fn(&[f64]) -> f64> {
    const TOTALS: [Quantity; 3] = [Quantity::Packets, Quantity::LipLosses, Quantity::LapLosses];
    const MEANS: [Quantity; 11] = [
        Quantity::Cwnd,
        Quantity::Flight,
        Quantity::Rate,
        Quantity::SmoothedRate,
        Quantity::Loss,
        Quantity::Rtt,
        Quantity::LipLoss,
        Quantity::LapLoss,
        Quantity::PacketLoss,
        Quantity::LipRate,
        Quantity::LapRate,
    ];
    let is = |known: &Quantity| known.name() == quantity;
    if TOTALS.iter().any(is) {
        return Some(|looks| looks.iter().sum());
    }
    MEANS.iter().any(is).then_some(|looks| looks.iter().sum::<f64>() / looks.len() as f64)
}

/// What the probes of a flow say of a window, by quantity; none where no look knew a value. Of two probes
/// that keep the same, the first is told.
pub(super) fn of_flow(
    probes: &[ProbeInfo],
    kept: &[Vec<Vec<f64>>],
    flow: &str,
    [from_s, to_s]: [f64; 2],
) -> Vec<(&'static str, Option<f64>)> {
    let subject = format!("flow {flow}");
    let mut told: Vec<(&'static str, Option<f64>)> = Vec::new();
    for (info, kept) in probes.iter().zip(kept) {
        if info.subject != subject {
            continue;
        }
        for (&quantity, looks) in info.quantities.iter().zip(kept) {
            let Some(fold) = fold(quantity) else { continue };
            if told.iter().any(|(known, _)| *known == quantity) {
                continue;
            }
            // A look tells of the time before it.
            let is_within = |look: usize| info.time_s(look) > from_s && info.time_s(look) <= to_s;
            let looks =
                looks.iter().enumerate().filter(|(look, value)| is_within(*look) && value.is_finite());
            let known: Vec<f64> = looks.map(|(_, value)| *value).collect();
            told.push((quantity, (!known.is_empty()).then(|| fold(&known))));
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(subject: &str, quantities: Vec<&'static str>, every_ns: u64) -> ProbeInfo {
        ProbeInfo { name: subject.to_owned(), subject: subject.to_owned(), quantities, every_ns }
    }

    #[test]
    fn looks_of_the_window_make_a_mean_or_a_total() {
        let probes = [
            probe("flow cbr@R", vec!["lip_loss", "packets", "throughput_kbps"], 1_000_000_000),
            probe("flow cbr@R", vec!["lip_loss"], 1_000_000_000),
            probe("flow other@R", vec!["rtt_ms"], 1_000_000_000),
        ];
        let looks = vec![9.0, 1.0, 3.0, f64::NAN, 9.0];
        let kept = [vec![looks.clone(), looks, vec![5.0; 5]], vec![vec![7.0; 5]], vec![vec![f64::NAN; 5]]];
        let told = |flow| of_flow(&probes, &kept, flow, [1.0, 4.0]);
        assert_eq!(told("cbr@R"), [("lip_loss", Some(2.0)), ("packets", Some(4.0))]);
        assert_eq!(told("other@R"), [("rtt_ms", None)]);
        assert_eq!(told("tcp@R"), []);
    }

    #[test]
    fn what_is_told_has_a_metric_and_the_metric_a_quantity() {
        use crate::sweep::metric::METRICS;
        let told: Vec<&str> = Quantity::ALL
            .iter()
            .map(|quantity| quantity.name())
            .filter(|name| fold(name).is_some())
            .collect();
        assert_eq!(told.len(), 14);
        for name in told {
            assert!(METRICS.iter().any(|metric| metric.name == name), "{name} cannot be asked for");
        }
    }
}
