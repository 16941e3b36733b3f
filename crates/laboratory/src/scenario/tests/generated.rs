//! What is generated from the descriptions of tables is fresh, and the descriptions are sound.

use crate::scenario::Catalogue;
use layercast_protocols::registry::Registry;
use layercast_testkit::generated::{check, check_chosen, in_project};

use crate::results::Metric;
use crate::scenario::field::{Absent, FieldKind, TableSpec};
use crate::scenario::reference::{markdown, option_table, suite_markdown};
use crate::scenario::schema::{schema, suite_schema};
use crate::scenario::tables::{ALL, PAPER, SUITE_TABLES, TIME_DISTRIBUTION, options};
use crate::scenario::testing::{SMALL, read_text, root};

#[test]
fn the_schema_is_fresh() {
    let text = serde_json::to_string_pretty(&schema(Some(&Catalogue::of::<Registry>()))).unwrap() + "\n";
    check(&in_project("docs/scenario.schema.json"), &text);
}

/// The words of a text that stand between backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_page_names_every_table_and_keys_that_there_are() {
    let page = std::fs::read_to_string(in_project("docs/scenarios.md")).unwrap();
    let (_, part) = page.split_once("\n## Tables\n").unwrap();
    let mut named = Vec::new();
    for line in part.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let specs = quoted(cells[0]).into_iter().map(|name| ALL.iter().find(|spec| spec.name == name));
        let specs: Vec<_> = specs.map(|spec| spec.unwrap_or_else(|| panic!("{line}"))).collect();
        let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        for key in quoted(cells[2]).into_iter().filter(is_name) {
            let is_key = |spec: &&&TableSpec| spec.keys().any(|known| known == key);
            assert!(specs.iter().any(is_key), "{key}: {line}");
        }
        named.extend(specs.iter().map(|spec| spec.name));
    }
    let missing: Vec<_> =
        ALL.iter().filter(|spec| !named.contains(&spec.name)).map(|spec| spec.name).collect();
    assert!(missing.is_empty(), "docs/scenarios.md does not name the tables {missing:?}");
}

#[test]
fn the_reference_has_every_key() {
    let (text, suites) = (markdown(), suite_markdown());
    for (text, tables) in [(&text, ALL), (&suites, SUITE_TABLES)] {
        for spec in tables {
            let (_, part) =
                text.split_once(&format!("### {}\n", spec.name)).expect("a heading for each table");
            let part = part.split("\n### ").next().unwrap_or_default();
            // Times are distributed as sizes are, which stand above.
            for field in spec.fields.iter().filter(|_| spec.name != TIME_DISTRIBUTION.name) {
                assert!(part.contains(&format!("| `{}` | ", field.key)), "{}: {}", spec.name, field.key);
                assert!(part.contains(field.doc), "{}: {}", spec.name, field.key);
            }
        }
    }
}

#[test]
fn generated_options_of_queues_and_tcps_are_fresh() {
    let check_table = |page: &str, marker: &str, name: &str| {
        let groups = options::named(name).unwrap();
        check_chosen(&in_project(page), marker, |shown| {
            let known: Vec<&str> = groups[0].specs.iter().map(|spec| spec.name).collect();
            let unknown: Vec<&&str> = shown.iter().filter(|option| !known.contains(option)).collect();
            assert!(unknown.is_empty(), "{page}: {name} has no options {unknown:?}");
            option_table(&groups, Some(shown))
        });
    };
    check_table("docs/queues.md", "red", "red");
    check_table("docs/tcp.md", "tcp", "tcp-sack");
}

#[test]
fn the_example_in_the_documentation_reads() {
    let text = std::fs::read_to_string(root().join("docs/scenarios.md")).unwrap();
    let example = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    if let Err(errors) = read_text(example, &[]) {
        panic!("{errors}");
    }
}

#[test]
fn keys_are_described_once_and_defaults_are_values() {
    for spec in ALL.iter().chain(SUITE_TABLES) {
        let mut keys: Vec<&str> = spec.keys().collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), spec.fields().count(), "{} has a key twice", spec.name);
        for field in spec.fields() {
            assert!(field.doc.ends_with('.'), "{}.{} is described in a sentence", spec.name, field.key);
            assert!(!field.doc.contains('|'), "a bar would break the table of keys");
            let simple = !matches!(field.kind, FieldKind::Table(_) | FieldKind::Tables(_));
            assert!(simple || !matches!(field.absent, Absent::Default(_)));
        }
    }
    // Every default is read by this file, which gives no more than it must.
    assert!(read_text(SMALL, &[]).is_ok());
}

#[test]
fn the_paper_table_has_all_metrics() {
    let metrics: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
    assert_eq!(PAPER.keys().collect::<Vec<_>>(), metrics);
}

#[test]
fn the_schema_of_suites_is_fresh() {
    let text = serde_json::to_string_pretty(&suite_schema()).unwrap() + "\n";
    check(&in_project("docs/suite.schema.json"), &text);
}
