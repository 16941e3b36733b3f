//! Collects what is wrong with a scenario and turns it into errors with line and column.

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
}

impl Problems {
    /// None yet.
    pub(super) fn new(sources: Vec<(String, String)>) -> Problems {
        Problems { sources, found: Vec::new() }
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

    /// The text of a node as it is written, shortened.
    pub(super) fn written(&self, node: &Node) -> String {
        self.excerpt(node.at)
    }

    fn text(&self, source: usize) -> &str {
        self.sources.get(source).map_or("", |(_, text)| text)
    }

    fn excerpt(&self, at: At) -> String {
        const LONGEST: usize = 60;
        let text = self.text(at.source).get(at.start..at.end).unwrap_or("");
        let line = text.lines().next().unwrap_or("");
        let cut: String = line.chars().take(LONGEST).collect();
        if cut.len() < text.len() { format!("{cut}...") } else { cut }
    }

    /// The errors, each once, in the order of their places: the file first, then the overrides.
    pub(super) fn into_errors(mut self) -> ScenarioErrors {
        self.found.sort();
        // What stands in a table of defaults is read once for each entry that uses it.
        self.found.dedup();
        let lines: Vec<LineStarts> = self.sources.iter().map(|(_, text)| LineStarts::of(text)).collect();
        ScenarioErrors(self.found.iter().map(|problem| self.locate(problem, &lines)).collect())
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
            source_line: format!("{}{rest}", &before[line_start..]).trim_end().to_owned(),
            width: meant.trim_end().chars().count().max(1),
        }
    }
}
