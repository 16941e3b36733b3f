//! `layercast explore`.

use std::process::Command;

fn explore(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_layercast")).arg("explore").args(arguments).output();
    let output = output.expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn seeds_are_judged_whatever_the_number_of_threads() {
    let (one, error, status) = explore(&["--seeds", "8", "--from", "100", "--jobs", "1"]);
    assert_eq!((status, error.as_str()), (Some(0), ""), "{one}");
    assert!(one.starts_with("8 seeds from 100: 0 broken; "), "{one}");
    let (three, _, _) = explore(&["--seeds", "8", "--from", "100", "--jobs", "3"]);
    assert_eq!(one, three);
}

#[test]
fn a_seed_is_repeated_step_by_step() {
    let (first, _, status) = explore(&["--seed", "1"]);
    assert_eq!(status, Some(0), "{first}");
    assert!(
        first.contains("Receiver 0: ") && first.contains("Nothing is broken. Everyone is complete at"),
        "{first}"
    );
    assert!(first.lines().filter(|line| line.contains("fault: ")).count() > 1, "{first}");
    assert_eq!(explore(&["--seed", "1"]).0, first);
}

#[test]
fn a_seed_and_a_number_of_seeds_exclude_each_other() {
    let (_, error, status) = explore(&["--seed", "6", "--seeds", "3"]);
    assert_eq!(status, Some(2));
    assert!(error.contains("cannot be used with"), "{error}");
}
