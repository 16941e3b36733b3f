//! Claims on grids that are made up by the equations: what follows from them holds, and its opposite does
//! not.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::grid::{LOSSES, RATES};
use super::paper;
use crate::frame::effort::Effort;
use crate::frame::figure::{Data, Label};
use crate::frame::report::{Outcome, outcomes};
use crate::frame::study::Measured;
use crate::samples::Samples;

/// The lossy grid if LIP had this loss rate at a loss probability and a number of packets per round trip.
/// Rates go with one over the loss rate, as they do about where timeouts matter.
fn made_up(lip: impl Fn(f64, f64) -> f64) -> Data {
    let rate = |loss: f64| 10.0 / loss;
    let mut lossy = Measured::default();
    for loss in LOSSES {
        for packets in RATES.map(f64::from) {
            let lip = lip(loss, packets);
            let mut add = |flow, metric, value: f64| {
                lossy.add(&[loss, 80.0 * packets], flow, metric, Samples::of([value, value]));
            };
            add("cbr", "lip_loss", lip);
            add("cbr", "lap_loss", loss);
            add("cbr", "loss_rate", loss);
            add("cbr", "lip_rate_kbps", rate(lip));
            add("cbr", "lap_rate_kbps", rate(loss));
            add("tfrc", "loss", loss);
            add("tfrc", "throughput_kbps", rate(loss));
            add("tcp", "loss_rate", loss);
            add("tcp", "throughput_kbps", rate(loss));
        }
    }
    Data { effort: Effort::Quick, studies: BTreeMap::from([("lossy-link", lossy)]) }
}

/// The verdicts of a figure's claims.
fn verdicts(data: &Data, number: u32) -> Vec<Outcome> {
    outcomes(&paper(), data, Label::Figure(number))
}

#[test]
fn claims_of_the_lossy_link_follow_from_equation_12() {
    use Outcome::{Fails, Holds};
    let by_equation = made_up(|loss, packets| 1.0 / (packets - 1.0 + 1.0 / loss));
    // That the estimate falls with the loss probability does not follow from the equation.
    assert_eq!(verdicts(&by_equation, 6), [Holds, Holds, Fails]);
    for (number, expected) in [
        (7, vec![Holds]),
        (8, vec![Holds; 2]),
        (12, vec![Holds]),
        (13, vec![Holds; 2]),
        (18, vec![Holds; 3]),
        (19, vec![Holds; 2]),
        (20, vec![Holds; 3]),
        (24, vec![Holds]),
        (25, vec![Holds; 2]),
    ] {
        assert_eq!(verdicts(&by_equation, number), expected, "figure {number}");
    }
}

#[test]
fn they_do_not_hold_of_an_estimator_without_a_bias() {
    use Outcome::{Fails, Holds, Open};
    let unbiased = made_up(|loss, _| loss);
    // Ties at every place: no trend, and none against it.
    assert_eq!(verdicts(&unbiased, 6), [Fails, Open, Fails]);
    assert_eq!(verdicts(&unbiased, 8), [Fails; 2]);
    assert_eq!(verdicts(&unbiased, 13), [Fails; 2]);
    assert_eq!(verdicts(&unbiased, 25), [Fails, Holds]);
}

#[test]
fn the_shared_link_is_reported_only_where_it_was_run() {
    let lossy_alone = made_up(|loss, _| loss);
    for number in [9, 10, 11, 14, 15, 21, 22, 23, 26, 27] {
        assert!(
            verdicts(&lossy_alone, number).iter().all(|verdict| *verdict == Outcome::Open),
            "figure {number}"
        );
    }
}
