//! `layercast list`: what can be run, and what can be set on it and in the tables of files.

pub(crate) mod choice;

use std::fmt::Write as _;

use layercast_core::family::AnyProtocol as _;
use layercast_laboratory::lint;
use layercast_laboratory::scenario::field::{Absent, Field, TableSpec};
use layercast_laboratory::scenario::protocols::{FLOW_PROTOCOLS, UDP, UDP_KEYS};
use layercast_laboratory::scenario::suite::Measure;
use layercast_laboratory::scenario::tables::options::{self, OptionGroup, QUEUES, TRAFFIC};
use layercast_laboratory::scenario::tables::{ALL, FLOW, SUITE_TABLES};
use layercast_laboratory::scenario::{FlowGauges, catalogue, nearest};
use layercast_protocols::registry::{self, Protocol};

use crate::arguments::List;
use crate::commands::{Failure, read};
use crate::modes;
use crate::output::print;

/// The name under which all tables of a scenario file are listed.
const KEYS: &str = "keys";

/// The name under which the measures of a suite are listed.
const MEASURES: &str = "measures";

/// The name under which lints are listed.
const LINTS: &str = "lints";

/// The name under which the flags of each mode are listed.
const MODES: &str = "modes";

pub(crate) fn list(arguments: &List) -> Result<(), Failure> {
    let text = match &arguments.name {
        Some(name) => options_of(name, arguments)?,
        None => names(arguments),
    };
    Ok(print(&text)?)
}

/// What can be run: scenarios and protocols.
fn names(arguments: &List) -> String {
    let mut text = String::new();
    let indent = if arguments.plain { "" } else { "  " };
    if !arguments.protocols {
        if !arguments.plain {
            text.push_str("Scenarios\n");
        }
        for built_in in catalogue::BUILT_IN {
            let _ = match arguments.plain {
                true => writeln!(text, "{}", built_in.name),
                false => writeln!(text, "  {:<34}{}", built_in.name, title(built_in.name)),
            };
        }
    }
    if !arguments.scenarios {
        if !arguments.plain {
            let _ = writeln!(text, "{}Protocols", if arguments.protocols { "" } else { "\n" });
        }
        // Scripts read the names; people who ask for everything read what each is.
        if arguments.plain || arguments.protocols {
            for name in registry::NAMES.iter().chain(FLOW_PROTOCOLS) {
                let _ = writeln!(text, "{indent}{name}");
            }
        } else {
            for line in choice::lines() {
                let _ = writeln!(text, "{indent}{line}");
            }
        }
    }
    if !arguments.scenarios && !arguments.protocols && !arguments.plain {
        for (title, names) in [("Queues", QUEUES), ("Traffic", TRAFFIC)] {
            let _ = writeln!(text, "\n{title}");
            for name in names {
                let _ = writeln!(text, "{indent}{name}");
            }
        }
        let line = |tables: &[&TableSpec]| tables.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", ");
        let names = |tables: &[&TableSpec]| {
            tables.chunks(9).map(line).collect::<Vec<_>>().join(&format!(",\n{indent}"))
        };
        let _ = writeln!(text, "\nTables of scenario files (all at once: {KEYS})\n{indent}{}", names(ALL));
        let _ = writeln!(text, "\nTables of suites (and {MEASURES})\n{indent}{}", names(SUITE_TABLES));
        let _ = writeln!(text, "\nWarnings about scenarios: {LINTS}\nFlags by mode of commands: {MODES}");
    }
    text
}

fn title(name: &str) -> String {
    read(name, &[], &[]).map_or(String::new(), |(plan, _)| plan.name)
}

/// The gauges of a protocol's receivers and sources, below its options.
fn gauges(gauges: FlowGauges) -> String {
    let mut text = String::new();
    for gauge in gauges.iter() {
        if text.is_empty() {
            text.push_str("\ngauges, for probes and metrics\n");
        }
        let _ = writeln!(text, "{}    ({})\n    {}", gauge.name(), gauge.spec.unit, gauge.spec.doc);
    }
    text
}

/// The options and gauges of a multicast protocol, the options of a queue or of traffic, the keys of a flow or table, or
/// the measures of suites, or the lints.
fn options_of(name: &str, arguments: &List) -> Result<String, Failure> {
    let mut text = String::new();
    let plain = arguments.plain;
    let profile = arguments.profile.as_deref();
    if let Some(protocol) = Protocol::named(name) {
        let specs = protocol.option_specs();
        let group = OptionGroup { choice: None, profile: None, specs };
        text = rows(&of_profile(name, vec![group], profile)?, plain);
        if !plain {
            let (receiver, source) = (protocol.receiver_gauges(), protocol.source_gauges());
            text.push_str(&gauges(FlowGauges { receiver, source }));
        }
    } else if name == UDP {
        let used = FLOW.fields().filter(|field| UDP_KEYS.contains(&field.key));
        used.for_each(|field| key(&mut text, field, plain));
    } else if let Some(groups) = options::named(name) {
        text = rows(&of_profile(name, groups, profile)?, plain);
        if FLOW_PROTOCOLS.contains(&name) {
            if !plain {
                text.push_str("\nother keys of a flow\n");
            }
            FLOW.fields.iter().for_each(|field| key(&mut text, field, plain));
        }
    } else if name == MEASURES {
        Measure::ALL.iter().for_each(|measure| measured(&mut text, *measure, plain));
    } else if name == LINTS {
        for lint in lint::ALL {
            let _ = match plain {
                true => writeln!(text, "{}", lint.name),
                false => writeln!(
                    text,
                    "{}    (found {} a run)\n    {}\n    {}",
                    lint.name, lint.when, lint.meaning, lint.remedy
                ),
            };
        }
    } else if name == MODES {
        text = modes::text();
    } else if name == KEYS {
        ALL.iter().for_each(|spec| table(&mut text, spec, plain));
    } else if let Some(spec) = ALL.iter().chain(SUITE_TABLES).find(|spec| spec.name == name) {
        table(&mut text, spec, plain);
    } else {
        return Err(unknown(name));
    }
    // Of what has no profiles, none can be shown.
    if Protocol::named(name).is_none() && options::named(name).is_none() {
        of_profile(name, Vec::new(), profile)?;
    }
    Ok(text)
}

