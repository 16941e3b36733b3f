//! Sweeps, on this machine or as tasks for others.

use std::path::PathBuf;
use std::sync::Arc;

use layercast_laboratory::lint;
use layercast_laboratory::results::directory::{self, Holds};
use layercast_laboratory::run::{RunError, Stop};
use layercast_laboratory::sweep::{
    self, Grid, Outcome, Part, Progress, Store, SweepError, SweepRequest, SweepSummary, Task,
};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::measured::{self, Block, Key};
use crate::protocol::{self, Context, Families, with_family};
use crate::table::Table;
use crate::{BUILD, errors, waiting};

/// A key of a sweep and its values.
#[pyclass(frozen, get_all, module = "layercast")]
pub(crate) struct Axis {
    /// The key, as it was given.
    key: String,
    /// The values as text.
    values: Vec<String>,
    /// The values as numbers, if all are.
    numbers: Option<Vec<f64>>,
    /// The unit of the numbers; empty for plain ones.
    unit: String,
}

/// A sweep that was checked, and its directory.
#[pyclass(frozen, module = "layercast")]
pub(crate) struct Sweep {
    families: Families,
    grid: Arc<Grid>,
    directory: PathBuf,
    store: Store,
    context: Arc<Context>,
}

#[pymethods]
impl Sweep {
    /// Reads and checks a sweep and opens its directory.
    #[new]
    #[allow(clippy::too_many_arguments, reason = "as many as the command has flags")]
    #[pyo3(signature = (name, text, overrides, vary, metrics, directory, command, replications=None, seed=None))]
    fn new(
        py: Python<'_>,
        name: String,
        text: String,
        overrides: Vec<String>,
        vary: Vec<String>,
        metrics: Vec<String>,
        directory: PathBuf,
        command: String,
        replications: Option<u32>,
        seed: Option<u64>,
    ) -> PyResult<Sweep> {
        let named: Vec<String> = overrides.iter().chain(&vary).cloned().collect();
        let text = text.clone() + &protocol::mentioned(&text, &named);
        let request = SweepRequest { id: name, text, overrides, vary, metrics, replications, seed, command };
        let families = Families::now();
        let read = || with_family!(families, F => Grid::read::<F>(&request));
        let (context, read) = py.detach(|| Context::reading(read));
        context.check(py)?;
        let grid = read.map_err(|error| errors::sweep(py, &error))?;
        directory::check(&directory, Holds::Sweep).map_err(|error| errors::input(py, &error.to_string()))?;
        let store = Store::open(&directory, &grid).map_err(|error| errors::sweep(py, &error))?;
        Ok(Sweep { families, grid: Arc::new(grid), directory, store, context })
    }

    /// How many cells there are.
    #[getter]
    fn cells(&self) -> usize {
        self.grid.cells.len()
    }

    /// How many replications each cell has.
    #[getter]
    fn replications(&self) -> u32 {
        self.grid.replications
    }

    /// Which replications are not done: the cell, from 0, and the replication, from 1.
    fn missing(&self, py: Python<'_>) -> PyResult<Vec<(usize, u32)>> {
        let begun = Progress::load(&self.grid, &self.store).map_err(|error| errors::sweep(py, &error))?;
        Ok(begun.missing())
    }

    /// A replication of a cell, for `run_task` in another process.
    fn task<'py>(&self, py: Python<'py>, cell: usize, replication: u32) -> PyResult<Bound<'py, PyBytes>> {
        let found = self.grid.cells.get(cell);
        let found = found.ok_or_else(|| PyIndexError::new_err(format!("there is no cell {cell}")))?;
        let task = self.grid.task(found, replication).made_by(BUILD);
        let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
        let mut task = serde_json::to_value(&task).map_err(wrong)?;
        let origins = protocol::origins(task["text"].as_str().unwrap_or_default());
        if !origins.is_empty() {
            task["protocols"] = serde_json::to_value(&origins).map_err(wrong)?;
        }
        Ok(PyBytes::new(py, task.to_string().as_bytes()))
    }

    /// Keeps what `run_task` gave.
    fn take(&self, py: Python<'_>, cell: usize, replication: u32, part: &[u8]) -> PyResult<()> {
        let found = self.grid.cells.get(cell);
        let found = found.ok_or_else(|| PyIndexError::new_err(format!("there is no cell {cell}")))?;
        self.store.take(found, replication, part).map_err(|error| errors::sweep(py, &error))
    }

    /// Runs what is missing on this machine. True if Ctrl-C stopped it.
    #[pyo3(signature = (jobs=None, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        jobs: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let stop = Stop::default();
        self.context.begin(&stop);
        let wish = || stop.wish();
        let (finished, stopped) = waiting::wait(py, wish, progress, |share| {
            let begun = Progress::load(&self.grid, &self.store)?.stopped_by(&stop);
            with_family!(self.families, F => begun.finish::<F>(jobs, &|done| share.set(done)).map(|_| ()))
        })?;
        self.context.check(py)?;
        match finished {
            Err(SweepError::Run(RunError::Stopped)) => Ok(true),
            finished => finished.map(|()| stopped).map_err(|error| errors::sweep(py, &error)),
        }
    }

    /// The results of what is done.
    fn results(&self, py: Python<'_>) -> PyResult<Swept> {
        let begun = Progress::load(&self.grid, &self.store).map_err(|error| errors::sweep(py, &error))?;
        let complete = begun.missing().is_empty();
        let parts = begun.into_done().parts;
        Ok(Swept { grid: Arc::clone(&self.grid), parts, complete })
    }

    /// What makes the results of some cells doubtful, in the command's words; empty if nothing does.
    #[getter]
    fn warnings(&self) -> String {
        let of_cell = |cell: &sweep::Cell| lint::before(&cell.plan, &self.grid.scenario_text);
        lint::render(&self.grid.scenario, &lint::once(self.grid.cells.iter().map(of_cell)))
    }

    /// Where its files are.
    #[getter]
    fn directory(&self) -> PathBuf {
        self.directory.clone()
    }
}

