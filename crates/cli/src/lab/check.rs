//! `layercast check` and `layercast expand`: a scenario with all its mistakes, and as one flat file.

use clap::Args;
use layercast_laboratory::lint;
use layercast_laboratory::scenario::{self, default_queue};

use crate::failure::Failure;
use crate::output::{counted, print};
use crate::program::Program;
use crate::scenario::{Reading, Scenario, deny, load, read, wrong};

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
}

pub(crate) fn check(arguments: &Check, program: &Program) -> Result<(), Failure> {
    let Reading { plan, text } =
        read(&arguments.scenario.name, &arguments.scenario.overrides, &program.catalogue)?;
    let findings = lint::before(&plan, &text);
    let remark = default_queue::remark(&plan).map_or(String::new(), |remark| format!("{remark}\n"));
    print(&format!(
        "{}: fine ({}, {}, {}, {} of {})\n{remark}{}",
        arguments.scenario.name,
        counted(plan.nodes.len(), "node"),
        counted(plan.links.len(), "link"),
        counted(plan.flow_names().len(), "flow"),
        counted(plan.replications as usize, "replication"),
        plan.duration,
        lint::render(&arguments.scenario.name, &findings),
    ))?;
    Ok(deny(&arguments.scenario, &findings)?)
}

pub(crate) fn expand(arguments: &Check, program: &Program) -> Result<(), Failure> {
    let source = load(&arguments.scenario.name)?;
    let flat =
        scenario::expand(&source.name, &source.text, &arguments.scenario.overrides, &program.catalogue)
            .map_err(|errors| wrong(&errors))?;
    Ok(print(&flat)?)
}
