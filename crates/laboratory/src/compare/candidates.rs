//! The scenario with each protocol.

use std::fmt::Write as _;

use super::error::{CompareError, Rejected};
use crate::run::{self, Stop};
use crate::scenario::{self, Catalogue, Scenario, ScenarioError, ScenarioErrors, nearest};

/// What the column without the compared sessions is called.
pub const BASELINE: &str = "without multicast";

/// Session keys, in addition to options, that may differ between protocols.
const SESSION_KEYS: [&str; 3] = ["layers", "packet_size", "ecn"];

/// The comparison to make.
#[derive(Debug, Clone, Default)]
pub struct CompareRequest {
    /// The scenario's name or path.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Overrides for all protocols, as for `--set`.
    pub overrides: Vec<String>,
    /// The protocols, in the order of the table.
    pub protocols: Vec<String>,
    /// The sessions that run them; all if empty.
    pub sessions: Vec<String>,
    /// Settings of one protocol alone: `PROTOCOL.OPTION=VALUE`, or layers, packet size or ECN in place of an
    /// option.
    pub with: Vec<String>,
    /// How many replications, if not what the scenario says.
    pub replications: Option<u32>,
    /// The seed, if not what the scenario says.
    pub seed: Option<u64>,
    /// The protocol that the others are compared with; the best one if absent.
    pub reference: Option<String>,
    /// Leave out protocols that cannot carry the scenario, instead of refusing the comparison.
    pub skip_refused: bool,
    /// A wish to stop while the candidates run.
    pub stop: Stop,
}

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// A candidate for each protocol that can carry the scenario, in the order asked for; at least one.
    pub candidates: Vec<Candidate>,
    /// The scenario without the compared sessions; none where there is no other traffic.
    pub baseline: Option<Candidate>,
    /// The others.
    pub refused: Vec<Rejected>,
}

/// A protocol and the scenario in which its sessions are.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The protocol, or [`BASELINE`].
    pub protocol: String,
    /// The scenario's name or path.
    pub scenario: String,
    /// The scenario as it is run.
    pub plan: Scenario,
    /// The text that decides the numbers.
    pub text: String,
    /// The command that repeats this protocol's runs alone.
    pub command: String,
    /// The sessions that are compared.
    pub sessions: Vec<String>,
    /// A wish to stop while it runs.
    pub stop: Stop,
}

/// Reads the scenario with each protocol.
///
/// # Errors
/// All mistakes in the scenario, the protocols or the flags, and all reasons for which protocols cannot carry it.
pub fn read(request: &CompareRequest, catalogue: &Catalogue) -> Result<Prepared, CompareError> {
    let common = common(request);
    let base = scenario::read_outline(&request.id, &request.text, &common, catalogue)?;
    let mut wrong = Vec::new();
    let sessions = sessions(request, &base, &mut wrong);
    let protocols = protocols(request, catalogue, &mut wrong);
    let mut with = Vec::new();
    for flag in &request.with {
        match option(flag, &request.protocols) {
            Some(option) => with.push(option),
            None => wrong.push(CompareError::With { flag: flag.clone() }),
        }
    }
    let reader =
        Reader { request, catalogue, base: &base, sessions: &sessions, common: &common, with: &with };
    let (mut candidates, mut refused) = (Vec::new(), Vec::new());
    for &protocol in &protocols {
        match reader.candidate(protocol) {
            Ok(candidate) => candidates.push(candidate),
            Err((error, true)) => wrong.push(error),
            Err((error, false)) => refused.push(error),
        }
    }
    if let Some(name) = request.reference.as_ref().filter(|name| !protocols.contains(&name.as_str())) {
        wrong.push(CompareError::Reference { name: name.clone(), known: protocols.join(", ") });
    }
    let is_fatal =
        candidates.is_empty() || !request.skip_refused && !refused.iter().all(CompareError::is_of_marks);
    if is_fatal && !refused.is_empty() {
        wrong.push(CompareError::Rejected { refused, of: protocols.len() });
        refused = Vec::new();
    }
    match wrong.len() {
        0 => {}
        1 => return Err(wrong.remove(0)),
        _ => return Err(CompareError::Several(wrong)),
    }
    let mut refused: Vec<Rejected> = refused.iter().filter_map(as_rejected).collect();
    let baseline = reader.baseline().unwrap_or_else(|errors| {
        refused.push(Rejected::new(BASELINE, &errors));
        None
    });
    Ok(Prepared { candidates, baseline, refused })
}

fn as_rejected(error: &CompareError) -> Option<Rejected> {
    let CompareError::Candidate { protocol, errors } = error else { return None };
    Some(Rejected::new(protocol, errors))
}

fn common(request: &CompareRequest) -> Vec<String> {
    let mut all = request.overrides.clone();
    all.extend(request.replications.map(|count| format!("replications={count}")));
    all.extend(request.seed.map(|seed| format!("seed={seed}")));
    all
}

