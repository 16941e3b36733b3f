//! The package's dataclasses are made from the descriptions of a scenario's tables, so they take what a file takes.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use layercast_core::option::Kind;
use layercast_laboratory::scenario::field::{Absent, Field, FieldKind, OptionOf, TableSpec};
use layercast_laboratory::scenario::tables::ALL;
use layercast_testkit::generated::{check, in_project};

const HEAD: &str = r#""""Scenarios as dataclasses, a class for each table of a scenario file.

The names are those of the file; where Python has a word of its own, an underscore follows (`from_`). A scenario
is written as TOML and read by the laboratory, which decides what is right: a wrong value is an error when the
scenario is used, with its line in `Scenario.to_toml()`. Keys that are None are left out, so that the default holds.

Made from the laboratory's own descriptions: `make generated` rewrites it.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import tomli_w

from layercast._table import Table
"#;

const TO_TOML: &str = r#"
    def to_toml(self) -> str:
        """The text of the scenario file.

        Returns
        -------
        str
            TOML, as `layercast run FILE` takes it.
        """
        return tomli_w.dumps(self.to_dict())
"#;

/// `network-edge` is `NetworkEdge`.
fn class(spec: &TableSpec) -> String {
    let words = spec.name.split(|c: char| !c.is_ascii_alphanumeric());
    let capital = |word: &str| {
        word.chars()
            .next()
            .map(|first| first.to_ascii_uppercase())
            .into_iter()
            .chain(word.chars().skip(1))
            .collect::<String>()
    };
    words.map(capital).collect()
}

fn option(option: &OptionOf) -> String {
    kind_of_option(&option.spec.kind)
}

fn kind_of_option(kind: &Kind) -> String {
    match kind {
        Kind::Number => "float".to_owned(),
        Kind::Count => "int".to_owned(),
        Kind::Flag => "bool".to_owned(),
        Kind::Numbers => "float | str".to_owned(),
        Kind::Choice(names) => literal(names),
        Kind::Automatic(kind) => format!("{} | str", kind_of_option(kind)),
        _ => "str".to_owned(),
    }
}

fn literal(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    format!("Literal[{}]", quoted.join(", "))
}

/// The annotation of what a key takes.
fn annotation(kind: &FieldKind) -> String {
    let plain = match kind {
        FieldKind::Seed | FieldKind::Count(..) => "int",
        FieldKind::Flag => "bool",
        FieldKind::Factor
        | FieldKind::Probability
        | FieldKind::Chance
        | FieldKind::Share
        | FieldKind::Positive => "float",
        FieldKind::Draw => "str | Draw",
        FieldKind::Rates
        | FieldKind::Range
        | FieldKind::Nodes
        | FieldKind::NodesOrNone
        | FieldKind::Texts
        | FieldKind::TextsOrNone
        | FieldKind::Quantities => "Sequence[str]",
        FieldKind::Positives => "Sequence[float]",
        FieldKind::Band => "Sequence[float | str]",
        FieldKind::Arrivals => "Sequence[int]",
        FieldKind::NodeOrNodes | FieldKind::Routers => "str | Sequence[str]",
        FieldKind::Windows | FieldKind::Outages => "Sequence[Sequence[str]]",
        FieldKind::Options => "Mapping[str, Any]",
        FieldKind::Groups => "Mapping[str, Sequence[str]]",
        FieldKind::PaperValue => "float | str",
        FieldKind::Each => "Mapping[str, str | Sequence[Any]]",
        FieldKind::Templates => "Mapping[str, Any]",
        FieldKind::SizeDistribution => return format!("str | {}", named("size-distribution")),
        FieldKind::TimeDistribution => return format!("str | {}", named("time-distribution")),
        FieldKind::DirectionLoss => return format!("float | {}", named("loss-model")),
        FieldKind::Loss => return format!("float | {}", named("loss")),
        FieldKind::Choice(names) => return literal(names),
        FieldKind::Option(options) => {
            let mut kinds: Vec<String> = Vec::new();
            for kinds_of in options.iter().map(option) {
                for kind in kinds_of.split(" | ").map(str::to_owned) {
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                }
            }
            return kinds.join(" | ");
        }
        FieldKind::TableList(spec) => return format!("Sequence[{}]", class(spec)),
        FieldKind::Table(spec) => return class(spec),
        FieldKind::Tables(spec) => return format!("Mapping[str, {}]", class(spec)),
        _ => "str",
    };
    plain.to_owned()
}

fn named(name: &str) -> String {
    let spec = ALL.iter().find(|spec| spec.name == name);
    class(spec.unwrap_or_else(|| panic!("there is no table {name}")))
}

fn key(field: &Field) -> String {
    match field.key {
        "from" | "for" => format!("{}_", field.key),
        key => key.to_owned(),
    }
}

/// A text in lines of at most 100 characters.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.replace('\\', "").split_whitespace() {
        if length > 0 && length + word.len() > 100 {
            lines.push('\n');
            length = 0;
        }
        lines.push_str(if length == 0 { indent } else { " " });
        lines.push_str(word);
        length += word.len() + 1;
    }
    lines
}

fn parameter(text: &mut String, field: &Field) {
    let absent = match field.absent {
        Absent::Required => "Required, unless defaults have it.".to_owned(),
        Absent::Default(value) => format!("By default {value}."),
        Absent::Means(meaning) => format!("If None: {meaning}."),
    };
    let takes = field.kind.describe();
    let doc = format!("{} Takes {takes}. {absent}", field.doc);
    writeln!(text, "    {} : {}\n{}", key(field), annotation(&field.kind), wrapped(&doc, "        "))
        .unwrap();
}

fn python() -> String {
    let mut text = HEAD.to_owned();
    // The top of the file last: it is what one looks for.
    for spec in ALL
        .iter()
        .filter(|spec| spec.name != "scenario")
        .chain(ALL.iter().filter(|spec| spec.name == "scenario"))
    {
        let doc = wrapped(spec.doc, "    ");
        write!(
            text,
            "\n\n@dataclass(kw_only=True)\nclass {}(Table):\n    \"\"\"{}\n\n",
            class(spec),
            doc.trim_start()
        )
        .unwrap();
        text.push_str("    Parameters\n    ----------\n");
        spec.fields().for_each(|field| parameter(&mut text, field));
        text.push_str("    \"\"\"\n\n");
        for field in spec.fields() {
            writeln!(text, "    {}: {} | None = None", key(field), annotation(&field.kind)).unwrap();
        }
        if spec.name == "scenario" {
            text.push_str(TO_TOML);
        }
    }
    text
}

#[test]
fn generated_dataclasses_are_fresh() {
    check(&in_project("crates/python/python/layercast/scenario.py"), &python());
}
