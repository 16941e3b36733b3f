//! Claims on grids that are made up: what the paper says holds in a world as it describes it, and not in
//! one where marks help nothing.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::grid::{LOSSES, SESSIONS};
use super::paper;
use crate::frame::effort::Effort;
use crate::frame::figure::{Data, Label};
use crate::frame::report::{Outcome, outcomes};
use crate::frame::study::Measured;
use crate::samples::Samples;

/// What sessions get in a made-up world.
struct World {
    /// FLID-DL over TCP.
    flid: f64,
    /// E-FLID-DL over TCP.
    e_flid: f64,
    /// E-FLID-DL over TCP where marks are taken away, without and with the rule for it.
    bleached: [f64; 2],
    /// What is left of E-FLID-DL's level at a link loss.
    left: fn(f64) -> f64,
}

/// What is left of a level if each loss counts.
fn collapsing(loss: f64) -> f64 {
    1.0 / (1.0 + 100.0 * loss)
}

/// All studies in that world. Where links lose, what arrives falls by what is lost.
fn made_up(world: &World) -> Data {
    let mut studies = BTreeMap::new();
    for study in paper().studies {
        let (ratio, left): (f64, fn(f64) -> f64) = match (study.name, study.scenario.ends_with("-flid")) {
            ("bleached", _) => (world.bleached[0], world.left),
            ("bleached-safe", _) => (world.bleached[1], world.left),
            (_, true) => (world.flid, collapsing),
            (_, false) => (world.e_flid, world.left),
        };
        let outer: Vec<f64> = study.sweeps.iter().filter_map(|sweep| sweep.outer).map(f64::from).collect();
        let is_over_loss = outer.is_empty();
        let mut measured = Measured::default();
        for at in if is_over_loss { LOSSES.to_vec() } else { outer } {
            let mut add = |flow: &str, metric, value: f64| {
                let cell = if is_over_loss { vec![at] } else { vec![at, at] };
                measured.add(&cell, flow, metric, Samples::of([value, value]));
            };
            add("tcp", "throughput_kbps", 1000.0);
            for (number, flow) in SESSIONS.into_iter().enumerate() {
                // In the fourth experiment half of the links are lossy.
                let is_lossy = is_over_loss && (study.name != "half-lossy" || number < 8);
                let (loss, left) = if is_lossy { (at, left(at)) } else { (0.0, 1.0) };
                add(flow, "throughput_kbps", 1000.0 * ratio * left * (1.0 - loss));
                add(flow, "mean_level", 14.0 * left);
            }
        }
        studies.insert(study.name, measured);
    }
    Data { effort: Effort::Quick, studies }
}

/// The verdicts of a figure's claims.
fn verdicts(data: &Data, label: Label) -> Vec<Outcome> {
    outcomes(&paper(), data, label)
}

#[test]
fn all_holds_in_the_papers_world() {
    let world = World { flid: 0.6, e_flid: 0.9, bleached: [100.0, 1.5], left: |_| 1.0 };
    let data = made_up(&world);
    for figure in paper().figures {
        let found = verdicts(&data, figure.label);
        assert!(found.iter().all(|verdict| *verdict == Outcome::Holds), "{}: {found:?}", figure.label);
    }
}

#[test]
fn nothing_of_marks_holds_where_they_do_not_help() {
    use Outcome::{Fails, Holds};
    let world = World { flid: 0.7, e_flid: 0.6, bleached: [0.6, 3.0], left: collapsing };
    let data = made_up(&world);
    for (label, expected) in [
        (Label::Figure(2), vec![Holds, Holds, Fails, Fails, Holds]),
        (Label::Figure(4), vec![Holds, Fails, Fails]),
        (Label::Figure(6), vec![Fails, Fails, Fails, Holds]),
        (Label::Figure(8), vec![Fails, Fails]),
        (Label::Other("TCP"), vec![Fails, Holds, Fails]),
        (Label::Other("Queue"), vec![Fails]),
        (Label::Other("RED"), vec![Fails, Fails]),
        (Label::Other("Receivers"), vec![Fails, Holds]),
        (Label::Other("Bottleneck"), vec![Holds, Fails, Fails]),
        (Label::Other("Length"), vec![Fails]),
        (Label::Other("Bleached"), vec![Fails, Fails]),
    ] {
        assert_eq!(verdicts(&data, label), expected, "{label}");
    }
}

#[test]
fn a_tcp_that_suffers_shows_too() {
    use Outcome::{Fails, Holds};
    let world = World { flid: 3.0, e_flid: 1.1, bleached: [100.0, 1.5], left: |_| 1.0 };
    let found = verdicts(&made_up(&world), Label::Figure(2));
    assert_eq!(found, [Fails, Fails, Holds, Holds, Holds]);
}
