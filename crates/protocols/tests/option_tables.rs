//! The tables of options in `docs/protocols/` match the code, for every protocol in the registry.

use std::fmt::Write as _;

use layercast_core::family::AnyProtocol as _;
use layercast_core::option::OptionSpec;
use layercast_protocols::registry::{NAMES, Protocol};
use layercast_testkit::generated::{check_between, in_project};

fn table(specs: &[OptionSpec]) -> String {
    let mut table =
        String::from("| option | takes | default | from, to | meaning |\n| --- | --- | --- | --- | --- |\n");
    for spec in specs {
        let bounds = spec.bounds.as_ref().map_or(String::from("-"), |bounds| {
            let high = bounds.high.as_deref().unwrap_or("-");
            format!("{}{}, {high}", if bounds.is_above { "above " } else { "" }, bounds.low)
        });
        let row = format!("| `{}` | {} | {} | {bounds} | {} |", spec.name, spec.kind, spec.default, spec.doc);
        assert_eq!(row.matches('|').count(), 6, "a bar would break the table: {row}");
        writeln!(table, "{row}").expect("a string takes everything");
    }
    table
}

#[test]
fn generated_option_tables_are_fresh() {
    for name in NAMES {
        let protocol = Protocol::named(name).expect("the registry knows its names");
        let page = in_project(&format!("docs/protocols/{name}.md"));
        let (begin, end) = (format!("<!-- options: {name} -->"), "<!-- end of options -->");
        check_between(&page, &begin, end, &table(&protocol.option_specs()));
    }
}
