//! The scoreboard: the verdict on every protocol in every cell, and their totals.

use std::collections::BTreeMap;

use serde::Serialize;

use super::prepare::{Cell, Entry, Prepared};
use super::runner::Done;
use super::store::Record;
use super::verdict::{Verdict, place, rank};
use crate::results::{Statistic, json};
use crate::scenario::suite::{Criterion, Measure, Part};

/// The version of `scoreboard.json`.
pub const SCHEMA: u32 = 1;

/// A scoreboard.
#[derive(Debug, Clone, Serialize)]
pub struct Scoreboard {
    /// The version of this form, [`SCHEMA`].
    pub schema: u32,
    /// The suite's own name.
    pub title: String,
    /// The suite's file, or the name of the built-in one.
    pub suite: String,
    /// What the suite is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The version of Layercast.
    pub layercast: String,
    /// Whether it is the brief version.
    pub brief: bool,
    /// The seed of all cells.
    pub seed: u64,
    /// The command that repeats it.
    pub command: String,
    /// The protocols, in the order of the columns.
    pub protocols: Vec<String>,
    /// Of each protocol, in the same order.
    pub totals: Vec<Total>,
    /// The cells, in the order of the suite.
    pub cells: Vec<CellRow>,
}

/// A cell.
#[derive(Debug, Clone, Serialize)]
pub struct CellRow {
    /// Its name.
    pub name: String,
    /// Its part.
    pub part: &'static str,
    /// What happens in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Where it comes from.
    pub source: String,
    /// The scenario.
    pub scenario: String,
    /// What is changed in it.
    pub set: Vec<String>,
    /// How many replications each protocol has.
    pub replications: u32,
    /// What is judged.
    pub measure: &'static str,
    /// Its unit; empty for plain numbers.
    pub unit: &'static str,
    /// What is good, in words.
    pub criterion: String,
    /// Of each protocol, in the order of the columns.
    pub results: Vec<ResultRow>,
}

/// A protocol in a cell.
#[derive(Debug, Clone, Serialize)]
pub struct ResultRow {
    /// The protocol.
    pub protocol: String,
    /// What came of it.
    pub verdict: Verdict,
    /// Why it did not take part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is judged.
    pub value: Statistic,
    /// Of cells of papers: how good it is as a share of the best, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_best: Option<f64>,
    /// The means of all measures that have a value.
    pub measures: BTreeMap<&'static str, f64>,
    /// The name of the file with its results under `results`; none if it did not take part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The command that repeats its runs alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The totals of a protocol.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Total {
    /// The protocol.
    pub protocol: String,
    /// Over the cells of papers.
    pub papers: PapersTotal,
    /// Over the cells of networks of today.
    pub modern: ModernTotal,
}

/// A protocol in the cells of papers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PapersTotal {
    /// In how many it took part.
    pub cells: usize,
    /// In how many it is best, or within the interval of the best.
    pub best: usize,
    /// Those in which it is below half of the best.
    pub below_half: Vec<String>,
    /// In how many it did not take part.
    pub not_run: usize,
}

/// A protocol in the cells of networks of today.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ModernTotal {
    /// In how many it took part.
    pub cells: usize,
    /// In how many it is in band.
    pub in_band: usize,
    /// Those in which it starves or starves others.
    pub starves: Vec<String>,
    /// In how many it did not take part.
    pub not_run: usize,
}

impl Scoreboard {
    /// Judges the results of runs, which are in the order of those prepared.
    #[must_use]
    pub fn new(prepared: &Prepared, done: &[Done]) -> Scoreboard {
        let cells: Vec<CellRow> =
            prepared.cells.iter().map(|cell| Judging { prepared, done, cell }.row()).collect();
        let request = &prepared.request;
        Scoreboard {
            schema: SCHEMA,
            title: request.suite.name.clone(),
            suite: request.suite.file.clone(),
            description: request.suite.description.clone(),
            layercast: env!("CARGO_PKG_VERSION").to_owned(),
            brief: request.brief,
            seed: request.seed.unwrap_or(request.suite.seed),
            command: request.command.clone(),
            totals: prepared.protocols.iter().map(|protocol| total(protocol, &cells)).collect(),
            protocols: prepared.protocols.clone(),
            cells,
        }
    }

    /// The cells of a part.
    pub fn part(&self, part: Part) -> impl Iterator<Item = &CellRow> {
        self.cells.iter().filter(move |cell| cell.part == part.name())
    }

    /// The text of `scoreboard.json`. The same scoreboard gives the same bytes.
    ///
    /// # Panics
    /// Never: every field has a JSON form and keys are strings.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::to_string(self).expect("a scoreboard always has a JSON form")
    }
}

/// One cell and all results.
struct Judging<'a> {
    prepared: &'a Prepared,
    done: &'a [Done],
    cell: &'a Cell,
}

