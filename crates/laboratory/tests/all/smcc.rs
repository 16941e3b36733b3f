//! SMCC in the simulator: what its receivers get, compared with what a TFRC flow gets on the same path.

use crate::running::{Ran, built_in, run_text, runs_long};

fn run(name: &str) -> Ran {
    run_text(name, built_in(name), &["replications=2", "duration=200 s"])
}

/// For each of the five receivers, SMCC's mean rate as a part of TFRC's.
fn ratios(smcc: &Ran, tfrc: &Ran) -> Vec<f64> {
    let ratio = |n: usize| smcc.kbps(&format!("smcc@R{n}")) / tfrc.kbps(&format!("tfrc-{n}@R{n}"));
    (1..=5).map(ratio).collect()
}

/// Within a factor of two is what is asked of SMCC. Two replications of 150 s scatter: a receiver changes
/// its level some ten times in that, by a factor of two, so its mean is right to some 15 %. Measured over
/// 15 replications of 250 s: 0.86 to 1.00, and 0.69 to 1.16 in single ones.
#[test]
fn every_receiver_gets_within_a_factor_of_two_of_tfrc_on_lossy_paths() {
    if !runs_long() {
        return;
    }
    let ran = run("smcc/heterogeneous");
    let ratios = ratios(&ran, &ran);
    assert!(ratios.iter().all(|ratio| (0.5..=2.0).contains(ratio)), "{ratios:?}");
    // Paths 16 times apart do not all get the same, as they would with a single rate.
    let (slow, fast) = (ran.kbps("smcc@R1"), ran.kbps("smcc@R5"));
    assert!(fast > 8.0 * slow, "{slow} and {fast} kbit/s");
}

/// Beside one TCP each, where a rate that is too high makes losses. Measured over 15 replications: 0.84 to
/// 0.95 of TFRC in the same place, and TCP gets 1.02 to 1.13 of what TFRC leaves it.
#[test]
fn every_receiver_gets_within_a_factor_of_two_of_tfrc_beside_tcp() {
    if !runs_long() {
        return;
    }
    let (smcc, tfrc) = (run("smcc/bottlenecks"), run("smcc/bottlenecks-tfrc"));
    let ratios = ratios(&smcc, &tfrc);
    assert!(ratios.iter().all(|ratio| (0.5..=2.0).contains(ratio)), "{ratios:?}");
    for n in 1..=5 {
        let tcp = format!("tcp@R{n}");
        let left = smcc.kbps(&tcp) / tfrc.kbps(&tcp);
        assert!((0.6..=1.5).contains(&left), "{tcp}: {left}");
    }
}

/// With aggregation periods in place of loss insensitive ones. Measured over 15 replications: 0.79 to 0.95.
#[test]
fn with_lap_it_is_within_a_factor_of_two_too() {
    if !runs_long() {
        return;
    }
    let name = "smcc/heterogeneous";
    let lap = ["replications=2", "duration=200 s", "session.smcc.loss_estimator=lap"];
    let ran = run_text(name, built_in(name), &lap);
    let ratios = ratios(&ran, &ran);
    assert!(ratios.iter().all(|ratio| (0.5..=2.0).contains(ratio)), "{ratios:?}");
}
