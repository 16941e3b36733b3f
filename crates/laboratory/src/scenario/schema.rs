//! The JSON schema of scenario files, for editors and other tools.

use layercast_core::option::{AUTOMATIC, BY_PROFILE, Kind, OptionSpec};
use serde_json::{Map, Value, json};

use super::field::{Absent, Field, FieldKind, TableSpec};
use super::probe::Quantity;
use super::protocols::Catalogue;
use super::tables::{ALL, SCENARIO, SUITE, SUITE_TABLES};

/// The schema, draft 2020-12. With a catalogue, the names of protocols are listed.
pub fn schema(catalogue: Option<&Catalogue>) -> Value {
    let names = Names::of(catalogue);
    let inner = ALL.iter().filter(|spec| spec.name != SCENARIO.name);
    let definitions: Map<String, Value> =
        inner.map(|spec| (spec.name.to_owned(), table(spec, &names, true))).collect();
    let mut schema = table(&SCENARIO, &names, false);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Layercast scenario");
    schema["$defs"] = Value::Object(definitions);
    schema
}

/// The schema of suites of the scoreboard.
pub fn suite_schema() -> Value {
    let names = Names::of(None);
    let inner = SUITE_TABLES.iter().filter(|spec| spec.name != SUITE.name);
    let definitions: Map<String, Value> =
        inner.map(|spec| (spec.name.to_owned(), table(spec, &names, true))).collect();
    let mut schema = table(&SUITE, &names, false);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Layercast suite of the scoreboard");
    schema["$defs"] = Value::Object(definitions);
    schema
}

/// The names that keys may have as values.
struct Names<'c> {
    /// None if any may stand there.
    protocols: Vec<&'c str>,
    /// Of probes, with the gauges of all protocols.
    quantities: Vec<&'c str>,
}

