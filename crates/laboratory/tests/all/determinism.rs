//! The same scenario and seed give the same results: with any number of threads, and other flows that are there but
//! idle. In any build: fingerprints, which development and release builds both compare.

use std::fs;
use std::path::PathBuf;

use crate::running::{Ran, built_in, run_text, run_with_jobs};
use layercast_laboratory::results::series;

const NAME: &str = "thesis/simulation-2";

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn series_bytes(ran: &Ran, name: &str) -> Vec<u8> {
    let path = scratch("determinism").join(name);
    series::write(&path, &ran.outcome.experiment, &ran.outcome.replications).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let sets = ["duration=60 s", "replications=4"];
    let one = run_with_jobs(NAME, built_in(NAME), &sets, 1);
    let two = run_with_jobs(NAME, built_in(NAME), &sets, 2);
    assert_eq!(one.summary.without_engine().to_json(), two.summary.without_engine().to_json());
    assert!(series_bytes(&one, "one.parquet") == series_bytes(&two, "two.parquet"), "the series differ");
    let other = run_text(NAME, built_in(NAME), &["duration=60 s", "replications=4", "seed=2"]);
    assert!(series_bytes(&one, "one.parquet") != series_bytes(&other, "other.parquet"));
    // The replications differ from each other as well.
    let samples = &one.flow("elm@R1").throughput_kbps.samples;
    assert!(samples.windows(2).all(|pair| pair[0] != pair[1]), "{samples:?}");
}

#[test]
fn a_replication_does_not_depend_on_how_many_there_are() {
    let few = run_text(NAME, built_in(NAME), &["duration=60 s", "replications=2"]);
    let many = run_text(NAME, built_in(NAME), &["duration=60 s", "replications=3"]);
    for (few, many) in few.summary.flows.iter().zip(&many.summary.flows) {
        let samples = &many.measures.throughput_kbps.samples;
        assert_eq!(few.measures.throughput_kbps.samples, samples[..2], "{}", few.name);
    }
}

/// Flows that start just before the end: nothing of theirs reaches a second link.
const IDLE: &str = r#"
[sessions.idle]
protocol = "fixed"
start = "0 s"
receivers = ["R1", "R2", "R3", "R3"]
receivers_start = "59.999 s"

[flows.quiet]
to = ["R1", "R2", "R3"]
start = "59.999 s"
"#;

#[test]
fn idle_flows_change_nobody_elses_samples() {
    let sets = ["duration=60 s", "replications=3"];
    let without = run_text(NAME, built_in(NAME), &sets);
    let text = built_in(NAME).replace("[groups]", &format!("{IDLE}\n[groups]"));
    let with = run_text(NAME, &text, &sets);
    assert_eq!(with.summary.flows.len(), without.summary.flows.len() + 7);
    for flow in &without.summary.flows {
        let measures = with.flow(&flow.name);
        // As text, since numbers that are not there are equal too.
        assert_eq!(format!("{measures:?}"), format!("{:?}", flow.measures), "{}", flow.name);
    }
    assert_eq!(format!("{:?}", with.summary.groups), format!("{:?}", without.summary.groups));
}
