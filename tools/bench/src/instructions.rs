//! Instructions, as valgrind counts them: the same number at every run, whatever else the machine does.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::case::{Case, Taken};

/// Whether valgrind is there.
pub(crate) fn available() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Instructions for each packet hop of `case`, what is needed to set it up taken off.
pub(crate) fn per_hop(case: Case) -> Result<f64> {
    let (whole, taken) = count(case)?;
    let (set_up, _) = count(case.lasting(0))?;
    Ok((whole - set_up) as f64 / taken.hops as f64)
}

/// Instructions of a whole process, and what it took.
fn count(case: Case) -> Result<(u64, Taken)> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(case.arguments())
        .output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("valgrind could not run {case}: {}", told.trim());
    }
    let number = |line: &str| line.rsplit(' ').next().map(|digits| digits.replace(',', ""));
    let line = told.lines().find(|line| line.contains("refs:")).and_then(number);
    let count = line.and_then(|digits| digits.parse().ok()).context("valgrind told no count")?;
    Ok((count, serde_json::from_slice(&output.stdout)?))
}
