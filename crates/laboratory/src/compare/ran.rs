//! One contender's runs, and those of all.

use layercast_core::family::Family;

use super::contenders::{Contender, Prepared};
use super::error::{CompareError, Refused};
use crate::results::csv::Csv;
use crate::results::{RunCost, Summary};
use crate::run::{self, Outcome, RunError, RunRequest};

/// The runs of a contender.
#[derive(Debug)]
pub struct Ran {
    /// What was run.
    pub contender: Contender,
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
    pub refused: Vec<Refused>,
}

impl Results {
    /// Every statistic of every run as comma-separated values: the protocol comes first.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut csv = Csv::new(["protocol"]);
        for ran in self.ran.iter().chain(&self.baseline) {
            csv.add(&[&ran.contender.protocol], &ran.summary);
        }
        csv.finish()
    }
}

/// Runs a contender. `progress` is called with the fraction done, from 0 to 1, on any thread.
///
/// # Errors
/// A replication that cannot be run, or results that do not fit.
pub fn run<F: Family>(
    contender: Contender,
    jobs: Option<usize>,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Ran, CompareError> {
    let request = RunRequest {
        id: contender.scenario.clone(),
        text: contender.text.clone(),
        command: contender.command.clone(),
        jobs,
        observation: None,
        stop: contender.stop.clone(),
    };
    let failed = |source: RunError| CompareError::Run { protocol: contender.protocol.clone(), source };
    let outcome = run::run::<F>(&contender.plan, &request, progress).map_err(failed)?;
    let cost = RunCost { wall_s: outcome.wall_s, peak_rss_bytes: None };
    let summary = Summary::new(&outcome.experiment, &outcome.replications, cost)?;
    Ok(Ran { contender, outcome, summary })
}

/// Runs all that was prepared, one after the other. `progress` is called with what is run and the fraction of it
/// that is done.
///
/// # Errors
/// As [`run()`].
pub fn run_all<F: Family>(
    prepared: Prepared,
    jobs: Option<usize>,
    progress: &(dyn Fn(&Contender, f64) + Sync),
) -> Result<Results, CompareError> {
    let one = |contender: Contender| {
        let label = contender.clone();
        run::<F>(contender, jobs, &|share| progress(&label, share))
    };
    let ran = prepared.contenders.into_iter().map(one).collect::<Result<Vec<_>, _>>()?;
    let baseline = prepared.baseline.map(one).transpose()?;
    Ok(Results { ran, baseline, refused: prepared.refused })
}
