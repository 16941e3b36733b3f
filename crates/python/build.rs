//! A digest of the sources that decide what a run gives, by which processes of a cluster know that they are of one
//! build: the version alone stays the same between two releases.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The crates that decide numbers, next to this one.
const CRATES: [&str; 5] = ["core", "kit", "protocols", "simulator", "laboratory"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for name in CRATES {
        let folder = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        sources(&folder, &mut files);
    }
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        let name = file.strip_prefix(&crates).unwrap_or(&file);
        digest.update(name.to_string_lossy().replace('\\', "/").as_bytes());
        digest.update(fs::read(&file).unwrap_or_default());
    }
    let hex: String = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=LAYERCAST_SOURCES={hex}");
}
