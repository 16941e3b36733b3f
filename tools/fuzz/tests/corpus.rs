//! Every input of `fuzz/corpus` runs through its target: examples of what is accepted, and what once failed.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use layercast_fuzz::{SWEPT, TARGETS};
use layercast_laboratory::BuiltIn;
use layercast_laboratory::sweep::{Grid, SweepRequest};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The names in a folder, without extensions.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn no_input_of_the_corpus_panics() {
    for (name, target) in TARGETS {
        let mut count = 0;
        for entry in fs::read_dir(fuzz().join("corpus").join(name)).unwrap() {
            let path = entry.unwrap().path();
            // A panic must name its input, and a test shows what it prints only when it fails.
            println!("{}", path.display());
            target(&fs::read(&path).unwrap());
            count += 1;
        }
        assert!(count > 2, "{name} has no corpus");
    }
}

#[test]
fn every_target_has_its_file_and_its_corpus() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names(&fuzz().join("fuzz_targets")), targets);
    assert_eq!(names(&fuzz().join("corpus")), targets);
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let listed = manifest.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    assert_eq!(listed.skip(1).map(str::to_owned).collect::<BTreeSet<_>>(), targets);
}

#[test]
fn the_swept_scenario_is_read() {
    let vary = vec!["link.S-R.rate=64 kbit/s..256 kbit/s*2".to_owned()];
    let request = SweepRequest { text: SWEPT.to_owned(), vary, ..SweepRequest::default() };
    assert_eq!(Grid::read::<BuiltIn>(&request).unwrap().cells.len(), 3);
}

#[test]
fn the_corpus_stays_small() {
    let files = TARGETS.iter().flat_map(|(name, _)| fs::read_dir(fuzz().join("corpus").join(name)).unwrap());
    let bytes: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(bytes < 100_000, "{bytes} bytes of inputs");
}
