//! A hash and a few readable numbers for each built-in scenario: what changes them, changes results.
//!
//! A development build runs the scenarios that are not long, a release build all of them, so that both must give
//! the same. `make fingerprints` writes them again. `make generated`, which refreshes pages, does not: a change of
//! results must not slip in with a change of documentation.

mod table;

use std::fmt::Write as _;
use std::fs;

use crate::running::{read, root, run_with_jobs, runs_long};
use layercast_laboratory::scenario::catalogue::BUILT_IN;
use sha2::{Digest, Sha256};

/// A scenario that served more events than this when it was stored is long. 30 of 62 have nine tenths of all events.
const LONG_EVENTS: u64 = 1_000_000;

/// Results of a cut version of each of these scenarios: two replications, 60 s where it can be cut; one of 40 s of whole
/// networks.
fn fingerprints(runs: impl Fn(&str) -> bool) -> String {
    let mut text = String::from(
        "# Two replications of each built-in scenario, 60 s each where it can be cut, or one of 40 s.\n\
         # The hash is over all of the summary; whatever changes it has changed results, on purpose or not.\n\
         # Below: the means of each flow in the main window, then in the further ones, and of each link whose queue\n\
         # did anything, to four digits; what is missing is zero or undefined.\n\
         # scenario                      seed  duration  hash of the statistics  packet hops     events\n",
    );
    for built_in in BUILT_IN.iter().filter(|built_in| runs(built_in.name)) {
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
        let hash = Sha256::digest(summary.to_json().as_bytes());
        let hash = hash.iter().take(8).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        let engine = ran.summary.engine.as_ref().unwrap();
        let duration = format!("{} s", summary.duration_s);
        let _ = writeln!(
            text,
            "{:<31} {:>4}  {duration:>8}  {hash:<22}  {:>11}  {:>9}",
            built_in.name, summary.seed, engine.packet_hops, engine.events,
        );
        text.push_str(&table::lines(&ran.summary));
    }
    text
}

#[test]
fn fingerprints_hold() {
    let path = root().join("goldens/fingerprints.txt");
    let golden = fs::read_to_string(&path).unwrap_or_default();
    if std::env::var_os("UPDATE_FINGERPRINTS").is_some_and(|value| value == "1") {
        return fs::write(&path, fingerprints(|_| true)).unwrap();
    }
    let is_long = |name: &str| table::events(&golden, name).is_some_and(|events| events > LONG_EVENTS);
    let all = runs_long();
    let runs = |name: &str| all || !is_long(name);
    let differences = table::differences(&table::only(&golden, runs), &fingerprints(runs));
    assert!(
        differences.is_empty(),
        "results have changed:\n{}\nIf they should have, `make fingerprints` writes {} again \
         say in the commit what changed them.",
        differences.join("\n"),
        path.display(),
    );
}
