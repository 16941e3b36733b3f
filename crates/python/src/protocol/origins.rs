//! Protocols of Python in tasks of sweeps: the process that runs one must have the same protocol.

use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::registered;
use crate::errors;

/// What begins a line of a scenario that names a protocol of Python and the digest of its source.
const LINE: &str = "# protocol ";

/// Where a process finds a protocol.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Origin {
    name: String,
    digest: String,
    module: String,
    file: String,
}

/// Lines to end a scenario's text with, one for each protocol of Python that it may name: so the digest of the scenario
/// covers the protocol too, and a sweep does not mix results of two versions of it.
pub(crate) fn mentioned(text: &str, more: &[String]) -> String {
    let is_named = |name: &str| text.contains(name) || more.iter().any(|line| line.contains(name));
    let all = registered::all();
    let named = all.iter().filter(|one| is_named(one.name));
    named.map(|one| format!("\n{LINE}{} {}", one.name, one.digest)).collect()
}

/// Where the protocols of such lines come from.
pub(crate) fn origins(text: &str) -> Vec<Origin> {
    let all = registered::all();
    let origin = |line: &str| {
        let (name, digest) = line.strip_prefix(LINE)?.split_once(' ')?;
        let one = all.iter().find(|one| one.name == name && one.digest == digest)?;
        let [name, digest] = [name, digest].map(str::to_owned);
        Some(Origin { name, digest, module: one.module.clone(), file: one.file.clone() })
    };
    text.lines().filter_map(origin).collect()
}

/// Imports the protocols that this process lacks.
///
/// # Errors
/// `VersionError` if one cannot be found here or is another version.
pub(crate) fn fetch(py: Python<'_>, origins: &[Origin]) -> PyResult<()> {
    for origin in origins {
        let has = || registered::named(&origin.name).is_some_and(|found| found.digest == origin.digest);
        if has() {
            continue;
        }
        let load = py.import("layercast.protocol")?.getattr("_load")?;
        let failed = load.call1((&origin.module, &origin.file)).err();
        if !has() {
            let reason = match (failed, registered::named(&origin.name)) {
                (Some(error), _) => error.to_string(),
                (None, Some(_)) => String::from("its source is another one here"),
                (None, None) => format!("the module `{}` does not define it here", origin.module),
            };
            return Err(errors::version(py, &format!("the protocol `{}`: {reason}", origin.name)));
        }
    }
    Ok(())
}
