//! Golden vectors: cases with inputs and expected outputs from `fixtures/vectors`.
//!
//! Two shapes of file are read: groups of cases (`groups`, `cases`, `expect`, `rel_tol`) and a flat list
//! (`vectors`, `expected`, `tolerance` in words or as a number). All functions panic with the name of what
//! is missing: they serve tests only.

use std::path::PathBuf;

use serde_json::Value;

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name in the file.
    pub id: String,
    /// The inputs.
    pub input: Value,
    /// The expected output.
    pub expected: Value,
    /// The tolerance of a number, relative to the expected one.
    pub rel_tol: f64,
}

fn load(file: &str) -> Value {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "..", "..", "fixtures", "vectors", file].iter().collect();
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().unwrap_or_else(|| panic!("no list {name}"))
}

/// All cases of one group of a file with groups.
pub fn group(file: &str, id: &str) -> Vec<Case> {
    let content = load(file);
    let group = list(&content, "groups").iter().find(|group| group["id"] == id);
    let group = group.unwrap_or_else(|| panic!("no group {id} in {file}"));
    let case = |case: &Value| Case {
        id: text(&case["id"]),
        input: case["input"].clone(),
        expected: case["expect"].clone(),
        rel_tol: case["rel_tol"].as_f64().unwrap_or(1e-9),
    };
    list(group, "cases").iter().map(case).collect()
}

/// One vector of a file with a flat list.
pub fn vector(file: &str, id: &str) -> Case {
    let content = load(file);
    let vector = list(&content, "vectors").iter().find(|vector| vector["id"] == id);
    let vector = vector.unwrap_or_else(|| panic!("no vector {id} in {file}"));
    let tolerance = &vector["tolerance"];
    // In words: "exact", "rel 1e-9", "abs 1e-9". Exact numbers are printed in full, so only the last bit of
    // a sum may differ.
    let in_words = || tolerance.as_str()?.split(' ').nth(1)?.parse().ok();
    Case {
        id: id.to_string(),
        input: vector["input"].clone(),
        expected: vector["expected"].clone(),
        rel_tol: tolerance.as_f64().or_else(in_words).unwrap_or(1e-14),
    }
}

/// Whether a number is within a relative tolerance of the expected one; equal infinities are.
pub fn close(actual: f64, expected: f64, rel_tol: f64) -> bool {
    actual == expected || (actual - expected).abs() <= rel_tol * expected.abs()
}

/// A text.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_string()
}

/// A number; the texts `nan` and `infinity` are numbers too.
pub fn number(value: &Value) -> f64 {
    match value.as_str() {
        Some("nan") => f64::NAN,
        Some("infinity") => f64::INFINITY,
        _ => value.as_f64().unwrap_or_else(|| panic!("not a number: {value}")),
    }
}

/// A whole number.
pub fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("not a whole number: {value}"))
}

/// A list of numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}")).iter().map(number).collect()
}

/// A list of whole numbers.
pub fn wholes(value: &Value) -> Vec<u64> {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}")).iter().map(whole).collect()
}

impl Case {
    /// An input that is a number.
    pub fn number(&self, name: &str) -> f64 {
        assert!(!self.input[name].is_null(), "{}: no input {name}", self.id);
        number(&self.input[name])
    }

    /// An input that is a whole number.
    pub fn whole(&self, name: &str) -> u64 {
        assert!(!self.input[name].is_null(), "{}: no input {name}", self.id);
        whole(&self.input[name])
    }

    /// Asserts that a number is what this case expects, within its tolerance.
    #[track_caller]
    pub fn check(&self, what: &str, actual: f64, expected: f64) {
        assert!(close(actual, expected, self.rel_tol), "{} {what}: {actual}, not {expected}", self.id);
    }

    /// Asserts that a list of numbers is what this case expects.
    #[track_caller]
    pub fn check_list(&self, what: &str, actual: &[f64], expected: &Value) {
        let expected = numbers(expected);
        assert_eq!(actual.len(), expected.len(), "{} {what}: {actual:?}, not {expected:?}", self.id);
        for (&actual, &expected) in actual.iter().zip(&expected) {
            self.check(what, actual, expected);
        }
    }
}
