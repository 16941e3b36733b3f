//! A hash and a few readable numbers for each built-in scenario: what changes them, changes results.
//!
//! `make fingerprints` writes them again. `make generated`, which refreshes pages, does not: a change of
//! results must not slip in with a change of documentation.

#![allow(clippy::unwrap_used)]

mod running;
#[path = "fingerprints/table.rs"]
mod table;

use std::fmt::Write as _;
use std::fs;

use layercast_laboratory::scenario::catalogue::BUILT_IN;
use running::{read, root, run_with_jobs};
use sha2::{Digest, Sha256};

/// Results of a cut version of each scenario: two replications, 60 s where it can be cut; one of 40 s of whole networks.
fn fingerprints() -> String {
    let mut text = String::from(
        "# Two replications of each built-in scenario, 60 s each where it can be cut, or one of 40 s.\n\
         # The hash is over the statistics; whatever changes it has changed results, on purpose or not.\n\
         # Below: the means of each flow in the main window, then in the further ones, to four digits; what is\n\
         # missing is zero or undefined.\n\
         # scenario                      seed  duration  hash of the statistics  packet hops     events\n",
    );
    for built_in in BUILT_IN {
        // A whole network costs as much as all other scenarios together.
        let all = match built_in.name.starts_with("networks/") {
            true => ["replications=1", "duration=40 s"],
            false => ["replications=2", "duration=60 s"],
        };
        let sets = if read(built_in.name, built_in.text, &all).is_some() { &all[..] } else { &all[..1] };
        let ran = run_with_jobs(built_in.name, built_in.text, sets, 2);
        let mut summary = ran.summary.without_engine();
        // A comment in a scenario changes no result.
        summary.scenario_hash.clear();
        summary.title.clear();
        // Nor do fields that came after the first hashes were taken. The readable lines guard them.
        let further = summary.windows.iter_mut().flat_map(|window| window.flows.iter_mut());
        summary.flows.iter_mut().chain(further).map(|flow| &mut flow.measures).for_each(|measures| {
            (measures.late_kbps, measures.lost_packets, measures.movement) = (None, None, None);
            measures.limited = None;
        });
        summary.flows.iter_mut().for_each(|flow| flow.why = None);
        for link in &mut summary.links {
            (link.packets, link.losses, link.queue_delay_ms) = (None, None, None);
            (link.queue_delay_p95_ms, link.queue_delay_p99_ms) = (None, None);
        }
        let hash = Sha256::digest(summary.to_json().as_bytes());
        let hash = hash.iter().take(8).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        let engine = ran.summary.engine.as_ref().unwrap();
        let duration = format!("{} s", summary.duration_s);
        let _ = writeln!(
            text,
            "{:<31} {:>4}  {duration:>8}  {hash:<22}  {:>11}  {:>9}",
            built_in.name, summary.seed, engine.packet_hops, engine.events,
        );
        text.push_str(&table::flow_lines(&ran.summary));
    }
    text
}

#[test]
fn fingerprints_hold() {
    let path = root().join("goldens/fingerprints.txt");
    let found = fingerprints();
    if std::env::var_os("UPDATE_FINGERPRINTS").is_some_and(|value| value == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &found).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    let differences = table::differences(&golden, &found);
    assert!(
        differences.is_empty(),
        "results have changed:\n{}\nIf they should have, `make fingerprints` writes {} again \
         (UPDATE_FINGERPRINTS=1 cargo test -p layercast-laboratory --test fingerprints); \
         say in the commit what changed them.",
        differences.join("\n"),
        path.display(),
    );
}
