//! The rows of a template: lists side by side, ranges, and files.

use std::path::Path;

use crate::scenario::field::quoted;
use crate::scenario::problems::{Problem, Problems};
use crate::scenario::text_file::load;
use crate::scenario::tree::{At, Entry, Node, Value};

/// The most values of a range and rows of a file.
const MOST_ROWS: usize = 100_000;

/// Variables with a value in each row.
#[derive(Debug)]
pub(in crate::scenario) struct Columns {
    /// The variables.
    pub(in crate::scenario) names: Vec<String>,
    /// At least one.
    pub(in crate::scenario) rows: Vec<Cells>,
    /// Where they are given.
    pub(in crate::scenario) at: At,
}

/// The values of a row.
#[derive(Clone, Debug)]
pub(in crate::scenario) struct Cells {
    /// One for each variable.
    pub(in crate::scenario) cells: Vec<String>,
    /// Where it stands, `sites.csv:8`, if it comes from a file.
    pub(in crate::scenario) line: Option<String>,
}

/// The variables of a template. None if they are wrong, which is then reported.
pub(super) fn read_columns(
    template: &Node,
    folder: &Path,
    problems: &mut Problems,
    files: &mut Vec<String>,
) -> Option<Columns> {
    let (each, csv) = (template.entry("each"), template.entry("csv"));
    match (each, csv) {
        (Some(each), None) => side_by_side(each, problems),
        (None, Some(csv)) => read_csv(csv, folder, problems, files),
        (Some(both), Some(_)) => {
            let problem = Problem::at(both.key_at, &both.node.path, "a template has one source of rows");
            problems
                .push(problem.allowed("`each` or `csv`; put one template inside the other for all pairs"));
            None
        }
        (None, None) => {
            let problem = Problem::at(template.at, "for", "the template has no variables");
            problems.push(problem.allowed("`each = { site = \"01..30\" }` or `csv = \"sites.csv\"`"));
            None
        }
    }
}

/// What `each` allows.
const VALUES: &str = "a list of values, or a range such as \"01..30\"";

fn side_by_side(each: &Entry, problems: &mut Problems) -> Option<Columns> {
    let entries = match &each.node.value {
        Value::Table(entries) if !entries.is_empty() => entries,
        _ => {
            let problem = Problem::of(&each.node, "the variables of a template are a table");
            problems.push(problem.allowed("a table such as { site = \"01..30\" }"));
            return None;
        }
    };
    let mut columns: Vec<Vec<String>> = Vec::new();
    for entry in entries {
        check_name(&entry.key, entry.key_at, &entry.node.path, problems)?;
        columns.push(values(&entry.node, problems)?);
    }
    let count = columns.first().map_or(0, Vec::len);
    if let Some((entry, column)) = entries.iter().zip(&columns).find(|(_, column)| column.len() != count) {
        let first = entries.first().map_or("", |entry| entry.key.as_str());
        let message = format!("`{}` has {} values, but `{first}` has {count}", entry.key, column.len());
        let problem = Problem::of(&entry.node, message);
        problems
            .push(problem.allowed(
                "as many values for each variable; put one template inside the other for all pairs",
            ));
        return None;
    }
    let row = |index: usize| columns.iter().map(|column| column[index].clone()).collect();
    let rows = (0..count).map(|index| Cells { cells: row(index), line: None }).collect();
    Some(Columns { names: entries.iter().map(|entry| entry.key.clone()).collect(), rows, at: each.key_at })
}

/// The values of a list or range; a list may have ranges in it.
fn values(node: &Node, problems: &mut Problems) -> Option<Vec<String>> {
    let items = match &node.value {
        Value::List(items) if !items.is_empty() => items.as_slice(),
        Value::Text(text) if range_ends(text).is_some() => std::slice::from_ref(node),
        _ => {
            problems.push(Problem::of(node, "these are no values of a variable").allowed(VALUES));
            return None;
        }
    };
    let mut values = Vec::new();
    for item in items {
        match &item.value {
            Value::Text(text) => match range_ends(text) {
                Some((first, last)) => values.extend(range(item, first, last, problems)?),
                None => values.push(text.clone()),
            },
            Value::Integer(integer) => values.push(integer.to_string()),
            Value::Number(number) => values.push(number.to_string()),
            Value::Flag(flag) => values.push(flag.to_string()),
            Value::List(_) | Value::Table(_) | Value::Date => {
                let problem = Problem::of(item, "this is no value of a variable");
                problems.push(problem.allowed("text, a number, true or false"));
                return None;
            }
        }
    }
    Some(values)
}

