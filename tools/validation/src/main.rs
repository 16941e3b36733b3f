//! Runs ns-2 and the simulator on the same set-ups and reports the differences.
//!
//! `make validate` runs all and writes `docs/validation.md`. `--quick` runs a few cases in seconds.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use serde::Serialize;

mod compare;
mod exact;
mod ns;
mod page;
mod random_loss;
mod raw;
mod shared;
mod tcps;
mod work;

use ns::Ns;

/// The longest run takes a few seconds on its own.
const LIMIT: Duration = Duration::from_secs(120);

/// Run ns-2 and the simulator on the same set-ups and write what differs.
///
/// Exit status: 0 done, whatever the verdicts; 1 failed; 2 wrong usage.
#[derive(Debug, Parser)]
#[command(name = "layercast-validation", version, max_term_width = 100)]
struct Arguments {
    /// A few cases, in seconds
    #[arg(long)]
    quick: bool,

    /// Where the scripts for ns-2 are
    #[arg(long, value_name = "DIR", default_value = "validation")]
    scripts: PathBuf,

    /// The page to write
    #[arg(long, value_name = "FILE")]
    page: PathBuf,

    /// The file for the raw results, as JSON
    #[arg(long, value_name = "FILE")]
    raw: PathBuf,
}

/// All measurements.
#[derive(Debug, Serialize)]
struct Results {
    random_loss: random_loss::Outcome,
    shared: shared::Outcome,
    exact: Vec<exact::Result>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let ns = Ns::find(arguments.scripts.clone(), LIMIT)?;
    let (loss, shared) = if arguments.quick {
        (random_loss::Plan::quick(), shared::Plan::quick())
    } else {
        (random_loss::Plan::full(), shared::Plan::full())
    };
    let results = Results {
        exact: exact::run(&ns, &exact::cases(arguments.quick))?,
        random_loss: random_loss::run(&ns, loss)?,
        shared: shared::run(&ns, shared)?,
    };
    raw::write(&arguments.raw, &results)?;
    let page = page::write(&results.random_loss, &results.shared, &results.exact);
    let path = &arguments.page;
    std::fs::write(path, page).with_context(|| format!("{} cannot be written", path.display()))?;
    eprintln!("wrote {} and {}", path.display(), arguments.raw.display());
    Ok(())
}
