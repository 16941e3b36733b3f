//! `sweep.json`: the grid and the statistics of its cells, schema version 1.
//!
//! The published schema is `docs/sweep.schema.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::grid::Cell;
use super::metric::{Kind, Metric};
use super::part::{Measured, Part, PartWindow};
use super::runner::Outcome;
use crate::results::csv::Csv;
use crate::results::{FlowInfo, Statistic, json};

/// The version of the schema that this code writes and reads.
const SCHEMA: u32 = 1;

/// A sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepSummary {
    /// The schema's version, 1 now.
    pub schema: u32,
    /// The scenario's id or file name.
    pub scenario: String,
    /// The scenario's own name.
    pub title: String,
    /// A digest of the scenario with what is changed in all cells.
    pub scenario_hash: String,
    /// What is changed in all cells.
    pub overrides: Vec<String>,
    /// Where it ran.
    pub world: String,
    /// How many replications each cell has.
    pub replications: usize,
    /// The seed from which those of all cells come.
    pub seed: u64,
    /// The names of the reported metrics.
    pub metrics: Vec<String>,
    /// What differs between cells.
    pub keys: Vec<KeySummary>,
    /// Every cell; the last key changes first.
    pub cells: Vec<CellSummary>,
}

/// A key and its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeySummary {
    /// The dotted path.
    pub key: String,
    /// The values as they were given.
    pub values: Vec<String>,
    /// The unit of `numbers`; empty for plain numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The values in numbers, if all are quantities of one kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Vec<f64>>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellSummary {
    /// Its number, from 1.
    pub cell: usize,
    /// Its values, one for each key.
    pub values: Vec<String>,
    /// A digest of what decides its numbers.
    pub scenario_hash: String,
    /// The measurement windows; the first is the main one.
    pub windows: Vec<WindowSummary>,
}

/// What a cell did in a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowSummary {
    /// From and to, in seconds.
    pub window_s: [f64; 2],
    /// Every flow.
    pub flows: Vec<SubjectSummary>,
    /// Every group.
    pub groups: Vec<SubjectSummary>,
    /// Every link; none if no metric of links is reported.
    pub links: Vec<SubjectSummary>,
}

impl WindowSummary {
    /// Every flow, group and link, and which of the three it is.
    pub fn subjects(&self) -> impl Iterator<Item = (&'static str, &SubjectSummary)> {
        let kinds = [("flow", &self.flows), ("group", &self.groups), ("link", &self.links)];
        kinds.into_iter().flat_map(|(kind, subjects)| subjects.iter().map(move |subject| (kind, subject)))
    }
}

/// A flow, group or link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubjectSummary {
    /// Its name.
    pub name: String,
    /// The protocol's id, of flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Where it is measured, of flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// By metric, those that apply.
    #[serde(flatten)]
    pub measures: BTreeMap<String, Statistic>,
}

impl SweepSummary {
    /// Every statistic of every cell as comma-separated values: the keys come first.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut csv = Csv::new(self.keys.iter().map(|key| key.key.as_str()));
        for cell in &self.cells {
            let values: Vec<&str> = cell.values.iter().map(String::as_str).collect();
            for window in &cell.windows {
                window.subjects().for_each(|(kind, one)| csv.subject(&values, window.window_s, kind, one));
            }
        }
        csv.finish()
    }

    /// The statistics of a sweep.
    #[must_use]
    pub fn new(outcome: &Outcome<'_>) -> SweepSummary {
        let grid = outcome.grid;
        let keys = grid.axes.iter().map(|axis| KeySummary {
            key: axis.key.clone(),
            values: axis.values.clone(),
            unit: axis.scale.as_ref().map(|scale| scale.unit.to_owned()),
            numbers: axis.scale.as_ref().map(|scale| scale.numbers.clone()),
        });
        let cells = grid.cells.iter().zip(&outcome.parts).map(|(cell, parts)| CellSummary {
            cell: cell.number,
            values: grid.values(cell).into_iter().map(str::to_owned).collect(),
            scenario_hash: cell.experiment.scenario_hash.clone(),
            windows: windows(cell, parts, &grid.metrics),
        });
        SweepSummary {
            schema: SCHEMA,
            scenario: grid.scenario.clone(),
            title: grid.title().to_owned(),
            scenario_hash: grid.scenario_hash.clone(),
            overrides: grid.overrides.clone(),
            world: grid.cells.first().map_or("", |cell| cell.experiment.world).to_owned(),
            replications: grid.replications as usize,
            seed: grid.seed,
            metrics: grid.metrics.iter().map(|metric| metric.name.to_owned()).collect(),
            keys: keys.collect(),
            cells: cells.collect(),
        }
    }

    /// The file's text. The same sweep gives the same bytes.
    ///
    /// # Panics
    /// Never: every field has a JSON form and keys are strings.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::to_string(self).expect("a sweep always has a JSON form")
    }

    /// Reads the file's text.
    ///
    /// # Errors
    /// When it is not JSON, lacks a field or has another schema version.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let summary: Self = serde_json::from_str(text)?;
        if summary.schema == SCHEMA {
            return Ok(summary);
        }
        let message = format!("schema version {} is not known", summary.schema);
        Err(serde::de::Error::custom(message))
    }
}

fn windows(cell: &Cell, parts: &[Part], metrics: &[Metric]) -> Vec<WindowSummary> {
    let experiment = &cell.experiment;
    let over = |window, kind, of| Over { parts, metrics, window, kind, of };
    let windows = experiment.windows_s.iter().enumerate();
    windows
        .map(|(window, &window_s)| WindowSummary {
            window_s,
            flows: over(window, Kind::Flow, |window| &window.flows).subjects(&experiment.flows),
            groups: over(window, Kind::Group, |window| &window.groups).subjects(&[]),
            links: over(window, Kind::Link, |window| &window.links).subjects(&[]),
        })
        .collect()
}

/// The measures of one kind in one window of a cell.
struct Over<'a> {
    parts: &'a [Part],
    metrics: &'a [Metric],
    window: usize,
    kind: Kind,
    of: fn(&PartWindow) -> &Vec<Measured>,
}

impl Over<'_> {
    /// What was measured of a subject in each replication.
    fn measured(&self, subject: usize) -> impl Iterator<Item = &Measured> {
        self.parts.iter().filter_map(move |part| (self.of)(part.windows.get(self.window)?).get(subject))
    }

    fn subjects(&self, infos: &[FlowInfo]) -> Vec<SubjectSummary> {
        let metrics: Vec<&Metric> = self.metrics.iter().filter(|metric| metric.kind == self.kind).collect();
        let first = self.parts.first().and_then(|part| part.windows.get(self.window));
        let Some(first) = first.filter(|_| !metrics.is_empty()) else { return Vec::new() };
        let subjects = (self.of)(first).iter().enumerate();
        subjects
            .map(|(index, subject)| {
                let applies = metrics.iter().filter(|metric| subject.values.contains_key(metric.name));
                let measures = applies.map(|metric| {
                    let samples = self.measured(index).map(|measured| *measured.values.get(metric.name)?);
                    (metric.name.to_owned(), Statistic::new(samples))
                });
                SubjectSummary {
                    name: subject.name.clone(),
                    protocol: infos.get(index).map(|info| info.protocol.clone()),
                    node: infos.get(index).map(|info| info.node.clone()),
                    measures: measures.collect(),
                }
            })
            .collect()
    }
}
