//! What a run records in addition to its results: captures and trace events.

use std::fmt::Write as _;

use layercast_laboratory::run::Observation;
use layercast_laboratory::scenario::{Scenario, ScenarioError, ScenarioErrors, nearest};

use crate::arguments::Run;

/// The observation that the arguments ask for; `None` if nothing. The error text is shown
/// to the user unchanged.
pub(crate) fn observation(arguments: &Run, plan: &Scenario) -> Result<Option<Observation>, String> {
    let Some(directory) = &arguments.out else { return Ok(None) };
    let mut captures: Vec<usize> = Vec::new();
    for text in &arguments.captures {
        for link in links(text, plan)? {
            if !captures.contains(&link) {
                captures.push(link);
            }
        }
    }
    let number = arguments.capture_replication;
    if !captures.is_empty() && !(1..=plan.replications).contains(&number) {
        let message = format!(
            "error: `--capture-replication {number}`: there is no such replication\n  = allowed: 1 to {}",
            plan.replications
        );
        return Err(message);
    }
    let observation = Observation {
        directory: directory.clone(),
        captures,
        capture_replication: number,
        notes: arguments.notes,
    };
    Ok(Some(observation).filter(|observation| observation.notes || !observation.captures.is_empty()))
}

/// An override that a `--probe` stands for.
#[derive(Debug)]
pub(crate) struct ProbeSetting {
    /// The override.
    pub(crate) set: String,
    /// The flag's value.
    flag: String,
}

/// Errors of a scenario whose overrides from `first` on, counted from 0, are those of probes: they are placed in
/// the flags.
pub(crate) fn in_flags(errors: ScenarioErrors, first: usize, probes: &[ProbeSetting]) -> ScenarioErrors {
    let place = |error: ScenarioError| match error.source.checked_sub(first + 1).and_then(|at| probes.get(at))
    {
        Some(probe) => error.in_flag("--probe", &probe.flag),
        None => error,
    };
    ScenarioErrors(errors.0.into_iter().map(place).collect())
}

/// What `--probe OF:WHAT[,WHAT][@EVERY]` means in the scenario: overrides that add `probe-1`, `probe-2`, ...
pub(crate) fn probes(texts: &[String]) -> Result<Vec<ProbeSetting>, String> {
    let mut overrides = Vec::new();
    for (number, text) in (1..).zip(texts) {
        // The name of a flow has an `@`, the last part another.
        let Some((of, rest)) = text.rsplit_once(':') else {
            let message = format!(
                "error: `--probe {text}`: it does not say what to record\n  = allowed: such as \
                 'link G1-G2:queue_packets@10 ms' or 'flow elm@R1:level,rate_kbps'"
            );
            return Err(message);
        };
        let (what, every) = rest.split_once('@').map_or((rest, None), |(what, every)| (what, Some(every)));
        let what: Vec<String> = what.split(',').map(|what| format!("\"{}\"", what.trim())).collect();
        let mut set = |key: &str, value: &str| {
            let set = format!("probes.probe-{number}.{key}={value}");
            overrides.push(ProbeSetting { set, flag: text.clone() });
        };
        set("of", of);
        set("what", &format!("[{}]", what.join(", ")));
        if let Some(every) = every {
            set("every", every);
        }
    }
    Ok(overrides)
}

/// The numbers of the directions that `LINK[:DIRECTION]` means.
fn links(text: &str, plan: &Scenario) -> Result<Vec<usize>, String> {
    const DIRECTIONS: [&str; 3] = ["forward", "backward", "both"];
    let (name, direction) = text.split_once(':').unwrap_or((text, "forward"));
    let known = plan.link_names();
    let wrong = |what: String, allowed: String, meant: Option<String>| {
        let mut message = format!("error: `--capture {text}`: {what}\n  = allowed: {allowed}");
        if let Some(meant) = meant {
            let _ = write!(message, "\n  = help: did you mean `{meant}`?");
        }
        message
    };
    let Some(forward) = known.iter().position(|known| known == name) else {
        const MOST: usize = 12;
        let links: Vec<&str> = known.iter().step_by(2).map(String::as_str).collect();
        let more = if links.len() > MOST { ", ..." } else { "" };
        let allowed = format!("{}{more}, in either direction", links[..links.len().min(MOST)].join(", "));
        let meant = nearest(name, known.iter().map(String::as_str));
        return Err(wrong(format!("there is no link `{name}`"), allowed, meant));
    };
    // The two directions of a link are adjacent.
    match direction {
        "forward" => Ok(vec![forward]),
        "backward" => Ok(vec![forward ^ 1]),
        "both" => Ok(vec![forward, forward ^ 1]),
        _ => Err(wrong(
            format!("`{direction}` is not a direction"),
            DIRECTIONS.join(", "),
            nearest(direction, DIRECTIONS),
        )),
    }
}

/// The names of the files for the end of the run.
pub(crate) fn files(observation: &Observation, plan: &Scenario) -> String {
    let mut text = String::new();
    let names = plan.link_names();
    for name in observation.captures.iter().filter_map(|&link| names.get(link)) {
        let path = observation.directory.join(format!("capture-{name}.pcap"));
        let _ = writeln!(text, "Capture  {}", path.display());
    }
    if observation.notes {
        let _ = writeln!(text, "Notes    {}", observation.directory.join("notes.jsonl").display());
    }
    text
}
