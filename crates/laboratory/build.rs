//! Makes the catalogue of built-in scenarios from the files under `scenarios/`, sorted by name.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = variable("CARGO_MANIFEST_DIR")?;
    let folder = Path::new(&root).join("../../scenarios");
    // Cargo looks at a folder's whole content.
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = toml_files(&folder)?;
    files.sort();
    let mut text = String::from("&[\n");
    for (name, path) in files {
        writeln!(text, "    BuiltIn {{ name: {name:?}, text: include_str!({path:?}) }},")
            .map_err(io::Error::other)?;
    }
    text.push_str("]\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("built_in.rs"), text)
}

fn variable(name: &str) -> io::Result<OsString> {
    env::var_os(name).ok_or_else(|| io::Error::other(format!("cargo sets no {name}")))
}

/// All scenarios below a folder: their names, such as `thesis/simulation-2`, and files.
fn toml_files(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    let mut folders = vec![(String::new(), folder.to_owned())];
    while let Some((prefix, folder)) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let part = |name: Option<&std::ffi::OsStr>| match name.and_then(|name| name.to_str()) {
                Some(name) => Ok(format!("{prefix}{name}")),
                None => Err(io::Error::other(format!("{} is not UTF-8", path.display()))),
            };
            // The scenarios of the scoreboard belong to its suite.
            if path.is_dir() && path.ends_with("scenarios/scoreboard") {
                continue;
            }
            if path.is_dir() {
                folders.push((part(path.file_name())? + "/", path));
            } else if path.extension().is_some_and(|end| end == "toml") {
                found.push((part(path.file_stem())?, path));
            }
        }
    }
    Ok(found)
}
