//! Claims on made-up trajectories: what they say holds, and its opposite does not.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::runs::{mean, reached, variation};
use super::studies::{EVERY, LINKS};
use super::{paper, studies};
use crate::frame::effort::Effort;
use crate::frame::figure::{Data, Label};
use crate::frame::report::{Outcome, outcomes};
use crate::frame::study::Measured;
use crate::frame::time_series::TimeSeries;
use crate::samples::Samples;

use Outcome::{Fails, Holds, Open};

/// Throughput in kbit/s in each second.
type Kbps<'f> = &'f dyn Fn(u32) -> f64;

fn data(study: &'static str, measured: Measured) -> Data {
    Data { effort: Effort::Full, studies: BTreeMap::from([(study, measured)]) }
}

/// The verdicts of a figure's claims.
fn verdicts(data: &Data, label: Label) -> Vec<Outcome> {
    outcomes(&paper(), data, label)
}

/// An experiment of 200 s with these flows, in which A-B drops a given number of packets each second.
fn time_series(flows: &[(&str, Kbps<'_>)], drops: Kbps<'_>, completion_s: Option<f64>) -> TimeSeries {
    let none: Kbps<'_> = &|_| 0.0;
    let probes: Vec<(&str, Kbps<'_>)> =
        LINKS.iter().map(|&link| (link, if link == "A-B" { drops } else { none })).collect();
    TimeSeries::made_up(200, flows, "drops", &probes, completion_s)
}

fn one(study: &'static str, flows: &[(&str, Kbps<'_>)], drops: Kbps<'_>) -> Data {
    let mut measured = Measured::default();
    measured.add_time_series(None, time_series(flows, drops, None));
    data(study, measured)
}

#[test]
fn a_rate_is_reached_when_five_seconds_have_it() {
    let points: Vec<(f64, f64)> =
        (0..20).map(|second| (f64::from(second) + 1.0, if second < 8 { 0.0 } else { 100.0 })).collect();
    assert_eq!(reached(&points, 0.0, 20.0, |kbps| kbps >= 90.0), Some(8.0));
    assert_eq!(
        reached(&points, 5.0, 20.0, |kbps| kbps >= 50.0),
        Some(3.0),
        "the mean alone is there after 1 s"
    );
    assert_eq!(reached(&points, 0.0, 20.0, |kbps| kbps > 100.0), Some(20.0));
    assert_eq!(reached(&points, 30.0, 40.0, |_| true), None);
    assert_eq!((mean(&points, 0.0, 16.0), mean(&points, 20.0, 30.0)), (Some(50.0), None));
    assert_eq!((variation(&points, 0.0, 16.0), variation(&points, 0.0, 8.0)), (Some(1.0), None));
}

/// Figure 6 where 90 % are reached after so many seconds, with a swing of so much of the bottleneck.
fn alone(after: fn(u32) -> u32, swing: fn(u32) -> f64, drops: Kbps<'_>) -> Data {
    let mut measured = Measured::default();
    for every in EVERY {
        let kbps = move |second: u32| match second {
            second if second < after(every) => 100.0,
            second if second % 2 == 0 => 900.0,
            _ => 900.0 * (1.0 - swing(every)),
        };
        measured.add_time_series(Some(every), time_series(&[("amca@R1", &kbps)], drops, None));
    }
    data("convergence", measured)
}

#[test]
fn reaction_and_smoothness_are_reported() {
    let label = Label::Figure(6);
    let as_printed = alone(|every| every / 4, |every| 1.0 / f64::from(every), &|_| 0.0);
    assert_eq!(verdicts(&as_printed, label), [Holds; 4]);
    // Lost before it has converged is not lost after.
    let opposite =
        alone(|every| 128 / every, |every| f64::from(every) / 2000.0, &|second| f64::from(second % 90 / 89));
    assert_eq!(verdicts(&opposite, label), [Holds, Fails, Fails, Fails]);
    let idle = alone(|_| 0, |_| 0.5, &|_| 0.0);
    assert_eq!(verdicts(&idle, label)[0], Fails);
    let early =
        alone(|every| every / 4, |every| 1.0 / f64::from(every), &|second| f64::from(u8::from(second < 20)));
    assert_eq!(verdicts(&early, label)[3], Holds);
    assert_eq!(verdicts(&data("convergence", Measured::default()), label), [Open; 4]);
}

#[test]
fn shares_within_a_fifth_are_equal() {
    let label = Label::Figure(7);
    let fair = one(
        "two-tcp",
        &[("amca@R1", &|_| 340.0), ("tcp-1@R3", &|_| 290.0), ("tcp-2@R4", &|_| 270.0)],
        &|_| 0.0,
    );
    assert_eq!(verdicts(&fair, label), [Holds, Holds]);
    let greedy = one(
        "two-tcp",
        &[("amca@R1", &|_| 420.0), ("tcp-1@R3", &|_| 240.0), ("tcp-2@R4", &|_| 240.0)],
        &|second| f64::from(u8::from(second == 3)),
    );
    assert_eq!(verdicts(&greedy, label), [Fails, Fails]);
}

/// Figure 8 if AMCA falls to so much within so many seconds, and needs so many to recover.
fn comes_and_goes(low: f64, after: u32, drops: Kbps<'_>) -> Vec<Outcome> {
    let amca = move |second: u32| if (20 + after..100 + after).contains(&second) { low } else { 890.0 };
    let tcp = move |second: u32| if (20..100).contains(&second) { 890.0 - low } else { 0.0 };
    let flows: [(&str, Kbps<'_>); 3] = [("amca@R1", &amca), ("amca@R2", &amca), ("tcp@R3", &tcp)];
    verdicts(&one("one-tcp", &flows, drops), Label::Figure(8))
}

#[test]
fn yielding_and_recovering_are_reported_from_keeping() {
    assert_eq!(comes_and_goes(445.0, 2, &|_| 0.0), [Holds; 6]);
    assert_eq!(comes_and_goes(700.0, 2, &|_| 0.0), [Holds, Fails, Holds, Holds, Fails, Holds]);
    assert_eq!(comes_and_goes(445.0, 15, &|_| 1.0), [Holds, Holds, Holds, Fails, Holds, Fails]);
    assert_eq!(comes_and_goes(445.0, 40, &|_| 0.0)[2..4], [Fails, Fails]);
}

#[test]
fn each_phase_of_two_tcp_counts() {
    let overlap = |both: f64| {
        let amca = move |second: u32| match second {
            30..70 | 100..150 => 450.0,
            70..100 => both,
            _ => 900.0,
        };
        let tcp = |from: u32, to: u32| {
            move |second: u32| match second {
                70..100 => (900.0 - both) / 2.0,
                second if (from..to).contains(&second) => 450.0,
                _ => 0.0,
            }
        };
        let (first, second) = (tcp(30, 100), tcp(70, 150));
        let flows: [(&str, Kbps<'_>); 3] = [("amca@R1", &amca), ("tcp-1@R3", &first), ("tcp-2@R4", &second)];
        verdicts(&one("overlap", &flows, &|_| 0.0), Label::Figure(9))
    };
    assert_eq!(overlap(300.0), [Holds; 4]);
    assert_eq!(overlap(440.0), [Fails, Holds, Fails, Holds]);
}

#[test]
fn a_transfer_is_over_when_both_have_all() {
    let transfer = |completion_s, kbps: f64| {
        let (amca, tcp) = (move |_| kbps, move |_| 900.0 - kbps);
        let flows: [(&str, Kbps<'_>); 3] = [("amca@R1", &amca), ("amca@R2", &amca), ("tcp@R3", &tcp)];
        let mut measured = Measured::default();
        measured.add_time_series(None, time_series(&flows, &|_| 0.0, completion_s));
        verdicts(&data("finite", measured), Label::Figure(10))
    };
    assert_eq!(transfer(Some(95.0), 440.0), [Holds; 4]);
    assert_eq!(transfer(Some(60.0), 700.0), [Holds, Fails, Fails, Holds]);
    assert_eq!(transfer(None, 440.0), [Fails, Open, Holds, Holds]);
}

#[test]
fn the_slowest_path_decides() {
    let slow = |r1: f64, to_r4: f64| {
        let (one, to_r4) = (move |_| r1, move |_| to_r4);
        let flows: [(&str, Kbps<'_>); 4] =
            [("amca@R1", &one), ("amca@R2", &|_| 198.0), ("tcp-1@R3", &|_| 195.0), ("tcp-2@R4", &to_r4)];
        verdicts(&one_of("caption", &flows), Label::Other("Figure 11 (a)"))
    };
    assert_eq!(slow(198.0, 490.0), [Holds; 4]);
    assert_eq!(slow(300.0, 200.0), [Fails, Fails, Fails, Holds]);
}

fn one_of(study: &'static str, flows: &[(&str, Kbps<'_>)]) -> Data {
    one(study, flows, &|_| 0.0)
}

#[test]
fn only_the_default_profile_decides_what_values_do() {
    let delay = studies::FACTORS.iter().find(|factor| factor.label == "Delay").unwrap();
    let with = |amca: f64, used: f64| {
        let (mut shared, mut alone) = (Measured::default(), Measured::default());
        for (&value, profile) in delay.values.iter().flat_map(|value| [0, 1, 2].map(|of| (value, of))) {
            let at = [f64::from(value), f64::from(profile)];
            let is_default = profile == 0;
            let kbps = |kbps: f64| Samples::of([kbps, kbps]);
            shared.add(&at, "amca", "throughput_kbps", kbps(if is_default { amca } else { 10.0 }));
            shared.add(&at, "tcp", "throughput_kbps", kbps(300.0));
            shared.add(&at, "A-B", "drops", kbps(if is_default { 0.0 } else { 10.0 }));
            alone.add(&at, "amca", "throughput_kbps", kbps(if is_default { used } else { 10.0 }));
        }
        let studies = BTreeMap::from([(delay.shared, shared), (delay.alone, alone)]);
        verdicts(&Data { effort: Effort::Quick, studies }, Label::Other("Delay"))
    };
    assert_eq!(with(310.0, 890.0), [Holds; 3]);
    assert_eq!(with(500.0, 700.0), [Fails, Holds, Fails]);
}

#[test]
fn profiles_take_the_place_of_the_default_one() {
    let paper = paper();
    let names: Vec<&str> = paper.studies.iter().map(|study| study.name).collect();
    for variant in &paper.variants {
        assert_eq!(variant.replaced.len(), studies::COURSES.len());
        for (of, by) in &variant.replaced {
            assert!(names.contains(of) && names.contains(by) && *by == format!("{of}-{}", variant.name));
        }
    }
}
