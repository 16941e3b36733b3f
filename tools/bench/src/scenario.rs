//! Scenarios of the gate on speed: short ones, each for a few parts of the simulator and of the protocols.

use std::path::Path;

use anyhow::{Result, anyhow};
use layercast_laboratory::run::{self, RunRequest};
use layercast_laboratory::scenario::{self, Catalogue, catalogue};
use layercast_protocols::registry::Registry;

use crate::measurement::Measurement;
use crate::memory;

/// All of them, with the time that gives some ten thousand packet hops.
pub(crate) const ALL: [(&str, u32); 11] = [
    ("amca-routers", 10),
    ("bbr-fq-codel", 5),
    ("cubic-codel", 5),
    ("elm-losses", 15),
    ("flid-members", 8),
    ("reno-red", 5),
    ("rlc-trace", 20),
    ("sack-pie", 5),
    ("tfmcc-tcp", 10),
    ("tide-dualpi2", 8),
    ("traffic", 10),
];

/// The scenario of this name.
pub(crate) fn named(name: &str) -> Result<&'static str> {
    let known = ALL.into_iter().map(|(known, _)| known).find(|known| *known == name);
    known.ok_or_else(|| anyhow!("use one of {}", ALL.map(|(known, _)| known).join(", ")))
}

/// Runs a scenario for so many simulated seconds, on one thread.
pub(crate) fn run(name: &str, seconds: u32) -> Result<Measurement> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("gate").join(name).with_extension("toml");
    let source = catalogue::load(&path.to_string_lossy())?;
    let set = [format!("duration={seconds} s")];
    let plan = scenario::read(&source.name, &source.text, &set, &Catalogue::of::<Registry>())?;
    let request = RunRequest { jobs: Some(1), ..RunRequest::default() };
    let outcome = run::run::<Registry>(&plan, &request, &|_| {})?;
    let engine = outcome.replications.iter().map(|replication| replication.engine);
    let (hops, run_s) =
        engine.fold((0, 0.0), |(hops, s), engine| (hops + engine.packet_hops, s + engine.cpu_s));
    Ok(Measurement { set_up_s: 0.0, run_s, hops, deliveries: 0, peak_bytes: memory::peak("self") })
}
