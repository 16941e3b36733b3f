//! Values that the FLID-DL paper and Wei and Zhang's report leave open: what each of them changes.
//!
//! No value is chosen here. The scenarios keep theirs; the tables say what another one gives, and whether what is
//! concluded depends on it.

mod cases;
mod rates;

pub(super) use cases::{flid, wei_zhang};

use layercast_laboratory::sweep::Part;

use super::experiment::{Case, Meant, Runner, mean};
use super::page::{CHANGES, Placed, Report};
use crate::readings::rhythm::{PHASES, Reading};
use crate::samples::{Samples, format_samples};

/// Competition at a drop-tail queue: the sessions' throughput over that of TCP.
pub(super) struct Competition {
    /// Where the paper has it.
    pub(super) name: &'static str,
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

/// What conclusions are about: rates within a factor of two (FLID-DL paper, abstract; for Wei and Zhang's "TCP-like" the
/// same is asked in `docs/reproduction/wei-zhang.md`).
pub(super) const TWICE: f64 = 2.0;

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
    let over_phases = |reading: Reading| -> anyhow::Result<Samples> {
        let phases = runner.phases(name, case, reading, PHASES, competition.replications)?;
        Ok(Samples(phases.iter().map(|parts| competition.over_tcp(parts).statistic().mean).collect()))
    };
    Ok(BothReadings { plain: over_phases(Reading::Plain)?, jittered: over_phases(Reading::Jittered)? })
}

impl Competition {
    /// The sessions' mean throughput over that of the TCPs in each replication.
    pub(super) fn over_tcp(&self, parts: &[Part]) -> Samples {
        let kbps = |part: &Part, names: &dyn Fn(&str) -> bool| {
            mean(part, Meant { names, metric: "throughput_kbps", window: 0 })
        };
        let ratio = |part: &Part| {
            let is_tcp = |name: &str| name.starts_with('t') && name.contains('@');
            let tcp = kbps(part, &is_tcp).filter(|&tcp| tcp > 0.0)?;
            kbps(part, &self.is_session).map(|session| session / tcp)
        };
        Samples(parts.iter().map(ratio).collect())
    }

    /// The scenario without changes.
    pub(super) fn scenario(&self) -> Option<Case> {
        self.variants.first().map(|variant| variant.case.clone())
    }
}
