//! Pages stay short, and what they show of commands' outputs is fresh.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The most words in the pages of each folder, not of those below it.
const BUDGETS: &[(&str, usize)] =
    &[("docs", 54_100), ("docs/decisions", 5_600), ("docs/protocols", 18_700), ("docs/reproduction", 6_100)];

/// The most words in all pages.
const WHOLE: usize = 84_400;

/// Outputs of commands that no test prints again, since they need long runs or a real network, and formats and rules without a
/// drawing: at most so many in a page. Every other stands below `<!-- output: layercast ... -->`, and a test of the
/// command line keeps it fresh.
const UNCHECKED: &[(&str, usize)] =
    &[("docs/protocols/tide-specification.md", 7), ("docs/transport.md", 1), ("docs/wire-format.md", 14)];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages below a folder of the project, each with its text.
fn pages(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{folder}/{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            found.extend(pages(&name));
        } else if name.ends_with(".md") {
            found.push((name, fs::read_to_string(path).unwrap()));
        }
    }
    found.sort();
    found
}

/// How many words a page has for a reader, as `wc -w` counts them: comments are for tests.
fn words(page: &str) -> usize {
    let mut parts = page.split("<!--");
    let first = parts.next().unwrap_or_default();
    let after = parts.map(|part| part.split_once("-->").map_or("", |(_, after)| after));
    std::iter::once(first).chain(after).map(|part| part.split_whitespace().count()).sum()
}

#[test]
fn comments_have_no_words_for_a_reader() {
    assert_eq!(words("<!-- run -->\nTwo words <!-- of\nmany --> here"), 3);
}

/// How many outputs in a page are neither generated nor checked. A block of text is an output unless it is a drawing or
/// consists of commands.
fn unchecked(page: &str) -> usize {
    let mut is_generated = false;
    let mut before = "";
    let mut lines = page.lines();
    let mut count = 0;
    while let Some(line) = lines.next() {
        is_generated |= line.starts_with("<!-- generated: ");
        is_generated &= !line.starts_with("<!-- end of generated: ");
        if line == "```text" {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let is_drawing = block.iter().any(|line| line.contains("+--"));
            let is_command = block.first().is_some_and(|line| line.starts_with("layercast "));
            let is_checked = is_generated || before.starts_with("<!-- output: layercast ");
            count += usize::from(!is_drawing && !is_command && !is_checked);
        }
        before = line;
    }
    count
}

#[test]
fn drawings_and_commands_are_no_outputs() {
    let page = "```text\nlayercast run\n```\n```text\n| +--+ |\n```\n```text\n12 kbit/s\n```\n";
    assert_eq!(unchecked(page), 1);
    assert_eq!(unchecked("<!-- output: layercast run -->\n```text\n12 kbit/s\n```\n"), 0);
}

#[test]
fn pages_keep_to_their_budgets() {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for (name, text) in pages("docs") {
        let folder = name.rsplit_once('/').unwrap().0.to_owned();
        *found.entry(folder).or_default() += words(&text);
    }
    let whole: usize = found.values().sum();
    for (folder, count) in &found {
        let budget = BUDGETS.iter().find(|(name, _)| name == folder);
        let (_, most) = budget.unwrap_or_else(|| panic!("{folder} has no budget of words"));
        assert!(
            count <= most,
            "{folder} has {count} words, of at most {most}: shorten a page, or raise BUDGETS"
        );
    }
    assert!(whole <= WHOLE, "all pages have {whole} words, of at most {WHOLE}");
}

#[test]
fn outputs_in_pages_are_checked_ones() {
    let mut more = Vec::new();
    for (name, text) in pages("docs") {
        let most = UNCHECKED.iter().find(|(page, _)| *page == name).map_or(0, |(_, most)| *most);
        let count = unchecked(&text);
        if count > most {
            more.push(format!(
                "{name}: {count} blocks of text without `<!-- output: layercast ... -->`, of at most {most}"
            ));
        }
    }
    assert!(more.is_empty(), "outputs that no test keeps fresh:\n{}", more.join("\n"));
}
