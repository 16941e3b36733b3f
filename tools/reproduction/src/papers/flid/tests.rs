//! Claims on numbers that are made up: they hold of what the paper reports and not of its opposite.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::paper;
use super::studies::{FACTORS, FLOWS, LEAVES, QUEUES, flow_set};
use crate::frame::effort::Effort;
use crate::frame::figure::{Data, Label};
use crate::frame::report::{Outcome, outcomes};
use crate::frame::study::Measured;
use crate::samples::Samples;

fn data(name: &'static str, measured: Measured) -> Data {
    Data { effort: Effort::Quick, studies: BTreeMap::from([(name, measured)]) }
}

fn verdicts(data: &Data, label: Label) -> Vec<Outcome> {
    outcomes(&paper(), data, label)
}

fn twice(value: f64) -> Samples {
    Samples::of([value, value])
}

/// One session at each factor: its throughput, packets lost and slots with loss go from one end to the other.
fn factors(used: [f64; 2], lost: [f64; 2], slots: [f64; 2]) -> Data {
    let mut measured = Measured::default();
    for factor in FACTORS {
        let share = (factor - 1.3) / 0.7;
        let between = |ends: [f64; 2]| ends[0] + (ends[1] - ends[0]) * share;
        let mut add = |metric, value| measured.add(&[factor], "flid", metric, twice(value));
        add("throughput_kbps", between(used) * 100.0);
        add("lost_packets", between(lost));
        add("leaves_per_min", between(slots) * 1.2);
        add("own_lost_per_event", between(lost) / between(slots));
    }
    data("factor", measured)
}

#[test]
fn the_papers_own_numbers_hold() {
    use Outcome::{Fails, Holds};
    // 2 events of 47 packets at 1.3 and 14 of 17 at 2.0.
    let paper = factors([85.0, 59.0], [94.0, 238.0], [2.0, 14.0]);
    assert_eq!(verdicts(&paper, Label::Figure(4)), [Holds; 6]);
    let flat = factors([59.0, 85.0], [94.0, 94.0], [14.0, 2.0]);
    assert_eq!(verdicts(&flat, Label::Figure(4)), [Fails; 6]);
}

/// Four sessions that get so much at a leave latency and lose the rest of their share.
fn four(dynamic: fn(usize) -> f64, fixed: fn(usize) -> f64) -> Data {
    let mut measured = Measured::default();
    for (position, leave) in (0..LEAVES.len()).map(|leave| (leave as f64, leave)) {
        for (flow_set, gets) in
            [(flow_set::DYNAMIC, dynamic), (flow_set::STATIC, fixed), (flow_set::TIGHT, |_| 10.0)]
        {
            for name in ["f1", "f2", "f3", "f4"] {
                let at = [f64::from(flow_set), position];
                measured.add(&at, name, "throughput_kbps", twice(gets(leave)));
                measured.add(&at, name, "loss_rate", twice(1.0 - gets(leave) / 1000.0));
            }
        }
        let at = [f64::from(flow_set::STATIC_TCP), position];
        measured.add(&at, "tcp", "loss_rate", twice(1.0 - fixed(leave) / 1000.0));
    }
    data("four-sessions", measured)
}

#[test]
fn slow_leaves_are_reported_by_what_they_cost() {
    use Outcome::{Fails, Holds};
    let slower = |leave: usize| 500.0 - 40.0 * leave as f64;
    assert_eq!(verdicts(&four(|_| 500.0, slower), Label::Figure(7)), [Holds; 7]);
    let turned = verdicts(&four(slower, |_| 500.0), Label::Figure(7));
    assert_eq!(turned, [Fails, Fails, Fails, Fails, Fails, Fails, Holds]);
}

/// n sessions and n TCP; the first session gets a part of what the others do.
fn sharing_with_tcp(flid: f64, first: f64) -> Data {
    let mut measured = Measured::default();
    for pairs in FLOWS {
        for queue in QUEUES {
            let at = [f64::from(pairs), f64::from(pairs * queue)];
            for number in 1..=pairs {
                let rate = if number == 1 { flid * first } else { flid };
                let mut add = |name: &str, value| measured.add(&at, name, "throughput_kbps", twice(value));
                add(&format!("f{number}"), rate);
                add(&format!("tcp-{number}@R"), 250.0 * f64::from(queue) / 7.0);
            }
        }
    }
    data("beside-tcp", measured)
}

#[test]
fn fairness_is_within_a_factor_of_two() {
    use Outcome::{Fails, Holds};
    assert_eq!(verdicts(&sharing_with_tcp(250.0, 0.9), Label::Other("Figure 9a")), [Holds, Holds]);
    assert_eq!(verdicts(&sharing_with_tcp(900.0, 0.1), Label::Other("Figure 9a")), [Fails, Fails]);
    assert_eq!(verdicts(&sharing_with_tcp(500.0, 0.9), Label::Other("Figure 9b")), [Holds, Holds, Holds]);
}

#[test]
fn what_was_not_run_is_not_reported() {
    let nothing = Data { effort: Effort::Quick, studies: BTreeMap::new() };
    for label in [Label::Figure(5), Label::Figure(8), Label::Other("V-A, slots"), Label::Other("V-D, delays")]
    {
        assert!(verdicts(&nothing, label).iter().all(|verdict| *verdict == Outcome::Open), "{label}");
    }
}
