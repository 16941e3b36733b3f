//! `layercast explain`: why a receiver was at its rate, from its trace.
//!
//! A trace is read twice and never held in memory: first for the summary, then for the chain of decisions.

pub(crate) mod arguments;
mod lines;
mod summary;
mod track;
mod words;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use layercast_core::units::Duration;
use layercast_laboratory::scenario::nearest;
use serde::Serialize;

use crate::commands::Failure;
use crate::lab::explain::arguments::Explain;
use crate::output::{complain, print};
use summary::{Summary, Summing};
use track::{Entry, Track};

/// How many entries before a time are shown with `--at`.
const BEFORE: usize = 8;
/// How many receivers an error names.
const SHOWN: usize = 8;
/// How much text is kept before it is printed, in bytes.
const PORTION: usize = 1 << 16;

pub(crate) fn explain(arguments: &Explain) -> Result<(), Failure> {
    let path = lines::file_of(&arguments.trace);
    let all = summaries(&path, arguments).map_err(Failure::Input)?;
    let chosen = match all.as_slice() {
        [one] => one,
        several => return overview(several, arguments),
    };
    let mut output = Output { json: arguments.json, text: String::new(), top_bps: chosen.top_bps };
    output.summary(chosen)?;
    match arguments.at {
        Some(at) => moment(&path, chosen, at, &mut output)?,
        None => chain(&path, chosen, &mut output)?,
    }
    output.flush()
}

/// The summaries of the receivers that were asked for: of one, or of all if the trace has several.
fn summaries(path: &Path, arguments: &Explain) -> Result<Vec<Summary>, String> {
    let mut lines = lines::open(path)?;
    let mut summing: BTreeMap<(u32, String), Summing> = BTreeMap::new();
    let mut ends: BTreeMap<u32, f64> = BTreeMap::new();
    while let Some(line) = lines.next()? {
        let end = ends.entry(line.replication).or_default();
        *end = end.max(line.time_s);
        if arguments.replication.is_some_and(|only| only != line.replication) {
            continue;
        }
        let key = (line.replication, line.flow.into_owned());
        summing.entry(key).or_insert_with(|| Summing::new(line.time_s)).take(line.time_s, &line.what);
    }
    if lines.is_torn {
        complain(&format!("warning: the last line of {} is cut off, and left out", path.display()));
    }
    if summing.is_empty() {
        let replications: Vec<String> = ends.keys().map(u32::to_string).collect();
        return Err(match arguments.replication {
            Some(only) if !ends.is_empty() => format!(
                "error: {} has no replication {only}, but {}",
                path.display(),
                replications.join(", ")
            ),
            _ => format!("error: {} has no events of receivers", path.display()),
        });
    }
    let end = |replication: u32| ends.get(&replication).copied().unwrap_or_default();
    let all =
        summing.into_iter().map(|((replication, flow), of)| of.end(&flow, replication, end(replication)));
    chosen(all.collect(), arguments, path)
}

/// The summary of the receiver that was asked for, if one was.
fn chosen(all: Vec<Summary>, arguments: &Explain, path: &Path) -> Result<Vec<Summary>, String> {
    let Some(name) = &arguments.receiver else { return Ok(all) };
    let is_named =
        |of: &&Summary| of.flow == *name || of.flow.split_once('@').is_some_and(|(_, at)| at == name);
    let found: Vec<&Summary> = all.iter().filter(is_named).collect();
    let mut names: Vec<&str> = all.iter().map(|of| of.flow.as_str()).collect();
    names.dedup();
    let shown = |names: &[&str]| {
        let more = names.len().saturating_sub(SHOWN);
        let first: Vec<&str> = names.iter().take(SHOWN).copied().collect();
        format!("{}{}", first.join(", "), if more > 0 { format!(" and {more} more") } else { String::new() })
    };
    let Some(first) = found.first() else {
        let help = nearest(name, names.iter().copied())
            .map_or(String::new(), |nearest| format!("\n  = help: did you mean `{nearest}`?"));
        return Err(format!(
            "error: there is no receiver `{name}` in {}: its receivers are {}{help}",
            path.display(),
            shown(&names)
        ));
    };
    let others: Vec<&str> =
        found.iter().filter(|of| of.flow != first.flow).map(|of| of.flow.as_str()).collect();
    if !others.is_empty() && first.flow != *name {
        let names: Vec<&str> = std::iter::once(first.flow.as_str()).chain(others).collect();
        return Err(format!("error: `{name}` is more than one receiver: {}", shown(&names)));
    }
    Ok(vec![(*first).clone()])
}

