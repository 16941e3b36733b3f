//! Invariants of the pages: links resolve, nothing is omitted.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Generated folders.
const MADE: &[&str] = &[".git", "target", "results"];

/// The extensions of text files.
const TEXT: &[&str] = &["css", "json", "md", "rs", "run", "sh", "snap", "svg", "toml", "yml", "Makefile"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All files below a folder, except generated ones.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if MADE.contains(&name) {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn pages() -> Vec<PathBuf> {
    files(&root()).into_iter().filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

/// The lines of a page outside code blocks.
fn prose(page: &Path) -> Vec<String> {
    let mut code = false;
    let text = fs::read_to_string(page).unwrap();
    let is_prose = |line: &&str| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !fence && !code
    };
    text.lines().filter(is_prose).map(str::to_owned).collect()
}

/// The anchors of a page's headings, as code forges generate them.
fn anchors(page: &Path) -> BTreeSet<String> {
    let headings = prose(page).into_iter().filter(|line| line.starts_with('#'));
    headings
        .map(|heading| {
            let heading = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
        })
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let mut dead = Vec::new();
    let mut count = 0;
    for page in pages() {
        for line in prose(&page) {
            for rest in line.split("](").skip(1) {
                let target = rest.split(')').next().unwrap();
                if target.contains("://") || target.starts_with("mailto:") {
                    continue;
                }
                count += 1;
                let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
                let file = match path {
                    "" => page.clone(),
                    path => page.parent().unwrap().join(path),
                };
                let is_there = file.exists();
                let has_anchor = || anchor.is_empty() || anchors(&file).contains(anchor);
                if !is_there || !has_anchor() {
                    dead.push(format!("{}: {target}", page.display()));
                }
            }
        }
    }
    assert!(count > 20, "the links were not found");
    assert!(dead.is_empty(), "these links lead nowhere:\n{}", dead.join("\n"));
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    // Composed of parts, so that this file does not contain them.
    let machine_paths: Vec<String> =
        ["home", "root", "work", "Users", "tmp"].iter().map(|name| format!("/{name}/")).collect();
    let mut wrong = Vec::new();
    for file in files(&root()) {
        let name = file.file_name().unwrap().to_str().unwrap();
        if !TEXT.iter().any(|end| name.ends_with(end)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            let absolute = |path: &String| {
                line.match_indices(path.as_str()).any(|(at, _)| {
                    // Inside a longer path or an address it is something else.
                    let before = line[..at].chars().next_back();
                    !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | ')'))
                })
            };
            if machine_paths.iter().any(absolute) {
                wrong.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "paths of one machine:\n{}", wrong.join("\n"));
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let table = manifest.split("[workspace.dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let decisions: String =
        files(&root().join("docs/decisions")).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let mut missing = Vec::new();
    for name in table.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.trim()) {
        if !name.starts_with('#')
            && !name.starts_with("layercast")
            && !decisions.contains(&format!("`{name}`"))
        {
            missing.push(name);
        }
    }
    assert!(missing.is_empty(), "docs/decisions has no reason for {}", missing.join(", "));
}
