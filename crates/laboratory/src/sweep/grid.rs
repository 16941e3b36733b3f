//! The cells of a sweep: every combination of the values, each read and checked as a scenario.

use layercast_core::family::Family;
use std::collections::BTreeMap;

use super::axis::Axis;
use super::error::{Mistake, SweepError, SweepErrors};
use super::metric::{self, Metric};
use crate::results::Experiment;
use crate::run::{self, RunRequest};
use crate::scenario::{self, Catalogue, Scenario, ScenarioError, ScenarioErrors, Subject};

/// Each cell has files of its own, so more do not help.
const MOST_CELLS: usize = 10_000;

/// A sweep request.
#[derive(Debug, Clone, Default)]
pub struct SweepRequest {
    /// The scenario's id or file name.
    pub id: String,
    /// The scenario file's text.
    pub text: String,
    /// What is changed in all cells: `KEY=VALUE`.
    pub overrides: Vec<String>,
    /// What differs between cells: `KEY=V1,V2,...`.
    pub vary: Vec<String>,
    /// The names of the metrics to report; empty for the default ones.
    pub metrics: Vec<String>,
    /// How many replications of each cell, if not the scenario's.
    pub replications: Option<u32>,
    /// The seed of all cells, if not the scenario's.
    pub seed: Option<u64>,
    /// The command line that repeats the sweep.
    pub command: String,
}

/// A sweep that was checked.
#[derive(Debug, Clone)]
pub struct Grid {
    /// The keys and their values.
    pub axes: Vec<Axis>,
    /// The cells; the last key changes first.
    pub cells: Vec<Cell>,
    /// The metrics reported for each cell.
    pub metrics: Vec<Metric>,
    /// How many replications each cell has.
    pub replications: u32,
    /// The seed of all cells.
    pub seed: u64,
    /// The overrides that hold for all cells and decide numbers, without the seed's.
    pub overrides: Vec<String>,
    /// The scenario's id or file name.
    pub scenario: String,
    /// The scenario's text with what is changed in all cells.
    pub scenario_text: String,
    /// A digest of the scenario with what is changed in all cells, but without what is varied.
    pub scenario_hash: String,
    /// The command line that repeats the sweep.
    pub command: String,
    /// The scenario's text as it was given.
    pub(super) text: String,
    /// What is changed in all cells, whether it decides numbers or not.
    pub(super) common: Vec<String>,
}

/// One combination of values.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its number, from 1.
    pub number: usize,
    /// For each key, which of its values.
    pub at: Vec<usize>,
    /// The scenario with these values.
    pub plan: Scenario,
    /// What the results need to know of it.
    pub experiment: Experiment,
}

impl Grid {
    /// Reads and checks a sweep: every cell is read as a scenario and built once.
    ///
    /// # Errors
    /// All mistakes in the scenario and the flags, each with its position; a cell that cannot be
    /// built.
    pub fn read<F: Family>(request: &SweepRequest) -> Result<Grid, SweepError> {
        let catalogue = &Catalogue::of::<F>();
        let (axes, mut mistakes) = read_axes(&request.vary);
        let metrics = metric::choose(&request.metrics, catalogue).unwrap_or_else(|errors| {
            mistakes.extend(errors.into_iter().map(Mistake::from));
            Vec::new()
        });
        let count = axes.iter().map(|axis| axis.values.len() as u128).product();
        if count > MOST_CELLS as u128 {
            return Err(SweepError::TooLarge { cells: count, most: MOST_CELLS });
        }
        let seed = request.seed.map(|seed| format!("seed={seed}"));
        let common: Vec<String> = request.overrides.iter().cloned().chain(seed).collect();
        let replications = request.replications.map(|count| format!("replications={count}"));
        let deciding: Vec<String> = common.iter().filter(|set| decides(set)).cloned().collect();
        let common: Vec<String> = common.into_iter().chain(replications).collect();
        let reader = Reader { request, catalogue, axes: &axes, common: &common, deciding: &deciding };
        // Flags that could not be read are left out, so that the rest is still checked.
        let cells = reader.cells(count as usize, mistakes)?;
        for cell in &cells {
            run::try_build::<F>(&cell.plan)
                .map_err(|source| SweepError::Cell { cell: settings(&axes, &cell.at), source })?;
        }
        let replications = cells.first().map_or(0, |cell| cell.plan.replications);
        let seed = cells.first().map_or(0, |cell| cell.plan.seed);
        let scenario_text = run::as_run(&request.text, &deciding);
        Ok(Grid {
            cells,
            metrics,
            replications,
            seed,
            scenario: request.id.clone(),
            scenario_hash: run::text_hash(&scenario_text),
            scenario_text,
            command: request.command.clone(),
            overrides: request.overrides.iter().filter(|set| decides(set)).cloned().collect(),
            axes,
            text: request.text.clone(),
            common,
        })
    }

    /// The values of a cell, one for each key.
    #[must_use]
    pub fn values(&self, cell: &Cell) -> Vec<&str> {
        self.axes
            .iter()
            .zip(&cell.at)
            .map(|(axis, &index)| axis.values.get(index).map_or("", String::as_str))
            .collect()
    }

    /// The common title of the cells.
    #[must_use]
    pub fn title(&self) -> &str {
        self.cells.first().map_or("", |cell| &cell.experiment.title)
    }
}

