//! The flag `--vary KEY=V1,V2,...`: a key and its values, each with its position in the flag.

use std::collections::BTreeSet;
use std::ops::Range;

use layercast_core::units::{Duration, Rate, Size};

use super::error;
use super::range;
use crate::scenario::ScenarioError;

/// How errors call the flag.
const FLAG: &str = "--vary";

/// Keys that are not varied, and what to do instead.
const REFUSED: &[(&str, &str)] = &[
    ("name", "a key that changes what is measured"),
    ("description", "a key that changes what is measured"),
    ("replications", "`--replications N`, which holds for every cell"),
    (
        "seed",
        "`--seed S`: the replications of a cell have different random numbers, and all cells have the same",
    ),
    ("probes", "`layercast run --probe` on a single cell"),
    ("paper", "a key that changes what is measured"),
];

/// A key and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The key, as it was given.
    pub key: String,
    /// The values in their order, as they are shown: text without its quotes.
    pub values: Vec<String>,
    /// The values as numbers, if all of them are numbers or quantities of one kind.
    pub scale: Option<Scale>,
    /// The flag's text.
    flag: String,
    /// Each value as it was written or made, and where in the flag it comes from.
    written: Vec<(String, Range<usize>)>,
}

/// The values of a key as numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// `s`, `kbit/s`, `bytes`, `packets`, or nothing for plain numbers.
    pub unit: &'static str,
    /// One for each value.
    pub numbers: Vec<f64>,
}

impl Axis {
    /// Reads a flag's text.
    ///
    /// # Errors
    /// All mistakes that show without the scenario, with positions in the flag.
    pub fn read(flag: &str) -> Result<Axis, Vec<ScenarioError>> {
        let error =
            |at: Range<usize>, message: &str, allowed: &str| vec![mistake(flag, at, message, allowed)];
        if flag.contains(char::is_control) {
            return Err(error(
                0..flag.len(),
                "the values of a key are on one line",
                "a key and values with commas between",
            ));
        }
        let Some((key, list)) = flag.split_once('=') else {
            let example = "such as session.elm.strategy=naive,lazy or link.A-B.delay=10ms..50ms/5";
            return Err(error(0..flag.len(), "it needs `=` between a key and its values", example));
        };
        let top = key.trim().split('.').next().unwrap_or_default().trim();
        if let Some((refused, instead)) =
            REFUSED.iter().find(|(refused, _)| *refused == top || refused.strip_suffix('s') == Some(top))
        {
            let message = format!("`{refused}` cannot be varied");
            return Err(error(0..key.len(), &message, instead));
        }
        if key.trim() == "window" {
            return Err(error(0..key.len(), "a column of sweep.parquet has this name", "`windows`"));
        }
        let mut axis = Axis {
            key: key.trim().to_owned(),
            values: Vec::new(),
            scale: None,
            flag: flag.to_owned(),
            written: Vec::new(),
        };
        let mut mistakes = Vec::new();
        let mut seen = BTreeSet::new();
        for at in value_ranges(list, key.len() + 1) {
            axis.add(at, &mut seen, &mut mistakes);
        }
        axis.scale = scale(&axis.values);
        if mistakes.is_empty() { Ok(axis) } else { Err(mistakes) }
    }

    /// Adds the entry at a position of the flag: a value or a range of values. `seen` has the values so far.
    fn add(&mut self, at: Range<usize>, seen: &mut BTreeSet<String>, mistakes: &mut Vec<ScenarioError>) {
        let text = self.flag[at.clone()].to_owned();
        if text.is_empty() {
            mistakes.push(mistake(&self.flag, at, "a value is missing here", "values with commas between"));
            return;
        }
        let values = match range::expand(&text) {
            None => vec![text],
            Some(Ok(values)) => values,
            Some(Err(reason)) => {
                let allowed = "such as 5s..60s/12 for 12 values, or 1..128*2 for a factor of 2";
                mistakes.push(mistake(&self.flag, at, &reason, allowed));
                return;
            }
        };
        let mut repeated = false;
        for value in values {
            let shown = unquoted(&value).to_owned();
            // The first of a range is enough: many ranges have too many values for an error each.
            if !seen.insert(shown.clone()) && !std::mem::replace(&mut repeated, true) {
                let message = format!("the value {shown} is given twice");
                mistakes.push(mistake(&self.flag, at.clone(), &message, "each value once"));
            }
            self.values.push(shown);
            self.written.push((value, at.clone()));
        }
    }

    /// Reports that a key was given before.
    pub(super) fn repeated(&self) -> ScenarioError {
        let end = self.flag.find('=').unwrap_or(self.flag.len());
        let message = format!("`{}` is varied twice", self.key);
        mistake(&self.flag, 0..end, &message, "all values of a key in one flag")
    }

    /// The override that sets value `index`. Its key stands as in the flag, so that places in it do.
    pub(super) fn setting(&self, index: usize) -> String {
        let key = self.flag.split_once('=').map_or("", |(key, _)| key);
        format!("{key}={}", self.written.get(index).map_or("", |(value, _)| value))
    }