/// The sessions to compare.
fn sessions(request: &CompareRequest, base: &Scenario, wrong: &mut Vec<CompareError>) -> Vec<String> {
    let all: Vec<String> = base.sessions.iter().map(|session| session.name.clone()).collect();
    if all.is_empty() {
        wrong.push(CompareError::NoSession);
    }
    for name in request.sessions.iter().filter(|name| !all.contains(name)) {
        let meant = nearest(name, all.iter().map(String::as_str));
        wrong.push(CompareError::Session { name: name.clone(), known: all.join(", "), meant });
    }
    if request.sessions.is_empty() { all } else { request.sessions.clone() }
}

/// The protocols that exist.
fn protocols<'a>(
    request: &'a CompareRequest,
    catalogue: &Catalogue,
    wrong: &mut Vec<CompareError>,
) -> Vec<&'a str> {
    let known = catalogue.names();
    let mut found: Vec<&str> = Vec::new();
    for name in request.protocols.iter().map(String::as_str) {
        if !known.contains(&name) {
            wrong.push(CompareError::unknown_protocol(name, &known));
        } else if found.contains(&name) {
            wrong.push(CompareError::Twice { name: name.to_owned() });
        } else {
            found.push(name);
        }
    }
    found
}

/// Where a protocol's own setting belongs: what a session has for any protocol, or its options.
fn table_of(set: &str) -> &'static str {
    let key = set.split(['.', '=']).next().unwrap_or_default().trim();
    if SESSION_KEYS.contains(&key) { "" } else { "options." }
}

/// The protocol, and the rest of the flag.
fn option<'a>(flag: &'a str, protocols: &[String]) -> Option<(&'a str, &'a str)> {
    flag.split_once('.').filter(|(protocol, set)| {
        protocols.iter().any(|known| known == protocol)
            && set.split_once('=').is_some_and(|(key, _)| !key.is_empty())
    })
}

struct Reader<'a> {
    request: &'a CompareRequest,
    catalogue: &'a Catalogue,
    base: &'a Scenario,
    sessions: &'a [String],
    common: &'a [String],
    with: &'a [(&'a str, &'a str)],
}

impl Reader<'_> {
    /// The scenario with a protocol; or its mistakes, and whether the user's own setting of this protocol has one.
    fn candidate(&self, protocol: &str) -> Result<Candidate, (CompareError, bool)> {
        let (texts, flags): (Vec<String>, Vec<Option<String>>) = self.overrides(protocol).into_iter().unzip();
        self.plan(protocol, &texts).map_err(|ScenarioErrors(errors)| {
            let flag = |error: &ScenarioError| flags.get(error.source.checked_sub(1)?)?.as_deref();
            let is_own = errors.iter().any(|error| flag(error).is_some());
            let placed = |error: ScenarioError| match flag(&error) {
                Some(flag) => error.in_flag("--with", flag),
                None => error,
            };
            let errors = ScenarioErrors(errors.into_iter().map(placed).collect());
            (CompareError::Candidate { protocol: protocol.to_owned(), errors }, is_own)
        })
    }

    /// The scenario without the compared sessions, if anything is left.
    fn baseline(&self) -> Result<Option<Candidate>, ScenarioErrors> {
        let others = self.base.sessions.len() > self.sessions.len() || !self.base.flows.is_empty();
        if !others {
            return Ok(None);
        }
        let mut overrides: Vec<String> =
            self.sessions.iter().map(|name| format!("session.{name}.count=0")).collect();
        overrides.extend(self.common.iter().cloned());
        self.plan(BASELINE, &overrides).map(Some)
    }

    fn plan(&self, name: &str, overrides: &[String]) -> Result<Candidate, ScenarioErrors> {
        let request = self.request;
        let plan = scenario::read(&request.id, &request.text, overrides, self.catalogue)?;
        let mut command = format!("layercast run {}", request.id);
        for set in overrides {
            let _ = write!(command, " --set '{set}'");
        }
        Ok(Candidate {
            protocol: name.to_owned(),
            scenario: request.id.clone(),
            plan,
            text: run::as_run(&request.text, overrides),
            command,
            sessions: self.sessions.to_vec(),
            stop: self.request.stop.clone(),
        })
    }

    /// The overrides that select this protocol. Options in the file belong to its own protocol; other
    /// protocols start with their defaults. What is set for one protocol alone holds before what is set for all.
    /// Each comes with the `--with` that it stands for, if it does.
    fn overrides(&self, protocol: &str) -> Vec<(String, Option<String>)> {
        let mut all = Vec::new();
        let compared = || self.base.sessions.iter().filter(|session| self.sessions.contains(&session.name));
        for session in compared().filter(|session| session.protocol.name() != protocol) {
            all.push((format!("session.{}.protocol={protocol}", session.name), None));
            all.push((format!("session.{}.options={{}}", session.name), None));
        }
        all.extend(self.common.iter().map(|set| (set.clone(), None)));
        for name in compared().map(|session| &session.name) {
            let own = self.with.iter().filter(|(owner, _)| *owner == protocol);
            all.extend(own.map(|(owner, set)| {
                (format!("session.{name}.{}{set}", table_of(set)), Some(format!("{owner}.{set}")))
            }));
        }
        all
    }
}
