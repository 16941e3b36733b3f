//! Invariants of the tree: layers of crates, licences, pages, lengths.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Target, TargetKind};

/// The project's crates and those that each may use outside tests: the layers of docs/architecture.md,
/// bottom-up.
const FLOORS: &[(&str, &[&str])] = &[
    ("layercast-core", &[]),
    ("layercast-kit", &["layercast-core"]),
    ("layercast-protocols", &["layercast-core", "layercast-kit"]),
    ("layercast-simulator", &["layercast-core"]),
    ("layercast-builtin", &["layercast-core", "layercast-protocols", "layercast-simulator"]),
    ("layercast-delivery", &["layercast-core", "layercast-protocols"]),
    ("layercast-transport", &["layercast-core", "layercast-protocols", "layercast-delivery"]),
    ("layercast", &["layercast-core", "layercast-protocols", "layercast-delivery", "layercast-transport"]),
    (
        "layercast-laboratory",
        &[
            "layercast-core",
            "layercast-kit",
            "layercast-protocols",
            "layercast-simulator",
            "layercast-builtin",
        ],
    ),
    (
        "layercast-emulator",
        &["layercast-core", "layercast-simulator", "layercast-delivery", "layercast-laboratory"],
    ),
    (
        "layercast-explorer",
        &["layercast-core", "layercast-protocols", "layercast-simulator", "layercast-delivery"],
    ),
    (
        "layercast-cli",
        &[
            "layercast-core",
            "layercast-protocols",
            "layercast-delivery",
            "layercast-transport",
            "layercast-laboratory",
            "layercast-emulator",
            "layercast-explorer",
        ],
    ),
    (
        "layercast-python",
        &[
            "layercast-core",
            "layercast-kit",
            "layercast-protocols",
            "layercast-laboratory",
            "layercast",
            "layercast-testkit",
        ],
    ),
    (
        "layercast-validation",
        &["layercast-core", "layercast-protocols", "layercast-simulator", "layercast-laboratory"],
    ),
    (
        "layercast-reproduction",
        &["layercast-core", "layercast-kit", "layercast-protocols", "layercast-laboratory"],
    ),
    ("layercast-testkit", &["layercast-core"]),
    (
        "layercast-bench",
        &[
            "layercast-core",
            "layercast-delivery",
            "layercast-laboratory",
            "layercast-protocols",
            "layercast-simulator",
        ],
    ),
    (
        "layercast-fuzz",
        &["layercast-core", "layercast-protocols", "layercast-delivery", "layercast-laboratory"],
    ),
    (
        "layercast-trials",
        &[
            "layercast-core",
            "layercast-protocols",
            "layercast-simulator",
            "layercast-delivery",
            "layercast-laboratory",
            "layercast-emulator",
        ],
    ),
    ("layercast-tidy", &[]),
    ("layercast-outside", &["layercast-core", "layercast-kit", "layercast-cli"]),
];

/// Licences compatible with MIT OR Apache-2.0.
const LICENCES: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Unicode-3.0",
    "Zlib",
    "Unlicense",
    "0BSD",
    "BSL-1.0",
    "CC0-1.0",
    "MIT-0",
    "bzip2-1.0.6",
];

/// A file longer than this has more than one purpose.
const LINES_MAX: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The manifests of the workspaces: the crates, and what measures them.
const WORKSPACES: [&str; 2] = ["Cargo.toml", "tools/Cargo.toml"];

fn metadata() -> impl Iterator<Item = Metadata> {
    WORKSPACES.into_iter().map(|manifest| {
        let locked = vec!["--locked".to_owned()];
        MetadataCommand::new().manifest_path(root().join(manifest)).other_options(locked).exec().unwrap()
    })
}