/// The ends of `01..30`, if a text is a range.
fn range_ends(text: &str) -> Option<(&str, &str)> {
    let (first, last) = text.split_once("..")?;
    let (first, last) = (first.trim(), last.trim());
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    (is_number(first) && is_number(last)).then_some((first, last))
}

/// The numbers of a range, as wide as its first if that begins with a zero.
fn range(node: &Node, first: &str, last: &str, problems: &mut Problems) -> Option<Vec<String>> {
    let width = if first.starts_with('0') { first.len() } else { 0 };
    let ends = first.parse::<u64>().ok().zip(last.parse::<u64>().ok());
    let message = match ends {
        Some((low, high)) if low <= high && high - low < MOST_ROWS as u64 => {
            return Some((low..=high).map(|number| format!("{number:0width$}")).collect());
        }
        Some((low, high)) if low > high => "the range ends before it begins".to_owned(),
        _ => format!("the range has more than {MOST_ROWS} values"),
    };
    problems.push(Problem::of(node, message).allowed("two whole numbers, such as \"01..30\""));
    None
}

fn check_name(name: &str, at: At, path: &str, problems: &mut Problems) -> Option<()> {
    if !name.is_empty() && !name.contains(['{', '}']) {
        return Some(());
    }
    let problem = Problem::at(at, path, format!("a variable cannot be called `{name}`"));
    problems.push(problem.allowed("a name without braces"));
    None
}

/// The rows of a file with comma-separated values (RFC 4180), whose first line names the columns.
/// Spaces around values do not count; lines that begin with `#` are comments.
pub(in crate::scenario) fn read_csv(
    entry: &Entry,
    folder: &Path,
    problems: &mut Problems,
    files: &mut Vec<String>,
) -> Option<Columns> {
    let node = &entry.node;
    let Some(written) = node.text().filter(|text| !text.trim().is_empty()) else {
        problems
            .push(Problem::of(node, "the name of a file is needed").allowed("text such as \"sites.csv\""));
        return None;
    };
    let parsed = load(&folder.join(written)).and_then(|text| {
        let parsed = parse(&text, written);
        // A template within another reads it again for each row.
        if !files.contains(&text) {
            files.push(text);
        }
        parsed
    });
    match parsed {
        Ok((names, rows)) => Some(Columns { names, rows, at: node.at }),
        Err(reason) => {
            let problem = Problem::of(node, format!("the file `{written}` cannot be used: {reason}"));
            problems.push(problem.allowed(
                "a file of comma-separated values whose first line names the columns, its path relative to the scenario file",
            ));
            None
        }
    }
}

fn parse(text: &str, file: &str) -> Result<(Vec<String>, Vec<Cells>), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?;
    let names: Vec<String> = header.iter().map(str::to_owned).collect();
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() || name.contains(['{', '}']) {
            return Err(format!("its column {} has no name that a variable can have", index + 1));
        }
        if names[..index].contains(name) {
            return Err(format!(
                "two of its columns are called `{name}`; the names are {}",
                quoted(names.iter().map(String::as_str))
            ));
        }
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        if rows.len() == MOST_ROWS {
            return Err(format!("it has more than {MOST_ROWS} rows"));
        }
        let line = record.position().map(|position| format!("{file}:{}", position.line()));
        rows.push(Cells { cells: record.iter().map(str::to_owned).collect(), line });
    }
    if rows.is_empty() {
        return Err("it has no rows".to_owned());
    }
    Ok((names, rows))
}