impl<'c> Names<'c> {
    fn of(catalogue: Option<&'c Catalogue>) -> Names<'c> {
        let protocols = catalogue.map(Catalogue::names).unwrap_or_default();
        let mut quantities: Vec<&str> = Quantity::ALL.iter().map(|quantity| quantity.name()).collect();
        let gauges = catalogue
            .into_iter()
            .flat_map(|catalogue| protocols.iter().flat_map(|protocol| catalogue.gauges(protocol).iter()));
        for gauge in gauges {
            if !quantities.contains(&gauge.name()) {
                quantities.push(gauge.name());
            }
        }
        Names { protocols, quantities }
    }
}

/// The schema of a table. Required keys may come from `[defaults]`, so that only the top of the
/// file and tables without defaults can insist on them.
fn table(spec: &TableSpec, names: &Names<'_>, has_defaults: bool) -> Value {
    let properties: Map<String, Value> =
        spec.fields().map(|field| (field.key.to_owned(), property(field, names))).collect();
    let mut schema = json!({
        "type": "object",
        "description": spec.doc,
        "properties": properties,
        "additionalProperties": false,
    });
    // Links may come from a topology or from templates.
    let is_required = |field: &&Field| field.absent == Absent::Required && field.key != "links";
    let required: Vec<&str> = spec.fields().filter(is_required).map(|field| field.key).collect();
    if !has_defaults && !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn property(field: &Field, names: &Names<'_>) -> Value {
    let mut schema = kind(&field.kind, names);
    schema["description"] = json!(field.doc);
    match field.absent {
        Absent::Default(text) => schema["default"] = default(&field.kind, text),
        Absent::Means(words) => schema["description"] = json!(format!("{} Default: {words}.", field.doc)),
        Absent::Required => {}
    }
    schema
}

/// A default as JSON.
fn default(kind: &FieldKind, text: &str) -> Value {
    match kind {
        FieldKind::Seed
        | FieldKind::Count(..)
        | FieldKind::Flag
        | FieldKind::Loss
        | FieldKind::DirectionLoss
        | FieldKind::Chance
        | FieldKind::Probability
        | FieldKind::Option(_) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        _ => json!(text),
    }
}

const NUMBER: &str = "[0-9][0-9_]*(\\.[0-9]+)?([eE][+-]?[0-9]+)?";

const TIME_UNITS: &str = "ns|us|µs|ms|s|min|h";
const RATE_UNITS: &str = "bit/s|kbit/s|Mbit/s|Gbit/s";
const SIZE_UNITS: &str = "bytes|byte|B|kB|MB";
const DATA_UNITS: &str = "bytes|byte|B|kB|MB|GB|TB";

/// Text that is a number and a unit.
fn quantity(units: &str) -> Value {
    json!({"type": "string", "pattern": format!("^ *{NUMBER} *({units}) *$")})
}

fn reference(spec: &TableSpec) -> Value {
    json!({"$ref": format!("#/$defs/{}", spec.name)})
}

fn kind(kind: &FieldKind, names: &Names<'_>) -> Value {
    let span = || quantity(TIME_UNITS);
    let rate = || quantity(RATE_UNITS);
    let nodes = || json!({"type": "array", "items": {"type": "string"}, "minItems": 1});
    match kind {
        FieldKind::Text => json!({"type": "string", "minLength": 1}),
        FieldKind::Node => json!({"type": "string", "pattern": "^[A-Za-z0-9_.-]+$"}),
        FieldKind::Seed => json!({"type": "integer", "minimum": 0}),
        FieldKind::Count(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        FieldKind::Flag => json!({"type": "boolean"}),
        FieldKind::Duration | FieldKind::Period => span(),
        FieldKind::Draw => json!({"anyOf": [span(), reference(&super::field::UNIFORM)]}),
        FieldKind::Rate => rate(),
        FieldKind::Rates => json!({"type": "array", "items": rate(), "minItems": 1}),
        FieldKind::Factor => json!({"type": "number", "exclusiveMinimum": 1}),
        FieldKind::Size => quantity(SIZE_UNITS),
        FieldKind::DataSize => quantity(DATA_UNITS),
        FieldKind::Probability => json!({"type": "number", "minimum": 0, "exclusiveMaximum": 1}),
        FieldKind::Chance => json!({"type": "number", "minimum": 0, "maximum": 1}),
        FieldKind::Share => json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
        FieldKind::Positive => json!({"type": "number", "exclusiveMinimum": 0}),
        FieldKind::Positives => {
            json!({"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "minItems": 1})
        }
        FieldKind::Arrivals => {
            json!({"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1})
        }
        FieldKind::SizeDistribution => {
            json!({"anyOf": [quantity(SIZE_UNITS), reference(&super::tables::SIZE_DISTRIBUTION)]})
        }
        FieldKind::TimeDistribution => {
            json!({"anyOf": [span(), reference(&super::tables::TIME_DISTRIBUTION)]})
        }
        FieldKind::DirectionLoss => {
            let plain = json!({"type": "number", "minimum": 0, "exclusiveMaximum": 1});
            json!({"anyOf": [plain, reference(&super::tables::LOSS_MODEL)]})
        }
        FieldKind::Loss => {
            json!({"anyOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, reference(&super::field::LOSS)]})
        }
        FieldKind::Option(options) => any_of(options.iter().map(|option| self::option(&option.spec))),
        FieldKind::Range => json!({"type": "array", "items": span(), "minItems": 2, "maxItems": 2}),
        FieldKind::Windows => {
            let end = json!({"anyOf": [{"const": "end"}, span()]});
            let window = json!({"type": "array", "prefixItems": [span(), end], "minItems": 2, "maxItems": 2});
            json!({"type": "array", "items": window, "minItems": 1})
        }
        FieldKind::Nodes => nodes(),
        FieldKind::NodesOrNone => json!({"type": "array", "items": {"type": "string"}}),
        FieldKind::NodeOrNodes => json!({"anyOf": [{"type": "string"}, nodes()]}),
        FieldKind::Routers => json!({"anyOf": [{"enum": ["all", "none"]}, nodes()]}),
        FieldKind::Protocol if names.protocols.is_empty() => json!({"type": "string"}),
        FieldKind::Protocol => json!({"enum": names.protocols}),
        FieldKind::Choice(names) => json!({"enum": names}),
        FieldKind::Options => {
            json!({"type": "object", "additionalProperties": {"type": ["number", "boolean", "string"]}})
        }
        FieldKind::Texts => nodes(),
        FieldKind::TextsOrNone => json!({"type": "array", "items": {"type": "string"}}),
        FieldKind::Band => {
            let end = json!({"anyOf": [{"type": "number"}, {"const": "any"}]});
            json!({"type": "array", "items": end, "minItems": 2, "maxItems": 2})
        }
        FieldKind::Groups => json!({"type": "object", "additionalProperties": nodes()}),
        FieldKind::PaperValue => {
            let text = json!({"type": "string", "pattern": "^ *(about|<|>) *[-+0-9.eE]+ *$"});
            json!({"anyOf": [{"type": "number"}, text]})
        }
        FieldKind::Subject => json!({"type": "string", "pattern": "^ *(link|flow) +[^ ]+ *$"}),
        FieldKind::Quantities => {
            json!({"type": "array", "items": {"enum": names.quantities}, "minItems": 1})
        }
        FieldKind::Outages => {
            let outage = json!({"type": "array", "items": span(), "minItems": 2, "maxItems": 2});
            json!({"type": "array", "items": outage, "minItems": 1})
        }
        FieldKind::TableList(spec) => json!({"type": "array", "items": reference(spec), "minItems": 1}),
        FieldKind::Each => {
            let value = json!({"type": ["string", "number", "boolean"]});
            let values = json!({"type": "array", "items": value, "minItems": 1});
            let range = json!({"type": "string", "pattern": "^ *[0-9]+ *[.][.] *[0-9]+ *$"});
            json!({"type": "object", "additionalProperties": {"anyOf": [range, values]}, "minProperties": 1})
        }
        // Variables may stand where the tables themselves take numbers.
        FieldKind::Templates => {
            json!({"type": "object", "additionalProperties": {"type": ["object", "array"]}})
        }
        FieldKind::Table(spec) => reference(spec),
        FieldKind::Tables(spec) => json!({"type": "object", "additionalProperties": reference(spec)}),
    }
}

/// The schema of an option.
fn option(spec: &OptionSpec) -> Value {
    let mut schema = option_kind(&spec.kind);
    if let (Some(bounds), Kind::Number | Kind::Count | Kind::Automatic(Kind::Number | Kind::Count)) =
        (&spec.bounds, spec.kind)
    {
        let limit = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
        let number = match schema.get_mut("anyOf") {
            Some(kinds) => &mut kinds[0],
            None => &mut schema,
        };
        number[if bounds.is_above { "exclusiveMinimum" } else { "minimum" }] = limit(&bounds.low);
        if let Some(high) = &bounds.high {
            number["maximum"] = limit(high);
        }
    }
    schema
}

fn option_kind(kind: &Kind) -> Value {
    match kind {
        Kind::Number => json!({"type": "number"}),
        Kind::Count => json!({"type": "integer", "minimum": 0}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Duration => quantity(TIME_UNITS),
        Kind::Rate => quantity(RATE_UNITS),
        Kind::Size => quantity(SIZE_UNITS),
        Kind::Numbers => json!({"type": ["number", "string"]}),
        Kind::Choice(names) => json!({"enum": names}),
        Kind::OwnChoice(names) => any_of([json!({"enum": names}), json!({"const": BY_PROFILE})]),
        Kind::Automatic(kind) => any_of([option_kind(kind), json!({"const": AUTOMATIC})]),
        Kind::Format { pattern, .. } => json!({"type": "string", "pattern": format!("^ *({pattern}) *$")}),
    }
}

/// What fits one of several schemas.
fn any_of(schemas: impl IntoIterator<Item = Value>) -> Value {
    let parts = |schema: Value| match schema.get("anyOf").and_then(Value::as_array) {
        Some(parts) => parts.clone(),
        None => vec![schema],
    };
    let mut distinct: Vec<Value> = Vec::new();
    for schema in schemas.into_iter().flat_map(parts) {
        if !distinct.contains(&schema) {
            distinct.push(schema);
        }
    }
    match distinct.pop() {
        Some(only) if distinct.is_empty() => only,
        last => {
            distinct.extend(last);
            json!({"anyOf": distinct})
        }
    }
}
