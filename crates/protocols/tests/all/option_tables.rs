//! The options in `docs/protocols/` match the code: a page names those that its text needs, and the rows come from here.

use layercast_core::family::AnyProtocol as _;
use layercast_core::option::{Kind, OptionSpec};
use layercast_protocols::registry::{NAMES, Protocol};
use layercast_testkit::generated::{check_chosen, in_project};

/// The rows of some options, and which command prints the others.
fn table(name: &str, shown: &[&str]) -> String {
    let protocol = Protocol::named(name).expect("the registry knows its names");
    let specs = protocol.option_specs();
    let rows: Vec<String> = shown
        .iter()
        .map(|option| {
            let spec = specs.iter().find(|spec| spec.name == *option);
            row(spec.unwrap_or_else(|| panic!("{name} has no option {option}")))
        })
        .collect();
    let rest = match specs.len() - rows.len() {
        0 => "Bounds".to_owned(),
        1 => "One more, and bounds".to_owned(),
        more => format!("{more} more, and bounds"),
    };
    format!(
        "| option | default | meaning |\n| --- | --- | --- |\n{}\n\n{rest}: `layercast list {name}`.\n",
        rows.join("\n")
    )
}

fn row(spec: &OptionSpec) -> String {
    let row = format!("| `{}` | {} | {} |", spec.name, value(spec), spec.doc);
    assert_eq!(row.matches('|').count(), 4, "a bar would break the table: {row}");
    row
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
fn generated_options_in_pages_are_fresh() {
    for name in NAMES {
        let page = in_project(&format!("docs/protocols/{name}.md"));
        check_chosen(&page, name, |shown| table(name, shown));
    }
}

#[test]
fn every_option_has_a_sentence() {
    for name in NAMES {
        let protocol = Protocol::named(name).expect("the registry knows its names");
        for spec in protocol.option_specs() {
            let is_sentence =
                spec.doc.ends_with('.') && spec.doc.starts_with(|first: char| !first.is_lowercase());
            assert!(is_sentence, "{name}: {}: {}", spec.name, spec.doc);
            let _ = row(&spec);
        }
    }
}
