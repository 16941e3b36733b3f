//! Expands `[[for]]` into the tables that it stands for, before the scenario is read.
//!
//! A template has rows of values and tables in which `{variable}` stands for a row's value, in names
//! as in texts. All of it happens in the tree, so what a template makes is checked, changed by `--set`
//! and shown in errors as if the file had it; an error names the row too.

pub(super) mod coerce;
pub(super) mod columns;
pub(super) mod merge;
mod row;
mod substitute;

use std::path::Path;

use self::columns::{Columns, read_columns};
use self::merge::{Collision, Merger};
use self::row::Row;
use self::substitute::Substitution;
use super::field::{Field, FieldKind, quoted};
use super::problems::{Problem, Problems};
use super::tables::{FOR, SCENARIO};
use super::tree::{Entry, Node, Value};

/// The most tables that all templates of a scenario may make together.
const MOST_TABLES: usize = 100_000;

/// Replaces `[[for]]` by what it makes. Texts of the files that it reads are added to `files`.
pub(super) fn expand(root: &mut Node, folder: &Path, problems: &mut Problems, files: &mut Vec<String>) {
    let Value::Table(entries) = &mut root.value else { return };
    let Some(position) = entries.iter().position(|entry| entry.key == "for") else { return };
    let templates = entries.remove(position);
    let mut expander = Expander { folder, problems, files, merger: Merger::new(root), tables: 0 };
    let outer = Row::default();
    expander.expand_all(&templates.node, &outer);
    expander.merger.finish(root);
}

struct Expander<'e> {
    folder: &'e Path,
    problems: &'e mut Problems,
    files: &'e mut Vec<String>,
    merger: Merger,
    /// How many tables were made.
    tables: usize,
}

impl Expander<'_> {
    fn expand_all(&mut self, templates: &Node, outer: &Row) {
        let Value::List(items) = &templates.value else {
            let message = "templates are written as `[[for]]`, with two brackets";
            self.problems.push(Problem::of(templates, message).allowed(FOR.example));
            return;
        };
        items.iter().for_each(|template| self.expand_one(template, outer));
    }

    fn expand_one(&mut self, template: &Node, outer: &Row) {
        let Value::Table(entries) = &template.value else {
            self.problems.push(Problem::of(template, "a template is a table").allowed(FOR.example));
            return;
        };
        for entry in entries.iter().filter(|entry| FOR.field(&entry.key).is_none()) {
            let message = format!("a `for` has no key `{}`", entry.key);
            let problem = Problem::at(entry.key_at, &entry.node.path, message);
            self.problems.push(problem.allowed(quoted(FOR.keys())).nearest(FOR.nearest(&entry.key)));
        }
        let parts: Vec<&Entry> =
            entries.iter().filter(|entry| FOR.field(&entry.key).is_some_and(is_template)).collect();
        if parts.is_empty() {
            let problem = Problem::at(template.at, "for", "the template makes nothing");
            self.problems.push(problem.allowed("tables with variables, such as links.\"CORE-{site}\" = {}"));
            return;
        }
        let Some(columns) = read_columns(template, self.folder, self.problems, self.files) else { return };
        if let Some(name) = columns.names.iter().find(|name| outer.values.iter().any(|(n, _)| n == *name)) {
            let message = format!("an outer template has the variable `{name}` already");
            self.problems.push(Problem::at(columns.at, "for", message).allowed("a variable of another name"));
            return;
        }
        for index in 0..columns.rows.len() {
            let row = self.row(&columns, index, outer);
            for part in &parts {
                if part.key == "for" {
                    self.expand_all(&part.node, &row);
                } else {
                    self.expand_tables(part, &row);
                }
                if self.tables > MOST_TABLES {
                    self.refuse_size(template);
                    return;
                }
            }
        }
    }

    fn row(&mut self, columns: &Columns, index: usize, outer: &Row) -> Row {
        let mut row = outer.clone();
        let values = columns.rows.get(index).map(|row| row.cells.iter()).unwrap_or_default();
        row.values.extend(columns.names.iter().cloned().zip(values.cloned()));
        row.line = columns.rows.get(index).and_then(|row| row.line.clone()).or(row.line);
        row.number = self.problems.add_row(row.label());
        row
    }

    /// Makes the tables of one part, such as `links`, for one row.
    fn expand_tables(&mut self, part: &Entry, row: &Row) {
        let Some(field) = SCENARIO.field(&part.key) else { return };
        // An empty one counts too, so that the rows of templates within templates come to an end.
        self.tables += part.node.entries().len().max(1);
        let Value::Table(entries) = &part.node.value else {
            self.problems
                .push(Problem::of(&part.node, "tables are needed here").allowed(field.kind.describe()));
            return;
        };
        let mut substitution = Substitution { row, problems: self.problems };
        for entry in entries {
            let Some(made) = substitution.entry(entry, &part.key, Some(field.kind)) else { continue };
            self.merger.add(
                &part.key,
                row.at(part.key_at),
                made,
                Collision::IsMistake,
                substitution.problems,
            );
        }
    }

    fn refuse_size(&mut self, template: &Node) {
        let message = format!("the templates make more than {MOST_TABLES} tables");
        let problem = Problem::at(template.at, "for", message);
        // Once is enough.
        self.problems.push(problem.allowed("fewer rows, or lists and `count` in place of tables"));
    }
}

/// Whether a key of a template holds what is expanded.
fn is_template(field: &Field) -> bool {
    matches!(field.kind, FieldKind::Templates | FieldKind::TableList(_))
}