    /// The mistake in [`Axis::setting`] `index`, with positions in the flag.
    pub(super) fn relocate(&self, error: ScenarioError, index: usize) -> ScenarioError {
        let setting = self.setting(index);
        let value_start = self.flag.find('=').map_or(0, |at| at + 1);
        let byte =
            |column: usize| setting.char_indices().nth(column - 1).map_or(setting.len(), |(byte, _)| byte);
        let (start, end) = (byte(error.column), byte(error.column + error.width));
        let Some((value, place)) = self.written.get(index).filter(|_| start >= value_start) else {
            let end = end.min(self.flag.len());
            return placed(error, &self.flag, start..end);
        };
        let is_literal = self.flag.get(place.clone()) == Some(value);
        let inside = place.start + (start - value_start)..place.start + (end - value_start);
        placed(error, &self.flag, if is_literal { inside } else { place.clone() })
    }
}

fn mistake(flag: &str, at: Range<usize>, message: &str, allowed: &str) -> ScenarioError {
    error::in_flag(FLAG, flag, at, message, allowed)
}

/// An error moved to a place in a flag.
fn placed(error: ScenarioError, flag: &str, at: Range<usize>) -> ScenarioError {
    error::placed(error, FLAG, flag, at)
}

/// The places of the parts between commas, without the spaces around. Commas in quotes, lists and
/// tables part nothing.
fn value_ranges(list: &str, offset: usize) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let mut depth = 0_u32;
    let mut quote: Option<char> = None;
    for (at, c) in list.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => cuts.push(at),
            (None, _) => {}
        }
    }
    let starts = std::iter::once(0).chain(cuts.iter().map(|cut| cut + 1));
    let ends = cuts.iter().copied().chain([list.len()]);
    starts
        .zip(ends)
        .map(|(start, end)| {
            let piece = &list[start..end];
            let start = offset + start + (piece.len() - piece.trim_start().len());
            start..start + piece.trim().len()
        })
        .collect()
}

fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

/// All values as numbers, if one kind of quantity fits them.
fn scale(values: &[String]) -> Option<Scale> {
    type Kind = (&'static str, fn(&str) -> Option<f64>);
    let kinds: [Kind; 5] = [
        ("", |text| text.parse().ok().filter(|number: &f64| number.is_finite())),
        ("s", |text| text.parse().ok().map(|span: Duration| span.as_secs_f64())),
        ("kbit/s", |text| text.parse().ok().map(|rate: Rate| rate.as_kbps())),
        ("bytes", |text| text.parse().ok().map(|size: Size| f64::from(size.as_bytes()))),
        ("packets", |text| {
            let (number, unit) = range::quantity(text)?;
            matches!(unit, "packets" | "packet").then_some(number)
        }),
    ];
    kinds.iter().find_map(|(unit, number)| {
        let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value)).collect();
        numbers.map(|numbers| Scale { unit, numbers })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(flag: &str) -> Axis {
        Axis::read(flag).unwrap()
    }

    #[test]
    fn commas_in_lists_tables_and_quotes_part_nothing() {
        let values = axis("windows=[[\"1 s\", \"end\"]], [[\"2 s\", \"end\"]]").values;
        assert_eq!(values, ["[[\"1 s\", \"end\"]]", "[[\"2 s\", \"end\"]]"]);
        let values = axis("link.A-B.loss={ forward = 0.1, backward = 0 },0.2").values;
        assert_eq!(values, ["{ forward = 0.1, backward = 0 }", "0.2"]);
        assert_eq!(axis("session.x.strategy=\"a,b\",'c'").values, ["a,b", "c"]);
    }

    #[test]
    fn values_of_one_kind_have_numbers() {
        let scale = |flag: &str| axis(flag).scale.map(|scale| (scale.unit, scale.numbers));
        assert_eq!(scale("a=1,0.5"), Some(("", vec![1.0, 0.5])));
        assert_eq!(scale("a=500 ms,\"2 s\""), Some(("s", vec![0.5, 2.0])));
        assert_eq!(scale("a=1 Mbit/s,64 kbit/s"), Some(("kbit/s", vec![1000.0, 64.0])));
        assert_eq!(scale("a=1 kB,10 bytes"), Some(("bytes", vec![1000.0, 10.0])));
        assert_eq!(scale("a=1 packet,10 packets"), Some(("packets", vec![1.0, 10.0])));
        assert_eq!(scale("a=1,2 s"), None);
        assert_eq!(scale("a=lazy,naive"), None);
    }

    #[test]
    fn an_error_in_a_setting_is_reported_where_the_flag_has_it() {
        let axis = axis("duration = 10 s, 1..3/2 ,5 parsecs");
        assert_eq!(axis.setting(3), "duration =5 parsecs");
        let found = |column, width, index| {
            let error = ScenarioError { column, width, ..mistake("", 0..0, "wrong", "right") };
            let error = axis.relocate(error, index);
            let text: String = error.source_line.chars().skip(error.column - 1).take(error.width).collect();
            (error.origin, text)
        };
        let vary = |text: &str| ("--vary".to_owned(), text.to_owned());
        assert_eq!(found(1, 8, 3), vary("duration"));
        assert_eq!(found(11, 9, 3), vary("5 parsecs"));
        assert_eq!(found(11, 1, 2), vary("1..3/2"));
    }
}
