//! `notes.jsonl`: what is in it, and that writing it changes nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::running::{Ran, built_in, run_observed, run_with_jobs};
use layercast_laboratory::results::series;
use layercast_laboratory::run::Observation;
use serde_json::Value;

const NAME: &str = "thesis/simulation-2";
const SETS: [&str; 2] = ["duration=60 s", "replications=3"];

fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

fn noted(name: &str, jobs: usize) -> (Ran, PathBuf, String) {
    let directory = scratch(name);
    let captures = vec![0, 1, 2, 3];
    let observation =
        Observation { directory: directory.clone(), captures, capture_replication: 1, notes: true };
    let ran = run_observed(NAME, built_in(NAME), &SETS, jobs, Some(observation));
    let notes = fs::read_to_string(directory.join("notes.jsonl")).unwrap();
    (ran, directory, notes)
}

/// What all tests look at.
static NOTED: LazyLock<(Ran, PathBuf, String)> = LazyLock::new(|| noted("notes", 2));

#[test]
fn observers_change_no_byte_of_the_results() {
    let plain = run_with_jobs(NAME, built_in(NAME), &SETS, 2);
    let (observed, directory, _) = &*NOTED;
    assert_eq!(plain.summary.without_engine().to_json(), observed.summary.without_engine().to_json());
    let engine = |ran: &Ran| ran.summary.engine.clone().unwrap();
    let (here, there) = (engine(&plain), engine(observed));
    assert_eq!((here.events, here.packet_hops), (there.events, there.packet_hops));
    let bytes = |ran: &Ran, name: &str| {
        let path = directory.join(name);
        series::write(&path, &ran.outcome.experiment, &ran.outcome.replications).unwrap();
        fs::read(path).unwrap()
    };
    assert!(bytes(&plain, "plain.parquet") == bytes(observed, "observed.parquet"), "the series differ");
}

#[test]
fn notes_do_not_depend_on_the_number_of_threads() {
    assert!(noted("notes-one", 1).2 == NOTED.2, "the notes differ");
}

#[test]
fn notes_are_lines_of_json_in_the_order_of_replication_and_time() {
    let (ran, _, notes) = &*NOTED;
    let lines: Vec<Value> = notes.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let key = |line: &Value| (line["replication"].as_u64().unwrap(), line["time_s"].as_f64().unwrap());
    assert!(lines.is_sorted_by(|a, b| key(a) <= key(b)));
    for replication in 1..=3 {
        for (index, flow) in
            ran.outcome.experiment.flows.iter().enumerate().filter(|(_, flow)| flow.is_layered())
        {
            let own = || {
                lines
                    .iter()
                    .filter(|line| line["replication"] == replication && line["flow"] == flow.name.as_str())
            };
            let count = |event: &str| own().filter(|line| line["event"] == event).count() as f64;
            // The summary does not count the first join of the base layer.
            let counted = ran.outcome.replications[replication - 1].windows[0].flows[index].level_changes;
            assert_eq!(count("join") + count("leave") - 1.0, counted.unwrap(), "{}", flow.name);
            // Every change of level says from where, to where, and why.
            let mut level = -1;
            for line in own().filter(|line| line["event"] == "level_changed") {
                assert_eq!(line["from"], level);
                assert!(!line["cause"].as_str().unwrap().is_empty());
                level = line["to"].as_i64().unwrap();
            }
        }
    }
    let first: Vec<&str> = notes.lines().filter(|line| line.contains("\"elm@R1\"")).take(12).collect();
    insta::assert_snapshot!(first.join("\n"));
}
