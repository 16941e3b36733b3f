//! The tables of options in `docs/protocols/` match the code, for every protocol in the registry.

use std::fmt::Write as _;

use layercast_core::family::AnyProtocol as _;
use layercast_core::option::{Kind, OptionSpec};
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
        let row = format!("| `{}` | {} | {} |", spec.name, value(spec), spec.doc);
        assert_eq!(row.matches('|').count(), 4, "a bar would break the table: {row}");
        (spec.name, row)
    };
    protocol.option_specs().iter().map(row).collect()
}

fn table(name: &str) -> String {
    let mut table =
        format!("Bounds: `layercast list {name}`.\n\n| option | default | meaning |\n| --- | --- | --- |\n");
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

/// The default, and what else may stand in its place if that is a few names.
fn value(spec: &OptionSpec) -> String {
    let others = |names: &[&str]| {
        let others: Vec<_> = names.iter().filter(|name| **name != spec.default).copied().collect();
        format!("**{}**, {}", spec.default, others.join(", "))
    };
    match spec.kind {
        Kind::Choice(names) | Kind::OwnChoice(names) => others(names),
        _ => spec.default.clone(),
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
