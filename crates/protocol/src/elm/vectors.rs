//! The golden vectors, for the tests of this module.

use serde_json::Value;
use std::string::String;
use std::vec::Vec;

/// The cases of one group.
pub(super) fn cases(group: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/vectors-equation-based.json");
    let text: String = std::fs::read_to_string(path).expect("the vectors are there");
    let all: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    let groups = all["groups"].as_array().expect("groups");
    let found = groups.iter().find(|candidate| candidate["id"] == group).expect("the group is there");
    found["cases"].as_array().expect("cases").clone()
}

/// A number of a case.
pub(super) fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Holds a value against what a case expects, with the tolerance of the case.
pub(super) fn close(value: f64, expected: f64, case: &Value) {
    let tolerance = case["rel_tol"].as_f64().unwrap_or(1e-9) * expected.abs();
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} in {}", case["id"]);
}
