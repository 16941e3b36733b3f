//! The scenario with each protocol.

use std::fmt::Write as _;

use super::error::CompareError;
use crate::run;
use crate::scenario::{self, Catalogue, Scenario, ScenarioError, ScenarioErrors};

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
}

/// A protocol and the scenario in which its sessions are.
#[derive(Debug, Clone)]
pub struct Contender {
    /// The protocol.
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
}

/// Reads the scenario with each protocol.
///
/// # Errors
/// The mistakes in the scenario, the protocols or the flags.
pub fn read(request: &CompareRequest, catalogue: &Catalogue) -> Result<Vec<Contender>, CompareError> {
    let common = common(request);
    let base = scenario::read(&request.id, &request.text, &common, catalogue)?;
    let sessions = sessions(request, &base)?;
    check_protocols(request, catalogue)?;
    let with =
        request.with.iter().map(|flag| option(flag, &request.protocols)).collect::<Result<Vec<_>, _>>()?;
    let reader =
        Reader { request, catalogue, base: &base, sessions: &sessions, common: &common, with: &with };
    request.protocols.iter().map(|protocol| reader.contender(protocol)).collect()
}

fn common(request: &CompareRequest) -> Vec<String> {
    let mut all = request.overrides.clone();
    all.extend(request.replications.map(|count| format!("replications={count}")));
    all.extend(request.seed.map(|seed| format!("seed={seed}")));
    all
}

fn sessions(request: &CompareRequest, base: &Scenario) -> Result<Vec<String>, CompareError> {
    let all: Vec<String> = base.sessions.iter().map(|session| session.name.clone()).collect();
    if all.is_empty() {
        return Err(CompareError::NoSession);
    }
    if let Some(name) = request.sessions.iter().find(|name| !all.contains(name)) {
        return Err(CompareError::Session { name: name.clone(), known: all.join(", ") });
    }
    Ok(if request.sessions.is_empty() { all } else { request.sessions.clone() })
}

fn check_protocols(request: &CompareRequest, catalogue: &Catalogue) -> Result<(), CompareError> {
    let known = catalogue.names();
    for (index, name) in request.protocols.iter().enumerate() {
        if !known.contains(&name.as_str()) {
            return Err(CompareError::Protocol { name: name.clone(), known: known.join(", ") });
        }
        if request.protocols[..index].contains(name) {
            return Err(CompareError::Twice { name: name.clone() });
        }
    }
    Ok(())
}

/// Where a protocol's own setting belongs: what a session has for any protocol, or its options.
fn table_of(set: &str) -> &'static str {
    let key = set.split(['.', '=']).next().unwrap_or_default().trim();
    if SESSION_KEYS.contains(&key) { "" } else { "options." }
}

/// The protocol, and the rest of the flag.
fn option<'a>(flag: &'a str, protocols: &[String]) -> Result<(&'a str, &'a str), CompareError> {
    let parts = flag.split_once('.').filter(|(protocol, set)| {
        protocols.iter().any(|known| known == protocol)
            && set.split_once('=').is_some_and(|(key, _)| !key.is_empty())
    });
    parts.ok_or_else(|| CompareError::With { flag: flag.to_owned() })
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
    fn contender(&self, protocol: &str) -> Result<Contender, CompareError> {
        let (overrides, flags): (Vec<String>, Vec<Option<String>>) =
            self.overrides(protocol).into_iter().unzip();
        let request = self.request;
        let in_flag = |error: ScenarioError| {
            let flag = error.source.checked_sub(1).and_then(|at| flags.get(at)?.as_deref());
            match flag {
                Some(flag) => error.in_flag("--with", flag),
                None => error,
            }
        };
        let placed = |errors: ScenarioErrors| ScenarioErrors(errors.0.into_iter().map(in_flag).collect());
        let plan =
            scenario::read(&request.id, &request.text, &overrides, self.catalogue).map_err(|errors| {
                CompareError::Contender { protocol: protocol.to_owned(), errors: placed(errors) }
            })?;
        let mut command = format!("layercast run {}", request.id);
        for set in &overrides {
            let _ = write!(command, " --set '{set}'");
        }
        Ok(Contender {
            protocol: protocol.to_owned(),
            scenario: request.id.clone(),
            plan,
            text: run::as_run(&request.text, &overrides),
            command,
            sessions: self.sessions.to_vec(),
        })
    }

    /// The overrides that select this protocol. Options in the file belong to its own protocol; other
    /// protocols start with their defaults. Each comes with the `--with` that it stands for, if it does.
    fn overrides(&self, protocol: &str) -> Vec<(String, Option<String>)> {
        let mut all = Vec::new();
        let compared = self.base.sessions.iter().filter(|session| self.sessions.contains(&session.name));
        for session in compared {
            let name = &session.name;
            if session.protocol.name() != protocol {
                all.push((format!("session.{name}.protocol={protocol}"), None));
                all.push((format!("session.{name}.options={{}}"), None));
            }
            let own = self.with.iter().filter(|(owner, _)| *owner == protocol);
            all.extend(own.map(|(owner, set)| {
                (format!("session.{name}.{}{set}", table_of(set)), Some(format!("{owner}.{set}")))
            }));
        }
        all.extend(self.common.iter().map(|set| (set.clone(), None)));
        all
    }
}
