//! The licences of the libraries that the program contains, with the notices that they require, as one text:
//!
//! ```sh
//! cargo run --package layercast-tidy --example notices > NOTICES
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};

/// The package of the program.
const PROGRAM: &str = "layercast-cli";
/// What files with licences and notices are called, in any case.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "copyright"];

fn main() -> Result<(), Box<dyn Error>> {
    let locked =
        vec!["--locked".to_owned(), "--filter-platform".to_owned(), "x86_64-unknown-linux-gnu".to_owned()];
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).other_options(locked).exec()?;
    // The crates of each text, since most have the same.
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    println!("layercast contains these libraries:\n");
    for package in contained(&metadata)? {
        let licence = package.license.as_deref().ok_or_else(|| format!("{} has no licence", package.name))?;
        let (name, version) = (&package.name, &package.version);
        println!("{name} {version}: {licence}{}", authors(package));
        for text in notices(package)? {
            texts.entry(text).or_default().push(format!("{name} {version}"));
        }
    }
    for (text, crates) in texts {
        println!("\n{}\n\n{}:\n\n{}", "-".repeat(80), crates.join(", "), text.trim());
    }
    Ok(())
}

fn authors(package: &Package) -> String {
    if package.authors.is_empty() { String::new() } else { format!("; by {}", package.authors.join(", ")) }
}

/// The libraries of others that the program is linked with.
fn contained(metadata: &Metadata) -> Result<Vec<&Package>, Box<dyn Error>> {
    let resolve = metadata.resolve.as_ref().ok_or("cargo resolved nothing")?;
    let program = metadata.packages.iter().find(|package| package.name.as_str() == PROGRAM);
    let mut found: BTreeSet<&PackageId> = BTreeSet::new();
    let mut next = vec![&program.ok_or("the program's package is missing")?.id];
    while let Some(id) = next.pop() {
        if !found.insert(id) {
            continue;
        }
        let node = resolve.nodes.iter().find(|node| node.id == *id).ok_or("a package without a node")?;
        let is_linked = |kind: DependencyKind| kind == DependencyKind::Normal;
        let linked = node.deps.iter().filter(|dep| dep.dep_kinds.iter().any(|kind| is_linked(kind.kind)));
        next.extend(linked.map(|dep| &dep.pkg));
    }
    let ours = &metadata.workspace_members;
    let is_others = |package: &&Package| found.contains(&package.id) && !ours.contains(&package.id);
    let mut packages: Vec<&Package> = metadata.packages.iter().filter(is_others).collect();
    packages.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(packages)
}

/// The texts next to a package's manifest.
fn notices(package: &Package) -> Result<Vec<String>, Box<dyn Error>> {
    let folder = package.manifest_path.parent().ok_or("a manifest without a folder")?;
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if entry.file_type()?.is_file() && NAMES.iter().any(|start| name.starts_with(start)) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths.iter().map(fs::read_to_string).collect::<Result<_, _>>()?)
}
