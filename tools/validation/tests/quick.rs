//! A few cases of each comparison, with ns-2 where it is installed.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use layercast_testkit::{Missing, skip};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the program on a path of our choice; results go to a directory of the test.
fn run(name: &str, path: Option<&Path>) -> (Output, PathBuf) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&directory).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercast-validation"));
    command.arg("--quick").arg("--scripts").arg(root().join("validation"));
    command.arg("--page").arg(directory.join("page.md")).arg("--raw").arg(directory.join("raw.json"));
    if let Some(path) = path {
        command.env("PATH", path);
    }
    (command.output().unwrap(), directory)
}

#[test]
fn a_few_cases_agree_with_ns2() {
    let (output, directory) = run("quick", None);
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("ns-2 is missing") {
        skip(Missing::Ns2, said);
        return;
    }
    assert!(output.status.success(), "{said}");
    let raw: Value = serde_json::from_str(&fs::read_to_string(directory.join("raw.json")).unwrap()).unwrap();
    let exact = raw["exact"].as_array().unwrap();
    assert!(exact.iter().any(|one| one["drops"].as_u64().unwrap() > 0), "no queue dropped anything");
    for one in exact {
        assert_eq!(one["parting"], Value::Null, "{}", one["case"]);
    }
    // Both simulators are deterministic, so this is reproducible. Three runs make wide intervals.
    for row in raw["random_loss"]["rows"].as_array().unwrap() {
        assert_ne!(row["packets_per_round_trip"]["verdict"], "differs", "{row}");
    }
    for row in raw["shared"]["rows"].as_array().unwrap() {
        for measure in ["throughput", "queue"] {
            assert_ne!(row[measure]["verdict"], "differs", "{row}");
        }
    }
    let page = fs::read_to_string(directory.join("page.md")).unwrap();
    for heading in ["## Packet by packet", "## One TCP at random loss", "| drop-tail | "] {
        assert!(page.contains(heading), "{heading} is missing");
    }
}

#[test]
fn a_missing_ns2_is_reported_with_the_remedy() {
    let (output, _) = run("missing", Some(Path::new("")));
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, "error: ns-2 is missing; on Debian: apt-get install ns2\n");
}
