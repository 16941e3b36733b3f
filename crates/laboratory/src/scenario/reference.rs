//! The tables of keys in `docs/scenarios.md`.

use std::fmt::Write;

use super::field::{Absent, FieldKind, TableSpec};
use super::tables::options::OptionGroup;
use super::tables::{ALL, SUITE_TABLES};

/// All tables of a scenario file as Markdown, in the order of [`ALL`].
pub fn markdown() -> String {
    let mut text = String::new();
    for spec in ALL {
        // Writing to a string cannot fail.
        let _ = write_table(&mut text, spec);
    }
    text
}

/// All tables of a suite of the scoreboard as Markdown.
pub fn suite_markdown() -> String {
    let mut text = String::new();
    for spec in SUITE_TABLES {
        // Writing to a string cannot fail.
        let _ = write_table(&mut text, spec);
    }
    text
}

/// The options of a choice as Markdown, with a column of defaults for each profile.
pub fn option_table(groups: &[OptionGroup]) -> String {
    let Some(first) = groups.first() else { return String::new() };
    let mut text = String::from("| option | takes |");
    for group in groups {
        let profile = group.profile.map_or(String::new(), |profile| format!(" of `{profile}`"));
        text.push_str(&format!(" default{profile} |"));
    }
    text.push_str(" meaning |\n| --- | --- |");
    text.push_str(&" --- |".repeat(groups.len() + 1));
    for (at, spec) in first.specs.iter().enumerate() {
        // All profiles have the same options in the same order.
        let defaults = groups.iter().filter_map(|group| group.specs.get(at));
        let defaults: String = defaults.map(|spec| format!(" {} |", spec.default)).collect();
        text.push_str(&format!("\n| `{}` | {} |{defaults} {} |", spec.name, spec.takes(), spec.doc));
    }
    text.push('\n');
    text
}

fn write_table(text: &mut String, spec: &TableSpec) -> std::fmt::Result {
    writeln!(text, "### {}\n\n{}\n", spec.name, spec.doc)?;
    if !spec.example.is_empty() {
        writeln!(text, "Example: `{}`\n", spec.example)?;
    }
    writeln!(text, "| key | takes | if absent | meaning |\n| --- | --- | --- | --- |")?;
    for field in spec.fields() {
        let absent = match field.absent {
            Absent::Required => "required".to_owned(),
            Absent::Default(value) => format!("`{value}`"),
            Absent::Means(words) => words.to_owned(),
        };
        let takes = match field.kind {
            FieldKind::Table(inner) => format!("a [{0}](#{0}) table", inner.name),
            FieldKind::TableList(inner) => format!("a list of [{0}](#{0}) tables", inner.name),
            FieldKind::Tables(inner) => format!("[{0}](#{0}) tables under names", inner.name),
            other => other.describe(),
        };
        writeln!(text, "| `{}` | {takes} | {absent} | {} |", field.key, field.doc)?;
    }
    writeln!(text)
}
