//! The tables of options in `docs/protocols/` match the code, for every protocol in the registry.

use std::fmt::Write as _;

use layercast_core::family::AnyProtocol as _;
use layercast_core::option::{AUTOMATIC, BY_PROFILE, Kind, OptionSpec};
use layercast_protocols::registry::{NAMES, Protocol};
use layercast_testkit::generated::{check_between, in_project};

/// Protocols with options of another one, whose page has the rows that are equal.
const RELATIVES: [(&str, &str); 6] = [
    ("cbr", "tfrc"),
    ("e-flid-dl", "flid-dl"),
    ("flid-sl", "flid-dl"),
    ("golestani-sabnani", "rla"),
    ("pgmcc", "rla"),
    ("smcc", "tfmcc"),
];

fn rows(name: &str) -> Vec<(&'static str, String)> {
    let protocol = Protocol::named(name).expect("the registry knows its names");
    let row = |spec: &OptionSpec| {
        let row = format!("| `{}` | {} | {} | {} |", spec.name, spec.default, takes(spec), spec.doc);
        assert_eq!(row.matches('|').count(), 5, "a bar would break the table: {row}");
        (spec.name, row)
    };
    protocol.option_specs().iter().map(row).collect()
}

fn table(name: &str) -> String {
    let mut table = String::from("| option | default | takes | meaning |\n| --- | --- | --- | --- |\n");
    let relative = RELATIVES.iter().find(|(own, _)| *own == name).map(|(_, relative)| *relative);
    let theirs = relative.map_or(Vec::new(), rows);
    let (same, own): (Vec<_>, Vec<_>) = rows(name).into_iter().partition(|row| theirs.contains(row));
    for (_, row) in own {
        writeln!(table, "{row}").expect("a string takes everything");
    }
    if let Some(relative) = relative {
        let names: Vec<_> = same.iter().map(|(name, _)| format!("`{name}`")).collect();
        let names = names.join(", ");
        writeln!(table, "\nAs in [{relative}]({relative}.md#options): {names}.")
            .expect("a string takes everything");
    }
    table
}

/// What an option takes: its bounds if it has any, whose units show the kind; else the kind in a word.
fn takes(spec: &OptionSpec) -> String {
    let Some(bounds) = &spec.bounds else { return kind(&spec.kind) };
    let prefix = match spec.kind {
        Kind::Count => "integer, ",
        Kind::Numbers => "numbers, ",
        Kind::Automatic(_) => "automatic, ",
        _ => "",
    };
    match (&bounds.high, bounds.is_above) {
        (Some(high), false) => format!("{prefix}{} to {high}", bounds.low),
        (Some(high), true) => format!("{prefix}above {}, to {high}", bounds.low),
        (None, false) => format!("{prefix}from {}", bounds.low),
        (None, true) => format!("{prefix}above {}", bounds.low),
    }
}

fn kind(kind: &Kind) -> String {
    match kind {
        Kind::Number => String::from("number"),
        Kind::Count => String::from("integer"),
        Kind::Flag => String::from("true, false"),
        Kind::Duration => String::from("time"),
        Kind::Rate => String::from("rate"),
        Kind::Size => String::from("size"),
        Kind::Numbers => String::from("numbers"),
        Kind::Choice(names) => names.join(", "),
        Kind::OwnChoice(names) => format!("{BY_PROFILE}, {}", names.join(", ")),
        Kind::Automatic(other) => format!("{AUTOMATIC}, {}", self::kind(other)),
        Kind::Format { words, .. } => String::from(*words),
    }
}

#[test]
fn generated_option_tables_are_fresh() {
    for name in NAMES {
        let page = in_project(&format!("docs/protocols/{name}.md"));
        let (begin, end) = (format!("<!-- options: {name} -->"), "<!-- end of options -->");
        check_between(&page, &begin, end, &table(name));
    }
}
