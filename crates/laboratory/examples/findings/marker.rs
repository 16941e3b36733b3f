//! The comment that says what a table holds.

/// What a table holds.
pub(crate) struct Marker {
    /// The directory of the sweep.
    pub(crate) sweep: String,
    /// Whether it is a map of two keys, not a list of cells.
    pub(crate) map: bool,
    /// The names of the measures.
    pub(crate) columns: Vec<String>,
    /// The measurement window, from 0.
    pub(crate) window: usize,
    /// The session's name.
    pub(crate) flow: String,
    /// The node; all if none.
    pub(crate) node: Option<String>,
    /// The cells by number, first and last; all if empty.
    cells: Vec<(usize, usize)>,
    /// What is left out of labels.
    hide: Vec<String>,
}

impl Marker {
    /// The marker of a line, if it is one.
    pub(crate) fn read(line: &str) -> Result<Option<Marker>, String> {
        let inside = |opening: &str| line.strip_prefix(opening)?.strip_suffix(" -->");
        let Some((map, text)) = inside("<!-- table: ")
            .map(|text| (false, text))
            .or_else(|| inside("<!-- map: ").map(|text| (true, text)))
        else {
            return Ok(None);
        };
        let mut words = text.split_whitespace();
        let sweep = words.next().ok_or_else(|| format!("{line}: names no sweep"))?.to_owned();
        let mut marker = Marker {
            sweep,
            map,
            columns: Vec::new(),
            window: 0,
            flow: "elm".to_owned(),
            node: None,
            cells: Vec::new(),
            hide: Vec::new(),
        };
        for word in words {
            marker.set(word).ok_or_else(|| format!("{line}: `{word}` is not understood"))?;
        }
        Ok(Some(marker))
    }

    fn set(&mut self, word: &str) -> Option<()> {
        let (key, value) = word.split_once('=')?;
        let list = || value.split(',');
        match key {
            "columns" | "of" => self.columns = list().map(str::to_owned).collect(),
            "window" => self.window = value.parse::<usize>().ok()?.checked_sub(1)?,
            "flow" => self.flow = value.to_owned(),
            "node" => self.node = Some(value.to_owned()),
            "hide" => self.hide = list().map(|text| text.replace('_', " ")).collect(),
            "cells" => self.cells = list().map(range).collect::<Option<_>>()?,
            _ => return None,
        }
        Some(())
    }

    /// Whether a cell is shown.
    pub(crate) fn has_cell(&self, number: usize) -> bool {
        self.cells.is_empty() || self.cells.iter().any(|&(first, last)| (first..=last).contains(&number))
    }

    /// A cell's value in words: a table of options without its signs.
    pub(crate) fn label(&self, value: &str) -> String {
        let Some(options) = value.strip_prefix('{').and_then(|value| value.strip_suffix('}')) else {
            return value.to_owned();
        };
        let words = options.split(',').map(|option| {
            let (key, value) = option.split_once('=').unwrap_or(("", option));
            let (key, value) = (key.trim().replace('_', " "), value.trim().trim_matches('"'));
            if key == "strategy" { value.to_owned() } else { format!("{key} {value}") }
        });
        words.filter(|word| !self.hide.contains(word)).collect::<Vec<_>>().join(", ")
    }
}

fn range(text: &str) -> Option<(usize, usize)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.parse().ok()?, last.parse().ok()?))
}
