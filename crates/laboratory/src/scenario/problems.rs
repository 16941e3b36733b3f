//! Collects what is wrong with a scenario and turns it into errors with line and column.

use std::collections::BTreeMap;

use super::error::{ScenarioError, ScenarioErrors};
use super::lines::LineStarts;
use super::tree::{At, Node};

/// Something wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Problem {
    at: At,
    path: String,
    message: String,
    has_value: bool,
    allowed: Option<String>,
    nearest: Option<String>,
}

impl Problem {
    /// Something is wrong with a value.
    pub(super) fn of(node: &Node, message: impl Into<String>) -> Problem {
        Problem { has_value: true, ..Problem::at(node.at, &node.path, message) }
    }

    /// Something is wrong at a key, or with what is missing there.
    pub(super) fn at(at: At, path: &str, message: impl Into<String>) -> Problem {
        let (path, message) = (path.to_owned(), message.into());
        Problem { at, path, message, has_value: false, allowed: None, nearest: None }
    }

    /// What is allowed instead.
    pub(super) fn allowed(self, allowed: impl Into<String>) -> Problem {
        Problem { allowed: Some(allowed.into()), ..self }
    }

    /// What was probably meant.
    pub(super) fn nearest(self, nearest: Option<String>) -> Problem {
        Problem { nearest, ..self }
    }
}

/// From so many on, names are not compared with all others any more.
const MANY: usize = 1000;

/// The sources of a scenario, and all that is wrong with them.
#[derive(Debug)]
pub(super) struct Problems {
    /// Name and text of the file, then of the overrides.
    sources: Vec<(String, String)>,
    found: Vec<Problem>,
    /// Label of a template row in error messages.
    rows: Vec<String>,
}

impl Problems {
    /// None yet.
    pub(super) fn new(sources: Vec<(String, String)>) -> Problems {
        Problems { sources, found: Vec::new(), rows: Vec::new() }
    }

    /// Notes one.
    pub(super) fn push(&mut self, problem: Problem) {
        self.found.push(problem);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Forgets all but the first so many.
    pub(super) fn truncate(&mut self, count: usize) {
        self.found.truncate(count);
    }

    /// Whether there are so many that looking for what was meant would take too long.
    pub(super) fn are_many(&self) -> bool {
        self.found.len() >= MANY
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Notes a row, such as `site = 07`, and gives the number that [`At::row`] has for what it makes.
    pub(super) fn add_row(&mut self, label: String) -> u32 {
        self.rows.push(label);
        self.rows.len() as u32
    }

    /// The text of a node as it is written, shortened; what a row has put there, if one has.
    pub(super) fn written(&self, node: &Node) -> String {
        match node.text() {
            Some(text) if node.at.row > 0 => format!("{:?}", shortened(text)),
            _ => self.excerpt(node.at),
        }
    }

    fn text(&self, source: usize) -> &str {
        self.sources.get(source).map_or("", |(_, text)| text)
    }

    fn excerpt(&self, at: At) -> String {
        shortened(self.text(at.source).get(at.start..at.end).unwrap_or(""))
    }

    /// The errors, each once, in the order of their places: the file first, then the overrides.
    pub(super) fn into_errors(mut self) -> ScenarioErrors {
        self.found.sort();
        // What stands in a table of defaults is read once for each entry that uses it.
        self.found.dedup();
        let lines: Vec<LineStarts> = self.sources.iter().map(|(_, text)| LineStarts::of(text)).collect();
        let mut errors: Vec<ScenarioError> = Vec::new();
        let mut same = BTreeMap::new();
        for problem in &self.found {
            let mut error = self.locate(problem, &lines);
            // A mistake in a template is one mistake, however many rows it has.
            if let Some(label) = problem.at.row.checked_sub(1).and_then(|row| self.rows.get(row as usize)) {
                error.row = Some(label.clone());
                let place =
                    (At { row: 0, ..problem.at }, problem.allowed.clone(), skeleton(&problem.message));
                let (first, rows) = same.entry(place).or_insert((errors.len(), 0));
                *rows += 1;
                if let (Some(first), true) = (errors.get_mut(*first), *rows > 1) {
                    let plural = if *rows == 2 { "" } else { "s" };
                    let shown = first.row.as_deref().and_then(|row| row.split(AND_OTHERS).next());
                    first.row =
                        Some(format!("{}{AND_OTHERS}{} other row{plural}", shown.unwrap_or(""), *rows - 1));
                    continue;
                }
            }
            errors.push(error);
        }
        ScenarioErrors(errors)
    }

    fn locate(&self, problem: &Problem, lines: &[LineStarts]) -> ScenarioError {
        let at = problem.at;
        let text = self.text(at.source);
        let mut start = at.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let (before, after) = text.split_at(start);
        let line = lines.get(at.source).map_or(1, |lines| lines.line(start));
        let line_start = lines.get(at.source).map_or(0, |lines| lines.start(line));
        let rest = after.find('\n').map_or(after, |newline| &after[..newline]);
        let meant = rest.get(..at.end.saturating_sub(start)).unwrap_or(rest);
        ScenarioError {
            origin: self.sources.get(at.source).map_or(String::new(), |(name, _)| name.clone()),
            source: at.source,
            line,
            column: before[line_start..].chars().count() + 1,
            path: problem.path.clone(),
            value: problem.has_value.then(|| self.excerpt(at)),
            message: problem.message.clone(),
            allowed: problem.allowed.clone(),
            nearest: problem.nearest.clone(),
            row: None,
            source_line: format!("{}{rest}", &before[line_start..]).trim_end().to_owned(),
            width: meant.trim_end().chars().count().max(1),
        }
    }
}

/// Between the first row with a mistake and how many others have it.
const AND_OTHERS: &str = ", and ";

/// The beginning of a text for a message.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.lines().next().unwrap_or("");
    let cut: String = line.chars().take(LONGEST).collect();
    if cut.len() < text.len() { format!("{cut}...") } else { cut }
}

/// A message without the names and numbers that differ from row to row.
fn skeleton(message: &str) -> String {
    let outside = |text: &str, mark| text.split(mark).step_by(2).collect::<String>();
    outside(&outside(message, '`'), '"').chars().filter(|c| !c.is_ascii_digit()).collect()
}
