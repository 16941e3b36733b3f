//! What each protocol is, to choose one: the lines of `layercast list` and the table in `docs/which-protocol.md`.

use layercast_core::family::AnyProtocol as _;
use layercast_core::session::Rates;
use layercast_laboratory::scenario::protocols::FLOW_PROTOCOLS;
use layercast_protocols::registry::{self, Protocol};

/// What is said of a session's protocol: the headings of a table.
const HEADINGS: [&str; 7] = ["protocol", "rates", "reliable", "ECN", "receivers", "by `send`", "start"];

/// A protocol as a row under [`HEADINGS`].
fn row(protocol: &Protocol) -> [String; 7] {
    let needs = protocol.requirements();
    let character = needs.character();
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let most = needs.most_receivers();
    let sent = match (needs.has_routers(), most) {
        (true, _) => "no: needs routers".to_owned(),
        (false, Some(1)) => "to one".to_owned(),
        (false, _) => "yes".to_owned(),
    };
    [
        protocol.name().to_owned(),
        match character.rates {
            Rates::Layers => "layers".to_owned(),
            Rates::One | Rates::Constant => "one".to_owned(),
        },
        yes(needs.is_reliable()),
        yes(character.ecn),
        most.map_or_else(|| "any".to_owned(), |most| most.to_string()),
        sent,
        if character.start.is_empty() { "-".to_owned() } else { character.start.to_owned() },
    ]
}

fn rows() -> impl Iterator<Item = [String; 7]> {
    registry::NAMES.iter().filter_map(|name| Protocol::named(name)).map(|protocol| row(&protocol))
}

/// A line for each protocol: what it is, in columns; then those of flows.
pub(crate) fn lines() -> Vec<String> {
    let all: Vec<[String; 7]> =
        std::iter::once(HEADINGS.map(|heading| heading.replace('`', ""))).chain(rows()).collect();
    let width = |column: usize| all.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    let line = |row: &[String; 7]| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    let mut lines: Vec<String> = all.iter().map(line).collect();
    lines.push(format!("Flows between two nodes: {}", FLOW_PROTOCOLS.join(", ")));
    lines
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use layercast_testkit::generated::{check_between, in_project};

    use super::*;

    #[test]
    fn generated_table_of_protocols_is_fresh() {
        let mut table = format!("\n| {} |\n|{}\n", HEADINGS.join(" | "), " --- |".repeat(HEADINGS.len()));
        for row in rows() {
            let [name, rest @ ..] = row;
            let _ = writeln!(table, "| [`{name}`](protocols/{name}.md) | {} |", rest.join(" | "));
        }
        table.push('\n');
        let (begin, end) = ("<!-- generated: protocols -->", "<!-- end of generated: protocols -->");
        check_between(&in_project("docs/which-protocol.md"), begin, end, &table);
    }

    #[test]
    fn every_protocol_has_a_line_that_fits_and_says_how_it_starts() {
        let lines = lines();
        assert_eq!(lines.len(), registry::NAMES.len() + 2);
        let widest = lines.iter().take(registry::NAMES.len() + 1).map(|line| line.len()).max();
        assert!(widest.is_some_and(|widest| widest <= 118), "{widest:?}");
        for line in &lines[1..=registry::NAMES.len()] {
            assert!(!line.ends_with('-'), "{line}");
        }
        let of = |name: &str| lines.iter().find(|line| line.starts_with(&format!("{name} "))).cloned();
        assert!(of("amca").is_some_and(|line| line.contains("needs routers")));
        assert!(of("tfrc").is_some_and(|line| line.contains("to one")));
        assert!(of("elm").is_some_and(|line| line.contains("layers")));
    }
}
