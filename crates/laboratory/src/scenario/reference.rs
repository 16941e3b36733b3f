//! The reference of scenario files and suites as Markdown: tables of keys, and of the options of queues, TCPs and the
//! traffic library. `layercast reference` writes them.

use std::fmt::Write;

use super::field::{Absent, FieldKind, TableSpec};
use super::tables::options::OptionGroup;
use super::tables::{ALL, FLOW, QUEUE, SIZE_DISTRIBUTION, SUITE_TABLES, TIME_DISTRIBUTION};

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

/// The options of a choice as Markdown, with a column of defaults for each profile; if some are `shown`, only those. Of
/// what they take only names are listed: `layercast list` has the bounds of numbers.
pub fn option_table(groups: &[OptionGroup], shown: Option<&[&str]>) -> String {
    let Some(first) = groups.first() else { return String::new() };
    let mut text = String::from("| option |");
    for group in groups {
        let profile = group.profile.map_or(String::new(), |profile| format!(" of `{profile}`"));
        text.push_str(&format!(" default{profile} |"));
    }
    text.push_str(" meaning |\n| --- |");
    text.push_str(&" --- |".repeat(groups.len() + 1));
    let is_shown = |name: &str| shown.is_none_or(|shown| shown.contains(&name));
    for (at, spec) in first.specs.iter().enumerate().filter(|(_, spec)| is_shown(spec.name)) {
        // All profiles have the same options in the same order.
        let defaults = groups.iter().filter_map(|group| group.specs.get(at));
        let takes = spec.takes();
        let names = takes.strip_prefix("one of ").map_or(String::new(), |names| format!(" One of {names}."));
        let defaults: String = defaults.map(|spec| format!(" {} |", spec.default)).collect();
        text.push_str(&format!("\n| `{}` |{defaults} {}{names} |", spec.name, spec.doc));
    }
    text.push('\n');
    text
}

fn write_table(text: &mut String, spec: &TableSpec) -> std::fmt::Result {
    writeln!(text, "### {}\n\n{}\n", spec.name, spec.doc)?;
    if !spec.example.is_empty() {
        writeln!(text, "Example: `{}`\n", spec.example)?;
    }
    if spec.name == TIME_DISTRIBUTION.name {
        return writeln!(
            text,
            "The keys are those of [{0}](#{0}), with times for sizes.\n",
            SIZE_DISTRIBUTION.name
        );
    }
    writeln!(text, "| key | takes (if absent) | meaning |\n| --- | --- | --- |")?;
    for field in spec.fields.iter() {
        let absent = match field.absent {
            Absent::Required => " (required)".to_owned(),
            Absent::Default(value) => format!(" (`{value}`)"),
            Absent::Means("none") => String::new(),
            Absent::Means(words) => format!(" ({words})"),
        };
        let takes = takes(&field.kind);
        writeln!(text, "| `{}` | {takes}{absent} | {} |", field.key, field.doc)?;
    }
    if let Some(words) = options_elsewhere(spec) {
        writeln!(text, "\n{words}")?;
    }
    writeln!(text)
}

/// What a key takes, in fewer words than an error message has: the page explains the forms of values once.
fn takes(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Table(inner) => format!("a [{0}](#{0}) table", inner.name),
        FieldKind::TableList(inner) => format!("a list of [{0}](#{0}) tables", inner.name),
        FieldKind::Tables(inner) => format!("[{0}](#{0}) tables under names", inner.name),
        FieldKind::Text => "text".to_owned(),
        FieldKind::Duration => "a time".to_owned(),
        FieldKind::Period => "a time above zero".to_owned(),
        FieldKind::Draw => "a time, or a [draw](#draw)".to_owned(),
        FieldKind::Rate => "a rate".to_owned(),
        FieldKind::Size | FieldKind::DataSize => "a size".to_owned(),
        FieldKind::Loss => "a number from 0 to below 1, or a [loss](#loss)".to_owned(),
        FieldKind::DirectionLoss => "a number from 0 to below 1, or a [loss-model](#loss-model)".to_owned(),
        FieldKind::SizeDistribution => format!("a size, or a [{0}](#{0})", SIZE_DISTRIBUTION.name),
        FieldKind::TimeDistribution => format!("a time, or a [{0}](#{0})", TIME_DISTRIBUTION.name),
        FieldKind::NodeOrNodes => "a node or a list of nodes".to_owned(),
        FieldKind::Nodes => "a list of nodes".to_owned(),
        FieldKind::NodesOrNone => "a list of nodes, or []".to_owned(),
        FieldKind::Node => "a node".to_owned(),
        FieldKind::Templates => "tables under names".to_owned(),
        FieldKind::Texts => "a list of texts".to_owned(),
        FieldKind::TextsOrNone => "a list of texts, or []".to_owned(),
        FieldKind::PaperValue => "a number or such a text".to_owned(),
        other => other.describe(),
    }
}

/// Where the options of a table are, whose rows [`write_table`] leaves out.
fn options_elsewhere(spec: &TableSpec) -> Option<&'static str> {
    if spec.name == QUEUE.name {
        Some("All other keys are options of the kind, such as `limit`: [options](options.md).")
    } else if spec.name == FLOW.name {
        Some(
            "All other keys are [options](options.md): of a TCP, such as `profile`, `window` and `overhead` (`udp` \
             takes `packet_size`, 1000 bytes by default), or of traffic.",
        )
    } else {
        None
    }
}
