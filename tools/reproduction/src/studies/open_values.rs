//! Values that the FLID-DL paper and Wei and Zhang's report leave open: what each of them changes.
//!
//! No value is chosen here. The scenarios keep theirs; the tables say what another one gives, and whether what is
//! concluded depends on it.

mod cases;
mod rates;

pub(super) use cases::flid_beside_tcp;

use super::TWICE;
use super::experiment::{Case, Runner, over_tcp};
use super::page::{CHANGES, Placed, Report};
use crate::readings::rhythm::{PHASES, Rhythm};
use crate::samples::{Samples, format_samples};

/// Competition at a drop-tail queue: the sessions' throughput over that of TCP.
struct Competition {
    /// Where the paper has it.
    name: &'static str,
    /// Whether a name is that of a session's receiver.
    is_session: Box<dyn Fn(&str) -> bool>,
    /// Replications of each phase.
    replications: u32,
    /// The scenario first, then the others, each with the one that it is compared with by position.
    variants: Vec<Variant>,
}

/// One set of open values.
struct Variant {
    name: &'static str,
    case: Case,
    /// The position of the variant that differs in nothing else.
    base: usize,
}

/// A quantity in both readings of `docs/readings.md`, a sample for each phase.
struct BothReadings {
    plain: Samples,
    jittered: Samples,
}

/// Reads all cases.
#[cfg(test)]
pub(super) fn check() -> anyhow::Result<()> {
    for competition in cases::competitions()? {
        for variant in &competition.variants {
            variant.case.read()?;
        }
    }
    Ok(())
}

/// Runs all and reports.
pub(super) fn run(runner: &Runner) -> anyhow::Result<Report> {
    let mut report = Report::new();
    report.page.heading(&["experiment", "values", "jittered:", "conclusion"]);
    report.more.heading(&["experiment", "values", "jittered:", "plain:", "conclusion"]);
    for competition in cases::competitions()? {
        compete(runner, &competition, &mut report)?;
    }
    report.more.say("");
    rates::run(runner, &mut report)?;
    Ok(report)
}

fn compete(runner: &Runner, competition: &Competition, report: &mut Report) -> anyhow::Result<()> {
    let mut all: Vec<BothReadings> = Vec::new();
    for variant in &competition.variants {
        let name = format!("{} {}", competition.name, variant.name);
        let of = both_readings(runner, &name, competition, &variant.case)?;
        report.keep(competition.name, variant.name, "of TCP, plain", &of.plain);
        report.keep(competition.name, variant.name, "of TCP, jittered", &of.jittered);
        all.push(of);
    }
    for (position, (variant, of)) in competition.variants.iter().zip(&all).enumerate() {
        let placed = Placed::of(&of.jittered, TWICE);
        let base = all.get(variant.base).map(|base| Placed::of(&base.jittered, TWICE));
        let conclusion = match base {
            Some(base) if position != variant.base => placed.against(base).to_owned(),
            // What the others are compared with.
            _ => placed.name(TWICE),
        };
        let name = if position == 0 { competition.name.to_owned() } else { String::new() };
        let values = variant.name.to_owned();
        let (jittered, plain) = (format_samples(&of.jittered), format_samples(&of.plain));
        report.more.row(&[name.clone(), values.clone(), jittered.clone(), plain, conclusion.clone()]);
        // The page has what changes the conclusion.
        if position == 0 || conclusion == CHANGES {
            report.page.row(&[name, values, jittered, conclusion]);
        }
    }
    Ok(())
}

fn both_readings(
    runner: &Runner,
    name: &str,
    competition: &Competition,
    case: &Case,
) -> anyhow::Result<BothReadings> {
    let plan = case.read()?;
    let over_phases = |rhythm: fn(u8) -> Rhythm| -> anyhow::Result<Samples> {
        let mut phases = Vec::new();
        for phase in 0..PHASES {
            let rhythm = rhythm(phase);
            let shifted = case.with(rhythm.overrides(&plan));
            let parts =
                runner.parts(&format!("{name} {}", rhythm.name()), &shifted, competition.replications)?;
            let ratios = Samples(parts.iter().map(|part| over_tcp(part, &competition.is_session)).collect());
            phases.push(ratios.statistic().mean);
        }
        Ok(Samples(phases))
    };
    Ok(BothReadings { plain: over_phases(Rhythm::Plain)?, jittered: over_phases(Rhythm::Jittered)? })
}