fn unknown(name: &str) -> Failure {
    let protocols: Vec<&str> = registry::NAMES.iter().chain(FLOW_PROTOCOLS).copied().collect();
    let tables: Vec<&str> = ALL.iter().chain(SUITE_TABLES).map(|spec| spec.name).collect();
    let help = nearest(name, protocols.iter().chain(QUEUES).chain(TRAFFIC).chain(&tables).copied())
        .map_or(String::new(), |nearest| format!("\n  = help: did you mean `{nearest}`?"));
    Failure::Input(format!(
        "error: there is no protocol, queue, traffic or table `{name}`\n  = allowed: the protocols {}; the queues {}; \
         the traffic {}; the tables {}; {KEYS}; {LINTS}; {MEASURES}; {MODES}{help}",
        protocols.join(", "),
        QUEUES.join(", "),
        TRAFFIC.join(", "),
        tables.join(", "),
    ))
}

/// The options with the defaults of a profile, or of all profiles.
fn of_profile(
    name: &str,
    groups: Vec<OptionGroup>,
    profile: Option<&str>,
) -> Result<Vec<OptionGroup>, Failure> {
    let Some(profile) = profile else { return Ok(groups) };
    let profiles: Vec<&str> = groups.iter().filter_map(|group| group.profile).collect();
    let wrong = match profiles.is_empty() {
        true => format!("error: `{name}` has no profiles"),
        false => format!("error: `{name}` has no profile `{profile}`\n  = allowed: {}", profiles.join(", ")),
    };
    let one: Vec<OptionGroup> = groups.into_iter().filter(|group| group.profile == Some(profile)).collect();
    if one.is_empty() { Err(Failure::Input(wrong)) } else { Ok(one) }
}

/// Each option with its default, or those of its profiles.
fn rows(groups: &[OptionGroup], plain: bool) -> String {
    let mut text = String::new();
    let Some(first) = groups.first() else { return text };
    for (at, spec) in first.specs.iter().enumerate() {
        // All profiles have the same options in the same order.
        let own = groups.iter().filter_map(|group| Some((group.profile?, &group.specs.get(at)?.default)));
        let own: Vec<(&str, &String)> = own.collect();
        // A profile names itself; the first one holds.
        let is_profile = own.iter().all(|(profile, default)| profile == default);
        let differs = own.iter().any(|(_, default)| **default != spec.default);
        let value = if differs && !is_profile {
            let each = own.iter().map(|(profile, default)| format!("{default} with {profile}"));
            each.collect::<Vec<_>>().join(", ")
        } else {
            spec.default.clone()
        };
        row(&mut text, spec.name, &value, &spec.takes(), &spec.doc, plain);
    }
    text
}

/// What a table is for, and its keys; those that are options of a choice, such as a kind of queue, are listed under its
/// name.
fn table(text: &mut String, spec: &TableSpec, plain: bool) {
    if !plain {
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{gap}{}: {}", spec.name, spec.doc);
        if !spec.example.is_empty() {
            let _ = writeln!(text, "such as {}", spec.example);
        }
    }
    spec.fields.iter().for_each(|field| key(text, field, plain));
    if spec.options.is_some() && !plain {
        text.push_str(
            "and the options of what it describes: `layercast list NAME`, such as red, tcp-cubic, web\n",
        );
    }
}

fn measured(text: &mut String, measure: Measure, plain: bool) {
    let unit = match measure.unit() {
        "" => String::new(),
        unit => format!("    ({unit})"),
    };
    let _ = match plain {
        true => writeln!(text, "{}", measure.name()),
        false => writeln!(text, "{}{unit}\n    {}", measure.name(), measure.doc()),
    };
}

fn key(text: &mut String, field: &Field, plain: bool) {
    let absent = match field.absent {
        Absent::Required => "required",
        Absent::Default(value) | Absent::Means(value) => value,
    };
    row(text, field.key, absent, &field.kind.describe(), field.doc, plain);
}

fn row(text: &mut String, name: &str, value: &str, takes: &str, doc: &str, plain: bool) {
    let _ = match plain {
        true => writeln!(text, "{name}"),
        false => writeln!(text, "{name} = {value}    ({takes})\n    {doc}"),
    };
}
