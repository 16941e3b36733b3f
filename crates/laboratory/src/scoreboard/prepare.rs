//! From a suite to the runs that it asks for: every protocol in every cell.

use std::collections::BTreeMap;

use layercast_core::session::Rates;
use sha2::{Digest, Sha256};

use super::error::ScoreboardError;
use crate::compare::{self, Candidate, CompareError, CompareRequest};
use crate::results::Experiment;
use crate::run::{self, RunRequest};
use crate::scenario::naming::matches;
use crate::scenario::suite::{CellPlan, Suite};
use crate::scenario::{Catalogue, ProtocolPlan, Scenario, ScenarioError};

/// The version of the files with results: another one has other measures.
pub(super) const RESULTS: u32 = 1;

/// The scoreboard to make.
#[derive(Debug, Clone)]
pub struct ScoreboardRequest {
    /// The suite.
    pub suite: Suite,
    /// Whether the brief version is wanted.
    pub brief: bool,
    /// The protocols; all with layers that the suite does not except, if empty.
    pub protocols: Vec<String>,
    /// Patterns of the cells' names; all if empty.
    pub cells: Vec<String>,
    /// Settings of single protocols in all cells: `PROTOCOL.OPTION=VALUE`.
    pub with: Vec<String>,
    /// How many replications each protocol has in every cell, if not what the suite says.
    pub replications: Option<u32>,
    /// The seed, if not the suite's.
    pub seed: Option<u64>,
    /// The command that repeats it.
    pub command: String,
}

/// What is to be run and how it will be judged.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// What was asked for.
    pub request: ScoreboardRequest,
    /// The protocols, in the order of the columns.
    pub protocols: Vec<String>,
    /// The cells.
    pub cells: Vec<Cell>,
    /// The runs, each once, though several cells may be judged by it.
    pub runs: Vec<Run>,
}

/// A cell and its runs.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The cell of the suite.
    pub plan: CellPlan,
    /// All changes of its scenario, of the brief version too.
    pub set: Vec<String>,
    /// How many replications each protocol has.
    pub replications: u32,
    /// The seed.
    pub seed: u64,
    /// In the order of the protocols.
    pub entries: Vec<Entry>,
    /// The run without multicast, where the measure refers to it.
    pub baseline: Option<usize>,
}

/// A protocol in a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Its run, by its index.
    Run(usize),
    /// Why it cannot take part.
    NotRun(String),
}

/// A run: one protocol, or none, in one scenario.
#[derive(Debug, Clone)]
pub struct Run {
    /// A digest of everything that decides its results.
    pub key: String,
    /// The first cell that asks for it.
    pub cell: String,
    /// The protocol with its scenario.
    pub candidate: Candidate,
    /// The protocol's options with their values.
    pub options: BTreeMap<String, String>,
    /// The scenario as results know it.
    pub experiment: Experiment,
    /// Patterns of the flows that it is judged against.
    pub against: Vec<String>,
    /// The rate that measures refer to, in kbit/s.
    pub target_kbps: Option<f64>,
}

impl Run {
    /// How many replications it has.
    #[must_use]
    pub fn replications(&self) -> u32 {
        self.candidate.plan.replications
    }

    /// What a step of the progress costs, in no unit: about in proportion to the packets that are carried.
    pub(super) fn weight(&self) -> f64 {
        let plan = &self.candidate.plan;
        let links = plan.links.iter().flat_map(|link| [&link.forward]);
        let limited = links.filter(|link| link.queue.is_limited()).map(|link| link.rate.as_kbps());
        let rate: f64 = limited.filter(|rate| rate.is_finite()).sum();
        let receivers: usize = plan.sessions.iter().map(|session| session.receivers.len()).sum();
        rate.max(1000.0) * (1.0 + receivers as f64 / 20.0)
    }
}

/// Puts every protocol into every cell, and finds out which cannot take part.
///
/// # Errors
/// Unknown protocols, no cell, and mistakes of a cell's scenario or of a setting.
pub fn prepare(request: ScoreboardRequest, catalogue: &Catalogue) -> Result<Prepared, ScoreboardError> {
    let protocols = protocols(&request, catalogue)?;
    let plans = cells(&request)?;
    let mut runs = Runs::default();
    let mut cells = Vec::with_capacity(plans.len());
    for plan in plans {
        let placing = Placing { request: &request, plan, catalogue };
        cells.push(placing.cell(&protocols, &mut runs)?);
    }
    Ok(Prepared { protocols, cells, runs: runs.all, request })
}

