//! Claims on made-up numbers: what follows from the report's equations holds, and its opposite does not.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::grid::{BASES, FEW_INTERVALS, INTERVALS, Row, TABLE_I, seconds};
use super::paper;
use crate::frame::effort::Effort;
use crate::frame::figure::{Data, Label};
use crate::frame::report::{Outcome, outcomes};
use crate::frame::study::Measured;
use crate::samples::Samples;

use Outcome::{Fails, Holds, Open};

/// Adds the results of a number of sessions and TCPs, each the same in two replications.
fn add(measured: &mut Measured, at: &[f64], count: u32, kbps: impl Fn(&str, u32) -> f64) {
    for (number, kind) in (1..=count).flat_map(|number| [(number, "m"), (number, "t")]) {
        let kbps = kbps(kind, number);
        measured.add(at, &format!("{kind}{number}"), "throughput_kbps", Samples::of([kbps, kbps]));
    }
}

fn data(studies: impl IntoIterator<Item = (&'static str, Measured)>) -> Data {
    Data { effort: Effort::Quick, studies: BTreeMap::from_iter(studies) }
}

/// The verdicts of a figure's claims.
fn verdicts(data: &Data, label: Label) -> Vec<Outcome> {
    outcomes(&paper(), data, label)
}

/// Figure 8 if sessions had this throughput at a tau_0 in ms.
fn over_intervals(kbps: impl Fn(f64) -> f64) -> Vec<Outcome> {
    let mut interval = Measured::default();
    for tau in INTERVALS {
        add(
            &mut interval,
            &[seconds(tau)],
            4,
            |kind, _| if kind == "m" { kbps(f64::from(tau)) } else { 900.0 },
        );
    }
    verdicts(&data([("interval", interval)]), Label::Figure(8))
}

#[test]
fn throughput_that_goes_with_one_over_tau_is_reported_from_one_that_does_not() {
    // Steps from 80 to 160 are by two, those from 160 to 300 a little less; throughput times tau_0 is the same.
    assert_eq!(over_intervals(|tau| 200_000.0 / tau), [Holds, Holds]);
    assert_eq!(over_intervals(|tau| 2000.0 - tau), [Holds, Fails]);
    assert_eq!(over_intervals(|_| 1875.0), [Fails, Fails]);
}

/// Figures 9 to 11 if a session had this share of an equal one at a base rate and a tau_0; TCP has the rest
/// of what is used of the link.
fn over_bases(
    share: fn(linear: bool, base: f64, tau: f64) -> f64,
    used: fn(linear: bool, base: f64) -> f64,
) -> Data {
    let measured = |linear: bool| {
        let mut measured = Measured::default();
        for (base, tau) in BASES.into_iter().flat_map(|base| FEW_INTERVALS.map(|tau| (base, tau))) {
            let own = share(linear, f64::from(base), f64::from(tau));
            // Very fast exponential layers leave one session without.
            let unfair = if linear || base < 800 { 0.0 } else { 0.5 * own };
            add(&mut measured, &[f64::from(base), seconds(tau)], 4, |kind, number| {
                let tip = if number % 2 == 0 { unfair } else { -unfair };
                1875.0 * if kind == "m" { own + tip } else { 2.0 * used(linear, f64::from(base)) - own }
            });
        }
        measured
    };
    data([("base", measured(true)), ("base-exponential", measured(false))])
}

#[test]
fn a_threshold_that_grows_with_tau_is_found() {
    // Up to a threshold of 1.5 kbit/s for each ms of tau_0 in proportion; exponential layers at half of it.
    let with_threshold = over_bases(
        |linear, base, tau| (base / (if linear { 1.5 } else { 0.75 } * tau)).min(1.0),
        |linear, base| if linear || base < 800.0 { 0.95 } else { 0.8 },
    );
    assert_eq!(verdicts(&with_threshold, Label::Figure(9)), [Holds; 3]);
    assert_eq!(verdicts(&with_threshold, Label::Figure(10)), [Holds]);
    assert_eq!(verdicts(&with_threshold, Label::Figure(11)), [Holds, Holds, Fails, Holds]);
    let without = over_bases(|_, _, _| 1.0, |_, _| 0.95);
    assert_eq!(verdicts(&without, Label::Figure(9)), [Holds, Fails, Fails]);
    assert_eq!(verdicts(&without, Label::Figure(10)), [Fails]);
    assert_eq!(verdicts(&without, Label::Figure(11))[..2], [Fails, Fails]);
}

/// Figure 13 and the open values if a session had this throughput.
fn beside_tcp(session: fn(number: u32, count: u32) -> f64, tcp: fn(number: u32, count: u32) -> f64) -> Data {
    let measured = || {
        let mut measured = Measured::default();
        for Row { count, interval, .. } in TABLE_I {
            add(&mut measured, &[f64::from(count), seconds(interval)], count, |kind, number| {
                if kind == "m" { session(number, count) } else { tcp(number, count) }
            });
        }
        measured
    };
    let names = ["fairness", "fairness-exponential", "fairness-red", "fairness-backoff"];
    data(names.map(|name| (name, measured())))
}

#[test]
fn fairness_with_tcp_is_reported_from_its_opposite() {
    let fair = beside_tcp(|_, _| 90.0, |number, count| 120.0 - 10.0 * f64::from(number) / f64::from(count));
    assert_eq!(verdicts(&fair, Label::Figure(13)), [Holds; 5]);
    let greedy = beside_tcp(|_, _| 500.0, |_, _| 100.0);
    assert_eq!(verdicts(&greedy, Label::Figure(13)), [Fails, Fails, Fails, Fails, Holds]);
    // Claims about what was not run are undecided.
    let changes = verdicts(&greedy, Label::Other("Open values"));
    assert_eq!(changes.iter().filter(|verdict| **verdict == Holds).count(), 2);
    assert_eq!(changes.iter().filter(|verdict| **verdict == Open).count(), 5);
}

#[test]
fn courses_do_what_the_report_draws() {
    let nothing = data([]);
    for label in [Label::Figure(1), Label::Figure(4), Label::Figure(5), Label::Figure(6)] {
        let found = verdicts(&nothing, label);
        assert!(found.iter().all(|verdict| *verdict == Holds), "{label}: {found:?}");
    }
    assert_eq!(verdicts(&nothing, Label::Other("Section III-B")), [Holds, Fails]);
}