#[test]
fn both_workspaces_have_the_same_versions_lints_and_profiles() {
    let lines = |manifest: &str| -> BTreeMap<(String, String), String> {
        let text = fs::read_to_string(root().join(manifest)).unwrap();
        let (mut table, mut lines) = (String::new(), BTreeMap::new());
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if line.starts_with('[') {
                table = line.to_owned();
            } else if let Some((key, value)) = line.split_once(" = ") {
                lines.insert((table.clone(), key.to_owned()), value.to_owned());
            }
        }
        lines
    };
    let [root, tools] = WORKSPACES.map(lines);
    let differs = |((table, key), value): &(&(String, String), &String)| {
        let same = root.get(&(table.clone(), key.clone())) == Some(*value);
        table != "[workspace]" && !value.starts_with("{ path = ") && !same
    };
    let different: Vec<_> = tools.iter().filter(differs).collect();
    assert!(
        tools.len() > 20 && different.is_empty(),
        "tools/Cargo.toml differs from Cargo.toml: {different:#?}"
    );
}

#[test]
fn crates_use_only_the_floors_below() {
    let floors: BTreeMap<_, _> = FLOORS.iter().copied().collect();
    let mut ours = BTreeSet::new();
    let workspaces: Vec<Metadata> = metadata().collect();
    for package in workspaces.iter().flat_map(Metadata::workspace_packages) {
        let name = package.name.as_str();
        ours.insert(name.to_owned());
        let allowed = floors.get(name).unwrap_or_else(|| panic!("{name} has no floor in FLOORS"));
        for dependency in &package.dependencies {
            let used = dependency.name.as_str();
            if floors.contains_key(used) && dependency.kind == DependencyKind::Normal {
                assert!(allowed.contains(&used), "{name} must not use {used}");
            }
        }
    }
    assert_eq!(ours.len(), FLOORS.len(), "FLOORS names a crate that does not exist");
}

/// `make test` starts test programs by these names: those that compute, and those that wait for networks.
#[test]
fn every_test_program_is_one_that_make_runs() {
    let is_test = |target: &&Target| target.kind.contains(&TargetKind::Test);
    for package in metadata().take(1).flat_map(|workspace| workspace.packages) {
        for target in package.targets.iter().filter(is_test).filter(|_| package.source.is_none()) {
            let is_run = ["all", "network", "program"].contains(&target.name.as_str());
            assert!(is_run, "{}: name the test program {:?} after its kind", package.name, target.name);
        }
    }
}

#[test]
fn licences_are_allowed() {
    let allowed: BTreeSet<_> = LICENCES.iter().copied().collect();
    let mut wrong = Vec::new();
    for package in metadata().flat_map(|workspace| workspace.packages) {
        let licence = package.license.clone().unwrap_or_default();
        // "A OR B": one allowed side is enough. "A AND B": both must be. "/" is an old "OR".
        let fits = licence.replace('/', " OR ").split(" OR ").any(|side| {
            let side = side.trim().trim_matches(['(', ')']);
            !side.is_empty()
                && side.split(" AND ").all(|part| allowed.contains(part.trim_matches(['(', ')', ' '])))
        });
        if !fits {
            wrong.push(format!("{} {}: {licence}", package.name, package.version));
        }
    }
    assert!(wrong.is_empty(), "licences to look at:\n{}", wrong.join("\n"));
}

#[test]
fn files_stay_short() {
    let mut long = Vec::new();
    for file in rust_files(&root().join("crates")) {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        if lines > LINES_MAX {
            long.push(format!("{} has {lines} lines", file.display()));
        }
    }
    assert!(long.is_empty(), "split by meaning (at most {LINES_MAX} lines):\n{}", long.join("\n"));
}

#[test]
fn every_protocol_has_a_page() {
    let registry = fs::read_to_string(root().join("crates/protocols/src/registry.rs")).unwrap();
    let mut count = 0;
    for line in registry.lines().filter(|line| line.starts_with("    ") && line.contains("\" in ")) {
        let Some((_, rest)) = line.split_once("= \"") else { continue };
        let (name, module) = rest.split_once("\" in ").unwrap();
        let module = module.trim_end_matches(';');
        let page = root().join(format!("docs/protocols/{name}.md"));
        assert!(page.exists(), "protocol {name} (module {module}) needs {}", page.display());
        count += 1;
    }
    assert!(count > 0, "the list of protocols was not found in registry.rs");
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}
