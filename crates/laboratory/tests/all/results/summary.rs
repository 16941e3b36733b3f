//! `summary.json`: the contract, the published schema, and that the same data give the same bytes.

use layercast_laboratory::results::{FlowMeasures, RunCost, Summary, read_summary};
use serde_json::Value;

use crate::conforming::conforms;
use crate::made_up;

fn summary(count: u32) -> Summary {
    let experiment = made_up::experiment(false);
    let replications = made_up::replications(&experiment, count);
    Summary::new(&experiment, &replications, RunCost { wall_s: 2.5, peak_rss_bytes: Some(1 << 24) }).unwrap()
}

fn json(summary: &Summary) -> Value {
    serde_json::from_str(&summary.to_json()).unwrap()
}

#[test]
fn it_reads_back_as_it_was() {
    let summary = summary(4);
    let text = summary.to_json();
    let again = Summary::from_json(&text).unwrap();
    assert_eq!(again, summary);
    assert_eq!(again.to_json(), text);
}

#[test]
fn the_order_in_which_replications_finish_does_not_show() {
    let experiment = made_up::experiment(false);
    let mut replications = made_up::replications(&experiment, 5);
    let cost = RunCost::default();
    let first = Summary::new(&experiment, &replications, cost).unwrap().to_json();
    replications.reverse();
    assert_eq!(Summary::new(&experiment, &replications, cost).unwrap().to_json(), first);
}

#[test]
fn it_has_the_fields_of_the_contract() {
    let value = json(&summary(3));
    let flow = &value["flows"][0];
    assert_eq!(value["schema"], 2);
    assert_eq!(value["window_s"], serde_json::json!([30.0, 300.0]));
    assert_eq!(flow["session"], "elm");
    assert_eq!(flow["role"], "receiver");
    assert_eq!(flow["throughput_kbps"]["samples"].as_array().unwrap().len(), 3);
    assert_eq!(value["groups"][0]["flows"], serde_json::json!(["elm@R1", "tcp@R1"]));
    let further = &value["windows"][0];
    for part in ["flows", "groups", "links"] {
        let named = |whole: &Value| -> Vec<String> {
            whole[part].as_array().unwrap().iter().map(|one| one["name"].to_string()).collect()
        };
        assert_eq!(named(further), named(&value), "{part}");
    }
    assert_eq!(further["flows"][0]["node"], "R1");
    assert!(further["flows"][0]["throughput_kbps"]["mean"].is_f64() && further["flows"][0]["why"].is_null());
    assert!(further["groups"][0]["jain_index"]["mean"].is_f64());
    assert!(further["links"][0]["utilisation"]["mean"].is_f64());
    let tcp = value["flows"][2].as_object().unwrap();
    assert_eq!(tcp["role"], "sink");
    assert!(flow["joins_per_min"]["mean"].is_f64() && flow["lost_packets"]["mean"].is_f64());
    assert!(further["flows"][0]["level_changes_per_min"]["mean"].is_f64());
    for absent in ["session", "late_kbps", "level_changes", "mean_level", "settled_after_s", "joins_per_min"]
    {
        assert!(!tcp.contains_key(absent), "a flow without layers has no {absent}");
    }
    assert_eq!(value["engine"]["events"], 3_000_000);
    assert!(json(&summary(3).without_engine()).get("engine").is_none());
}

#[test]
fn lists_of_samples_stay_on_a_line() {
    let text = summary(3).to_json();
    assert!(text.lines().any(|line| line.trim_start().starts_with("\"samples\": [") && line.ends_with(']')));
    assert!(text.ends_with("}\n"));
}

#[test]
fn no_nan_and_no_infinity_reach_the_file() {
    let experiment = made_up::experiment(false);
    let mut replications = made_up::replications(&experiment, 2);
    replications[0].windows[0].flows[0] =
        FlowMeasures { throughput_kbps: 0.0, loss_rate: f64::NAN, ..FlowMeasures::default() };
    replications[0].windows[0].links[0].utilisation = f64::INFINITY;
    let value = json(&Summary::new(&experiment, &replications, RunCost::default()).unwrap());
    assert!(value["flows"][0]["loss_rate"]["samples"][0].is_null());
    assert!(value["flows"][0]["loss_rate"]["ci95"].is_null());
    assert!(value["flows"][0]["settled_after_s"]["samples"][0].is_null());
    assert!(value["links"][0]["utilisation"]["samples"][0].is_null());
}

#[test]
fn one_replication_and_none_are_no_error() {
    let one = json(&summary(1));
    assert!(one["flows"][0]["throughput_kbps"]["ci95"].is_null());
    let none = json(&summary(0));
    assert!(none["flows"][0]["throughput_kbps"]["mean"].is_null());
}

#[test]
fn a_replication_of_another_shape_is_refused() {
    let experiment = made_up::experiment(false);
    let mut replications = made_up::replications(&experiment, 2);
    replications[1].windows[0].flows.pop();
    let error = Summary::new(&experiment, &replications, RunCost::default()).unwrap_err().to_string();
    assert_eq!(error, "replication 2 does not fit the experiment: it has 8 measured flows, not 9");

    let mut experiment = made_up::experiment(false);
    experiment.groups[0].flows.push(99);
    let error = Summary::new(&experiment, &[], RunCost::default()).unwrap_err().to_string();
    assert_eq!(error, "group R1/elm has flow number 99, but there are 9 flows");
}

#[test]
fn another_version_and_a_missing_file_are_reported() {
    let text = summary(1).to_json().replacen("\"schema\": 2", "\"schema\": 3", 1);
    assert!(Summary::from_json(&text).unwrap_err().to_string().contains("schema version 3"));
    let error = read_summary("nowhere/summary.json".as_ref()).unwrap_err();
    assert_eq!(error.to_string(), "cannot read nowhere/summary.json");
    assert!(std::error::Error::source(&error).is_some(), "the system's reason follows");
}

#[test]
fn a_file_of_version_1_is_read() {
    let mut summary = summary(2);
    let mut value = json(&summary);
    value["schema"] = 1.into();
    for window in value["windows"].as_array_mut().unwrap() {
        for part in ["flows", "groups"] {
            let by_name = window[part].as_array().unwrap().iter().map(|subject| {
                let mut measures = subject.as_object().unwrap().clone();
                let name = measures.remove("name").unwrap().as_str().unwrap().to_owned();
                for key in ["protocol", "role", "session", "node", "flows"] {
                    measures.remove(key);
                }
                (name, Value::Object(measures))
            });
            window[part] = Value::Object(by_name.collect());
        }
        window.as_object_mut().unwrap().remove("links");
    }
    assert_eq!(value["windows"][0]["flows"]["elm@R1"]["role"], Value::Null);
    summary.windows.iter_mut().for_each(|window| window.links.clear());
    assert_eq!(Summary::from_json(&value.to_string()).unwrap(), summary);
}

#[test]
fn it_conforms_to_the_published_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/summary.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for summary in [summary(0), summary(1), summary(4), summary(2).without_engine()] {
        conforms(&json(&summary), &schema, &schema, "summary");
    }
}
