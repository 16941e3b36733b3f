//! Runs that are stopped keep what is done, and a replication of a sweep may be run elsewhere.

use std::fs;
use std::path::PathBuf;

use layercast_laboratory::run::{self, RunError, RunRequest, Stop};
use layercast_laboratory::scenario::{self, Catalogue, Scenario};
use layercast_laboratory::sweep::{Grid, Progress, Store, SweepError, SweepRequest};
use layercast_protocols::registry::Registry;

const SMALL: &str = r#"
name = "Small"
duration = "6 s"
replications = 8
[links]
S-R = { rate = "2 Mbit/s", delay = "20 ms", queue = { limit = "20 packets" } }
[flows.tcp]
protocol = "tcp-sack"
from = "S"
to = "R"
"#;

fn plan() -> Scenario {
    scenario::read("small.toml", SMALL, &[], &Catalogue::of::<Registry>()).unwrap()
}

fn request(stop: &Stop) -> RunRequest {
    RunRequest { text: SMALL.to_owned(), jobs: Some(1), stop: stop.clone(), ..RunRequest::default() }
}

fn grid() -> Grid {
    let request = SweepRequest {
        id: "small.toml".to_owned(),
        text: SMALL.to_owned(),
        overrides: vec!["link.S-R.loss=0.01".to_owned()],
        vary: vec!["link.S-R.delay=10 ms,40 ms".to_owned()],
        replications: Some(2),
        seed: Some(5),
        ..SweepRequest::default()
    };
    Grid::read::<Registry>(&request).unwrap()
}

/// An empty directory of a test's own.
fn scratch(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stop").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

fn files(directory: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(directory.join("parts")).unwrap().map(|entry| entry.unwrap().path());
    let named = entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()));
    let mut found: Vec<_> = named.collect();
    found.sort();
    found
}

#[test]
fn a_stopped_run_has_the_replications_that_were_done() {
    let whole = run::run::<Registry>(&plan(), &request(&Stop::default()), &|_| {}).unwrap();
    let stop = Stop::default();
    let stopped = run::run::<Registry>(&plan(), &request(&stop), &|share| {
        if share > 0.4 {
            stop.wish();
        }
    })
    .unwrap();
    let done = stopped.replications.len();
    assert!((1..8).contains(&done), "{done} of 8");
    for replication in &stopped.replications {
        let same = whole.replications.iter().find(|other| other.number == replication.number).unwrap();
        assert_eq!(replication.windows, same.windows);
        assert_eq!(replication.series, same.series);
    }
}

#[test]
fn a_run_that_is_stopped_at_once_says_so() {
    let stop = Stop::default();
    stop.wish();
    let stopped = run::run::<Registry>(&plan(), &request(&stop), &|_| {});
    assert!(matches!(stopped, Err(RunError::Stopped)));
}

#[test]
fn a_stopped_sweep_goes_on_where_it_was() {
    let grid = grid();
    let directory = scratch("sweep");
    let store = Store::open(&directory, &grid).unwrap();
    let stop = Stop::default();
    let begun = Progress::load(&grid, &store).unwrap().stopped_by(&stop);
    let stopped = begun.finish::<Registry>(Some(1), &|share| {
        if share > 0.6 {
            stop.wish();
        }
    });
    assert!(matches!(stopped, Err(SweepError::Run(RunError::Stopped))));
    let begun = Progress::load(&grid, &store).unwrap();
    assert_eq!(begun.missing().len() + begun.done(), 4);
    assert!((1..4).contains(&begun.done()), "{} of 4", begun.done());
    let parts = begun.finish::<Registry>(Some(1), &|_| {}).unwrap().parts;
    assert_eq!(parts.iter().flatten().count(), 4);
}

#[test]
fn tasks_give_the_files_of_the_sweep() {
    let grid = grid();
    let (here, elsewhere) = (scratch("here"), scratch("elsewhere"));
    let store = Store::open(&here, &grid).unwrap();
    Progress::load(&grid, &store).unwrap().finish::<Registry>(None, &|_| {}).unwrap();
    let store = Store::open(&elsewhere, &grid).unwrap();
    for (cell, replication) in Progress::load(&grid, &store).unwrap().missing() {
        let cell = &grid.cells[cell];
        let task = grid.task(cell, replication).made_by("this build");
        let part = task.run::<Registry>("this build").unwrap();
        store.take(cell, replication, &part).unwrap();
        let refused = task.run::<Registry>("another").unwrap_err();
        assert!(matches!(refused, SweepError::OtherMachine { .. }), "{refused}");
        let other = store.take(cell, replication + 1, &part).unwrap_err();
        assert!(matches!(other, SweepError::OtherPart { .. }), "{other}");
    }
    assert_eq!(files(&here), files(&elsewhere));
    assert_eq!(files(&here).len(), 5);
}