fn protocols(request: &ScoreboardRequest, catalogue: &Catalogue) -> Result<Vec<String>, ScoreboardError> {
    let known = catalogue.names();
    for (index, name) in request.protocols.iter().enumerate() {
        let wrong = if !known.contains(&name.as_str()) {
            CompareError::unknown_protocol(name, &known)
        } else if request.protocols[..index].contains(name) {
            CompareError::Twice { name: name.clone() }
        } else {
            continue;
        };
        return Err(ScoreboardError::Protocols(wrong));
    }
    if let Some(flag) =
        request.with.iter().find(|flag| !owner(flag).is_some_and(|name| known.contains(&name)))
    {
        return Err(ScoreboardError::Protocols(CompareError::With { flag: flag.clone() }));
    }
    if !request.protocols.is_empty() {
        return Ok(request.protocols.clone());
    }
    let has_layers = |name: &&str| {
        let plan = catalogue.named(name);
        plan.is_some_and(|plan| plan.requirements().character().rates == Rates::Layers)
    };
    let excepted = |name: &&str| request.suite.except.iter().any(|except| except == name);
    Ok(known.into_iter().filter(has_layers).filter(|name| !excepted(name)).map(str::to_owned).collect())
}

/// The protocol of a setting.
fn owner(flag: &str) -> Option<&str> {
    flag.split_once('.').map(|(protocol, _)| protocol)
}

fn cells(request: &ScoreboardRequest) -> Result<Vec<&CellPlan>, ScoreboardError> {
    let in_version = |cell: &&CellPlan| !request.brief || cell.brief.is_some();
    let all: Vec<&CellPlan> = request.suite.cells.iter().filter(in_version).collect();
    if all.is_empty() {
        return Err(ScoreboardError::NotBrief);
    }
    let fits_none = |pattern: &&String| !all.iter().any(|cell| matches(pattern, &cell.name));
    if let Some(pattern) = request.cells.iter().find(fits_none) {
        let known: Vec<&str> = all.iter().map(|cell| cell.name.as_str()).collect();
        return Err(ScoreboardError::NoCell { pattern: pattern.clone(), known: known.join(", ") });
    }
    let is_chosen = |cell: &&CellPlan| {
        request.cells.is_empty() || request.cells.iter().any(|pattern| matches(pattern, &cell.name))
    };
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// The runs by their keys.
#[derive(Default)]
struct Runs {
    all: Vec<Run>,
    known: BTreeMap<String, usize>,
}

impl Runs {
    fn add(&mut self, run: Run) -> usize {
        let index = *self.known.entry(run.key.clone()).or_insert(self.all.len());
        if index == self.all.len() {
            self.all.push(run);
        }
        index
    }
}

struct Placing<'a> {
    request: &'a ScoreboardRequest,
    plan: &'a CellPlan,
    catalogue: &'a Catalogue,
}

