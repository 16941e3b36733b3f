//! Outputs of commands in pages: below a line `<!-- output: layercast ... -->` stands a block of text with the command and
//! what it prints. The commands run in the project's folder; their arguments have no spaces or quotes in them.
//!
//! `make generated` writes the outputs again. `tools/tidy` checks that no page has others.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use layercast_testkit::generated::{check, in_project};

use super::text;

/// How the line before an output begins.
const BEGIN: &str = "\n<!-- output: layercast ";

/// All pages of a folder and of those below it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of pages") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A block with a command and what it prints, first on standard output, then on standard error.
fn block(arguments: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercast"));
    command.current_dir(in_project("")).env_remove("LAYERCAST_LOG").env_remove("COLUMNS");
    let output = command.args(arguments.split_whitespace()).output().expect("the program starts");
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    let printed = format!("{out}{error}");
    format!("```text\n$ layercast {arguments}\n{}\n```", printed.trim_end())
}

/// The page with the outputs of the commands that it names, and how many these are.
fn with_outputs(page: &str) -> (String, usize) {
    let mut parts = page.split(BEGIN);
    let mut fresh = parts.next().unwrap_or_default().to_owned();
    let mut count = 0;
    for part in parts {
        let (arguments, rest) = part.split_once(" -->\n").expect("the marker ends with its line");
        let after = rest.strip_prefix("```text\n").and_then(|block| block.split_once("\n```\n"));
        let (_, after) = after.expect("a block of text follows the marker");
        fresh.push_str(&format!("{BEGIN}{arguments} -->\n{}\n{after}", block(arguments)));
        count += 1;
    }
    (fresh, count)
}

#[test]
fn generated_outputs_in_pages_are_fresh() {
    let mut paths = pages(&in_project("docs"));
    paths.push(in_project("README.md"));
    let mut count = 0;
    for path in paths {
        let page = fs::read_to_string(&path).expect("a page");
        let (fresh, outputs) = with_outputs(&page);
        count += outputs;
        if outputs > 0 {
            check(&path, &fresh);
        }
    }
    assert!(count > 0, "no page has an output");
}
