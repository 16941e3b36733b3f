//! Studies across papers: open values and draws and what they change, one fit for two protocols, late starters of AMCA.
//!
//! Each study runs its scenarios with some values changed, gives a table for its place in `docs/studies.md`, and a
//! line for each replication in `studies.tsv`.

mod draws;
mod experiment;
mod joint_fit;
mod late_start;
mod open_values;
mod page;

use anyhow::Context;

use crate::common::{Plan, read, write};
pub(crate) use experiment::Runner;
use page::Report;

/// A study: its name, which is that of its place in the page, and what runs it.
type Study = (&'static str, fn(&Runner) -> anyhow::Result<Report>);

const STUDIES: [Study; 4] = [
    ("open-values", open_values::run),
    ("draws", draws::run),
    ("joint-fit", joint_fit::run),
    ("late-start", late_start::run),
];

/// Runs the studies and writes their tables.
///
/// # Errors
/// A scenario that cannot be run, a file that cannot be written.
pub(crate) fn run(plan: &Plan) -> anyhow::Result<()> {
    let runner = Runner {
        directory: plan.out.join("sweeps").join(if plan.quick { "quick" } else { "full" }),
        is_quick: plan.quick,
        jobs: plan.jobs,
    };
    for (name, study) in STUDIES.into_iter().filter(|(name, _)| plan.wants(name)) {
        let report = study(&runner).with_context(|| format!("the study {name}"))?;
        print!("{}", report.whole());
        write(&plan.out.join(format!("{name}.md")), &report.whole())?;
        write(&plan.out.join(format!("{name}.tsv")), &report.values)?;
        if let Some(path) = &plan.page {
            let text = page::with_table(&read(path)?, name, &report.page.0)
                .with_context(|| format!("{} has no place for {name}", path.display()))?;
            write(path, &text)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
