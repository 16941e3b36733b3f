//! Which flag each mode of a program uses, and which it refuses: why, and what to do instead.
//!
//! A table has a row for each flag. The command line and the interfaces for programs apply the same tables, each with names of its own
//! for the flags.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Why a flag is refused, and what to do instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// Why.
    pub why: &'static str,
    /// What to do instead, in the words of the command.
    pub instead: &'static str,
}

/// What a mode does with a flag.
#[derive(Clone, Copy, Debug)]
pub enum Cell {
    /// It reads it.
    Used,
    /// The flag is that of another mode.
    Chooses,
    /// It has no use for it.
    Refused(Reason),
}

/// It reads the flag.
pub const USED: Cell = Cell::Used;
/// The flag is that of another mode.
pub const CHOOSES: Cell = Cell::Chooses;

/// It refuses the flag.
pub const fn no(why: &'static str, instead: &'static str) -> Cell {
    Cell::Refused(Reason { why, instead })
}

/// A flag that depends on others: it is refused with any of `with` (if there are some) and without all of `without`. Names are
/// those of flags or of facts.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Those with which it is refused; with any if there are none.
    pub with: &'static [&'static str],
    /// Those of which one allows it.
    pub without: &'static [&'static str],
    /// Why.
    pub reason: Reason,
}

/// Needs one of these.
pub const fn needs(without: &'static [&'static str], why: &'static str, instead: &'static str) -> Rule {
    Rule { with: &[], without, reason: Reason { why, instead } }
}

/// Cannot be used with any of these.
pub const fn bars(with: &'static [&'static str], why: &'static str, instead: &'static str) -> Rule {
    Rule { with, without: &[], reason: Reason { why, instead } }
}

/// A flag: a cell for each mode, and what else it depends on.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub flag: &'static str,
    /// What each mode does with it, in their order.
    pub cells: &'static [Cell],
    /// On which others it depends.
    pub rules: &'static [Rule],
}

/// What both of two modes use.
pub const BOTH: &[Cell] = &[USED, USED];

/// A flag that depends on the mode alone.
pub const fn row(flag: &'static str, cells: &'static [Cell]) -> Row {
    Row { flag, cells, rules: &[] }
}

impl Row {
    /// It depends on others too.
    pub const fn rules(self, rules: &'static [Rule]) -> Row {
        Row { rules, ..self }
    }
}

/// Why a flag is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The mode has no use for it.
    Mode,
    /// It cannot be used with these.
    With(Vec<&'static str>),
    /// It needs one of these.
    Without(&'static [&'static str]),
}

impl Refused {
    /// That in words, with what the mode and any of `all` flags are called.
    pub fn text(&self, mode: &str, all: impl Fn(&[&'static str]) -> String) -> String {
        match self {
            Refused::Mode => format!("cannot be used with {mode}"),
            Refused::With(with) => format!("cannot be used with {}", all(with)),
            Refused::Without(without) => format!("needs {}", all(without)),
        }
    }
}

/// A flag that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its name.
    pub flag: &'static str,
    /// By what.
    pub refused: Refused,
    /// Why, and what to do instead.
    pub reason: Reason,
}

/// All flags of a table that the mode with this column, or other flags, refuse. `has` says which flags and facts there are.
pub fn refusals(rows: &'static [Row], column: usize, has: impl Fn(&str) -> bool) -> Vec<Refusal> {
    let mut found = Vec::new();
    for row in rows.iter().filter(|row| has(row.flag)) {
        let flag = row.flag;
        if let Some(Cell::Refused(reason)) = row.cells.get(column) {
            found.push(Refusal { flag, refused: Refused::Mode, reason: *reason });
            continue;
        }
        for rule in row.rules.iter().filter(|rule| !rule.without.iter().any(|without| has(without))) {
            let with: Vec<&str> = rule.with.iter().copied().filter(|with| has(with)).collect();
            let refused = match (rule.with, with) {
                ([], _) => Refused::Without(rule.without),
                (_, with) if with.is_empty() => continue,
                (_, with) => Refused::With(with),
            };
            found.push(Refusal { flag, refused, reason: rule.reason });
        }
    }
    found
}
