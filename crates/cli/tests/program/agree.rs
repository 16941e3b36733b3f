//! `layercast agree`: what it refuses, and both worlds where namespaces can be made.

#![allow(clippy::unwrap_used)]

use std::fs;

use layercast_testkit::skip::{Missing, skip};
use serde_json::Value;

use super::emulated::lacks_rights;
use super::{run, scratch, text};

#[test]
fn a_wrong_tolerance_and_a_directory_of_other_results_are_refused() {
    let output = run(&["agree", "emulated.toml", "--tolerance", "15"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("'15 %' or 0.15"), "{}", text(&output.stderr));
    let out = scratch("agree-other");
    fs::write(out.join("compare.json"), "{}").unwrap();
    let output = run(&["agree", "emulated.toml", "--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("holds a comparison, and"), "{}", text(&output.stderr));
}

#[test]
fn both_worlds_are_compared() {
    let out = scratch("agree-run");
    let output = run(&[
        "agree",
        "emulated.toml",
        "--set",
        "duration='4 s'",
        "--set",
        "windows=[[\"1 s\",\"end\"]]",
        "--set",
        "flow.phone.stop='4 s'",
        "--replications",
        "4",
        // A machine that runs other tests is too slow for the usual limit.
        "--lateness",
        "10 s",
        "--out",
        out.to_str().unwrap(),
    ]);
    let said = text(&output.stderr);
    if output.status.code() == Some(1) && lacks_rights(&said) {
        return skip(Missing::Netns, said.trim());
    }
    assert_eq!(output.status.code(), Some(0), "{said}");
    let table = text(&output.stdout);
    assert!(table.contains("emulated.toml · 4 replications simulated, 3 emulated"), "{table}");
    let agreement: Value =
        serde_json::from_str(&fs::read_to_string(out.join("agree.json")).unwrap()).unwrap();
    let rows = agreement["rows"].as_array().unwrap();
    let row = |name: &str, measure: &str| {
        let found = rows.iter().find(|row| row["name"] == name && row["measure"] == measure);
        found.unwrap_or_else(|| panic!("{name}, {measure}: {rows:?}"))
    };
    let kbps = row("bulk@R1", "throughput_kbps");
    assert_eq!(kbps["simulated"]["samples"].as_array().unwrap().len(), 4);
    assert_eq!(kbps["emulated"]["samples"].as_array().unwrap().len(), 3);
    assert!(kbps["emulated"]["mean"].as_f64().unwrap() > 10.0, "{kbps}");
    for (name, measure) in [
        ("elm@R1", "level_changes"),
        ("G-R1", "mean_queue_packets"),
        ("G-R1", "loss_rate"),
        ("G-R1", "utilisation"),
    ] {
        let verdict = row(name, measure)["verdict"].as_str().unwrap();
        assert!(["agrees", "differs", "unknown"].contains(&verdict), "{verdict}");
    }
    for file in ["report.html", "simulated/summary.json", "emulated/summary.json", "emulated/report.html"] {
        assert!(out.join(file).exists(), "{file}");
    }
}
