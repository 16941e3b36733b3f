//! `layercast why`: why a receiver of a finished run has its rate.

use anyhow::Context;
use layercast_laboratory::{results, why};

use crate::arguments::Why;
use crate::commands::Failure;
use crate::output::print;

pub(crate) fn why(arguments: &Why) -> Result<(), Failure> {
    let path = &arguments.result;
    let path = if path.is_dir() { path.join("summary.json") } else { path.clone() };
    if !path.exists() {
        return Err(Failure::Input(format!(
            "error: there is no result at {}\n  = help: `layercast run SCENARIO --out {}` writes one",
            path.display(),
            arguments.result.display(),
        )));
    }
    let summary = results::read_summary(&path).context("the result could not be read")?;
    let text = why::answer(&summary, &arguments.receiver)
        .map_err(|problem| Failure::Input(format!("error: {problem}")))?;
    Ok(print(&text)?)
}
