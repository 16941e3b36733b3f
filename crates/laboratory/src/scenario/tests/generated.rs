//! What is generated from the descriptions of tables is fresh, and the descriptions are sound.

use std::fmt::Write as _;

use crate::scenario::Catalogue;
use layercast_protocols::registry::Registry;
use layercast_testkit::generated::{check, check_between, in_project};

use crate::results::Metric;
use crate::scenario::catalogue::{BUILT_IN, BuiltIn};
use crate::scenario::field::{Absent, FieldKind};
use crate::scenario::read;
use crate::scenario::reference::{markdown, option_table, suite_markdown};
use crate::scenario::schema::{schema, suite_schema};
use crate::scenario::suite::Measure;
use crate::scenario::tables::{ALL, PAPER, SUITE_TABLES, options};
use crate::scenario::testing::{SMALL, read_text, root};

#[test]
fn the_schema_is_fresh() {
    let text = serde_json::to_string_pretty(&schema(Some(&Catalogue::of::<Registry>()))).unwrap() + "\n";
    check(&in_project("docs/scenario.schema.json"), &text);
}

#[test]
fn the_reference_is_fresh() {
    let (begin, end) = ("<!-- generated: keys -->", "<!-- end of generated: keys -->");
    check_between(&in_project("docs/scenarios.md"), begin, end, &format!("\n{}", markdown()));
}

#[test]
fn the_table_of_scenarios_is_fresh() {
    let mut table = "\n| scenario | title | command |\n| --- | --- | --- |\n".to_owned();
    for BuiltIn { name, text } in BUILT_IN {
        let title = read(name, text, &[], &Catalogue::of::<Registry>()).unwrap().name;
        writeln!(table, "| [{name}](../scenarios/{name}.toml) | {title} | `layercast run {name}` |").unwrap();
    }
    table.push('\n');
    let (begin, end) = ("<!-- generated: scenarios -->", "<!-- end of generated: scenarios -->");
    check_between(&in_project("docs/built-in-scenarios.md"), begin, end, &table);
}

#[test]
fn generated_option_tables_of_queues_tcps_and_traffic_are_fresh() {
    let check_table = |page: &str, marker: &str, name: &str| {
        let (begin, end) = (format!("<!-- options: {marker} -->"), "<!-- end of options -->");
        check_between(&in_project(page), &begin, end, &option_table(&options::named(name).unwrap()));
    };
    for kind in options::QUEUES {
        check_table("docs/queues.md", kind, kind);
    }
    check_table("docs/tcp.md", "tcp", "tcp-sack");
    for kind in options::TRAFFIC {
        check_table("docs/traffic.md", kind, kind);
    }
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
fn generated_reference_and_schema_of_suites_are_fresh() {
    let text = serde_json::to_string_pretty(&suite_schema()).unwrap() + "\n";
    check(&in_project("docs/suite.schema.json"), &text);
    let (begin, end) = ("<!-- generated: suite -->", "<!-- end of generated: suite -->");
    check_between(&in_project("docs/scoreboard.md"), begin, end, &format!("\n{}", suite_markdown()));
    let mut table = "\n| measure | unit | what it is |\n| --- | --- | --- |\n".to_owned();
    for measure in Measure::ALL {
        writeln!(table, "| `{}` | {} | {} |", measure.name(), measure.unit(), measure.doc()).unwrap();
    }
    table.push('\n');
    let (begin, end) = ("<!-- generated: measures -->", "<!-- end of generated: measures -->");
    check_between(&in_project("docs/scoreboard.md"), begin, end, &table);
}
