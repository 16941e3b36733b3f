//! Reads what refers to flows by name: groups, and the numbers of the paper.

use std::collections::BTreeSet;

use super::context::Context;
use super::table::TableReader;
use crate::results::{Metric, PaperValue, Relation, Role};
use crate::scenario::field::FieldKind;
use crate::scenario::flow_name::FlowName;
use crate::scenario::naming::matches;
use crate::scenario::nearest::nearest;
use crate::scenario::plan::GroupPlan;
use crate::scenario::problems::Problem;
use crate::scenario::tables::PAPER;
use crate::scenario::tree::{Entry, Node, Value};

/// The flows of a scenario, as far as they could be read.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) flows: Vec<FlowName>,
    /// Sessions and flows some of whose names are not known, since something there is wrong.
    pub(super) incomplete: Vec<String>,
}

impl Known {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.flows.iter().map(|flow| flow.name.as_str())
    }

    /// Whether a name may belong to a flow that could not be read.
    pub(super) fn may_be_missing(&self, name: &str) -> bool {
        let stem = name.split('@').next().unwrap_or(name);
        let fits = |known: &String| stem.contains('*') || stem.starts_with(known.as_str());
        self.incomplete.iter().any(fits)
    }

    /// The pattern or name that was probably meant: `tcp@R` has numbers where several flows of its table end at a
    /// node, and none where one does, but `tcp*@R` stands for both.
    fn meant(&self, pattern: &str) -> Option<String> {
        let both = pattern.split_once('@').map(|(stem, node)| {
            let stem = stem.trim_end_matches(|c: char| c.is_ascii_digit() || c == '*');
            format!("{}*@{node}", stem.strip_suffix('-').unwrap_or(stem))
        });
        let fits = |both: &String| self.names().any(|name| matches(both, name));
        both.filter(fits).or_else(|| nearest(pattern, self.names()))
    }

    /// What is allowed where a flow is named.
    pub(super) fn allowed(&self) -> String {
        const MOST: usize = 12;
        let shown: Vec<&str> = self.names().take(MOST).collect();
        let more = if self.flows.len() > MOST { ", ..." } else { "" };
        format!("{}{more}", shown.join(", "))
    }
}

/// Reads one group.
pub(super) fn read_group(entry: &Entry, known: &Known, context: &mut Context<'_>) -> GroupPlan {
    let mut flows: Vec<String> = Vec::new();
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let items: &[Node] = match &entry.node.value {
        Value::List(items) if !items.is_empty() => items,
        _ => {
            let problem = Problem::of(&entry.node, "a group is a list of flows");
            context.problems.push(problem.allowed("a list such as [\"elm@R1\", \"tcp-*@R1\"]"));
            &[]
        }
    };
    for item in items {
        let Some(pattern) = item.text() else {
            let problem = Problem::of(item, "this is not the name of a flow");
            context.problems.push(problem.allowed(known.allowed()));
            continue;
        };
        if taken.contains(pattern) {
            context.problems.push(Problem::of(item, format!("`{pattern}` is in the group already")));
        }
        let found: Vec<&str> = known.names().filter(|name| matches(pattern, name)).collect();
        if found.is_empty() && !known.may_be_missing(pattern) {
            let problem = Problem::of(item, format!("no flow is called `{pattern}`"));
            context.problems.push(problem.allowed(known.allowed()).nearest(known.meant(pattern)));
        }
        // Patterns may overlap; a flow counts once.
        for name in found {
            if taken.insert(name) {
                flows.push(name.to_owned());
            }
        }
    }
    GroupPlan { name: entry.key.clone(), flows }
}

/// Reads what the paper says of one flow or group.
pub(super) fn read_paper(
    entry: &Entry,
    known: &Known,
    groups: &[GroupPlan],
    context: &mut Context<'_>,
) -> Vec<PaperValue> {
    let subject = entry.key.as_str();
    let flow = known.flows.iter().find(|flow| flow.name == subject);
    let is_group = groups.iter().any(|group| group.name == subject);
    if flow.is_none() && !is_group && !known.may_be_missing(subject) {
        let group_names = groups.iter().map(|group| group.name.as_str());
        let problem =
            Problem::at(entry.key_at, &entry.node.path, format!("no flow or group is called `{subject}`"));
        let nearest = nearest(subject, known.names().chain(group_names));
        context.problems.push(problem.allowed(known.allowed()).nearest(nearest));
    }
    let Some(table) = TableReader::open(&entry.node, &PAPER, context) else { return Vec::new() };
    let mut values = Vec::new();
    for metric in Metric::ALL {
        let Some(node) = table.node(metric.name()) else { continue };
        let only_for = match metric {
            Metric::JainIndex if flow.is_some() => Some("a group"),
            Metric::JainIndex => None,
            _ if is_group => Some("a flow"),
            Metric::LevelChanges | Metric::MeanLevel | Metric::SettledAfterS
                if flow.is_some_and(|flow| flow.role != Role::Receiver) =>
            {
                Some("a receiver of a session")
            }
            _ => None,
        };
        if let Some(only_for) = only_for {
            let message = format!("only {only_for} has `{metric}`, and `{subject}` is none");
            context.problems.push(Problem::of(node, message));
        }
        match reported(node) {
            Some((relation, value)) => {
                values.push(PaperValue { subject: subject.to_owned(), metric: *metric, value, relation });
            }
            None => context.wrong(node, &FieldKind::PaperValue, None),
        }
    }
    values
}

/// A number of a paper: plain, or text that says how exact it is.
fn reported(node: &Node) -> Option<(Relation, f64)> {
    let (relation, value) = match &node.value {
        Value::Integer(integer) => (Relation::Equal, *integer as f64),
        Value::Number(number) => (Relation::Equal, *number),
        Value::Text(text) => {
            let text = text.trim();
            let marks = [("about", Relation::About), ("<", Relation::Below), (">", Relation::Above)];
            let (relation, rest) =
                marks.iter().find_map(|(mark, relation)| Some((*relation, text.strip_prefix(mark)?)))?;
            (relation, rest.trim().parse().ok()?)
        }
        _ => return None,
    };
    value.is_finite().then_some((relation, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::tree::At;

    #[test]
    fn reads_how_exactly_a_paper_speaks() {
        let read = |text: &str| {
            reported(&Node { at: At::default(), path: String::new(), value: Value::Text(text.to_owned()) })
        };
        assert_eq!(read("about 430"), Some((Relation::About, 430.0)));
        assert_eq!(read("< 10"), Some((Relation::Below, 10.0)));
        assert_eq!(read(">300"), Some((Relation::Above, 300.0)));
        assert_eq!(read("430"), None);
        assert_eq!(read("about inf"), None);
        assert_eq!(read("around 430"), None);
    }
}
