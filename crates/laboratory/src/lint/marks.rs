//! ECN that nothing comes of.

use super::Doubt;
use super::facts::{Facts, Route};
use super::list::ECN_WITHOUT_MARKS;
use crate::scenario::Traffic;

/// Sessions and TCPs that are ECN-capable where no queue on their paths marks, and TCPs that are not in spite of their key.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for (plan, routes) in facts.session_tables().filter(|(plan, _)| plan.ecn) {
        doubts.extend(unmarked(facts, ("session", &plan.name), routes));
    }
    for (plan, routes) in facts.flow_tables() {
        let Traffic::Tcp { options, .. } = &plan.traffic else { continue };
        if !options.ecn {
            continue;
        }
        doubts.extend(if options.variant.answers_marks() {
            unmarked(facts, ("flow", &plan.name), routes)
        } else {
            let message = format!("`{}` does not answer marks and asks for none", options.variant.name());
            Some(doubt(("flow", &plan.name), message, "no `ecn`, or another version of TCP"))
        });
    }
    doubts
}

fn unmarked(facts: &Facts<'_>, of: (&str, &str), routes: &[Route]) -> Option<Doubt> {
    let marks = |&link: &usize| facts.direction(link).queue.marks() || facts.direction(link).loss_marks;
    let is_marked = routes.iter().flat_map(|route| &route.links).any(marks);
    let remedy = "a queue that marks, such as `{ kind = \"codel\", ecn = true }`, or no `ecn`";
    (!is_marked).then(|| doubt(of, "no queue on its paths marks, so it is as without ECN".to_owned(), remedy))
}

fn doubt((kind, name): (&str, &str), message: String, remedy: &str) -> Doubt {
    let path = |table: String| [format!("{table}.ecn"), table];
    let own = path(format!("{kind}s.{name}"));
    let [default, _] = path(format!("defaults.{kind}"));
    let [key, table] = own;
    Doubt {
        lint: ECN_WITHOUT_MARKS,
        subject: format!("{kind} {name}"),
        paths: vec![key, default, table],
        message: format!("its `ecn` has no effect: {message}"),
        remedy: remedy.to_owned(),
    }
}