impl Placing<'_> {
    fn cell(&self, protocols: &[String], runs: &mut Runs) -> Result<Cell, ScoreboardError> {
        let (request, plan) = (self.request, self.plan);
        let mut set = plan.set.clone();
        if request.brief {
            set.extend(plan.brief.iter().flatten().cloned());
        }
        let suite = &request.suite;
        let usual = match (request.brief, plan.replications) {
            (true, own) => own.unwrap_or(u32::MAX).min(suite.brief_replications),
            (false, own) => own.unwrap_or(suite.replications),
        };
        let replications = request.replications.unwrap_or(usual);
        let seed = request.seed.unwrap_or(suite.seed);
        let compared = CompareRequest {
            id: plan.scenario.clone(),
            text: plan.text.clone(),
            overrides: set.clone(),
            sessions: plan.sessions.clone(),
            replications: Some(replications),
            seed: Some(seed),
            ..CompareRequest::default()
        };
        let (mut entries, mut baseline) = (Vec::with_capacity(protocols.len()), None);
        for protocol in protocols {
            let compared = CompareRequest {
                protocols: vec![protocol.clone()],
                with: self.with(protocol),
                ..compared.clone()
            };
            entries.push(match compare::read(&compared, self.catalogue) {
                Ok(mut prepared) => {
                    if plan.measure.relative_to_baseline().is_some() && baseline.is_none() {
                        baseline = prepared.baseline.map(|candidate| runs.add(self.run(candidate)));
                    }
                    let candidate = prepared.candidates.remove(0);
                    self.check(&candidate)?;
                    Entry::Run(runs.add(self.run(candidate)))
                }
                Err(error) => match error.refusals().or_else(|| self.refused_for_all(&error)) {
                    Some(refused) => Entry::NotRun(reason(&refused)),
                    None => return Err(self.wrong(error)),
                },
            });
        }
        Ok(Cell { plan: plan.clone(), set, replications, seed, entries, baseline })
    }

    /// The settings of a protocol: those of the cell, those that every protocol gets that knows them, the user's.
    fn with(&self, protocol: &str) -> Vec<String> {
        let is_own = |flag: &&String| owner(flag) == Some(protocol);
        let of_all = self.plan.with.iter().filter_map(|flag| flag.strip_prefix("*."));
        let mut all: Vec<String> = of_all.map(|setting| format!("{protocol}.{setting}")).collect();
        all.extend(self.plan.with.iter().filter(is_own).cloned());
        let (options, plan) = (self.catalogue.options(protocol), self.catalogue.named(protocol));
        let takes_marks = plan.is_some_and(ProtocolPlan::reacts_to_marks);
        let knows = |setting: &&String| match setting.split('=').next().unwrap_or_default().trim() {
            "ecn" => takes_marks,
            name => options.iter().any(|option| option.name == name),
        };
        let known = self.plan.options_if_known.iter().filter(knows);
        all.extend(known.map(|setting| format!("{protocol}.{setting}")));
        all.extend(self.request.with.iter().filter(is_own).cloned());
        all
    }

    /// A protocol that cannot carry what the cell gives to every one does not take part; a mistake in a setting of its
    /// own is one.
    fn refused_for_all(&self, error: &CompareError) -> Option<Vec<compare::Rejected>> {
        let CompareError::Candidate { protocol, errors } = error else { return None };
        let of_all = |error: &ScenarioError| {
            let setting = error.source_line.strip_prefix(protocol.as_str())?.strip_prefix('.')?;
            self.plan.with.iter().any(|flag| flag.strip_prefix("*.") == Some(setting)).then_some(())
        };
        errors
            .0
            .iter()
            .all(|error| of_all(error).is_some())
            .then(|| vec![compare::Rejected::new(protocol, errors)])
    }

    /// A change of the cell that gives a session its protocol would put that in place of all.
    fn check(&self, candidate: &Candidate) -> Result<(), ScoreboardError> {
        let judged =
            candidate.plan.sessions.iter().filter(|session| candidate.sessions.contains(&session.name));
        match judged.into_iter().find(|session| session.protocol.name() != candidate.protocol) {
            Some(session) => Err(ScoreboardError::OtherProtocol {
                cell: self.plan.name.clone(),
                line: self.plan.line,
                file: self.request.suite.file.clone(),
                session: session.name.clone(),
            }),
            None => Ok(()),
        }
    }

    fn wrong(&self, error: CompareError) -> ScoreboardError {
        let (cell, line) = (self.plan.name.clone(), self.plan.line);
        ScoreboardError::Cell { cell, line, file: self.request.suite.file.clone(), error: Box::new(error) }
    }

    fn run(&self, candidate: Candidate) -> Run {
        let described = RunRequest {
            id: candidate.scenario.clone(),
            text: candidate.text.clone(),
            command: candidate.command.clone(),
            ..RunRequest::default()
        };
        // The hash is over the text; the text itself would be stored for every run.
        let described = run::experiment(&candidate.plan, &described);
        let experiment = Experiment { scenario_text: String::new(), ..described };
        let options = options(&candidate.plan, &candidate.sessions);
        let (against, target_kbps) = (self.plan.against.clone(), self.plan.target_kbps);
        let key = key(&candidate, &options, &experiment, &against, target_kbps);
        Run { key, cell: self.plan.name.clone(), candidate, options, experiment, against, target_kbps }
    }
}

fn reason(refused: &[compare::Rejected]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    // Several sessions have the same one.
    for reason in refused.iter().flat_map(|refused| &refused.reasons) {
        if !reasons.contains(&reason.as_str()) {
            reasons.push(reason);
        }
    }
    reasons.join("; ")
}

/// The options of the protocol in the first of its sessions.
fn options(plan: &Scenario, sessions: &[String]) -> BTreeMap<String, String> {
    let session = plan.sessions.iter().find(|session| sessions.contains(&session.name));
    let Some(session) = session else { return BTreeMap::new() };
    let names = session.protocol.option_specs().into_iter().map(|option| option.name);
    names.filter_map(|name| Some((name.to_owned(), session.protocol.get_option(name)?))).collect()
}

/// A digest of all that decides results: the scenario as it is run with its files, seed and replications, the
/// protocol with all its options, what it is judged against, and the version of this program.
fn key(
    candidate: &Candidate,
    options: &BTreeMap<String, String>,
    experiment: &Experiment,
    against: &[String],
    target_kbps: Option<f64>,
) -> String {
    let parts = format!(
        "{} {} {} {} {:?} {} {} {options:?} {against:?} {target_kbps:?}",
        RESULTS,
        env!("CARGO_PKG_VERSION"),
        experiment.scenario_hash,
        candidate.protocol,
        candidate.sessions,
        candidate.plan.seed,
        candidate.plan.replications,
    );
    let digest = Sha256::digest(parts.as_bytes());
    digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}
