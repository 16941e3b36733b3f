//! What the tests of scenarios share: a small catalogue of protocols, and the tree of the project.

use std::path::{Path, PathBuf};

use layercast_core::option::{OptionError, OptionSpec, Options, RawValue};
use layercast_core::units::Duration;

use super::{ProtocolCatalogue, Scenario, ScenarioErrors, read};

layercast_core::choices! {
    /// How a receiver decides.
    pub enum Strategy {
        /// Slowly.
        Lazy = "lazy",
        /// At once.
        Naive = "naive",
    }
}

layercast_core::options! {
    /// Options of a made-up protocol.
    pub struct FakeOptions {
        /// How a receiver decides.
        strategy: Strategy = Strategy::Lazy;
        /// How long a join may wait.
        t_join_max: Duration = Duration::from_secs(25), Duration::ZERO => Duration::from_secs(100);
        /// How heavy the past is.
        weight: f64 = 0.9, 0.0 => 1.0;
    }
}

/// Two protocols, `elm` and `rlc`; only `elm` has options.
pub(super) struct Fake;

impl ProtocolCatalogue for Fake {
    fn names(&self) -> Vec<&str> {
        vec!["elm", "rlc"]
    }

    fn options(&self, protocol: &str) -> Vec<OptionSpec> {
        if protocol == "elm" { FakeOptions::specs() } else { Vec::new() }
    }

    fn check(&self, protocol: &str, name: &str, value: RawValue<'_>) -> Result<(), OptionError> {
        match protocol {
            "elm" => FakeOptions::default().set(name, value),
            _ => Err(OptionError::Unknown),
        }
    }
}

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

/// Reads a text with the fake catalogue.
pub(super) fn read_text(text: &str, overrides: &[&str]) -> Result<Scenario, ScenarioErrors> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    read("test.toml", text, &overrides, &Fake)
}

/// The root of the project.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All TOML files below a folder.
pub(super) fn toml_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(toml_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
    found
}
