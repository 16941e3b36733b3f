//! Runs ns-2 and the simulator on the same set-ups and reports the differences.
//!
//! `make validate` runs all and writes `docs/validation.md`. `--quick` runs a few cases in seconds.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;

mod compare;
mod constant;
mod exact;
mod ns;
mod page;
mod random_loss;
mod raw;
mod results;
mod shared;
mod tcps;
mod work;

use ns::Ns;
use results::Results;

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

    /// Only constant rates against TCP: their part of the page is written, the rest stays
    #[arg(long)]
    constant_only: bool,

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
    if arguments.constant_only {
        return constant_alone(&ns, arguments);
    }
    let (loss, shared, constant) = if arguments.quick {
        (random_loss::Plan::quick(), shared::Plan::quick(), constant::Plan::quick())
    } else {
        (random_loss::Plan::full(), shared::Plan::full(), constant::Plan::full())
    };
    let results = Results {
        exact: exact::run(&ns, &exact::cases(arguments.quick))?,
        random_loss: random_loss::run(&ns, loss)?,
        shared: shared::run(&ns, shared)?,
        constant: constant::run(&ns, constant)?,
    };
    raw::write(&arguments.raw, &results)?;
    finish(arguments, &page::write(&results))
}

/// Runs one section and puts it into the page, whose other sections a full run made.
fn constant_alone(ns: &Ns, arguments: &Arguments) -> anyhow::Result<()> {
    let plan = if arguments.quick { constant::Plan::quick() } else { constant::Plan::full() };
    let outcome = constant::run(ns, plan)?;
    raw::write(&arguments.raw, &outcome)?;
    let path = &arguments.page;
    let page = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let page = page::with_constant(&page, &outcome);
    finish(arguments, &page.with_context(|| format!("{} is no page of a full run", path.display()))?)
}

fn finish(arguments: &Arguments, page: &str) -> anyhow::Result<()> {
    let path = &arguments.page;
    std::fs::write(path, page).with_context(|| format!("{} cannot be written", path.display()))?;
    eprintln!("wrote {} and {}", path.display(), arguments.raw.display());
    Ok(())
}
