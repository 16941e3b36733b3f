//! Which flag each mode of a command uses, and which it refuses: why, and what to do instead.
//!
//! [`command_line`](crate::command_line) applies the tables to the command line before anything else. Each mode then gets a configuration that
//! [`configured`](crate::net::configured) makes, so that it cannot read a flag that its table refuses. A new flag is a row in the
//! table of its command; a test finds one that is missing.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use layercast_core::modes::refusals;
pub(crate) use layercast_core::modes::{BOTH, CHOOSES, Cell, Reason, Row, Rule, USED, needs, no, row};

use crate::failure::Failure;

/// What follows from the values of flags, as modes and rules need it.
#[derive(Debug)]
pub(crate) struct Fact {
    pub(crate) name: &'static str,
    /// In messages.
    pub(crate) text: &'static str,
    pub(crate) holds: fn(&ArgMatches) -> bool,
}

/// A mode: the flag or fact that chooses it, and its name after that of the command.
#[derive(Debug)]
pub(crate) struct Mode<M> {
    pub(crate) mode: M,
    pub(crate) by: &'static str,
    pub(crate) name: &'static str,
}

/// The modes of a command and its flags. Of several modes that are chosen the first counts.
#[derive(Debug)]
pub(crate) struct Table<M: 'static> {
    pub(crate) command: &'static str,
    /// Adds its arguments to the description of a command.
    pub(crate) arguments: fn(Command) -> Command,
    /// That of a command line that chooses none.
    pub(crate) default: M,
    pub(crate) modes: &'static [Mode<M>],
    pub(crate) facts: &'static [Fact],
    pub(crate) rows: &'static [Row],
}

/// The flags and facts of a command line.
#[derive(Debug, Default)]
pub(crate) struct Given(Vec<String>);

impl Given {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|given| given == name)
    }
}

impl<M: Copy + PartialEq> Table<M> {
    /// The mode of a command line.
    pub(crate) fn mode(&self, given: &Given) -> M {
        let chosen = self.modes.iter().find(|mode| given.has(mode.by));
        chosen.map_or(self.default, |mode| mode.mode)
    }

    /// Refuses what a mode does not use, all at once; but for flags that were used to find the mode.
    ///
    /// # Errors
    /// Each refused flag with the mode, the reason and the remedy.
    pub(crate) fn check(&self, mode: M, given: &Given, but: &[&str]) -> Result<(), Failure> {
        // Only errors need it, and it takes the whole description of the command line.
        let names = LazyCell::new(|| Names::of(self));
        let column = self.modes.iter().position(|one| one.mode == mode).unwrap_or_default();
        let title = self.modes.get(column).map_or("", |mode| mode.name);
        let refused = refusals(self.rows, column, |name| given.has(name) && !but.contains(&name));
        let errors = refused.iter().map(|refusal| {
            let mode = format!("`{} {title}`", self.command);
            let what = refusal.refused.text(&mode, |flags| names.all(flags));
            let Reason { why, instead } = refusal.reason;
            format!("error: {} {what}: {why}\n  = help: {instead}", names.of_flag(refusal.flag))
        });
        let errors: Vec<String> = errors.collect();
        if errors.is_empty() { Ok(()) } else { Err(Failure::Input(errors.join("\n"))) }
    }

    fn given(&self, matches: &ArgMatches) -> Given {
        let typed = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
        // Groups have a source too, but are no flags.
        let flags = self.rows.iter().map(|row| row.flag).filter(typed);
        let facts = self.facts.iter().filter(|fact| (fact.holds)(matches)).map(|fact| fact.name);
        Given(flags.chain(facts).map(str::to_owned).collect())
    }
}

/// The table of any command.
pub(crate) trait AnyTable: Sync {
    /// The command's name.
    fn command(&self) -> &'static str;

    /// The flags of a command line.
    ///
    /// # Errors
    /// Each flag that its mode refuses.
    fn applied(&self, matches: &ArgMatches) -> Result<Given, Failure>;

    /// The table as text: what all modes use, what some do not, and why.
    fn text(&self) -> String;
}

impl<M: Copy + PartialEq + Sync> AnyTable for Table<M> {
    fn command(&self) -> &'static str {
        self.command
    }

    fn applied(&self, matches: &ArgMatches) -> Result<Given, Failure> {
        let given = self.given(matches);
        self.check(self.mode(&given), &given, &[])?;
        Ok(given)
    }

    fn text(&self) -> String {
        let names = Names::of(self);
        let modes: Vec<String> =
            self.modes.iter().map(|mode| format!("`{} {}`", self.command, mode.name)).collect();
        let mut text = format!("{}: {}\n", self.command, modes.join(", "));
        let is_used = |row: &&Row| row.cells.iter().all(|cell| !matches!(cell, Cell::Refused(_)));
        let everywhere: Vec<String> =
            self.rows.iter().filter(is_used).map(|row| names.of_flag(row.flag)).collect();
        let _ = writeln!(text, "  in every mode: {}", everywhere.join(", "));
        for (column, mode) in self.modes.iter().enumerate() {
            let mut refused: BTreeMap<Reason, Vec<String>> = BTreeMap::new();
            for row in self.rows {
                if let Some(Cell::Refused(reason)) = row.cells.get(column) {
                    refused.entry(*reason).or_default().push(names.of_flag(row.flag));
                }
            }
            if !refused.is_empty() {
                let _ = writeln!(text, "  not with `{} {}`:", self.command, mode.name);
            }
            for (Reason { why, instead }, flags) in refused {
                let _ = writeln!(text, "    {}\n      {why}; {instead}", flags.join(", "));
            }
        }
        for row in self.rows {
            for Rule { with, without, reason: Reason { why, instead } } in row.rules {
                let flag = names.of_flag(row.flag);
                let what = match (*with, *without) {
                    ([], without) => format!("needs {}", names.all(without)),
                    (with, []) => format!("not with {}", names.all(with)),
                    (with, without) => {
                        format!("with {} needs {}", names.all(with), names.all(without))
                    }
                };
                let _ = writeln!(text, "  {flag} {what}\n      {why}; {instead}");
            }
        }
        text
    }
}

/// How flags and facts are called in messages.
struct Names<'t> {
    command: Command,
    facts: &'t [Fact],
}

impl Names<'_> {
    fn of<M>(table: &Table<M>) -> Names<'_> {
        Names { command: (table.arguments)(Command::new(table.command)), facts: table.facts }
    }

    fn of_flag(&self, name: &str) -> String {
        if let Some(fact) = self.facts.iter().find(|fact| fact.name == name) {
            return fact.text.to_owned();
        }
        let argument = self.command.get_arguments().find(|argument| argument.get_id() == name);
        match argument.and_then(|argument| Some((argument.get_long(), argument.get_value_names()?))) {
            Some((Some(long), _)) => format!("--{long}"),
            Some((None, [value, ..])) => value.to_string(),
            _ => argument.and_then(clap::Arg::get_long).map_or(name.to_owned(), |long| format!("--{long}")),
        }
    }

    fn all(&self, names: &[&str]) -> String {
        names.iter().map(|name| self.of_flag(name)).collect::<Vec<_>>().join(" or ")
    }
}

#[cfg(test)]
mod tests;
