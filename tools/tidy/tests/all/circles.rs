//! No circle between the files of any crate: see the library's `circles` for what counts as one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use layercast_tidy::circles::circles;
use layercast_tidy::modules::Modules;

/// The folders of all crates: those of Layercast and the example of one outside.
fn crates() -> BTreeSet<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let inside = ["crates", "tools"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let inside = inside.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut crates: BTreeSet<PathBuf> = inside.filter(|path| path.join("Cargo.toml").exists()).collect();
    crates.insert(root.join("examples/outside"));
    crates
}

#[test]
fn files_form_no_circles() {
    let mut found = Vec::new();
    for folder in crates() {
        let roots = ["lib.rs", "main.rs"].map(|name| folder.join("src").join(name));
        let roots: Vec<_> = roots.into_iter().filter(|root| root.exists()).collect();
        assert!(!roots.is_empty(), "{} has no root file", folder.display());
        for root in roots {
            let modules = Modules::read(&root).unwrap();
            let uses = modules.uses();
            let is_small = modules.count() < 3;
            assert!(is_small || !uses.is_empty(), "{}: the uses were not found", root.display());
            for circle in circles(&uses) {
                let names: Vec<_> = circle.modules.iter().map(|module| module.join("/")).collect();
                let uses = circle.uses.iter().map(|(from, to)| (from.join("/"), to.join("/")));
                let uses: Vec<_> = uses.map(|(from, to)| format!("    {from} uses {to}")).collect();
                found.push(format!("{}: {}\n{}", folder.display(), names.join(", "), uses.join("\n")));
            }
        }
    }
    assert!(found.is_empty(), "these modules form circles:\n{}", found.join("\n"));
}

/// The circles of a small crate, from the text of each module.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let text_of = |module: &[String]| {
        let name = module.join("/");
        files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned()).ok_or(name)
    };
    let found = circles(&Modules::collect(text_of).unwrap().uses());
    let names = |modules: &BTreeSet<Vec<String>>| modules.iter().map(|module| module.join("/")).collect();
    let names: Vec<Vec<String>> = found.iter().map(|circle| names(&circle.modules)).collect();
    names.into_iter().map(|names| names.join(", ")).collect()
}

#[test]
fn a_circle_behind_a_re_export_is_found() {
    let files = [
        ("", "mod link; mod queue;"),
        ("queue", "mod red; mod watched; pub use watched::Event; pub struct Queue(red::Red);"),
        ("queue/red", "use super::Event; use super::Queue; pub struct Red;"),
        ("queue/watched", "use super::red::Red; pub enum Event {}"),
        ("link", "use crate::queue::Queue;"),
    ];
    assert_eq!(circles_of(&files), ["queue/red, queue/watched"]);
}

#[test]
fn a_crate_without_circles_has_none() {
    let files = [
        ("", "mod link; mod queue; pub use link::Link;"),
        ("queue", "mod red; pub use red::Red; pub struct Queue(Red);"),
        // Its parent's type, and in tests whatever it likes.
        ("queue/red", "use super::Queue; pub struct Red; #[cfg(test)] mod tests { use crate::link::Link; }"),
        ("link", "use crate::queue::{Queue, Red};"),
    ];
    assert!(circles_of(&files).is_empty());
}