/// The valid flags, and the mistakes in the others.
fn read_axes(vary: &[String]) -> (Vec<Axis>, Vec<Mistake>) {
    let mut axes: Vec<Axis> = Vec::new();
    let mut mistakes: Vec<Mistake> = Vec::new();
    for flag in vary {
        match Axis::read(flag) {
            Ok(axis) if axes.iter().any(|other| other.key == axis.key) => {
                mistakes.push(axis.repeated().into());
            }
            Ok(axis) => axes.push(axis),
            Err(errors) => mistakes.extend(errors.into_iter().map(Mistake::from)),
        }
    }
    (axes, mistakes)
}

/// What only this cell changes: `KEY=VALUE`.
pub(super) fn own(axes: &[Axis], at: &[usize]) -> Vec<String> {
    axes.iter().zip(at).map(|(axis, &index)| axis.setting(index)).collect()
}

/// The scenario of a cell with all that is changed in it, and what the results need to know of it: among that a
/// digest of the text with what decides numbers.
pub(super) fn planned(
    id: &str,
    text: &str,
    all: &[String],
    deciding: &[String],
    command: &str,
    catalogue: &Catalogue,
) -> Result<(Scenario, Experiment), ScenarioErrors> {
    let mut plan = scenario::read(id, text, all, catalogue)?;
    // From probes a sweep reports the means over windows, for flows; links are measured without probes.
    plan.probes.retain(|probe| matches!(probe.subject, Subject::Flow(_)));
    let request = RunRequest {
        id: id.to_owned(),
        text: run::as_run(text, deciding),
        command: command.to_owned(),
        ..RunRequest::default()
    };
    // The text of all cells but for their values is the grid's; ten thousand of them are too much.
    let experiment = Experiment { scenario_text: String::new(), ..run::experiment(&plan, &request) };
    Ok((plan, experiment))
}

/// `KEY=VALUE, KEY=VALUE` of a cell.
fn settings(axes: &[Axis], at: &[usize]) -> String {
    own(axes, at).join(", ")
}

/// Whether an override decides numbers. The number of replications does not, so a
/// sweep may be extended.
pub(super) fn decides(set: &str) -> bool {
    set.split('=').next().is_none_or(|key| key.trim() != "replications")
}

struct Reader<'a> {
    request: &'a SweepRequest,
    catalogue: &'a Catalogue,
    axes: &'a [Axis],
    /// What is changed in all cells.
    common: &'a [String],
    /// The part of it that decides numbers.
    deciding: &'a [String],
}

impl Reader<'_> {
    fn cells(&self, count: usize, mut mistakes: Vec<Mistake>) -> Result<Vec<Cell>, SweepErrors> {
        let mut cells = Vec::with_capacity(count);
        let mut wrong = Wrong::default();
        for number in 1..=count {
            let at = self.at(number - 1);
            match self.cell(number, &at) {
                Ok(cell) => cells.push(cell),
                Err(errors) => errors.into_iter().for_each(|error| self.book(error, &at, &mut wrong)),
            }
        }
        mistakes.extend(wrong.into_mistakes(count));
        if mistakes.is_empty() { Ok(cells) } else { Err(SweepErrors(mistakes)) }
    }

    /// Which values cell `index` has, counted from 0: the last key changes first.
    fn at(&self, index: usize) -> Vec<usize> {
        let mut rest = index;
        let mut at: Vec<usize> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            let values = axis.values.len().max(1);
            at.push(rest % values);
            rest /= values;
        }
        at.reverse();
        at
    }

    fn cell(&self, number: usize, at: &[usize]) -> Result<Cell, Vec<ScenarioError>> {
        let SweepRequest { id, text, command, .. } = self.request;
        let own = own(self.axes, at);
        let all = [self.common, &own].concat();
        let deciding = [self.deciding, &own].concat();
        let (plan, experiment) =
            planned(id, text, &all, &deciding, command, self.catalogue).map_err(|errors| errors.0)?;
        Ok(Cell { number, at: at.to_vec(), plan, experiment })
    }

    fn book(&self, error: ScenarioError, at: &[usize], wrong: &mut Wrong) {
        // Sources are the file, then what is changed in all cells, then one for each key.
        let axis = error.source.checked_sub(self.common.len() + 1);
        match axis.and_then(|axis| self.axes.get(axis).zip(at.get(axis))) {
            Some((axis, &index)) => wrong.add(axis.relocate(error, index), None),
            None => wrong.add(error, Some(settings(self.axes, at))),
        }
    }
}

/// The mistakes, each once, in the order of their positions, with the affected cells.
#[derive(Default)]
struct Wrong(BTreeMap<CellKey, (ScenarioError, Vec<String>)>);

/// The order of mistakes: source, flag, line, column, message.
type CellKey = (usize, String, usize, usize, String);

impl Wrong {
    fn add(&mut self, error: ScenarioError, cell: Option<String>) {
        // Flags come after the file and what is set, in the order of their text.
        let source = if cell.is_some() { error.source } else { usize::MAX };
        let text = if cell.is_some() { String::new() } else { error.source_line.clone() };
        let place = (source, text, error.line, error.column, error.message.clone());
        self.0.entry(place).or_insert((error, Vec::new())).1.extend(cell);
    }

    fn into_mistakes(self, cells: usize) -> Vec<Mistake> {
        let mistakes = self.0.into_values().map(|(error, mut found)| {
            let in_all = found.is_empty() || found.len() == cells;
            let more = found.len().saturating_sub(1);
            let first = (!in_all).then(|| found.swap_remove(0));
            let cells = first.map(|first| match more {
                0 => format!("the cell {first}"),
                _ => format!("the cell {first} and {more} more"),
            });
            Mistake { error, cells }
        });
        mistakes.collect()
    }
}
