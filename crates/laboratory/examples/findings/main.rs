//! Fills the tables of `docs/findings.md` from sweeps:
//! `cargo run -p layercast-laboratory --example findings -- RESULTS docs/findings.md`.
//!
//! RESULTS has a directory for each sweep. A table stands between a marker that says what is in it and
//! `<!-- end of table -->`:
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

const END: &str = "<!-- end of table -->";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [results, page] = arguments.as_slice() else { return Err("name the results and the page".into()) };
    let text = std::fs::read_to_string(page).map_err(|error| format!("{page}: {error}"))?;
    std::fs::write(page, fill(&text, Path::new(results))?)?;
    Ok(())
}

fn fill(page: &str, results: &Path) -> Result<String, Box<dyn Error>> {
    let mut filled = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        filled.push_str(line);
        filled.push('\n');
        let Some(marker) = Marker::read(line)? else { continue };
        if !lines.by_ref().any(|line| line == END) {
            return Err(format!("{line} has no {END}").into());
        }
        let file = results.join(&marker.sweep).join("sweep.json");
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let sweep = SweepSummary::from_json(&text)?;
        filled.push_str(&if marker.map { map(&marker, &sweep)? } else { table(&marker, &sweep)? });
        filled.push_str(END);
        filled.push('\n');
    }
    Ok(filled)
}

fn row(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().collect();
    format!("| {} |\n", cells.join(" | "))
}

fn table(marker: &Marker, sweep: &SweepSummary) -> Result<String, String> {
    let chosen = sweep.cells.iter().filter(|cell| marker.has_cell(cell.cell));
    let headings = marker.columns.iter().map(|column| cells::heading(column).map(str::to_owned));
    let headings = headings.collect::<Result<Vec<_>, _>>()?;
    let mut text = row(std::iter::once(String::new()).chain(headings));
    text.push_str(&row(std::iter::repeat_n("---".to_owned(), marker.columns.len() + 1)));
    for cell in chosen {
        let label = cell.values.iter().map(|value| marker.label(value)).collect::<Vec<_>>().join(", ");
        let values = marker.columns.iter().map(|column| cells::value(marker, cell, column));
        text.push_str(&row(std::iter::once(label).chain(values.collect::<Result<Vec<_>, _>>()?)));
    }
    Ok(text)
}

fn map(marker: &Marker, sweep: &SweepSummary) -> Result<String, String> {
    let [down, across] = sweep.keys.as_slice() else { return Err("a map has two keys".to_owned()) };
    let name = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let corner = format!("`{}` down, `{}` across", name(&down.key), name(&across.key));
    let mut text = row(std::iter::once(corner).chain(across.values.iter().cloned()));
    text.push_str(&row(std::iter::repeat_n("---".to_owned(), across.values.len() + 1)));
    let column = marker.columns.first().ok_or("a map shows one measure: of=NAME")?;
    for (value, cells) in down.values.iter().zip(sweep.cells.chunks(across.values.len())) {
        let values = cells.iter().map(|cell| cells::value(marker, cell, column));
        text.push_str(&row(std::iter::once(value.clone()).chain(values.collect::<Result<Vec<_>, _>>()?)));
    }
    Ok(text)
}
