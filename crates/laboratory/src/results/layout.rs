//! Tables and paragraphs for the terminal.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// The narrowest terminal, and what is assumed of one that does not say.
pub const NARROWEST: usize = 80;

/// The longest line of a paragraph. Tables may be wider.
pub const WIDTH: usize = 120;

/// The space that a table has between its columns.
const GAP: usize = 3;

/// A table of no more than this width, or of [`NARROWEST`]: columns that do not fit go into further tables under it, each
/// with the first column again. No cell is ever broken, so one that is wider alone makes its table wider.
pub(crate) fn table(heading: &[String], rows: &[Vec<String>], width: usize) -> String {
    let widest = |column: usize| {
        let all = rows.iter().map(Vec::as_slice).chain(std::iter::once(heading));
        let cells = all.filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0) + GAP
    };
    let Some(first) = (!heading.is_empty()).then(|| widest(0)) else { return String::new() };
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let room = width.max(NARROWEST).saturating_add(1);
    let mut used = 0;
    for column in 1..heading.len() {
        let needed = widest(column);
        // The rule under the heading is one shorter than all columns with their gaps.
        if blocks.is_empty() || used + needed > room {
            blocks.push(vec![0]);
            used = first;
        }
        used += needed;
        if let Some(block) = blocks.last_mut() {
            block.push(column);
        }
    }
    let part = |row: &[String], block: &[usize]| -> Vec<String> {
        block.iter().map(|&column| row.get(column).cloned().unwrap_or_default()).collect()
    };
    let tables = blocks
        .iter()
        .map(|block| lay_out(part(heading, block), rows.iter().map(|row| part(row, block)).collect()));
    tables.collect::<Vec<String>>().join("\n")
}

/// A table in one piece.
fn lay_out(heading: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(heading)
        .add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
        column.set_cell_alignment(CellAlignment::Right);
    }
    if let Some(names) = table.column_mut(0) {
        names.set_cell_alignment(CellAlignment::Left);
    }
    let mut text: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Words in lines of no more than this width and [`WIDTH`], those after the first indented.
pub(crate) fn paragraph(words: &str, width: usize, indent: usize) -> String {
    let width = width.min(WIDTH);
    let mut text = String::new();
    let mut used = 0;
    for word in words.split(' ').filter(|word| !word.is_empty()) {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            used = indent;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn columns_that_do_not_fit_are_not_cut() {
        let heading = row(&["protocol", "one", "two", "three"]);
        let long = "1234567890 ± 123456789012345678901234567890";
        let rows = [row(&["webrc", long, long, "x"])];
        let text = table(&heading, &rows, 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text.matches(long).count(), 2, "{text}");
        assert_eq!(text.matches("webrc").count(), 2, "{text}");
        for word in ["one", "two", "three", "x"] {
            assert!(text.contains(word), "{text}");
        }
        assert_eq!(table(&heading, &rows, usize::MAX).matches("webrc").count(), 1, "a file has no width");
    }

    #[test]
    fn words_are_wrapped_between_them() {
        assert_eq!(paragraph("aa bb cc dd", 5, 1), "aa bb\n cc\n dd\n");
        assert_eq!(paragraph("abcdefgh i", 5, 0), "abcdefgh\ni\n");
    }
}
