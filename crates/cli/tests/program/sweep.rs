//! `layercast sweep` as a user has it: what it prints, what it leaves, and that it goes on after a kill.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use super::{layercast, text};

/// Two cells by three, two replications each, of a scenario in which nothing is left to chance.
const GRID: &[&str] = &[
    "sweep",
    "fixed.toml",
    "--vary",
    "session.fixed.level=0,1",
    "--vary",
    "link.S-R.delay=10ms..30ms/3",
    "--replications",
    "2",
];

/// So long that a replication takes some tenths of a second.
const LONG: &[&str] = &["--set", "duration=20000 s"];

fn to(out: &Path, arguments: &[&str]) -> Command {
    let mut command = layercast(arguments);
    command.arg("--out").arg(out);
    command
}

fn run(arguments: &[&str], out: &Path) -> Output {
    to(out, arguments).output().expect("the program starts")
}

/// All that a user sees of a command.
fn seen(arguments: &[&str], out: &Path) -> String {
    let output = run(arguments, out);
    let status = output.status.code().expect("no signal ended it");
    let reported =
        format!("exit status {status}\n{}--- stderr\n{}", text(&output.stdout), text(&output.stderr));
    reported.replace(out.to_str().expect("the path is text"), "DIR")
}

/// A directory of a test's own that is not there yet.
fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sweep").join(name);
    let _ = fs::remove_dir_all(&directory);
    directory
}

/// The parts that are whole, with the time when each was written.
fn parts(out: &Path) -> BTreeMap<String, SystemTime> {
    let entries = fs::read_dir(out.join("parts")).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let written = entry.metadata().ok()?.modified().ok()?;
            (name.starts_with("cell-") && name.ends_with(".json")).then_some((name, written))
        })
        .collect()
}

/// The bytes of all results.
fn results(out: &Path) -> [Vec<u8>; 3] {
    ["sweep.json", "sweep.parquet", "report.html"]
        .map(|file| fs::read(out.join(file)).unwrap_or_else(|_| panic!("{file} is missing")))
}

#[test]
fn a_sweep_prints_a_table_and_names_its_files() {
    let out = scratch("table");
    insta::assert_snapshot!(seen(GRID, &out));
    assert_eq!(parts(&out).len(), 2 * 3 * 2);
    let mut files: Vec<_> = fs::read_dir(&out)
        .expect("the directory is there")
        .map(|entry| entry.expect("it can be read").file_name())
        .collect();
    files.sort();
    assert_eq!(files, ["parts", "report.html", "sweep.json", "sweep.parquet"]);
    let report = fs::read_to_string(out.join("report.html")).expect("the report is there");
    assert!(
        report.contains("layercast sweep fixed.toml --vary &#39;")
            || report.contains("layercast sweep fixed.toml --vary '")
    );
}

#[test]
fn a_killed_sweep_goes_on_where_it_stopped() {
    let arguments = [GRID, LONG, &["--jobs", "1"]].concat();
    let undisturbed = scratch("undisturbed");
    assert_eq!(run(&arguments, &undisturbed).status.code(), Some(0));

    let out = scratch("killed");
    let mut child =
        to(&out, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    let begun = Instant::now();
    while parts(&out).len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no part was written");
        sleep(Duration::from_millis(2));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let before = parts(&out);
    assert!(before.len() < 12, "it was killed too late: make the scenario longer");
    assert!(!out.join("sweep.json").exists(), "it was killed before it was done");

    let output = run(&arguments, &out);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let reported = format!("{} of 12 replications were there already\n", before.len());
    assert!(text(&output.stderr).ends_with(&reported), "{output:?}");
    let after = parts(&out);
    assert_eq!(after.len(), 12);
    for (name, written) in &before {
        assert_eq!(after.get(name), Some(written), "{name} was run again");
    }
    assert!(results(&out) == results(&undisturbed), "the results differ");
    let left = fs::read_dir(out.join("parts")).expect("the parts are there").count();
    assert_eq!(left, 12 + 1, "nothing partial is left next to the parts and the plan");
}

#[test]
fn threads_change_nothing() {
    let with = |jobs: &str| {
        let out = scratch(&format!("jobs-{jobs}"));
        let grid = ["sweep", "thesis/simulation-2", "--vary", "session.elm.strategy=naive,lazy"];
        let short =
            ["--set", "duration=40 s", "--set", "windows=[[\"30 s\", \"end\"]]", "--replications", "2"];
        let output = run(&[&grid[..], &short, &["--jobs", jobs]].concat(), &out);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        results(&out)
    };
    assert!(with("1") == with("3"), "the results differ");
}

#[test]
fn the_directory_of_another_sweep_is_refused() {
    let out = scratch("another");
    assert_eq!(run(GRID, &out).status.code(), Some(0));
    let before = results(&out);
    let other = ["sweep", "fixed.toml", "--vary", "session.fixed.level=0,2"];
    let reported = seen(&[&other[..], &["--seed", "7", "--set", "duration=20 s"]].concat(), &out);
    insta::assert_snapshot!(reported);
    assert!(results(&out) == before, "what was there is as it was");
}

#[test]
fn more_replications_and_other_metrics_take_what_is_there() {
    let out = scratch("more");
    assert_eq!(run(GRID, &out).status.code(), Some(0));
    let before = parts(&out);
    let output = run(&[&GRID[..7], &["3", "--metric", "utilisation,drops"]].concat(), &out);
    assert!(text(&output.stderr).ends_with("12 of 18 replications were there already\n"), "{output:?}");
    assert!(text(&output.stdout).contains("utilisation"));
    assert!(before.iter().all(|(name, written)| parts(&out).get(name) == Some(written)));
    assert_eq!(parts(&out).len(), 18);
}

#[test]
fn all_mistakes_are_reported_at_once_before_anything_is_made() {
    let out = scratch("mistakes");
    let reported = seen(
        &[
            "sweep",
            "fixed.toml",
            "--vary",
            "session.fixed.level=0,9,x",
            "--vary",
            "duration=10 s,1 s",
            "--vary",
            "link.S-R.rte=1Mbit/s,2Mbit/s",
            "--vary",
            "link.S-R.delay=1ms..5ms",
            "--vary",
            "seed=1,2",
            "--metric",
            "thruput_kbps",
        ],
        &out,
    );
    insta::assert_snapshot!(reported);
    assert!(!out.exists(), "nothing was made");
}

#[test]
fn a_grid_that_is_too_large_is_reported() {
    let grid =
        ["sweep", "fixed.toml", "--vary", "duration=1s..1000s/1000", "--vary", "series_bin=1s..100s/100"];
    insta::assert_snapshot!(seen(&grid, &scratch("large")));
}

#[test]
fn out_that_cannot_be_written_fails_before_the_run() {
    let file = scratch("unwritable");
    fs::create_dir_all(file.parent().expect("it has a parent")).expect("the directory can be made");
    fs::write(&file, "").expect("the file can be made");
    let output = run(GRID, &file.join("results"));
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
    assert!(text(&output.stderr).contains("error: nothing can be written to the directory "));
    fs::remove_file(&file).expect("the file can be removed");
}
