//! Running a scenario.

use std::path::PathBuf;

use layercast_laboratory::lint;
use layercast_laboratory::results::directory::{self, Holds};
use layercast_laboratory::results::{self, Relation, RunCost, Summary, paper, report, table};
use layercast_laboratory::run::{self, Outcome, RunError, RunRequest, Stop};
use layercast_laboratory::scenario::{self, Catalogue};
use layercast_laboratory::sweep::Part;
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::measured::{self, Block};
use crate::protocol::{self, Context, Families, with_family};
use crate::table::Table;
use crate::{errors, waiting};

/// The results of a run.
#[pyclass(frozen, module = "layercast")]
pub(crate) struct Ran {
    outcome: Outcome,
    summary: Summary,
    parts: Vec<Part>,
    findings: String,
    /// Whether Ctrl-C ended it before all replications were done.
    #[pyo3(get)]
    stopped: bool,
}

/// Runs a scenario. `command` is what the report shows as the command that repeats the run. None if it was stopped before the first replication was done.
#[pyfunction]
#[pyo3(name = "run", signature = (name, text, overrides, command, jobs=None, progress=None))]
pub(crate) fn run_scenario(
    py: Python<'_>,
    name: String,
    text: &str,
    overrides: Vec<String>,
    command: String,
    jobs: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Ran>> {
    let families = Families::now();
    let (context, plan) = Context::reading(
        || with_family!(families, F => scenario::read(&name, text, &overrides, &Catalogue::of::<F>())),
    );
    let plan = plan.map_err(|error| errors::scenario(py, &error))?;
    context.check(py)?;
    let stop = Stop::default();
    context.begin(&stop);
    let request = RunRequest {
        id: name,
        text: run::as_run(text, &overrides) + &protocol::mentioned(text, &overrides),
        command,
        jobs,
        observation: None,
        stop: stop.clone(),
    };
    let (outcome, stopped) = waiting::wait(
        py,
        || stop.wish(),
        progress,
        |share| with_family!(families, F => run::run::<F>(&plan, &request, &|done| share.set(done))),
    )?;
    context.check(py)?;
    let outcome = match outcome {
        Err(RunError::Stopped) => return Ok(None),
        outcome => outcome.map_err(|error| errors::run(py, &error))?,
    };
    let cost = RunCost { wall_s: outcome.wall_s, peak_rss_bytes: run::peak_rss_bytes() };
    let summary = Summary::new(&outcome.experiment, &outcome.replications, cost)
        .map_err(|error| errors::results(py, &error))?;
    Ok(Some(Ran::new(outcome, summary, stopped)))
}

/// The measures of replications, without those of probes, which are tables of their own.
pub(crate) fn parts(outcome: &Outcome) -> Vec<Part> {
    outcome.replications.iter().map(|one| Part::new(&outcome.experiment, &[], one)).collect()
}

/// The numbers of the paper, next to ours.
pub(crate) fn claims(outcomes: &[(Option<&str>, &Outcome, &Summary)]) -> PyResult<Table> {
    let mut all = Vec::new();
    for (key, outcome, summary) in outcomes {
        all.extend(paper::compare(&outcome.experiment, summary).into_iter().map(|claim| (*key, claim)));
    }
    let relation = |relation: Relation| match relation {
        Relation::Equal => "equal",
        Relation::About => "about",
        Relation::Below => "below",
        Relation::Above => "above",
    };
    let columns = Columns::default();
    let columns = match outcomes.first() {
        Some((Some(_), _, _)) => columns.text("candidate", all.iter().map(|(key, _)| *key)),
        _ => columns,
    };
    columns
        .text("subject", all.iter().map(|(_, claim)| Some(claim.paper.subject.as_str())))
        .text("metric", all.iter().map(|(_, claim)| Some(claim.paper.metric.name())))
        .text("relation", all.iter().map(|(_, claim)| Some(relation(claim.paper.relation))))
        .number("paper", all.iter().map(|(_, claim)| Some(claim.paper.value)))
        .number("mean", all.iter().map(|(_, claim)| claim.ours.mean))
        .number("ci95", all.iter().map(|(_, claim)| claim.ours.ci95))
        .number("ratio", all.iter().map(|(_, claim)| claim.ratio()))
        .flag("agrees", all.iter().map(|(_, claim)| claim.agrees()))
        .into_table()
}

impl Ran {
    fn new(outcome: Outcome, summary: Summary, stopped: bool) -> Ran {
        let parts = parts(&outcome);
        let scenario = &outcome.experiment.scenario;
        let findings = lint::render(scenario, &outcome.experiment.findings);
        Ran { parts, findings, stopped, outcome, summary }
    }

    fn block(&self) -> [Block<'_>; 1] {
        [Block {
            keys: Vec::new(),
            experiment: &self.outcome.experiment,
            parts: &self.parts,
            replications: &self.outcome.replications,
        }]
    }
}

#[pymethods]
impl Ran {
    /// The text of `summary.json`.
    fn summary(&self) -> String {
        self.summary.to_json()
    }

    /// The command's table.
    fn text(&self) -> String {
        table::render(&self.outcome.experiment, &self.summary, table::WIDTH)
    }

    /// What makes the results doubtful, in the command's words; empty if nothing does.
    #[getter]
    fn warnings(&self) -> &str {
        &self.findings
    }

    /// The cumulative rates of the layers of a flow's session in kbit/s, lowest first.
    fn level_rates(&self, flow: &str) -> Vec<f64> {
        let found = self.outcome.experiment.flows.iter().find(|info| info.name == flow);
        found.map_or(Vec::new(), |info| info.level_rates_kbps.clone())
    }

    /// A row for each replication, window and flow.
    fn flows(&self) -> PyResult<Table> {
        measured::flows(&self.block())
    }

    /// A row for each replication, window and group.
    fn groups(&self) -> PyResult<Table> {
        measured::groups(&self.block())
    }

    /// A row for each replication, window and link.
    fn links(&self) -> PyResult<Table> {
        measured::links(&self.block())
    }

    /// A row for each replication, flow and bin.
    fn series(&self) -> PyResult<Table> {
        measured::series(&self.block())
    }

    /// A row for each replication, probe, quantity and sample.
    fn probes(&self) -> PyResult<Table> {
        measured::probes(&self.block())
    }

    /// A row for each number of the paper.
    fn claims(&self) -> PyResult<Table> {
        claims(&[(None, &self.outcome, &self.summary)])
    }

    /// The report's page.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        report::html(&self.outcome.experiment, &self.outcome.replications, &self.summary)
            .map_err(|error| errors::results(py, &error))
    }

    /// Writes the files of `layercast run --out`.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        directory::check(&path, Holds::Run).map_err(|error| errors::input(py, &error.to_string()))?;
        directory::remove_extras(&path)?;
        results::write_all(&path, &self.outcome.experiment, &self.outcome.replications, &self.summary)
            .map_err(|error| errors::results(py, &error))?;
        Ok(())
    }
}
