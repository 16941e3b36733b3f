//! Studies across papers: open values and what they change, one fit for two protocols, late starters of AMCA.
//!
//! Each study runs its scenarios anew with some values changed, gives a table for its place in `docs/studies.md`, and a
//! line for each replication in `studies.tsv`.

mod experiment;
mod joint_fit;
mod late_start;
mod open_values;
mod page;

use std::fs;
use std::path::PathBuf;

use anyhow::Context;

pub(crate) use experiment::Runner;
use page::Report;

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The directory of the results.
    pub(crate) out: PathBuf,
    /// The page whose tables are written; none for none.
    pub(crate) page: Option<PathBuf>,
    /// Only studies whose names contain this.
    pub(crate) only: Option<String>,
    /// Two replications of everything.
    pub(crate) quick: bool,
    /// The number of threads.
    pub(crate) jobs: Option<usize>,
}

/// A study: its name, which is that of its place in the page, and what runs it.
type Study = (&'static str, fn(&Runner) -> anyhow::Result<Report>);

const STUDIES: [Study; 3] =
    [("open-values", open_values::run), ("joint-fit", joint_fit::run), ("late-start", late_start::run)];

/// Runs the studies and writes their tables.
///
/// # Errors
/// A scenario that cannot be run, a file that cannot be written.
pub(crate) fn run(plan: &Plan) -> anyhow::Result<()> {
    fs::create_dir_all(&plan.out).with_context(|| format!("{} cannot be made", plan.out.display()))?;
    let runner = Runner {
        directory: plan.out.join("sweeps").join(if plan.quick { "quick" } else { "full" }),
        is_quick: plan.quick,
        jobs: plan.jobs,
    };
    let wanted = |name: &str| plan.only.as_deref().is_none_or(|part| name.contains(part));
    for (name, study) in STUDIES.into_iter().filter(|(name, _)| wanted(name)) {
        let report = study(&runner).with_context(|| format!("the study {name}"))?;
        print!("{}", report.whole());
        write(&plan.out.join(format!("{name}.md")), &report.whole())?;
        write(&plan.out.join(format!("{name}.tsv")), &report.values)?;
        if let Some(path) = &plan.page {
            let text =
                fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
            let text = page::with_table(&text, name, &report.page.0)
                .with_context(|| format!("{} has no place for {name}", path.display()))?;
            write(path, &text)?;
        }
    }
    Ok(())
}

fn write(path: &std::path::Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

#[cfg(test)]
mod tests;
