//! Both worlds side by side.

use serde::Serialize;

use super::SCHEMA;
use super::measure::Measure;
use super::verdict::{FEWEST, Verdict, Worlds, judge};
use crate::results::summary::{FlowSummary, LinkSummary};
use crate::results::text::{counted, decimal};
use crate::results::{Statistic, Summary, json};

/// One scenario in both worlds.
#[derive(Debug, Clone, Serialize)]
pub struct Agreement {
    /// The schema's version, [`SCHEMA`].
    pub schema: u32,
    /// The scenario's id or file name.
    pub scenario: String,
    /// The scenario's own name.
    pub title: String,
    /// The main measurement window, in seconds.
    pub window_s: [f64; 2],
    /// How many simulated replications there are.
    pub simulated_replications: usize,
    /// How many emulated replications there are.
    pub emulated_replications: usize,
    /// The emulated replications whose packets were too late: with any, all verdicts are `unknown`.
    pub invalid: Vec<u32>,
    /// The seed of both.
    pub seed: u64,
    /// The tolerance, as a share of the simulated mean.
    pub tolerance: f64,
    /// What was found, in words.
    pub text: String,
    /// Each measure of each flow and each link.
    pub rows: Vec<Row>,
    /// The command that repeats both.
    pub command: String,
    /// What is known of how late packets were, in words.
    pub lateness: String,
}

/// One measure of one flow or link.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The flow or link, as the tables name it.
    pub name: String,
    /// Whether it is a link.
    pub is_link: bool,
    /// What was measured.
    pub measure: Measure,
    /// In the simulated world.
    pub simulated: Statistic,
    /// In the emulated world.
    pub emulated: Statistic,
    /// The emulated mean minus the simulated one; none where one is missing.
    pub difference: Option<f64>,
    /// The same over the simulated mean; none where that is zero.
    pub relative: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

impl Agreement {
    /// Compares two summaries of one scenario. Flows and links that are in one of them alone are left out, as are links
    /// that carried nothing in either. `tolerance` is a share of the simulated mean; `command` repeats both.
    #[must_use]
    pub fn new(simulated: &Summary, emulated: &Summary, tolerance: f64, command: &str) -> Agreement {
        let lateness = emulated.lateness.as_ref();
        let invalid = lateness.map_or_else(Vec::new, |lateness| lateness.invalid.clone());
        let rows: Vec<Row> = flows(simulated, emulated)
            .chain(links(simulated, emulated))
            .map(|found| found.row(tolerance, invalid.is_empty()))
            .collect();
        let mut agreement = Agreement {
            schema: SCHEMA,
            scenario: simulated.scenario.clone(),
            title: simulated.title.clone(),
            window_s: simulated.window_s,
            simulated_replications: simulated.replications,
            emulated_replications: emulated.replications,
            invalid,
            seed: simulated.seed,
            tolerance,
            text: String::new(),
            rows,
            command: command.to_owned(),
            lateness: lateness.map_or_else(String::new, |lateness| lateness.sentence()),
        };
        agreement.text = words(&agreement);
        agreement
    }

    /// How many rows have a verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// The text of `agree.json`. The same agreement gives the same bytes.
    ///
    /// # Panics
    /// Never: every field has a JSON form and keys are strings.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::to_string(self).expect("an agreement always has a JSON form")
    }
}

/// A measure in both worlds, before it is judged.
struct Found {
    name: String,
    is_link: bool,
    measure: Measure,
    simulated: Statistic,
    emulated: Statistic,
}

impl Found {
    fn row(self, tolerance: f64, is_valid: bool) -> Row {
        let Found { name, is_link, measure, simulated, emulated } = self;
        let verdict =
            judge(measure, Worlds { simulated: &simulated, emulated: &emulated, is_valid }, tolerance);
        let difference = simulated.mean.zip(emulated.mean).map(|(one, other)| other - one);
        let relative = difference
            .zip(simulated.mean.filter(|mean| *mean != 0.0))
            .map(|(difference, mean)| difference / mean);
        Row { name, is_link, measure, simulated, emulated, difference, relative, verdict }
    }
}

