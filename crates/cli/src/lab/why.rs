//! `layercast why`: why a receiver of a finished run has its rate.

use anyhow::Context;
use layercast_laboratory::results::directory;
use layercast_laboratory::{results, why};

use crate::arguments::Why;
use crate::commands::Failure;
use crate::output::print;

pub(crate) fn why(arguments: &Why) -> Result<(), Failure> {
    let path = &arguments.result;
    let path = if path.is_dir() { path.join("summary.json") } else { path.clone() };
    if !path.exists()
        && let Some(holds) = directory::holds(&arguments.result)
    {
        let runs = directory::runs_below(&arguments.result);
        let help = match runs.first() {
            Some(run) => format!("one of its runs, such as `layercast why {} RECEIVER`", run.display()),
            None => "`layercast run` with `--out` keeps what this command reads".to_owned(),
        };
        return Err(Failure::Input(format!(
            "error: {} holds {holds}, not the results of one run\n  = help: {help}",
            arguments.result.display(),
        )));
    }
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
