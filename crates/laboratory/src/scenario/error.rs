//! Errors of a scenario file, in the form of a compiler's messages.

use std::fmt;

/// All errors of a scenario file and its overrides, in the order of their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioErrors(pub Vec<ScenarioError>);

/// So many errors are shown; the others are counted.
const MOST_SHOWN: usize = 20;

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, or `--set` for an override.
    pub origin: String,
    /// 0 for the file, n for the nth override.
    pub source: usize,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The dotted path of the key; empty if the text is not TOML.
    pub path: String,
    /// The value as it is written, if a value is wrong; long ones are cut.
    pub value: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What is allowed.
    pub allowed: Option<String>,
    /// The known name most like the one given.
    pub nearest: Option<String>,
    /// The row of a template or file for which it is wrong, such as `site = 07`.
    pub row: Option<String>,
    /// The line as it is written.
    pub source_line: String,
    /// How many characters of that line are meant; at least one.
    pub width: usize,
}

impl ScenarioError {
    /// The error of an override, placed in the command-line flag that it was made from: at the wrong text, if the
    /// flag has it, else at the whole flag.
    #[must_use]
    pub fn in_flag(self, name: &str, flag: &str) -> ScenarioError {
        let wrong = self.source_line.chars().skip(self.column - 1).take(self.width).collect::<String>();
        let wrong = wrong.trim_matches('"');
        let at = flag.rfind(wrong).filter(|_| !wrong.is_empty());
        let column = at.map_or(1, |at| flag[..at].chars().count() + 1);
        let width = at.map_or(flag, |_| wrong).chars().count().max(1);
        let (origin, source_line) = (name.to_owned(), flag.to_owned());
        // The path is that of a table that the flag stands for.
        ScenarioError { origin, source_line, line: 1, column, width, path: String::new(), ..self }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: ")?;
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        writeln!(f, "{}", self.message)?;
        let line = self.line.to_string();
        let margin = " ".repeat(line.len());
        writeln!(f, "{margin}--> {}:{}:{}", self.origin, self.line, self.column)?;
        writeln!(f, "{margin} |")?;
        // A tab would move the line away from its caret.
        writeln!(f, "{line} | {}", self.source_line.replace('\t', " "))?;
        let (indent, carets) = (" ".repeat(self.column.saturating_sub(1)), "^".repeat(self.width));
        writeln!(f, "{margin} | {indent}{carets}")?;
        if let Some(row) = &self.row {
            writeln!(f, "{margin} = for: {row}")?;
        }
        if let Some(allowed) = &self.allowed {
            writeln!(f, "{margin} = allowed: {allowed}")?;
        }
        if let Some(nearest) = &self.nearest {
            writeln!(f, "{margin} = help: did you mean `{nearest}`?")?;
        }
        Ok(())
    }
}

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for error in self.0.iter().take(MOST_SHOWN) {
            writeln!(f, "{error}")?;
        }
        if let Some(more) = self.0.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
            writeln!(f, "... and {more} more\n")?;
        }
        match self.0.len() {
            1 => write!(f, "1 error"),
            count => write!(f, "{count} errors"),
        }
    }
}

impl std::error::Error for ScenarioError {}
impl std::error::Error for ScenarioErrors {}