/// What a task says of protocols that Python has defined.
#[derive(serde::Deserialize)]
struct Protocols {
    #[serde(default)]
    protocols: Vec<protocol::Origin>,
}

/// Runs a task and gives the bytes of its part.
#[pyfunction]
pub(crate) fn run_task<'py>(py: Python<'py>, task: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let wrong = |error: serde_json::Error| {
        PyValueError::new_err(format!("this is not a task of this build: {error}"))
    };
    let Protocols { protocols } = serde_json::from_slice(task).map_err(wrong)?;
    protocol::fetch(py, &protocols)?;
    let task: Task = serde_json::from_slice(task).map_err(wrong)?;
    let run = || with_family!(Families::now(), F => task.run::<F>(BUILD));
    let (context, part) = py.detach(|| Context::reading(run));
    context.check(py)?;
    let part = part.map_err(|error| errors::sweep(py, &error))?;
    Ok(PyBytes::new(py, &part))
}

/// The results of a sweep.
#[pyclass(frozen, module = "layercast")]
pub(crate) struct Swept {
    grid: Arc<Grid>,
    parts: Vec<Vec<Part>>,
    /// Whether all replications of all cells are done.
    #[pyo3(get)]
    complete: bool,
}

impl Swept {
    fn blocks(&self) -> Vec<Block<'_>> {
        let grid = &*self.grid;
        let cells = grid.cells.iter().zip(&self.parts);
        let block = |(cell, parts)| {
            let cell: &'_ sweep::Cell = cell;
            let mut keys = vec![("cell", Key::Count(cell.number as u32))];
            let values = grid.values(cell);
            for ((axis, &index), value) in grid.axes.iter().zip(&cell.at).zip(values) {
                let number = axis.scale.as_ref().and_then(|scale| scale.numbers.get(index));
                keys.push((
                    axis.key.as_str(),
                    number.map_or(Key::Text(value), |number| Key::Number(*number)),
                ));
            }
            let parts: &'_ Vec<Part> = parts;
            Block { keys, experiment: &cell.experiment, parts, replications: &[] }
        };
        cells.map(block).collect()
    }

    fn outcome(&self) -> Outcome<'_> {
        Outcome { grid: &self.grid, parts: self.parts.clone() }
    }

    fn if_complete(&self) -> PyResult<Outcome<'_>> {
        match self.complete {
            true => Ok(self.outcome()),
            false => Err(PyValueError::new_err("the sweep is not complete")),
        }
    }
}

#[pymethods]
impl Swept {
    /// The keys and their values, in the order given.
    #[getter]
    fn axes(&self) -> Vec<Axis> {
        let axis = |axis: &sweep::Axis| Axis {
            key: axis.key.clone(),
            values: axis.values.clone(),
            numbers: axis.scale.as_ref().map(|scale| scale.numbers.clone()),
            unit: axis.scale.as_ref().map_or(String::new(), |scale| scale.unit.to_owned()),
        };
        self.grid.axes.iter().map(axis).collect()
    }

    /// The names of the reported metrics.
    #[getter]
    fn metrics(&self) -> Vec<&'static str> {
        self.grid.metrics.iter().map(|metric| metric.name).collect()
    }

    /// The scenario's own name.
    #[getter]
    fn title(&self) -> &str {
        self.grid.title()
    }

    /// The text of `sweep.json`.
    fn summary(&self) -> PyResult<String> {
        Ok(SweepSummary::new(&self.if_complete()?).to_json())
    }

    /// The command's table.
    fn text(&self) -> PyResult<String> {
        Ok(sweep::table::render(&self.if_complete()?, layercast_laboratory::results::table::WIDTH))
    }

    /// A row for each cell, replication, window and flow.
    fn flows(&self) -> PyResult<Table> {
        measured::flows(&self.blocks())
    }

    /// A row for each cell, replication, window and group.
    fn groups(&self) -> PyResult<Table> {
        measured::groups(&self.blocks())
    }

    /// A row for each cell, replication, window and link.
    fn links(&self) -> PyResult<Table> {
        measured::links(&self.blocks())
    }

    /// A row for each cell, window, flow, group or link, and reported metric.
    fn means(&self) -> PyResult<Table> {
        measured::means(&self.blocks(), &SweepSummary::new(&self.if_complete()?).cells)
    }

    /// Writes the files of `layercast sweep --out`.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let outcome = self.if_complete()?;
        let summary = SweepSummary::new(&outcome);
        sweep::write_all(&path, &outcome, &summary).map_err(|error| errors::results(py, &error))?;
        Ok(())
    }
}
