//! Every group of the equation-based vectors and every vector of the join/leave and of the active and
//! unicast ones is loaded by some test, and a group is all of its cases.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use layercast_testkit::generated::in_project;
use layercast_testkit::golden::group;
use serde_json::Value;

const EQUATION_BASED: &str = "vectors-equation-based.json";
const JOIN_LEAVE: &str = "vectors-join-leave.json";
const ACTIVE: &str = "vectors-active-and-unicast.json";

/// The entries of a file's list of a name.
fn entries(file: &str, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(in_project(&format!("fixtures/vectors/{file}"))).expect("the vectors");
    let content: Value = serde_json::from_str(&text).expect("valid JSON");
    content[name].as_array().expect("a list").clone()
}

fn groups() -> Vec<Value> {
    entries(EQUATION_BASED, "groups")
}

fn id(value: &Value) -> String {
    value["id"].as_str().expect("an id").to_owned()
}

/// The sources below a folder that are Rust, but for this one.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let mut found: Vec<PathBuf> = folders.iter().flat_map(|folder| sources(folder)).collect();
    let other = |path: &PathBuf| !path.ends_with("testkit/tests/all.rs");
    found.extend(
        files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs")).filter(other),
    );
    found
}

/// The texts of those sources that read a file of vectors: by its name, or by the golden tests' name for it.
fn readers(file: &str, name: &str) -> Vec<String> {
    let files = ["crates", "tools"].into_iter().flat_map(|folder| sources(&in_project(folder)));
    let texts = files.filter_map(|path| fs::read_to_string(path).ok());
    texts.filter(|text| text.contains(file) || text.contains(name)).collect()
}

/// The ids that occur in no source that reads the file. Ids must occur literally: one composed in a loop
/// could hide omissions.
fn left_out(file: &str, name: &str, ids: &[String]) -> Vec<String> {
    let readers = readers(file, name);
    assert!(!readers.is_empty(), "no source reads {file}");
    let is_loaded = |id: &String| readers.iter().any(|text| text.contains(&format!("\"{id}\"")));
    ids.iter().filter(|id| !is_loaded(id)).cloned().collect()
}

#[test]
fn every_group_is_loaded_by_a_test() {
    let ids: Vec<String> = groups().iter().map(id).collect();
    let left_out = left_out(EQUATION_BASED, "EQUATION_BASED", &ids);
    assert!(left_out.is_empty(), "loaded by no test: {left_out:?}");
}

#[test]
fn every_join_leave_vector_is_loaded_by_a_test() {
    let ids: Vec<String> = entries(JOIN_LEAVE, "vectors").iter().map(id).collect();
    assert!(ids.len() > 90, "{} vectors", ids.len());
    let left_out = left_out(JOIN_LEAVE, "JOIN_LEAVE", &ids);
    assert!(left_out.is_empty(), "loaded by no test: {left_out:?}");
    let unknown = ["WZ-99".to_owned()];
    assert_eq!(self::left_out(JOIN_LEAVE, "JOIN_LEAVE", &unknown), unknown);
}

#[test]
fn a_group_is_all_of_its_cases() {
    let mut ids = BTreeSet::new();
    for content in groups() {
        let cases: Vec<String> = content["cases"].as_array().expect("cases").iter().map(id).collect();
        let loaded: Vec<String> =
            group(EQUATION_BASED, &id(&content)).into_iter().map(|case| case.id).collect();
        assert_eq!(loaded, cases);
        assert!(!cases.is_empty(), "{} is empty", id(&content));
        for case in cases {
            assert!(ids.insert(case.clone()), "{case} is there twice");
        }
    }
}

/// A vector is loaded by its own name, or by that of its kind and a number or the rest of the name: `tfrc-{..}`,
/// `jain-0`.
#[test]
fn every_active_vector_is_loaded_by_a_test() {
    let readers = readers(ACTIVE, "ACTIVE");
    assert!(!readers.is_empty(), "no source reads {ACTIVE}");
    let is_loaded = |id: &str| {
        let kind = id.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let by_number = [format!("\"{kind}{{"), format!("\"{kind}0\"")];
        let names = by_number.into_iter().chain([format!("\"{id}\"")]).collect::<Vec<_>>();
        readers.iter().any(|text| names.iter().any(|name| text.contains(name)))
    };
    let vectors: Vec<String> = entries(ACTIVE, "vectors").iter().map(id).collect();
    assert!(vectors.len() > 100);
    let left_out: Vec<&String> = vectors.iter().filter(|id| !is_loaded(id)).collect();
    assert!(left_out.is_empty(), "loaded by no test: {left_out:?}");
}
