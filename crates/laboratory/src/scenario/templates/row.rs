//! A row of values.

use crate::scenario::tree::At;

/// What the variables stand for, those of outer templates first.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// Names and values.
    pub(super) values: Vec<(String, String)>,
    /// The row of a file, `sites.csv:8`, if it comes from one.
    pub(super) line: Option<String>,
    /// Its number in [`At::row`].
    pub(super) number: u32,
}

impl Row {
    /// What errors call it.
    pub(super) fn label(&self) -> String {
        const MOST: usize = 3;
        let mut parts: Vec<String> =
            self.values.iter().take(MOST).map(|(name, value)| format!("{name} = {value}")).collect();
        if self.values.len() > MOST {
            parts.push("...".to_owned());
        }
        let line = self.line.as_ref().map_or(String::new(), |line| format!(" ({line})"));
        parts.join(", ") + &line
    }

    /// A place in a template as this row has made it.
    pub(super) fn at(&self, at: At) -> At {
        At { row: self.number, ..at }
    }
}
