//! Running scenarios in tests, as the command does.

// Each test file uses a part of this.
#![allow(dead_code, clippy::unwrap_used)]

use layercast_laboratory::scenario::Catalogue;
use layercast_protocols::registry::Registry;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use layercast_laboratory::results::Summary;
use layercast_laboratory::results::summary::{FlowStatistics, RunCost};
use layercast_laboratory::run::{self, Observation, Outcome, RunRequest};
use layercast_laboratory::scenario::{self, Scenario, catalogue};

pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) summary: Summary,
}

impl Ran {
    /// The statistics of a flow in the main window.
    pub(crate) fn flow(&self, name: &str) -> &FlowStatistics {
        &self.summary.flows.iter().find(|flow| flow.name == name).unwrap().measures
    }

    /// The mean throughput of a flow in kbit/s.
    pub(crate) fn kbps(&self, name: &str) -> f64 {
        self.flow(name).throughput_kbps.mean.unwrap()
    }

    /// The mean number of level changes of a flow.
    pub(crate) fn level_changes(&self, name: &str) -> f64 {
        self.flow(name).level_changes.as_ref().unwrap().mean.unwrap()
    }
}

/// Whether experiments of many seconds run: in a release build, which takes a third of the time. A development build
/// records that it leaves the calling test to `make test-long`, which runs this program in a release build.
pub(crate) fn runs_long() -> bool {
    let runs = cfg!(not(debug_assertions));
    if !runs {
        layercast_testkit::runs_long("long experiments, in a release build");
    }
    runs
}

/// The root of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a built-in scenario.
pub(crate) fn built_in(name: &str) -> &'static str {
    catalogue::find(name).unwrap().text
}

pub(crate) fn read(name: &str, text: &str, overrides: &[&str]) -> Option<Scenario> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    scenario::read(name, text, &overrides, &Catalogue::of::<Registry>()).ok()
}

/// Runs a scenario's text with overrides, on one thread.
pub(crate) fn run_text(name: &str, text: &str, overrides: &[&str]) -> Ran {
    run_with_jobs(name, text, overrides, 1)
}

/// Runs a scenario's text with overrides.
pub(crate) fn run_with_jobs(name: &str, text: &str, overrides: &[&str], jobs: usize) -> Ran {
    run_observed(name, text, overrides, jobs, None)
}

/// Runs a scenario's text with overrides and looks on.
pub(crate) fn run_observed(
    name: &str,
    text: &str,
    overrides: &[&str],
    jobs: usize,
    observation: Option<Observation>,
) -> Ran {
    let plan =
        read(name, text, overrides).unwrap_or_else(|| panic!("{name} with {overrides:?} does not read"));
    let mut as_run = text.to_owned();
    for set in overrides {
        let _ = write!(as_run, "\n# --set {set}");
    }
    let request = RunRequest {
        id: name.to_owned(),
        text: as_run,
        command: String::new(),
        jobs: Some(jobs),
        observation,
        ..RunRequest::default()
    };
    let outcome = run::run::<Registry>(&plan, &request, &|_| {}).unwrap();
    let cost = RunCost { wall_s: outcome.wall_s, peak_rss_bytes: None };
    let summary = Summary::new(&outcome.experiment, &outcome.replications, cost).unwrap();
    Ran { outcome, summary }
}
