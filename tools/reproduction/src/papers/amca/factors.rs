//! What the values do that the report leaves open, one at a time, with each profile.

use crate::frame::figure::{Curve, Data, Figure, Kind, Label, Measurements, Style, Supply};
use crate::samples::{Placed, Samples};

use super::runs::{at, panel};
use super::studies::{FACTORS, Factor, LINK_KBPS, PROFILES};

pub(super) fn figures() -> Vec<Figure> {
    FACTORS.iter().map(figure).collect()
}

/// A metric at a value with a profile.
fn of(data: &Data, study: &str, value: u32, profile: usize, name: &str, metric: &str) -> Samples {
    data.study(study).of(&[f64::from(value), profile as f64], name, metric)
}

/// AMCA over an equal share of what it has together with two TCP.
fn share(data: &Data, factor: &Factor, value: u32, profile: usize) -> Samples {
    let kbps = |name| of(data, factor.shared, value, profile, name, "throughput_kbps");
    let (amca, tcp) = (kbps("amca"), kbps("tcp"));
    amca.over(&Samples::average(&[amca.clone(), tcp.clone(), tcp]))
}

fn used(data: &Data, factor: &Factor, value: u32, profile: usize) -> Samples {
    of(data, factor.alone, value, profile, "amca", "throughput_kbps").times(1.0 / LINK_KBPS)
}

fn drops(data: &Data, factor: &Factor, value: u32, profile: usize) -> Samples {
    of(data, factor.shared, value, profile, "A-B", "drops")
}

type Value = fn(&Data, &Factor, u32, usize) -> Samples;

/// A curve for each profile.
fn curves(data: &Data, factor: &Factor, value: Value) -> Vec<Curve> {
    let profiles = PROFILES.iter().enumerate();
    let curve = |(profile, name): (usize, &&str)| {
        let points = factor.values.iter().map(|&at| (f64::from(at), value(data, factor, at, profile)));
        Curve { name: (*name).to_owned(), look: Style::Dots(profile + 1), points: points.collect() }
    };
    profiles.map(curve).collect()
}

/// The default profile at each value.
fn positions(data: &Data, factor: &Factor, value: Value) -> Vec<Placed> {
    factor.values.iter().map(|&of| at(of, value(data, factor, of, 0))).collect()
}

fn figure(factor: &'static Factor) -> Figure {
    let mut supplies = vec![
        Supply::new(move |data, _| {
            Measurements::of("AMCA over an equal share", positions(data, factor, share))
        }),
        Supply::new(move |data, _| {
            Measurements::of("Packets dropped, 50 to 200 s", positions(data, factor, drops))
        }),
    ];
    if factor.has_alone() {
        supplies.push(Supply::new(move |data, _| {
            let positions = positions(data, factor, used);
            Measurements::of("Use of the bottleneck, 100 to 200 s", positions)
        }));
    }
    Figure {
        label: Label::Other(factor.label),
        title: factor.across,
        section: "5, open values",
        kind: Kind::Sweep,
        panels: Box::new(move |data| {
            let shared = [
                ("Figure 7: AMCA over an equal share", share as Value),
                ("Figure 7: packets dropped at A-B, 50 to 200 s", drops),
            ];
            let title = if factor.is_at_small_n() {
                "Figure 6, N = 16: use of the bottleneck"
            } else {
                "Figure 6: use of the bottleneck"
            };
            let alone = factor.has_alone().then_some((title, used as Value));
            let all = shared.into_iter().chain(alone);
            all.map(|(title, value)| panel(title, factor.across, curves(data, factor, value))).collect()
        }),
        supplies,
    }
}
