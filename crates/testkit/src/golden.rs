//! Golden vectors: inputs and exact outputs of the mechanisms, from JSON files in `fixtures/vectors`.

use serde_json::Value;

/// The vector `id` of a file of the shape `{"vectors": [{"id", "input", "expected", ...}]}`.
///
/// # Panics
/// If there is no such file or vector: a test that names it is wrong.
pub fn vector(file: &str, id: &str) -> Value {
    let all = load(file);
    let found = all["vectors"].as_array().and_then(|list| list.iter().find(|vector| vector["id"] == id));
    found.unwrap_or_else(|| panic!("no vector {id} in {file}")).clone()
}

fn load(file: &str) -> Value {
    let path = format!("{}/../../fixtures/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}
