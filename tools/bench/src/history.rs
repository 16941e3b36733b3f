//! One line for each case of each run, so that a change of speed can be dated.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::row::Row;

const HEAD: &str = "unix_time\tcommit\tcase\thops_per_cpu_s\tinstructions_per_hop\tpeak_bytes";

/// Adds the rows to the file, which is created if missing.
pub(crate) fn add(root: &Path, file: &Path, rows: &[Row]) -> Result<()> {
    let new = !file.exists();
    let mut out = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .with_context(|| format!("cannot add to {}", file.display()))?;
    if new {
        writeln!(out, "{HEAD}")?;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let commit = commit(root);
    for row in rows {
        let instructions = row.instructions_per_hop.map_or(String::new(), |count| format!("{count:.1}"));
        let peak = row.taken.peak_bytes.map_or(String::new(), |bytes| bytes.to_string());
        writeln!(out, "{now}\t{commit}\t{}\t{:.0}\t{instructions}\t{peak}", row.case, row.hops_per_s())?;
    }
    Ok(())
}

/// The measured commit, if git reports it; a `+` means that files differ from it.
fn commit(root: &Path) -> String {
    let output = Command::new("git").args(["describe", "--always", "--dirty=+"]).current_dir(root).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
