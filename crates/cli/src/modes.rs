//! Which flag each mode of a command uses, and which it refuses: why, and what to do instead.
//!
//! [`parse`] applies the tables to the command line before anything else. Each mode then gets a configuration that
//! [`configured`](crate::net::configured) makes, so that it cannot read a flag that its table refuses. A new flag is a row in the
//! table of its command; a test finds one that is missing.

mod local;

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory as _, FromArgMatches as _};

use crate::arguments::Arguments;
use crate::commands::Failure;

#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) use crate::net::receive::modes::{RECEIVE, ReceiveMode};
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) use crate::net::relay::modes::{RELAY, RelayMode};
#[cfg(all(feature = "transport", target_os = "linux"))]
pub(crate) use crate::net::send::modes::{SEND, SendMode};

/// Why a flag is refused, and what to do instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reason {
    pub(crate) why: &'static str,
    pub(crate) instead: &'static str,
}

/// What a mode does with a flag.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell {
    /// It reads it.
    Used,
    /// The flag is that of another mode.
    Chooses,
    Refused(Reason),
}

pub(crate) const USED: Cell = Cell::Used;
pub(crate) const CHOOSES: Cell = Cell::Chooses;

pub(crate) const fn no(why: &'static str, instead: &'static str) -> Cell {
    Cell::Refused(Reason { why, instead })
}

/// A flag that depends on others: it is refused with any of `with` (if there are some) and without all of `without`. Names are
/// those of flags or of facts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) with: &'static [&'static str],
    pub(crate) without: &'static [&'static str],
    pub(crate) reason: Reason,
}

/// Needs one of these.
#[cfg_attr(
    not(all(feature = "transport", target_os = "linux")),
    allow(dead_code, reason = "only commands of the transport need it")
)]
pub(crate) const fn needs(
    without: &'static [&'static str],
    why: &'static str,
    instead: &'static str,
) -> Rule {
    Rule { with: &[], without, reason: Reason { why, instead } }
}

/// Cannot be used with any of these.
#[cfg_attr(
    not(all(feature = "transport", target_os = "linux")),
    allow(dead_code, reason = "only commands of the transport need it")
)]
pub(crate) const fn bars(with: &'static [&'static str], why: &'static str, instead: &'static str) -> Rule {
    Rule { with, without: &[], reason: Reason { why, instead } }
}

/// A flag, by its name in clap: a cell for each mode, and what else it depends on.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) flag: &'static str,
    pub(crate) cells: &'static [Cell],
    pub(crate) rules: &'static [Rule],
}

pub(crate) const fn row(flag: &'static str, cells: &'static [Cell]) -> Row {
    Row { flag, cells, rules: &[] }
}

impl Row {
    #[cfg_attr(
        not(all(feature = "transport", target_os = "linux")),
        allow(dead_code, reason = "only commands of the transport need it")
    )]
    pub(crate) const fn rules(self, rules: &'static [Rule]) -> Row {
        Row { rules, ..self }
    }
}

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
        let mut errors = Vec::new();
        for row in self.rows.iter().filter(|row| given.has(row.flag) && !but.contains(&row.flag)) {
            let mut error = |what: String, Reason { why, instead }: Reason| {
                let flag = names.of_flag(row.flag);
                errors.push(format!("error: {flag} {what}: {why}\n  = help: {instead}"));
            };
            if let Some(Cell::Refused(reason)) = row.cells.get(column) {
                error(format!("cannot be used with `{} {title}`", self.command), *reason);
                continue;
            }
            for rule in row.rules {
                let with: Vec<&str> = rule.with.iter().copied().filter(|with| given.has(with)).collect();
                let is_met = rule.without.iter().any(|without| given.has(without));
                match (rule.with.is_empty(), with.as_slice()) {
                    _ if is_met => {}
                    (true, _) => error(format!("needs {}", names.all(rule.without)), rule.reason),
                    (false, []) => {}
                    (false, with) => error(format!("cannot be used with {}", names.all(with)), rule.reason),
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(Failure::Input(errors.join("\n"))) }
    }

    fn given(&self, matches: &ArgMatches) -> Given {
        let typed = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
        // Groups have a source too, but are no flags.
        let flags = self.rows.iter().map(|row| row.flag).filter(typed);
        let facts = self.facts.iter().filter(|fact| (fact.holds)(matches)).map(|fact| fact.name);
        Given(flags.chain(facts).map(str::to_owned).collect())
    }

    fn applied(&self, matches: &ArgMatches) -> Result<Given, Failure> {
        let given = self.given(matches);
        self.check(self.mode(&given), &given, &[])?;
        Ok(given)
    }

    /// The table as text: what all modes use, what some do not, and why.
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
    command: Option<Command>,
    facts: &'t [Fact],
}

impl Names<'_> {
    fn of<M>(table: &Table<M>) -> Names<'_> {
        Names { command: Arguments::command().find_subcommand(table.command).cloned(), facts: table.facts }
    }

    fn of_flag(&self, name: &str) -> String {
        if let Some(fact) = self.facts.iter().find(|fact| fact.name == name) {
            return fact.text.to_owned();
        }
        let all = self.command.as_ref().map(|command| command.get_arguments());
        let argument = all.into_iter().flatten().find(|argument| argument.get_id() == name);
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

/// Calls a macro with each table.
macro_rules! each_table {
    ($call:ident) => {
        #[cfg(all(feature = "transport", target_os = "linux"))]
        {
            $call!(SEND);
            $call!(RECEIVE);
            $call!(RELAY);
        }
        $call!(local::RUN);
        $call!(local::EXPLORE);
        #[cfg(all(feature = "emulator", target_os = "linux"))]
        $call!(local::ENDPOINT);
    };
}

/// Reads a command line, and refuses flags that the mode of its command does not use.
///
/// # Errors
/// What is refused. Wrong usage, and what is only to be printed, ends the program.
pub(crate) fn parse(line: impl IntoIterator<Item = OsString>) -> Result<(Arguments, Given), Failure> {
    let (arguments, matches) = read(line).unwrap_or_else(|error| error.exit());
    Ok((arguments, checked(&matches)?))
}

fn read(line: impl IntoIterator<Item = OsString>) -> Result<(Arguments, ArgMatches), clap::Error> {
    let matches = Arguments::command().try_get_matches_from(line)?;
    Ok((Arguments::from_arg_matches(&matches)?, matches))
}

fn checked(matches: &ArgMatches) -> Result<Given, Failure> {
    let Some((name, own)) = matches.subcommand() else { return Ok(Given::default()) };
    // `relay status` is a command of its own.
    if own.subcommand().is_some() {
        return Ok(Given::default());
    }
    macro_rules! apply {
        ($table:expr) => {
            if name == $table.command {
                return $table.applied(own);
            }
        };
    }
    each_table!(apply);
    Ok(Given::default())
}

/// All tables as text, of commands that `--help` lists.
pub(crate) fn text() -> String {
    let mut text = String::new();
    let whole = Arguments::command();
    let is_shown = |name: &str| whole.find_subcommand(name).is_some_and(|command| !command.is_hide_set());
    macro_rules! add {
        ($table:expr) => {
            if is_shown($table.command) {
                let gap = if text.is_empty() { "" } else { "\n" };
                text.push_str(&format!("{gap}{}", $table.text()));
            }
        };
    }
    each_table!(add);
    text
}

#[cfg(test)]
mod tests;
