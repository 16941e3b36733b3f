//! Comparisons of protocols.

use std::path::PathBuf;

use layercast_laboratory::compare::{
    self, Candidate, CompareError, CompareRequest, Comparison, Prepared, Results, table,
};
use layercast_laboratory::lint;
use layercast_laboratory::results::directory::{self, Holds};
use layercast_laboratory::run::{RunError, Stop};
use layercast_laboratory::scenario::Catalogue;
use layercast_laboratory::sweep::Part;
use pyo3::prelude::*;

use crate::measured::{self, Block, Key};
use crate::protocol::{self, Context, Families, with_family};
use crate::table::Table;
use crate::{errors, ran, waiting};

/// The results of a comparison.
#[pyclass(frozen, module = "layercast")]
pub(crate) struct Compared {
    results: Results,
    /// The measures of each candidate, then of the baseline.
    parts: Vec<Vec<Part>>,
    comparison: Comparison,
    /// What makes the results of some protocols doubtful, in the command's words; empty if nothing does.
    #[pyo3(get)]
    warnings: String,
    /// Whether Ctrl-C ended it before all protocols had run.
    #[pyo3(get)]
    stopped: bool,
}

/// Runs a scenario with each of several protocols. None if it was stopped before the first was done.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "as many as the command has flags")]
#[pyo3(name = "compare", signature = (
    name, text, protocols, overrides, sessions, with_, command, replications=None, seed=None, reference=None,
    skip_refused=false, jobs=None, progress=None
))]
pub(crate) fn compare_protocols(
    py: Python<'_>,
    name: String,
    text: String,
    protocols: Vec<String>,
    overrides: Vec<String>,
    sessions: Vec<String>,
    with_: Vec<String>,
    command: String,
    replications: Option<u32>,
    seed: Option<u64>,
    reference: Option<String>,
    skip_refused: bool,
    jobs: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Compared>> {
    let stop = Stop::default();
    let named: Vec<String> = overrides.iter().chain(&protocols).cloned().collect();
    let text = text.clone() + &protocol::mentioned(&text, &named);
    let request = CompareRequest {
        id: name,
        text,
        overrides,
        protocols,
        sessions,
        with: with_,
        replications,
        seed,
        reference,
        skip_refused,
        stop: stop.clone(),
    };
    let families = Families::now();
    let (context, prepared) =
        Context::reading(|| with_family!(families, F => compare::read(&request, &Catalogue::of::<F>())));
    context.check(py)?;
    let prepared = prepared.map_err(|error| errors::compare(py, &error))?;
    context.begin(&stop);
    let of_candidate = |candidate: &Candidate| lint::before(&candidate.plan, &candidate.text);
    let warnings = lint::render(&request.id, &lint::once(prepared.candidates.iter().map(of_candidate)));
    let (results, stopped) =
        waiting::wait(py, || stop.wish(), progress, |share| run_all(families, prepared, jobs, &stop, share))?;
    context.check(py)?;
    let results = results.map_err(|error| errors::compare(py, &error))?;
    let comparison = Comparison::new(&results, &command, request.reference.as_deref());
    let all = results.ran.iter().chain(&results.baseline);
    let parts = all.map(|ran| ran::parts(&ran.outcome)).collect();
    Ok(comparison.map(|comparison| Compared { parts, comparison, stopped, results, warnings }))
}

/// All candidates, one after the other; of a comparison that is stopped, those that were done.
fn run_all(
    families: Families,
    prepared: Prepared,
    jobs: Option<usize>,
    stop: &Stop,
    share: &waiting::Share,
) -> Result<Results, CompareError> {
    let columns = prepared.candidates.len() + usize::from(prepared.baseline.is_some());
    let mut results = Results { ran: Vec::new(), baseline: None, refused: prepared.refused };
    let one = |candidate: Candidate, done: usize| {
        let progress = |of_one: f64| share.set((done as f64 + of_one) / columns as f64);
        match with_family!(families, F => compare::run::<F>(candidate, jobs, &progress)) {
            Err(CompareError::Run { source: RunError::Stopped, .. }) => Ok(None),
            // Of a protocol that was stopped before its end, some replications are missing.
            _ if stop.is_wished() => Ok(None),
            ran => ran.map(Some),
        }
    };
    for candidate in prepared.candidates {
        results.ran.extend(one(candidate, results.ran.len())?);
    }
    if let Some(candidate) = prepared.baseline {
        results.baseline = one(candidate, results.ran.len())?;
    }
    Ok(results)
}

impl Compared {
    fn blocks(&self) -> Vec<Block<'_>> {
        let all = self.results.ran.iter().chain(&self.results.baseline).zip(&self.parts);
        all.map(|(ran, parts)| Block {
            keys: vec![("candidate", Key::Text(&ran.candidate.protocol))],
            experiment: &ran.outcome.experiment,
            parts,
            replications: &ran.outcome.replications,
        })
        .collect()
    }
}

#[pymethods]
impl Compared {
    /// The text of `compare.json`.
    fn summary(&self) -> String {
        self.comparison.to_json()
    }

    /// The command's table, so many columns wide.
    #[pyo3(signature = (width=None))]
    fn text(&self, width: Option<usize>) -> String {
        table::render(&self.comparison, width.unwrap_or(table::NARROWEST))
    }

    /// A row for each candidate, replication, window and flow.
    fn flows(&self) -> PyResult<Table> {
        measured::flows(&self.blocks())
    }

    /// A row for each candidate, replication, window and group.
    fn groups(&self) -> PyResult<Table> {
        measured::groups(&self.blocks())
    }

    /// A row for each candidate, replication, window and link.
    fn links(&self) -> PyResult<Table> {
        measured::links(&self.blocks())
    }

    /// A row for each candidate, replication, flow and bin.
    fn series(&self) -> PyResult<Table> {
        measured::series(&self.blocks())
    }

    /// A row for each candidate and number of the paper.
    fn claims(&self) -> PyResult<Table> {
        let all = self.results.ran.iter();
        let all: Vec<_> =
            all.map(|ran| (Some(ran.candidate.protocol.as_str()), &ran.outcome, &ran.summary)).collect();
        ran::claims(&all)
    }

    /// Writes the files of `layercast compare --out`.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        directory::check(&path, Holds::Comparison).map_err(|error| errors::input(py, &error.to_string()))?;
        compare::write_all(&path, &self.results, &self.comparison)
            .map_err(|error| errors::results(py, &error))?;
        Ok(())
    }
}
