//! Our own command: where it is, and what its events say.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::process::{Place, Process};

/// The command `layercast`.
#[derive(Clone, Debug)]
pub struct Program(PathBuf);

impl Program {
    /// The one at this path, else the one next to the running program.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(path: Option<&Path>) -> Result<Program> {
        let path = match path {
            Some(path) => path.to_owned(),
            None => std::env::current_exe()?.with_file_name("layercast"),
        };
        if !path.is_file() {
            bail!("there is no {}: run `make build`, or name the command with --program", path.display());
        }
        Ok(Program(path))
    }

    /// A command with these arguments.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.0);
        command.env_remove("LAYERCAST_LOG").args(arguments);
        command
    }

    /// Makes a group key.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn group_key(&self, path: &Path) -> Result<()> {
        let output = self.command(&["key", "new", "--group"]).arg(path).output()?;
        if !output.status.success() {
            bail!("no key: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    /// Starts `layercast send` or `receive` with events.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(&self, place: &Place, arguments: &[&str]) -> Result<Process> {
        let mut command = self.command(arguments);
        command.args(["--interface", place.interface(), "--json"]);
        place.start(command)
    }

    /// Starts `layercast receive` of a session into a folder, with options of its congestion control, NAME=VALUE.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn receive(&self, place: &Place, group: &str, into: &Path, set: &[String]) -> Result<Process> {
        let into = into.display().to_string();
        let mut arguments = vec!["receive", "--group", group, "--into", &into];
        set.iter().for_each(|set| arguments.extend(["--set", set]));
        self.start(place, &arguments)
    }
}

/// The events that a process has printed so far, oldest first.
pub fn events(process: &Process) -> Vec<Value> {
    process.lines().iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The last event of this name.
pub fn last(process: &Process, name: &str) -> Option<Value> {
    let lines = process.lines();
    let mark = format!("\"{name}\"");
    let events = lines.iter().rev().filter(|line| line.contains(&mark));
    events.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find(|event| event["event"] == name)
}

/// Waits for an event of this name.
///
/// # Errors
/// If the process ends before, or there is none in time: what it has printed.
pub fn wait_for(process: &mut Process, name: &str, within: Duration) -> Result<Value> {
    let until = Instant::now() + within;
    loop {
        let ended = process.poll()?;
        if let Some(event) = last(process, name) {
            return Ok(event);
        }
        if ended.is_some() || Instant::now() > until {
            bail!("no event {name:?} ({ended:?}): {}", said(process));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A number of the last event of a process that has it: of its end, or of its progress.
pub fn number(process: &Process, field: &str) -> Option<f64> {
    let of = |name: &str| last(process, name)?[field].as_f64();
    of("end").or_else(|| of("progress"))
}

/// As [`number`], and an error if there is none.
///
/// # Errors
/// What the process has printed.
pub fn needed(process: &Process, field: &str) -> Result<f64> {
    number(process, field).with_context(|| format!("no {field}: {}", said(process)))
}

/// The last lines of a process that are not progress.
pub fn said(process: &Process) -> String {
    let lines = process.lines();
    let of_interest: Vec<&str> =
        lines.iter().map(String::as_str).filter(|line| !line.contains("\"event\":\"progress\"")).collect();
    of_interest[of_interest.len().saturating_sub(8)..].join(" | ")
}