impl<'a> Judging<'a> {
    /// The results of a protocol, or why there are none.
    fn record(&self, entry: &'a Entry) -> Result<&'a Record, &'a str> {
        match entry {
            Entry::NotRun(reason) => Err(reason),
            Entry::Run(run) => match self.done.get(*run) {
                Some(Done::Record(record)) => Ok(record),
                Some(Done::Failed(reason)) => Err(reason),
                None => Err("it was not run"),
            },
        }
    }

    fn row(&self) -> CellRow {
        let plan = &self.cell.plan;
        let baseline = self.cell.baseline.and_then(|run| match self.done.get(run) {
            Some(Done::Record(record)) => Some(record.as_ref()),
            _ => None,
        });
        let records: Vec<Result<&Record, &str>> =
            self.cell.entries.iter().map(|entry| self.record(entry)).collect();
        let statistic = |record: &Record| record.statistic(plan.measure, baseline);
        let values: Vec<Option<Statistic>> =
            records.iter().map(|record| record.ok().map(statistic)).collect();
        let verdicts = self.verdicts(&records, &values);
        let results = self.prepared.protocols.iter().zip(records).zip(values).zip(verdicts);
        let results = results.map(|(((protocol, record), value), (verdict, of_best))| ResultRow {
            protocol: protocol.clone(),
            verdict,
            reason: record.err().map(str::to_owned),
            value: value.unwrap_or_default(),
            of_best,
            measures: record.map(|record| means(record, baseline)).unwrap_or_default(),
            key: record.ok().map(|record| record.key.clone()),
            command: record.ok().map(|record| record.command.clone()),
        });
        CellRow {
            name: plan.name.clone(),
            part: plan.part.name(),
            about: plan.about.clone(),
            source: plan.source.clone(),
            scenario: plan.scenario.clone(),
            set: self.cell.set.clone(),
            replications: self.cell.replications,
            measure: plan.measure.name(),
            unit: plan.measure.unit(),
            criterion: plan.criterion.to_string(),
            results: results.collect(),
        }
    }

    /// Of each protocol the verdict, and in cells of papers its share of the best.
    fn verdicts(
        &self,
        records: &[Result<&Record, &str>],
        values: &[Option<Statistic>],
    ) -> Vec<(Verdict, Option<f64>)> {
        let not_run = (Verdict::NotRun, None);
        match self.cell.plan.criterion {
            Criterion::Better { direction, negligible } => {
                let given: Vec<Option<&Statistic>> = values.iter().map(Option::as_ref).collect();
                let ranked = rank(&given, direction, negligible);
                let one = |(value, ranked): (&Option<Statistic>, super::verdict::Ranked)| match value {
                    Some(_) => (ranked.verdict, Some(ranked.of_best)),
                    None => not_run,
                };
                values.iter().zip(ranked).map(one).collect()
            }
            Criterion::Band { band, starve } => {
                let one = |(value, record): (&Option<Statistic>, &Result<&Record, &str>)| {
                    let Some((value, record)) = value.as_ref().zip(record.ok()) else { return not_run };
                    (place(value, self.extremes(record), band, starve), None)
                };
                values.iter().zip(records).map(one).collect()
            }
        }
    }

    /// Of shares, those of the receivers that have the least and the most.
    fn extremes(&self, record: &Record) -> Option<(f64, f64)> {
        if self.cell.plan.measure != Measure::Share {
            return None;
        }
        let mean = |measure: Measure| record.statistic(measure, None).mean;
        mean(Measure::LeastShare).zip(mean(Measure::GreatestShare))
    }
}

fn means(record: &Record, baseline: Option<&Record>) -> BTreeMap<&'static str, f64> {
    let mean = |measure: &Measure| Some((measure.name(), record.statistic(*measure, baseline).mean?));
    Measure::ALL.iter().filter_map(mean).collect()
}

fn total(protocol: &str, cells: &[CellRow]) -> Total {
    let (mut papers, mut modern) = (PapersTotal::default(), ModernTotal::default());
    for cell in cells {
        let found = cell.results.iter().find(|result| result.protocol == protocol);
        let Some(verdict) = found.map(|result| result.verdict) else { continue };
        let is_of_papers = cell.part == Part::Papers.name();
        if verdict == Verdict::NotRun {
            *(if is_of_papers { &mut papers.not_run } else { &mut modern.not_run }) += 1;
            continue;
        }
        *(if is_of_papers { &mut papers.cells } else { &mut modern.cells }) += 1;
        match verdict {
            Verdict::Best => papers.best += 1,
            Verdict::BelowHalf => papers.below_half.push(cell.name.clone()),
            Verdict::InBand => modern.in_band += 1,
            Verdict::Starves => modern.starves.push(cell.name.clone()),
            Verdict::Behind | Verdict::OutOfBand | Verdict::NotRun => {}
        }
    }
    Total { protocol: protocol.to_owned(), papers, modern }
}
