//! Comparisons repeated with each of several versions of TCP as the competing traffic.

use std::path::{Path, PathBuf};

use maud::{Markup, html};
use serde::Serialize;

use super::contenders::CompareRequest;
use super::error::CompareError;
use super::rows::{Comparison, Row};
use super::table;
use crate::results::files::write_whole;
use crate::results::json;
use crate::results::report::document;
use crate::results::table::{lay_out, one_line};
use crate::results::text::Style;
use crate::results::{ResultsError, Statistic};
use crate::scenario::protocols::{FLOW_PROTOCOLS, UDP};
use crate::scenario::{self, Catalogue};

/// The version of `against.json`.
pub const SCHEMA: u32 = 1;

/// The request of a comparison with each version of TCP in place of all TCP flows of the scenario.
///
/// # Errors
/// A wrong scenario, one without TCP, an unknown version or one that is given twice.
pub fn requests(
    request: &CompareRequest,
    versions: &[String],
    catalogue: &Catalogue,
) -> Result<Vec<CompareRequest>, CompareError> {
    let known: Vec<&str> = FLOW_PROTOCOLS.iter().copied().filter(|&name| name != UDP).collect();
    for (index, version) in versions.iter().enumerate() {
        if !known.contains(&version.as_str()) {
            return Err(CompareError::Tcp { name: version.clone(), known: known.join(", ") });
        }
        if versions[..index].contains(version) {
            return Err(CompareError::Twice { name: version.clone() });
        }
    }
    let base = scenario::read(&request.id, &request.text, &request.overrides, catalogue)?;
    let flows: Vec<&str> =
        base.flows.iter().filter(|flow| flow.protocol() != UDP).map(|flow| flow.name.as_str()).collect();
    if flows.is_empty() {
        return Err(CompareError::NoTcp);
    }
    let with = |version: &String| {
        let mut request = request.clone();
        request.overrides.extend(flows.iter().map(|flow| format!("flow.{flow}.protocol={version}")));
        request
    };
    Ok(versions.iter().map(with).collect())
}

/// The same comparison with each version of TCP.
#[derive(Debug, Clone, Serialize)]
pub struct Against {
    /// The version of this form.
    pub schema: u32,
    /// The command that repeats it.
    pub command: String,
    /// By version of TCP, in the order asked for.
    pub versions: Vec<Version>,
}

/// One version of TCP.
#[derive(Debug, Clone, Serialize)]
pub struct Version {
    /// Its name in scenario files.
    pub tcp: String,
    /// The protocols that share the network with it.
    pub comparison: Comparison,
}

impl Against {
    /// The results of the comparisons.
    #[must_use]
    pub fn new(versions: Vec<Version>, command: &str) -> Against {
        Against { schema: SCHEMA, command: command.to_owned(), versions }
    }

    fn first(&self) -> Option<&Comparison> {
        self.versions.first().map(|version| &version.comparison)
    }

    /// A row for each protocol: its name, and its row with each version.
    fn rows(&self) -> Vec<(&str, Vec<&Row>)> {
        let count = self.first().map_or(0, |comparison| comparison.protocols.len());
        let row = |number: usize| {
            let each = self.versions.iter().filter_map(|version| version.comparison.protocols.get(number));
            let each: Vec<&Row> = each.collect();
            Some((each.first()?.protocol.as_str(), each))
        };
        (0..count).filter_map(row).collect()
    }
}

/// A table: its title, the format of its numbers, and where they are.
struct TableSpec {
    title: &'static str,
    metric: &'static str,
    of: fn(&Row) -> &Statistic,
}

const TABLES: [TableSpec; 3] = [
    TableSpec {
        title: "Share of TCP: a receiver's throughput over the mean of the competing TCP",
        metric: "share_of_tcp",
        of: |row| &row.share_of_tcp,
    },
    TableSpec { title: "Loss on the path to a receiver", metric: "loss_rate", of: |row| &row.loss_rate },
    TableSpec { title: "Use of the bottlenecks", metric: "utilisation", of: |row| &row.utilisation },
];

/// The tables as text: a row for each protocol, a column for each version of TCP.
#[must_use]
pub fn render(against: &Against) -> String {
    let Some(first) = against.first() else { return String::new() };
    let mut text = table::heading(first);
    for table in &TABLES {
        let mut heading = vec!["protocol".to_owned()];
        heading.extend(against.versions.iter().map(|version| version.tcp.clone()));
        let rows = against.rows().into_iter().map(|(protocol, rows)| {
            let cells = rows.into_iter().map(|row| Style::of(table.metric).statistic((table.of)(row)));
            std::iter::once(one_line(protocol)).chain(cells).collect()
        });
        text.push_str(&format!("\n{}\n{}", table.title, lay_out(heading, rows.collect())));
    }
    text
}

/// Writes `against.json` and `report.html` into `dir`. The comparisons have directories of their own, named
/// after the versions.
///
/// # Errors
/// When a file cannot be written.
pub fn write(dir: &Path, against: &Against) -> Result<(PathBuf, PathBuf), ResultsError> {
    let (report, numbers) = (dir.join("report.html"), dir.join("against.json"));
    write_whole(&report, page(against).into_string().as_bytes())?;
    // Every field has a JSON form and keys are strings.
    let text = json::to_string(against).unwrap_or_default();
    write_whole(&numbers, text.as_bytes())?;
    Ok((report, numbers))
}

fn page(against: &Against) -> Markup {
    let title = against.first().map_or("", |first| first.title.as_str());
    let body = html! {
        header {
            p.over { "Layercast comparison" }
            h1 { (title) }
            p.lead { "The same network, with each protocol against each version of TCP." }
        }
        @for table in &TABLES { section { h2 { (table.title) } (table_of(against, table)) } }
        section {
            h2 { "Again" }
            pre { code { (against.command) } }
            p.note { "Full results against one version:" }
            ul { @for version in &against.versions {
                li { a href=(format!("{}/report.html", version.tcp)) { (version.tcp) } }
            } }
        }
    };
    document(title, "", &body)
}

fn table_of(against: &Against, table: &TableSpec) -> Markup {
    html! {
        div.scroll tabindex="0" { table {
            thead { tr {
                th { "Protocol" }
                @for version in &against.versions { th { (version.tcp) } }
            } }
            tbody { @for (protocol, rows) in against.rows() { tr {
                td.word { (protocol) }
                @for row in rows { td { (Style::of(table.metric).statistic((table.of)(row))) } }
            } } }
        } }
    }
}
