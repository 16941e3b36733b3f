//! The commands, which know PLM.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercast-outside"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("LAYERCAST_LOG").args(arguments);
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn plm_is_listed_with_its_options_next_to_the_built_in_protocols() {
    let listed = text(&run(&["list", "--protocols", "--plain"]).stdout);
    assert!(["plm", "elm", "tide"].iter().all(|name| listed.lines().any(|line| line == *name)), "{listed}");
    let options = text(&run(&["list", "plm"]).stdout);
    assert!(options.contains("check_period = 1 s"), "{options}");
}

#[test]
fn commands_of_the_laboratory_run_plm_and_their_results_say_how_to_repeat_them() {
    let out = std::env::temp_dir().join(format!("layercast-outside-run-{}", std::process::id()));
    let short = ["--set", "windows=[[\"5 s\", \"20 s\"]]", "--set", "duration=30 s", "--replications", "1"];
    let directory = out.to_str().expect("its path is text");
    let ran = run(&[&["run", "scenarios/plm.toml", "--out", directory], &short[..]].concat());
    assert!(ran.status.success() && text(&ran.stdout).contains("plm@R1"), "{ran:?}");
    let report = std::fs::read_to_string(out.join("report.html")).expect("a report");
    assert!(report.contains("layercast-outside run scenarios/plm.toml"));
    std::fs::remove_dir_all(&out).expect("it is removed");
    let protocols = ["compare", "scenarios/plm.toml", "--protocols", "plm,rlc"];
    let compared = run(&[&protocols[..], &short[..]].concat());
    let table = text(&compared.stdout);
    assert!(compared.status.success() && table.contains("plm") && table.contains("rlc"), "{compared:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_emulated_world_says_that_it_has_no_plm() {
    let refused = run(&["run", "scenarios/plm.toml", "--world", "emulated"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let why = text(&refused.stderr);
    assert!(why.contains("plm, and the emulated world has Layercast's own protocols only"), "{why}");
}
