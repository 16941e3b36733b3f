//! `layercast scoreboard` as a user has it: what it prints and leaves, and that nothing runs twice.

use std::fs;
use std::path::{Path, PathBuf};

use super::{layercast, text};

const PROTOCOLS: &[&str] = &["scoreboard", "suite.toml", "--protocols", "elm,fixed,webrc"];

/// All that a user sees of a command.
fn seen(arguments: &[&str], out: &Path) -> String {
    let mut command = layercast(arguments);
    let output = command.arg("--out").arg(out).output().expect("the program starts");
    let status = output.status.code().expect("no signal ended it");
    let seen = format!("exit status {status}\n{}--- stderr\n{}", text(&output.stdout), text(&output.stderr));
    seen.replace(out.to_str().expect("the path is text"), "DIR")
}

/// A directory of a test's own that is not there yet.
fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scoreboard").join(name);
    let _ = fs::remove_dir_all(&directory);
    directory
}

fn results(out: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(out.join("results")).expect("there are results").flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    all.sort();
    all
}

#[test]
fn a_suite_is_run_judged_and_goes_on() {
    let out = scratch("two-cells");
    let first = seen(PROTOCOLS, &out);
    insta::assert_snapshot!("scoreboard", first);
    // Two protocols in two cells; WEBRC cannot carry three layers.
    let there = results(&out);
    assert_eq!(there.len(), 4, "{there:?}");
    let board = fs::read_to_string(out.join("scoreboard.json")).expect("it is written");
    fs::remove_file(&there[0]).expect("it was there");
    let again = seen(PROTOCOLS, &out);
    assert!(again.contains("3 of 4 runs were there already"), "{again}");
    assert_eq!(fs::read_to_string(out.join("scoreboard.json")).expect("it is written"), board);
    assert_eq!(results(&out), there);

    let page = out.join("page.md");
    let page_path = page.to_str().expect("the path is text");
    let arguments = [PROTOCOLS, &["--brief", "--markdown", page_path, "--with", "fixed.level=0"]].concat();
    let brief = seen(&arguments, &out);
    assert!(brief.starts_with("exit status 0") && brief.contains("brief version"), "{brief}");
    let page = fs::read_to_string(page).expect("it is written");
    assert!(page.contains("| fixed | ") && page.contains("--with 'fixed.level=0'"), "{page}");
}

/// One network of the twenty that this seed draws is run and judged; the command repeats it.
#[test]
fn random_networks_are_drawn_by_the_seed() {
    let out = scratch("random");
    let drawn = ["scoreboard", "--random", "20", "--seed", "7", "--cells", "random-3", "--protocols", "elm"];
    let first = seen(&drawn, &out);
    assert!(first.contains("20 networks drawn with seed 7") && first.contains("random-3: share"), "{first}");
    let board = fs::read_to_string(out.join("scoreboard.json")).expect("it is written");
    assert!(board.contains("--random 20") && board.contains("--seed 7"), "{board}");
    let both = seen(&["scoreboard", "suite.toml", "--random", "2"], &scratch("both"));
    assert!(both.starts_with("exit status 2") && both.contains("cannot be used with"), "{both}");
}

#[test]
fn mistakes_are_reported_before_anything_runs() {
    let out = scratch("mistakes");
    for (arguments, said) in [
        (&["scoreboard", "nowhere.toml"][..], "the suite `nowhere.toml` cannot be read"),
        (&["scoreboard", "fixed.toml"], "a suite has no key `duration`"),
        (&["scoreboard", "suite.toml", "--cells", "x"], "no cell fits `x`"),
        (&["scoreboard", "suite.toml", "--protocols", "elm", "--again", "eln"], "no protocol `eln`"),
        (&["scoreboard", "suite.toml", "--protocols", "elm", "--with", "elm.speed=1"], "in the cell `rate`"),
    ] {
        let seen = seen(arguments, &out);
        assert!(seen.starts_with("exit status 2") && seen.contains(said), "{seen}");
        assert!(!out.exists());
    }
}

#[test]
fn results_of_another_command_are_not_mixed_in() {
    let out = scratch("other");
    fs::create_dir_all(&out).expect("it can be made");
    fs::write(out.join("summary.json"), "{}").expect("it can be written");
    let seen = seen(PROTOCOLS, &out);
    assert!(seen.starts_with("exit status 2") && seen.contains("holds the results of a run"), "{seen}");
}
