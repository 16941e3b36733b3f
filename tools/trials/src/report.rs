//! Where results go: a table on standard output, and `DIR/NAME.jsonl` with a line for each run.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// The results of a trial.
#[derive(Debug)]
pub struct Report {
    path: PathBuf,
    failures: usize,
}

impl Report {
    /// The results of the trial `name` in this directory.
    ///
    /// # Errors
    /// The disk's error.
    pub fn new(directory: &std::path::Path, name: &str) -> Result<Report> {
        fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
        Ok(Report { path: directory.join(format!("{name}.jsonl")), failures: 0 })
    }

    /// Adds a run: whether it was as it must be, and its numbers.
    ///
    /// # Errors
    /// The disk's error.
    pub fn add(&mut self, is_right: bool, numbers: Value) -> Result<()> {
        self.failures += usize::from(!is_right);
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs();
        let mut line = json!({ "unix_s": since, "right": is_right });
        if let (Some(line), Value::Object(numbers)) = (line.as_object_mut(), numbers) {
            line.extend(numbers);
        }
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        writeln!(file, "{line}")?;
        println!("{line}");
        Ok(())
    }

    /// Ends the trial.
    ///
    /// # Errors
    /// If a run was not as it must be.
    pub fn end(self) -> Result<()> {
        anyhow::ensure!(self.failures == 0, "{} runs failed; see {}", self.failures, self.path.display());
        Ok(())
    }
}
