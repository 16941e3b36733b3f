//! What the tests of scenarios share: a small scenario, and the tree of the project.

use std::path::{Path, PathBuf};

use layercast_protocols::registry::Registry;

use super::{Catalogue, Scenario, ScenarioErrors, read};

/// A small scenario without a mistake; everything that tests change is in it.
pub(super) const SMALL: &str = r#"
name = "small"
duration = "60 s"

[defaults.link]
rate = "100 Mbit/s"
delay = "10 ms"
queue = { limit = "50 packets" }

[defaults.session]
layers = { scheme = "doubling", base = "128 kbit/s", count = 7 }

[links]
S-G = { loss = 0.01 }
G-R1 = {}
G-R2 = { rate = "6 Mbit/s" }

[sessions.elm]
protocol = "elm"
source = "S"
receivers = ["R1", "R2", "R1"]
start = "10 s"

[flows.tcp]
protocol = "tcp-sack"
from = "S"
to = ["R1", "R2"]
count = 2
start = { uniform = ["0 s", "20 s"] }
"#;

/// Reads a text with the built-in protocols.
pub(super) fn read_text(text: &str, overrides: &[&str]) -> Result<Scenario, ScenarioErrors> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    read("test.toml", text, &overrides, &Catalogue::of::<Registry>())
}

/// The root of the project.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
