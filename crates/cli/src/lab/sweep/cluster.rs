//! `layercast sweep --on`: the Python package runs what a sweep lacks on a cluster, and keeps it in the sweep's
//! directory, where the command finds it.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow};
use layercast_laboratory::sweep::SweepRequest;
use serde_json::json;

use crate::commands::Failure;

/// The interpreter whose package is used: that of the active environment.
const PYTHON: &str = "python3";

/// Runs all replications that the directory does not have.
pub(crate) fn run(address: &str, request: &SweepRequest, directory: &Path) -> Result<(), Failure> {
    let SweepRequest { id, text, overrides, vary, metrics, replications, seed, command } = request;
    let request = json!({
        "layercast": env!("CARGO_PKG_VERSION"), "id": id, "text": text, "overrides": overrides, "vary": vary,
        "metrics": metrics, "replications": replications, "seed": seed, "command": command, "directory": directory,
    });
    let program = Command::new(PYTHON)
        .args(["-m", "layercast.cluster", "--sweep", address])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let mut program = match program {
        Err(reason) if reason.kind() == ErrorKind::NotFound => {
            let help = "`pip install '.[cluster]'` installs the package that it needs";
            return Err(anyhow!("`--on` needs {PYTHON}, which is missing\n  = help: {help}").into());
        }
        started => started.context("python3 cannot be started")?,
    };
    if let Some(mut input) = program.stdin.take() {
        // A program that does not read has said why.
        let _ = input.write_all(request.to_string().as_bytes());
    }
    let status = program.wait().context("python3 was lost")?;
    match status.code() {
        Some(0) => Ok(()),
        code => Err(Failure::Status(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))),
    }
}
