//! What the program refuses: directories of other results, queues without end, wrong flags, pipes.

use super::{run, scratch, text};
use std::fs;
use std::process::Command;

#[test]
fn directories_of_other_results_are_refused_and_old_files_removed() {
    let directory = scratch("reused");
    let path = |name: &str| directory.join(name).to_str().expect("the path is text").to_owned();
    let (run_dir, sweep_dir) = (path("run"), path("sweep"));
    let sweep = |out: &str| run(&["sweep", "fixed.toml", "--vary", "series_bin=1s,2s", "--out", out]);
    let notes = run(&["run", "fixed.toml", "--out", &run_dir, "--notes", "--capture", "S-R"]);
    assert_eq!(notes.status.code(), Some(0), "{notes:?}");
    let files = || fs::read_dir(&run_dir).expect("it is there").count();
    assert_eq!(files(), 5);
    assert_eq!(run(&["run", "fixed.toml", "--out", &run_dir, "--seed", "5"]).status.code(), Some(0));
    assert_eq!(files(), 3, "notes and capture of the old run are gone");
    assert_eq!(sweep(&sweep_dir).status.code(), Some(0));
    let swept = fs::read(directory.join("sweep/report.html")).expect("there is a report");
    let refused = run(&["run", "fixed.toml", "--out", &sweep_dir]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("holds a sweep, and the results of a run would overwrite parts of it")
    );
    let refused = sweep(&run_dir);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("holds the results of a run"), "{refused:?}");
    assert!(!directory.join("run/parts").exists());
    assert_eq!(fs::read(directory.join("sweep/report.html")).expect("it is still there"), swept);
}

#[test]
fn a_queue_that_grows_without_end_ends_the_run() {
    let file = scratch("grows").join("grows.toml");
    let scenario = "name = \"grows\"\nduration = \"60 s\"\n[links]\n\
                    A-B = { rate = \"1 Mbit/s\", delay = \"1 ms\", queue = { limit = \"unlimited\" } }\n\
                    [flows]\nu = { protocol = \"udp\", from = \"A\", to = \"B\", rate = \"1000 Gbit/s\" }\n";
    fs::write(&file, scenario).expect("the file can be written");
    let output = run(&["run", file.to_str().expect("the path is text")]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
    let reported = text(&output.stderr);
    assert!(reported.contains("[unlimited-queue]"), "{reported}");
    assert!(reported.contains("the queue of A-B has grown to 7999992 packets at 64 ms"), "{reported}");
    assert!(reported.contains("give the link a queue with a limit"), "{reported}");
}

#[test]
fn errors_stand_in_the_flags_that_were_typed() {
    let compared =
        run(&["compare", "thesis/simulation-2", "--protocols", "rlc", "--with", "rlc.packet_size=3"]);
    assert!(text(&compared.stderr).contains("--> --with:1:"), "{compared:?}");
    for flag in ["--replications", "--jobs", "--seed"] {
        let negative = text(&run(&["run", "fixed.toml", flag, "-1"]).stderr);
        assert!(negative.contains("invalid value '-1'"), "{negative}");
    }
}

#[test]
#[cfg(unix)]
fn a_pipe_is_not_a_scenario() {
    let pipe = scratch("pipe").join("fifo.toml");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo");
    assert!(made.success());
    let output = run(&["check", pipe.to_str().expect("the path is text")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("not a regular file"), "{output:?}");
}

#[test]
fn a_flag_without_effect_is_refused_with_what_it_needs() {
    let refused = |line: &[&str], expected: &str| {
        let output = run(line);
        assert_eq!(output.status.code(), Some(2), "{line:?}: {output:?}");
        assert!(text(&output.stderr).contains(expected), "{line:?}: {}", text(&output.stderr));
    };
    refused(
        &["run", "fixed.toml", "--lateness", "2 ms"],
        "error: --lateness cannot be used with `run --world simulated`",
    );
    refused(&["explore", "--seed", "3", "--jobs", "2"], "error: --jobs cannot be used with `explore --seed`");
    refused(&["list", "keys", "--profile", "ns2-2004"], "`keys` has no profiles");
    if cfg!(all(feature = "transport", target_os = "linux")) {
        let send = ["send", "Cargo.toml", "--group", "239.1.2.0"];
        refused(&[&send[..], &["--encrypt"]].concat(), "error: --encrypt needs --group-key: ");
        let unicast = ["--serve", "127.0.0.1:0", "--serve-only", "--ttl", "3"];
        refused(&[&send[..], &unicast].concat(), "error: --ttl cannot be used with --serve-only: ");
        refused(&[&send[..], &["--stream", "--metrics", "127.0.0.1:0"]].concat(), "= help: use --json");
        let list = text(&run(&["list", "modes"]).stdout);
        assert!(list.contains("  not with `receive flute://...`:\n"), "{list}");
    }
}
