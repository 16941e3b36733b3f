//! The terminal's table as a reader sees it.

use layercast_laboratory::results::table::{WIDTH, render};
use layercast_laboratory::results::{RunCost, Summary};

use crate::made_up;

fn table(crowded: bool, count: u32) -> String {
    let experiment = made_up::experiment(crowded);
    let replications = made_up::replications(&experiment, count);
    render(&experiment, &Summary::new(&experiment, &replications, RunCost::default()).unwrap(), WIDTH)
}

#[test]
fn beside_the_paper() {
    insta::assert_snapshot!(table(false, 15));
}

#[test]
fn without_a_paper_and_with_one_replication() {
    insta::assert_snapshot!(table(true, 1));
}

#[test]
fn it_keeps_its_width_and_its_lines() {
    let mut experiment = made_up::experiment(false);
    experiment.title = "Two\nlines and \u{1b}[31mred".to_owned();
    experiment.flows[0].name = format!("{}@R1", "a-very-long-name".repeat(12));
    let replications = made_up::replications(&experiment, 15);
    let summary = Summary::new(&experiment, &replications, RunCost::default()).unwrap();
    let text = render(&experiment, &summary, WIDTH);
    assert!(text.lines().all(|line| line.chars().count() <= 240), "{text}");
    assert!(text.contains(&experiment.flows[0].name), "no name is broken: {text}");
    assert!(text.starts_with("Two lines and  [31mred\n"));
}
