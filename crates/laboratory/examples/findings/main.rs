//! Makes the tables of the findings (docs/findings.md) from sweeps, as one HTML page:
//! `cargo run -p layercast-laboratory --example findings -- RESULTS tables.md PAGE.html`.
//!
//! RESULTS has a directory for each sweep. The source has headings, captions, and markers of what a table shows:
//!
//! - `<!-- table: SWEEP cells=1,5,8-10 columns=jain,ratio -->`: a row for each cell, all without `cells`;
//! - `<!-- map: SWEEP of=fell -->`: the first key of a sweep down, the second across.
//!
//! Both take `window=2` (1), `flow=NAME` (elm), `node=NAME` (the mean of all) and, for what is left out of
//! a row's label, `hide=TEXT,...`, with `_` for a space.

mod cells;
mod marker;

use std::error::Error;
use std::path::Path;

use layercast_laboratory::sweep::SweepSummary;
use marker::Marker;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = "
body { font: 16px/1.5 system-ui, sans-serif; color: #1c232b; max-width: 1100px; margin: 32px auto; padding: 0 16px }
table { border-collapse: collapse; font-size: 14px; margin: 8px 0 } td, th { padding: 2px 10px; text-align: left }
tr { border-bottom: 1px solid #e3e7ec }
";

/// A table's rows; the first is its heading.
type Rows = Vec<Vec<String>>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [results, source, page] = arguments.as_slice() else {
        return Err("name the results, the source and the page".into());
    };
    let text = std::fs::read_to_string(source).map_err(|error| format!("{source}: {error}"))?;
    std::fs::write(page, whole(&text, Path::new(results))?)?;
    Ok(())
}

fn whole(source: &str, results: &Path) -> Result<String, Box<dyn Error>> {
    let blocks = source.lines().filter(|line| !line.is_empty()).map(|line| block(line, results));
    let blocks = blocks.collect::<Result<Vec<Markup>, _>>()?;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { "Findings" } style { (PreEscaped(STYLE)) } }
            body { @for block in &blocks { (block) } }
        }
    };
    Ok(page.into_string())
}

/// A heading, a caption or a table.
fn block(line: &str, results: &Path) -> Result<Markup, Box<dyn Error>> {
    if let Some(heading) = line.strip_prefix("## ") {
        return Ok(html! { h2 { (heading) } });
    }
    if let Some(heading) = line.strip_prefix("# ") {
        return Ok(html! { h1 { (heading) } });
    }
    let Some(marker) = Marker::read(line)? else { return Ok(html! { p { (line.replace('`', "")) } }) };
    let file = results.join(&marker.sweep).join("sweep.json");
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let sweep = SweepSummary::from_json(&text)?;
    let rows = if marker.map { map(&marker, &sweep)? } else { table(&marker, &sweep)? };
    Ok(html! {
        table { @for (number, row) in rows.iter().enumerate() {
            tr { @for cell in row { @if number == 0 { th { (cell) } } @else { td { (cell) } } } }
        } }
    })
}

fn table(marker: &Marker, sweep: &SweepSummary) -> Result<Rows, String> {
    let headings = marker.columns.iter().map(|column| cells::heading(column).map(str::to_owned));
    let headings = headings.collect::<Result<Vec<_>, _>>()?;
    let mut rows = vec![[vec![String::new()], headings].concat()];
    for cell in sweep.cells.iter().filter(|cell| marker.has_cell(cell.cell)) {
        let label = cell.values.iter().map(|value| marker.label(value)).collect::<Vec<_>>().join(", ");
        let values = marker.columns.iter().map(|column| cells::value(marker, cell, column));
        rows.push([vec![label], values.collect::<Result<Vec<_>, _>>()?].concat());
    }
    Ok(rows)
}

fn map(marker: &Marker, sweep: &SweepSummary) -> Result<Rows, String> {
    let [down, across] = sweep.keys.as_slice() else { return Err("a map has two keys".to_owned()) };
    let name = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let corner = format!("{} down, {} across", name(&down.key), name(&across.key));
    let mut rows = vec![[vec![corner], across.values.clone()].concat()];
    let column = marker.columns.first().ok_or("a map shows one measure: of=NAME")?;
    for (value, cells) in down.values.iter().zip(sweep.cells.chunks(across.values.len())) {
        let values = cells.iter().map(|cell| cells::value(marker, cell, column));
        rows.push([vec![value.clone()], values.collect::<Result<Vec<_>, _>>()?].concat());
    }
    Ok(rows)
}
