//! Pages generated from code: a test fails when one is stale, and rewrites it on request.
//!
//! `make generated` runs every test that has "generated" in its name with `UPDATE_GENERATED=1`.

use std::fs;
use std::path::{Path, PathBuf};

/// A path from the root of the project.
pub fn in_project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Fails if a generated file is stale; with `UPDATE_GENERATED=1` it is rewritten.
///
/// # Panics
/// When the file is stale or cannot be written.
pub fn check(path: &Path, expected: &str) {
    if std::env::var_os("UPDATE_GENERATED").is_some_and(|value| value == "1") {
        fs::write(path, expected).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(found == expected, "{} is stale: `make generated` rewrites it", path.display());
}

/// As [`check`], for the part of a page between two lines; the rest is written by hand.
///
/// # Panics
/// Also when the page does not have both lines.
pub fn check_between(path: &Path, begin: &str, end: &str, expected: &str) {
    let page =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let parts = page
        .split_once(&format!("{begin}\n"))
        .and_then(|(before, rest)| rest.split_once(&format!("{end}\n")).map(|(_, after)| (before, after)));
    let Some((before, after)) = parts else {
        panic!("{} needs the lines {begin} and {end}", path.display());
    };
    check(path, &format!("{before}{begin}\n{expected}{end}\n{after}"));
}

/// As [`check_between`], for a page that shows some of many rows: the names of the shown ones stand in the line
/// `<!-- options: NAME: first, second -->`, and the part ends at `<!-- end of options -->`.
///
/// # Panics
/// Also when the page has no such line.
pub fn check_chosen(path: &Path, name: &str, expected: impl Fn(&[&str]) -> String) {
    let page =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let start = format!("<!-- options: {name}: ");
    let Some(begin) = page.lines().find(|line| line.starts_with(&start) && line.ends_with(" -->")) else {
        panic!("{} needs a line {start}FIRST, SECOND -->", path.display());
    };
    let shown: Vec<&str> = begin[start.len()..begin.len() - " -->".len()].split(", ").collect();
    check_between(path, begin, "<!-- end of options -->", &expected(&shown));
}
