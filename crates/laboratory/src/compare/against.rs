//! Comparisons repeated with each of several versions of TCP as the competing traffic.

use std::path::{Path, PathBuf};

use maud::{Markup, html};
use serde::Serialize;

use super::candidates::CompareRequest;
use super::error::CompareError;
use super::report::{BARS, Bar, Bars, RULES, facts, palette};
use super::row::Row;
use super::rows::Comparison;
use super::{interval, table};
use crate::results::files::write_whole;
use crate::results::json;
use crate::results::layout;
use crate::results::report::document;
use crate::results::table::one_line;
use crate::results::text::NONE;
use crate::results::{ResultsError, Statistic};
use crate::scenario::protocols::{FLOW_PROTOCOLS, UDP};
use crate::scenario::{self, Catalogue, nearest};

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
            let meant = nearest(version, known.iter().copied());
            return Err(CompareError::Tcp { name: version.clone(), known: known.join(", "), meant });
        }
        if versions[..index].contains(version) {
            return Err(CompareError::Twice { name: version.clone() });
        }
    }
    let base = scenario::read_outline(&request.id, &request.text, &request.overrides, catalogue)?;
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

    /// A row for each protocol: its name, and its row with each version, if it was compared there.
    fn rows(&self) -> Vec<(&str, Vec<Option<&Row>>)> {
        let mut names: Vec<&str> = Vec::new();
        for row in self.versions.iter().flat_map(|version| &version.comparison.protocols) {
            if !names.contains(&row.protocol.as_str()) {
                names.push(&row.protocol);
            }
        }
        let each = |name: &str| {
            let find =
                |version: &Version| version.comparison.protocols.iter().position(|row| row.protocol == name);
            let versions = self.versions.iter();
            versions
                .map(|version| find(version).and_then(|at| version.comparison.protocols.get(at)))
                .collect()
        };
        names.into_iter().map(|name| (name, each(name))).collect()
    }
}

/// A table: its title, the format of its numbers, and where they are.
struct TableSpec {
    title: &'static str,
    metric: &'static str,
    of: fn(&Row) -> &Statistic,
}

const TABLES: [TableSpec; 4] = [
    TableSpec {
        title: "Share of TCP: a receiver's throughput over the mean of the competing TCP",
        metric: "share_of_tcp",
        of: |row| &row.share_of_tcp,
    },
    TableSpec {
        title: "Harm: what other traffic lost against a run without multicast, in per cent",
        metric: "change",
        of: |row| &row.harm_percent,
    },
    TableSpec { title: "Loss on the path to a receiver", metric: "loss_rate", of: |row| &row.loss_rate },
    TableSpec { title: "Use of the bottlenecks", metric: "utilisation", of: |row| &row.utilisation },
];

/// The tables as text, in lines of at most so many characters: a row for each protocol, a column for each version of
/// TCP.
#[must_use]
pub fn render(against: &Against, width: usize) -> String {
    let Some(first) = against.first() else { return String::new() };
    let width = width.max(layout::NARROWEST);
    let mut text = table::heading(first, width);
    for version in &against.versions {
        let verdict = format!("- {}: {}", one_line(&version.tcp), one_line(&version.comparison.verdict.text));
        text.push_str(&layout::paragraph(&verdict, width, 2));
    }
    for (who, why) in first.refusals() {
        text.push_str(&layout::paragraph(&format!("- {}: {}", one_line(&who), one_line(&why)), width, 2));
    }
    for table in TABLES.iter().filter(|table| table.has_any(against)) {
        let mut heading = vec!["protocol".to_owned()];
        heading.extend(against.versions.iter().map(|version| version.tcp.clone()));
        let rows = against.rows().into_iter().map(|(protocol, rows)| {
            std::iter::once(one_line(protocol)).chain(rows.into_iter().map(|row| table.cell(row))).collect()
        });
        let rows: Vec<Vec<String>> = rows.collect();
        text.push_str(&format!("\n{}\n{}", table.title, layout::table(&heading, &rows, width)));
    }
    text
}

impl TableSpec {
    fn cell(&self, row: Option<&Row>) -> String {
        row.map_or_else(|| NONE.to_owned(), |row| interval::text((self.of)(row), self.metric))
    }

    /// Whether there is a number in it.
    fn has_any(&self, against: &Against) -> bool {
        let rows = against.versions.iter().flat_map(|version| &version.comparison.protocols);
        rows.into_iter().any(|row| (self.of)(row).mean.is_some())
    }
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
            ul.said { @for version in &against.versions {
                li { b { (version.tcp) } ": " (version.comparison.verdict.text) }
            } }
            @if let Some(first) = against.first() {
                @for (who, why) in first.refusals() { p.note { (who) ": " (why) } }
                (facts(first))
            }
        }
        @for table in TABLES.iter().filter(|table| table.has_any(against)) {
            section { h2 { (table.title) } (plot_of(against, table)) (table_of(against, table)) }
        }
        @if let Some(first) = against.first().filter(|first| !table::intervals(first).is_empty()) {
            p.note { (table::intervals(first).trim_start_matches(" · ")) "." }
        }
        section {
            h2 { "Again" }
            pre { code { (against.command) } }
            p.note { "Full results against one version:" }
            ul { @for version in &against.versions {
                li { a href=(format!("{}/report.html", version.tcp)) { (version.tcp) } }
            } }
        }
    };
    document(title, &format!("{BARS}{RULES}"), &body)
}

/// Bars for each version of TCP, all on one scale.
fn plot_of(against: &Against, table: &TableSpec) -> Markup {
    let rows = against.rows();
    let palette = palette(rows.iter().map(|(protocol, _)| *protocol));
    let all = || {
        against.versions.iter().flat_map(|version| &version.comparison.protocols).map(|row| (table.of)(row))
    };
    let ends =
        all().filter_map(|statistic| Some(interval::drawn(statistic, table.metric)?.1).or(statistic.mean));
    let greatest = ends.fold(0.0, f64::max);
    let bars = |version: &Version| {
        let bars = version.comparison.protocols.iter().map(|row| Bar {
            label: &row.protocol,
            class: palette.class(&row.protocol),
            statistic: (table.of)(row),
            text: table.cell(Some(row)),
        });
        let line = match table.metric {
            "share_of_tcp" => Some(1.0),
            "change" => Some(0.0),
            _ => None,
        };
        Bars {
            metric: table.metric,
            line,
            least: greatest.max(line.unwrap_or(0.0) * 1.25),
            bars: bars.collect(),
        }
        .markup()
    };
    html! { @for version in &against.versions { h3 { (version.tcp) } (bars(version)) } }
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
                @for row in rows { td { (table.cell(row)) } }
            } } }
        } }
    }
}