fn flows(simulated: &Summary, emulated: &Summary) -> impl Iterator<Item = Found> {
    let pairs = simulated.flows.iter().filter_map(|one| {
        let other = emulated.flows.iter().find(|other| other.name == one.name)?;
        Some((one, other))
    });
    pairs.flat_map(|(one, other)| {
        type Of = fn(&FlowSummary) -> Option<&Statistic>;
        let measures: [(Measure, Of); 3] = [
            (Measure::ThroughputKbps, |flow| Some(&flow.measures.throughput_kbps)),
            (Measure::LossRate, |flow| Some(&flow.measures.loss_rate)),
            (Measure::LevelChanges, |flow| flow.measures.level_changes.as_ref()),
        ];
        measures.into_iter().filter_map(|(measure, of)| {
            let (simulated, emulated) = (of(one)?.clone(), of(other)?.clone());
            Some(Found { name: one.name.clone(), is_link: false, measure, simulated, emulated })
        })
    })
}

fn links(simulated: &Summary, emulated: &Summary) -> impl Iterator<Item = Found> {
    let pairs = simulated.links.iter().filter_map(|one| {
        let other = emulated.links.iter().find(|other| other.name == one.name)?;
        Some((one, other))
    });
    let carried = |link: &LinkSummary| {
        let packets = link.packets.as_ref().and_then(|packets| packets.mean);
        packets.is_some_and(|packets| packets > 0.0) || link.drops.mean.is_some_and(|drops| drops > 0.0)
    };
    pairs.filter(move |(one, other)| carried(one) || carried(other)).flat_map(|(one, other)| {
        type Of = fn(&LinkSummary) -> Statistic;
        let measures: [(Measure, Of); 3] = [
            (Measure::Utilisation, |link| link.utilisation.clone()),
            (Measure::LossRate, loss_rate),
            (Measure::MeanQueuePackets, |link| link.mean_queue_packets.clone()),
        ];
        measures.into_iter().filter_map(|(measure, of)| {
            let (simulated, emulated) = (of(one), of(other));
            // A link without a rate is never busy.
            (simulated.mean.is_some() || emulated.mean.is_some()).then(|| Found {
                name: one.name.clone(),
                is_link: true,
                measure,
                simulated,
                emulated,
            })
        })
    })
}

/// What a link dropped of all that came.
fn loss_rate(link: &LinkSummary) -> Statistic {
    let packets = link.packets.iter().flat_map(|packets| packets.samples.iter().copied());
    Statistic::new(packets.zip(&link.drops.samples).map(|(packets, drops)| {
        let (packets, drops) = (packets?, (*drops)?);
        Some(if drops > 0.0 { drops / (packets + drops) } else { 0.0 })
    }))
}

/// What was found, in a sentence or two.
fn words(agreement: &Agreement) -> String {
    let count = |verdict| agreement.count(verdict);
    let per_cent = decimal(agreement.tolerance * 100.0, 0);
    let mut text = format!(
        "Of {}, {} within {per_cent} % or by their intervals, {}, and {}.",
        counted(agreement.rows.len(), "row"),
        match count(Verdict::Agrees) {
            1 => "1 agrees".to_owned(),
            count => format!("{count} agree"),
        },
        match count(Verdict::Differs) {
            1 => "1 differs".to_owned(),
            count => format!("{count} differ"),
        },
        match count(Verdict::Unknown) {
            1 => "1 is unknown".to_owned(),
            count => format!("{count} are unknown"),
        },
    );
    if !agreement.invalid.is_empty() {
        text.push_str(
            " Nothing can be said of the emulated world, since the emulator was too late: see which replications below.",
        );
    } else if agreement.simulated_replications.min(agreement.emulated_replications) < FEWEST {
        text.push_str(&format!(
            " Verdicts need {FEWEST} replications of each world (--replications, --emulated-replications)."
        ));
    }
    let differing = agreement.rows.iter().filter(|row| row.verdict == Verdict::Differs);
    let size = |row: &Row| row.relative.map_or(f64::INFINITY, f64::abs);
    if let Some(row) = differing.max_by(|one, other| size(one).total_cmp(&size(other))) {
        let number =
            |statistic: &Statistic| statistic.mean.map_or_else(String::new, |mean| row.measure.number(mean));
        text.push_str(&format!(
            " Farthest apart: {} of {}, {} simulated and {} emulated.",
            match row.measure {
                Measure::ThroughputKbps => "throughput",
                Measure::Utilisation => "utilisation",
                other => other.title(),
            },
            row.name,
            number(&row.simulated),
            number(&row.emulated),
        ));
    }
    text
}
