//! One candidate's runs, and those of all.

use layercast_core::family::Family;

use super::candidates::{Candidate, Prepared};
use super::error::{CompareError, Rejected};
use crate::results::csv::Csv;
use crate::results::{RunCost, Summary};
use crate::run::{self, Outcome, RunError, RunRequest};

/// The runs of a candidate.
#[derive(Debug)]
pub struct Ran {
    /// What was run.
    pub candidate: Candidate,
    /// What it gave.
    pub outcome: Outcome,
    /// Its statistics.
    pub summary: Summary,
}

/// The runs of a comparison.
#[derive(Debug)]
pub struct Results {
    /// Each protocol, in the order asked for.
    pub ran: Vec<Ran>,
    /// The same scenario without the compared sessions; none where there is no other traffic.
    pub baseline: Option<Ran>,
    /// The protocols that cannot be compared.
    pub refused: Vec<Rejected>,
}

impl Results {
    /// Every statistic of every run as comma-separated values: the protocol comes first.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut csv = Csv::new(["protocol"]);
        for ran in self.ran.iter().chain(&self.baseline) {
            csv.add(&[&ran.candidate.protocol], &ran.summary);
        }
        csv.finish()
    }
}

/// Runs a candidate. `progress` is called with the fraction done, from 0 to 1, on any thread.
///
/// # Errors
/// A replication that cannot be run, or results that do not fit.
pub fn run<F: Family>(
    candidate: Candidate,
    jobs: Option<usize>,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Ran, CompareError> {
    let request = RunRequest {
        id: candidate.scenario.clone(),
        text: candidate.text.clone(),
        command: candidate.command.clone(),
        jobs,
        observation: None,
        stop: candidate.stop.clone(),
    };
    let failed = |source: RunError| CompareError::Run { protocol: candidate.protocol.clone(), source };
    let outcome = run::run::<F>(&candidate.plan, &request, progress).map_err(failed)?;
    let cost = RunCost { wall_s: outcome.wall_s, peak_rss_bytes: None };
    let summary = Summary::new(&outcome.experiment, &outcome.replications, cost)?;
    Ok(Ran { candidate, outcome, summary })
}

/// Runs all that was prepared, one after the other. `progress` is called with what is run and the fraction of it
/// that is done.
///
/// # Errors
/// As [`run()`].
pub fn run_all<F: Family>(
    prepared: Prepared,
    jobs: Option<usize>,
    progress: &(dyn Fn(&Candidate, f64) + Sync),
) -> Result<Results, CompareError> {
    let one = |candidate: Candidate| {
        let label = candidate.clone();
        run::<F>(candidate, jobs, &|share| progress(&label, share))
    };
    let ran = prepared.candidates.into_iter().map(one).collect::<Result<Vec<_>, _>>()?;
    let baseline = prepared.baseline.map(one).transpose()?;
    Ok(Results { ran, baseline, refused: prepared.refused })
}
