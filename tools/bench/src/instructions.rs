//! Instructions, as counted by valgrind: the same number in every run, independent of other load on the
//! machine.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::case::Case;
use crate::measurement::Measurement;

/// Whether valgrind is installed.
pub(crate) fn available() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Instructions per packet hop of `case` in `program`, a build of this one, without those of its begin.
pub(crate) fn per_hop(program: &Path, case: Case) -> Result<f64> {
    let (whole, taken) = count(program, case)?;
    let (begin, begun) = count(program, case.begun())?;
    ensure!(taken.hops > begun.hops, "{case} has no packets");
    Ok((whole - begin) as f64 / (taken.hops - begun.hops) as f64)
}

/// Instructions of a whole process, and its measurements.
fn count(program: &Path, case: Case) -> Result<(u64, Measurement)> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(case.arguments())
        .output()?;
    let output_text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("valgrind could not run {case}: {}", output_text.trim());
    }
    let number = |line: &str| line.rsplit(' ').next().map(|digits| digits.replace(',', ""));
    let line = output_text.lines().find(|line| line.contains("refs:")).and_then(number);
    let count = line.and_then(|digits| digits.parse().ok()).context("valgrind printed no count")?;
    Ok((count, serde_json::from_slice(&output.stdout)?))
}
