//! ECN that nothing comes of.

use super::Doubt;
use super::facts::{Facts, Table};
use super::list::ECN_WITHOUT_MARKS;
use crate::scenario::Traffic;

/// Sessions and TCPs that are ECN-capable where no queue on their paths marks, and TCPs that are not in spite of their key.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for (plan, routes) in facts.session_tables().filter(|(plan, _)| plan.ecn) {
        doubts.extend(unmarked(facts, Table { kind: "session", name: &plan.name, routes }));
    }
    for (plan, routes) in facts.flow_tables() {
        let Traffic::Tcp { options, .. } = &plan.traffic else { continue };
        if !options.ecn {
            continue;
        }
        let table = Table { kind: "flow", name: &plan.name, routes };
        doubts.extend(if options.variant.answers_marks() {
            unmarked(facts, table)
        } else {
            let message = format!("`{}` does not answer marks and asks for none", options.variant.name());
            Some(doubt(table, message, "no `ecn`, or another version of TCP"))
        });
    }
    doubts
}

fn unmarked(facts: &Facts<'_>, table: Table<'_>) -> Option<Doubt> {
    let marks = |&link: &usize| facts.direction(link).queue.marks() || facts.direction(link).loss_marks;
    let is_marked = table.routes.iter().flat_map(|route| &route.links).any(marks);
    let remedy = "a queue that marks, such as `{ kind = \"codel\", ecn = true }`, or no `ecn`";
    let message = || "no queue on its paths marks, so it is as without ECN".to_owned();
    (!is_marked).then(|| doubt(table, message(), remedy))
}

fn doubt(table: Table<'_>, message: String, remedy: &str) -> Doubt {
    let key = |path: String| format!("{path}.ecn");
    Doubt {
        lint: ECN_WITHOUT_MARKS,
        subject: table.subject(),
        paths: vec![key(table.path()), key(format!("defaults.{}", table.kind)), table.path()],
        message: format!("its `ecn` has no effect: {message}"),
        remedy: remedy.to_owned(),
    }
}
