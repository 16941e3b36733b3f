//! One line for each built-in scenario: what changes it, changes results.

#![allow(clippy::unwrap_used)]

mod running;

use std::fmt::Write as _;
use std::fs;

use layercast_laboratory::scenario::catalogue::BUILT_IN;
use running::{read, root, run_with_jobs};
use sha2::{Digest, Sha256};

/// Results of a cut version of each scenario: two replications, 60 s where it can be cut.
fn fingerprints() -> String {
    let mut text = String::from(
        "# Two replications of each built-in scenario, 60 s each where it can be cut.\n\
         # The hash is over the statistics; whatever changes it has changed results, on purpose or not.\n\
         # scenario                      seed  duration  hash of the statistics  packet hops     events\n",
    );
    for built_in in BUILT_IN {
        let all = ["replications=2", "duration=60 s"];
        let sets = if read(built_in.name, built_in.text, &all).is_some() { &all[..] } else { &all[..1] };
        let ran = run_with_jobs(built_in.name, built_in.text, sets, 2);
        let mut summary = ran.summary.without_engine();
        // A comment in a scenario changes no result.
        summary.scenario_hash.clear();
        summary.title.clear();
        // Nor do fields that came after the first hashes were taken.
        let further = summary.windows.iter_mut().flat_map(|window| window.flows.values_mut());
        let flows = summary.flows.iter_mut().map(|flow| &mut flow.measures);
        flows.chain(further).for_each(|measures| {
            (measures.late_kbps, measures.lost_packets, measures.movement) = (None, None, None);
        });
        let hash = Sha256::digest(summary.to_json().as_bytes());
        let hash = hash.iter().take(8).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        let engine = ran.summary.engine.unwrap();
        let duration = format!("{} s", summary.duration_s);
        let _ = writeln!(
            text,
            "{:<31} {:>4}  {duration:>8}  {hash:<22}  {:>11}  {:>9}",
            built_in.name, summary.seed, engine.packet_hops, engine.events,
        );
    }
    text
}

#[test]
fn generated_fingerprints_are_fresh() {
    let path = root().join("goldens/fingerprints.txt");
    let found = fingerprints();
    if std::env::var_os("UPDATE_GENERATED").is_some_and(|value| value == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &found).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    let difference: Vec<String> = golden
        .lines()
        .filter(|line| !found.lines().any(|other| other == *line))
        .map(|line| format!("- {line}"))
        .chain(
            found
                .lines()
                .filter(|line| !golden.lines().any(|other| other == *line))
                .map(|line| format!("+ {line}")),
        )
        .collect();
    assert!(
        golden == found,
        "results have changed (- was, + is):\n{}\nIf they should have, run the tests with UPDATE_GENERATED=1 \
         and say in the commit what changed them.",
        difference.join("\n"),
    );
}
