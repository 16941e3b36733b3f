//! The scenarios that come with Layercast.

use crate::scenario::Catalogue;
use layercast_protocols::registry::Registry;
use serde_json::Value as Json;

use crate::scenario::catalogue::{BUILT_IN, find};
use crate::scenario::schema::schema;
use crate::scenario::tree::{self, Node, Value};
use crate::scenario::{Scenario, read};

fn built_in(name: &str) -> Scenario {
    read(name, find(name).unwrap().text, &[], &Catalogue::of::<Registry>()).unwrap()
}

#[test]
fn every_one_reads_without_error() {
    for scenario in BUILT_IN {
        let read = read(scenario.name, scenario.text, &[], &Catalogue::of::<Registry>());
        let read = read.unwrap_or_else(|errors| panic!("{errors}"));
        assert!(scenario.text.starts_with("# "), "{} says what it shows", scenario.name);
        if scenario.name.starts_with("thesis/") {
            assert_eq!(read.replications, 15, "{}", scenario.name);
        }
        if scenario.name.starts_with("thesis/simulation") {
            assert_eq!(read.nodes, ["S", "G1", "G2", "G3", "R1", "R2", "R3"], "{}", scenario.name);
        }
    }
}

#[test]
fn every_one_can_be_cut_short() {
    // Those that begin to measure after that, and those with events later, cannot.
    let late = |name: &str| {
        let measured_late = name.contains("simulation-5") || name.ends_with("-link");
        let slow = ["webrc/", "rlm/", "amca/"].iter().any(|paper| name.starts_with(paper));
        measured_late || slow || name == "elm/transient"
    };
    for scenario in BUILT_IN.iter().filter(|scenario| !late(scenario.name)) {
        let cut = ["duration=90 s".to_owned(), "replications=1".to_owned()];
        assert!(
            read(scenario.name, scenario.text, &cut, &Catalogue::of::<Registry>()).is_ok(),
            "{}",
            scenario.name
        );
    }
}

#[test]
fn the_competition_has_four_tcp_per_node() {
    let scenario = built_in("thesis/simulation-3-elm");
    let groups = &scenario.groups;
    assert_eq!(groups[0].flows, ["elm@R1", "tcp-1@R1", "tcp-2@R1", "tcp-3@R1", "tcp-4@R1"]);
    assert_eq!(scenario.flow_names().len(), 3 + 12);
}

#[test]
fn the_bursts_are_outside_the_groups() {
    let scenario = built_in("thesis/simulation-5-rlc");
    assert_eq!(scenario.flow_names().len(), 3 + 12 + 12);
    assert!(scenario.groups.iter().all(|group| group.flows.len() == 5));
    assert_eq!(scenario.flows[1].to[3].flow, "burst-r1-4@R1");
}

#[test]
fn round_trip_times_are_those_of_the_thesis() {
    let one_way_ms = |scenario: &Scenario, names: [&str; 3]| {
        let delay =
            |name: &&str| scenario.links.iter().find(|link| link.name == **name).unwrap().forward.delay;
        names.iter().map(|name| delay(name).low().as_us() / 1000).sum::<u64>()
    };
    let scenario = built_in("thesis/simulation-4-elm");
    assert_eq!(one_way_ms(&scenario, ["S-G1", "G1-G2", "G2-R1"]), 125);
    assert_eq!(one_way_ms(&scenario, ["S-G1", "G1-G2", "G2-R2"]), 25);
    assert_eq!(one_way_ms(&scenario, ["S-G1", "G1-G3", "G3-R3"]), 250);
}

/// Whether a value has the shape and the keys that the schema asks for. Patterns are not checked.
fn conforms(node: &Node, schema: &Json, root: &Json) -> bool {
    // A schema says nothing of what it does not mention.
    if schema.is_null() {
        return true;
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap();
        return conforms(node, target, root);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        return choices.iter().any(|choice| conforms(node, choice, root));
    }
    if let Some(names) = schema["enum"].as_array() {
        return names.iter().any(|name| name.as_str() == node.text());
    }
    let is = |name: &str| match &schema["type"] {
        Json::Array(names) => names.iter().any(|known| known == name),
        known => known == name,
    };
    match &node.value {
        Value::Text(text) => is("string") || schema["const"] == text.as_str(),
        Value::Integer(_) => is("integer") || is("number"),
        Value::Number(_) => is("number"),
        Value::Flag(_) => is("boolean"),
        Value::Date => false,
        Value::List(items) => {
            let schema_of = |index: usize| match &schema["prefixItems"] {
                Json::Array(schemas) => &schemas[index],
                _ => &schema["items"],
            };
            is("array") && items.iter().enumerate().all(|(i, item)| conforms(item, schema_of(i), root))
        }
        Value::Table(entries) => {
            let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
            let all = |entry: &tree::Entry| match &schema["properties"][&entry.key] {
                Json::Null => {
                    let others = &schema["additionalProperties"];
                    others != false && conforms(&entry.node, others, root)
                }
                inner => conforms(&entry.node, inner, root),
            };
            is("object")
                && entries.iter().all(all)
                && required.iter().all(|key| key.as_str().is_some_and(|key| node.get(key).is_some()))
        }
    }
}

#[test]
fn every_one_conforms_to_the_schema() {
    let schema = schema(Some(&Catalogue::of::<Registry>()));
    for scenario in BUILT_IN {
        let Ok(root) = tree::parse(scenario.text) else { panic!("{} is no TOML", scenario.name) };
        assert!(conforms(&root, &schema, &schema), "{}", scenario.name);
    }
    let Ok(wrong) = tree::parse("name = \"x\"\nduration = \"1 s\"\nlinks.A-B.speed = 3") else { panic!() };
    assert!(!conforms(&wrong, &schema, &schema));
}

#[test]
fn a_session_of_one_receiver_takes_no_second_one() {
    let name = "thesis/bias-lossy";
    let text = find(name).unwrap().text.replacen("receivers = [\"R\"]", "receivers = [\"R\", \"G2\"]", 1);
    let errors = read(name, &text, &[], &Catalogue::of::<Registry>()).unwrap_err();
    assert_eq!(errors.0.len(), 2, "one for each protocol at that place: {errors}");
    let first = &errors.0[0];
    assert_eq!(first.message, "a session of \"cbr\" cannot have 2 receivers");
    assert!(errors.to_string().contains("at most 1 receiver; write a session for each of the others"));
}
