//! Whether a value is what a published JSON schema says.

use serde_json::Value;

/// As much of JSON Schema as ours uses: types, references, properties, what is required, items.
pub(crate) fn conforms(value: &Value, schema: &Value, root: &Value, at: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference}"));
        return conforms(value, target, root, at);
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() && kinds.contains(&"integer") => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    assert!(kinds.is_empty() || kinds.contains(&kind), "{at} is {kind}, not {kinds:?}");
    if let Some(choices) = schema["enum"].as_array() {
        assert!(choices.contains(value), "{at} is {value}, not one of {choices:?}");
    }
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        assert!(value.get(required).is_some(), "{at} lacks {required}");
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let known = schema["properties"]
            .get(key)
            .or(schema["additionalProperties"].as_object().map(|_| &schema["additionalProperties"]));
        let known = known.unwrap_or_else(|| panic!("{at}.{key} is not in the schema"));
        conforms(inner, known, root, &format!("{at}.{key}"));
    }
    for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
        conforms(inner, &schema["items"], root, &format!("{at}[{index}]"));
    }
}