/// Several receivers, a line each.
fn overview(all: &[Summary], arguments: &Explain) -> Result<(), Failure> {
    if arguments.at.is_some() {
        return Err(Failure::Input(
            "error: the trace has several receivers: name one with --receiver".to_owned(),
        ));
    }
    let mut output = Output { json: arguments.json, text: String::new(), top_bps: None };
    if arguments.json {
        all.iter().try_for_each(|of| output.summary(of))?;
    } else {
        output.text.push_str(&words::table(all));
        output.text.push_str("\n--receiver NAME explains one of them.\n");
    }
    output.flush()
}

/// Calls for each entry of the chain until it returns false.
fn entries(
    path: &Path,
    of: &Summary,
    mut each: impl FnMut(Entry) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let mut lines = lines::open(path).map_err(Failure::Input)?;
    let mut track: Option<Track> = None;
    while let Some(line) = lines.next().map_err(Failure::Input)? {
        if line.replication != of.replication || line.flow != of.flow {
            continue;
        }
        let track = track.get_or_insert_with(|| Track::new(line.time_s));
        if let Some(entry) = track.take(line.time_s, &line.what)
            && !each(entry)?
        {
            break;
        }
    }
    Ok(())
}

fn chain(path: &Path, of: &Summary, output: &mut Output) -> Result<(), Failure> {
    output.heading("\nWhat it decided, and why\n\n");
    entries(path, of, |entry| output.entry(&entry).map(|()| true))
}

/// The level at a time, and what led to it.
fn moment(path: &Path, of: &Summary, at: Duration, output: &mut Output) -> Result<(), Failure> {
    let at_s = at.as_secs_f64();
    if at_s < of.begin_s || at_s > of.end_s {
        return Err(Failure::Input(format!(
            "error: --at {at}: the trace of {} is from {:.1} to {:.1} s",
            of.flow, of.begin_s, of.end_s
        )));
    }
    let mut before: VecDeque<Entry> = VecDeque::with_capacity(BEFORE + 1);
    let mut next = None;
    entries(path, of, |entry| {
        if entry.time_s() <= at_s {
            if before.len() == BEFORE {
                before.pop_front();
            }
            before.push_back(entry);
            return Ok(true);
        }
        let is_decision = matches!(entry, Entry::Decision(_));
        if is_decision {
            next = Some(entry);
        }
        Ok(!is_decision)
    })?;
    let level = before.iter().rev().find_map(|entry| match entry {
        Entry::Decision(decision) => Some(decision.to),
        Entry::Remark { .. } => None,
    });
    let held = match level {
        Some(level @ 0..) => format!("at level {level}"),
        Some(_) => "at no level".to_owned(),
        None => "at the level of before".to_owned(),
    };
    output.heading(&format!("\nAt {at_s:.1} s it was {held}. What led to it:\n\n"));
    before.iter().try_for_each(|entry| output.entry(entry))?;
    if let Some(next) = &next {
        output.heading("\nWhat ended it:\n\n");
        output.entry(next)?;
    }
    Ok(())
}

/// A line of `--json`.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "summary")]
struct SummaryLine<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
}

/// What is printed, in portions.
struct Output {
    json: bool,
    text: String,
    /// The rate of all layers of the receiver's session.
    top_bps: Option<f64>,
}

impl Output {
    fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let line = serde_json::to_string(value).map_err(anyhow::Error::from)?;
        self.text.push_str(&line);
        self.text.push('\n');
        Ok(())
    }

    fn summary(&mut self, summary: &Summary) -> Result<(), Failure> {
        if self.json {
            return self.json(&SummaryLine { summary });
        }
        self.text.push_str(&words::summary(summary));
        Ok(())
    }

    fn heading(&mut self, text: &str) {
        if !self.json {
            self.text.push_str(text);
        }
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Failure> {
        if self.json {
            self.json(entry)?;
        } else {
            self.text.push_str(&words::entry(entry, self.top_bps));
        }
        if self.text.len() >= PORTION { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        print(&self.text)?;
        self.text.clear();
        Ok(())
    }
}
