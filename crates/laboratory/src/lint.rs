//! Lints: what makes the results of a scenario doubtful, though it can be run.
//!
//! [`before`] looks at a scenario alone, [`after`] also at what its run measured. Each gives findings with
//! their place in the file and a remedy; [`render`] prints them. They are pure functions.

mod changes;
mod facts;
mod late;
mod layers;
mod list;
mod loops;
mod marks;
mod queues;
mod relays;
mod render;
mod sizes;
mod tcp;
#[cfg(test)]
mod tests;
mod unused;

use crate::results::{Finding, LinkInfo, Replication};
use crate::scenario::{Places, Scenario};

pub use list::{ALL, Lint, markdown};
pub use render::render;

use facts::Facts;

/// What a lint reports: everything of a [`Finding`] but the line, for which it has the paths of tables and keys.
struct Doubt {
    lint: &'static str,
    subject: String,
    /// Where it stands; the first that the file has counts.
    paths: Vec<String>,
    message: String,
    remedy: String,
}

/// What is doubtful about a scenario before it runs, by lint in the order of [`ALL`]. `text` is that of its
/// file.
#[must_use]
pub fn before(scenario: &Scenario, text: &str) -> Vec<Finding> {
    let facts = Facts::of(scenario);
    let mut doubts = layers::check(&facts);
    doubts.extend(sizes::check(&facts));
    doubts.extend(tcp::check(&facts));
    doubts.extend(queues::check(&facts));
    doubts.extend(marks::check(&facts));
    doubts.extend(late::check(&facts));
    doubts.extend(changes::check(scenario));
    doubts.extend(relays::check(scenario));
    doubts.extend(unused::check(&facts));
    doubts.extend(loops::check(scenario));
    doubts.extend(replications(scenario));
    placed(doubts, text)
}

/// Those of the findings before a run that hold for the emulated world too.
#[must_use]
pub fn emulated(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.retain(|finding| finding.lint != list::RELAYS);
    findings
}

/// What the measurements show to be doubtful. `links` are those of the experiment.
#[must_use]
pub fn after(
    scenario: &Scenario,
    text: &str,
    links: &[LinkInfo],
    replications: &[Replication],
) -> Vec<Finding> {
    placed(queues::measured(scenario, links, replications), text)
}

/// Those of all findings of a run that its measurements gave.
#[must_use]
pub fn measured(findings: &[Finding]) -> Vec<Finding> {
    let is_after = |lint: &Lint| lint.when == list::AFTER;
    let after =
        findings.iter().filter(|found| ALL.iter().any(|lint| lint.name == found.lint && is_after(lint)));
    after.cloned().collect()
}

/// The findings of several scenarios, such as those of the cells of a sweep: each lint about each subject once, as
/// it was found first.
#[must_use]
pub fn once(all: impl IntoIterator<Item = Vec<Finding>>) -> Vec<Finding> {
    let mut seen = std::collections::BTreeSet::new();
    let mut kept: Vec<Finding> = all.into_iter().flatten().collect();
    kept.retain(|finding| seen.insert((finding.lint, finding.subject.clone())));
    kept.sort_by_key(|finding| ALL.iter().position(|lint| lint.name == finding.lint));
    kept
}

/// The intervals of few replications are wide and unreliable. A single one has no interval to mislead.
fn replications(scenario: &Scenario) -> Option<Doubt> {
    /// With fewer, the 97.5 % quantile of Student's t is above 2.8, against 1.96 in the limit.
    const ENOUGH: u32 = 5;
    let count = scenario.replications;
    (2..ENOUGH).contains(&count).then(|| Doubt {
        lint: list::FEW_REPLICATIONS,
        subject: "scenario".to_owned(),
        paths: vec!["replications".to_owned()],
        message: format!("with {count} replications, confidence intervals are wide and unreliable"),
        remedy: format!("at least {ENOUGH}, with `replications` or `--replications`"),
    })
}

fn placed(mut doubts: Vec<Doubt>, text: &str) -> Vec<Finding> {
    if doubts.is_empty() {
        return Vec::new();
    }
    let places = Places::of(text);
    let order = |doubt: &Doubt| ALL.iter().position(|lint| lint.name == doubt.lint);
    doubts.sort_by_key(order);
    let finding = |doubt: Doubt| Finding {
        lint: doubt.lint,
        subject: doubt.subject,
        line: places.line(&doubt.paths),
        message: doubt.message,
        remedy: doubt.remedy,
    };
    doubts.into_iter().map(finding).collect()
}
