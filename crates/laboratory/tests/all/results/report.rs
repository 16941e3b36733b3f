//! `report.html`: complete, self-contained, and safe with strangers' text.

use layercast_laboratory::results::report::html;
use layercast_laboratory::results::{Experiment, RunCost, Summary, write_all};

use crate::made_up;

fn page(experiment: &Experiment, count: u32) -> String {
    let replications = made_up::replications(experiment, count);
    let summary = Summary::new(experiment, &replications, RunCost::default()).unwrap();
    html(experiment, &replications, &summary).unwrap()
}

#[test]
fn it_needs_nothing_from_elsewhere() {
    let page = page(&made_up::experiment(false), 3);
    assert!(
        !page.contains("<script")
            && !page.contains("<link")
            && !page.contains("<img")
            && !page.contains("url(")
    );
    let addresses = page.matches("http").count();
    let namespaces = page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
    let policies = page.matches("http-equiv").count();
    assert_eq!(addresses, namespaces + policies);
}

#[test]
fn it_shows_each_node_twice_for_two_widths_of_page() {
    let page = page(&made_up::experiment(true), 3);
    for node in ["R1", "R2", "R3"] {
        let label = format!("aria-label=\"Throughput and subscription level over time at {node}\"");
        assert_eq!(page.matches(&label).count(), 2, "{node}");
    }
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    assert!(page.contains("tcp × 4"));
    assert!(!page.contains("NaN"));
}

#[test]
fn strangers_text_is_only_text() {
    let mut experiment = made_up::experiment(false);
    let replications = made_up::replications(&experiment, 2);
    let evil = "<b onclick=\"x\">&</b>";
    experiment.title = evil.to_owned();
    experiment.description = Some(evil.to_owned());
    experiment.scenario_text = evil.to_owned();
    experiment.command = evil.to_owned();
    experiment.groups[0].name = evil.to_owned();
    for flow in &mut experiment.flows[..3] {
        flow.node = evil.to_owned();
        flow.name = format!("{evil}@{evil}");
        flow.protocol = evil.to_owned();
    }
    let summary = Summary::new(&experiment, &replications, RunCost::default()).unwrap();
    let page = html(&experiment, &replications, &summary).unwrap();
    if let Some(at) = page.find("<b onclick") {
        panic!("unescaped: {}", &page[at.saturating_sub(120)..at + 40]);
    }
}

#[test]
fn the_same_data_give_the_same_page_whatever_they_cost() {
    let experiment = made_up::experiment(false);
    let mut replications = made_up::replications(&experiment, 3);
    let of = |replications: &[_], wall_s: f64| {
        let summary =
            Summary::new(&experiment, replications, RunCost { wall_s, peak_rss_bytes: None }).unwrap();
        html(&experiment, replications, &summary).unwrap()
    };
    let first = of(&replications, 1.0);
    replications.reverse();
    assert!(first == of(&replications, 2.0));
}

#[test]
fn an_empty_experiment_still_has_a_page() {
    let mut experiment = made_up::experiment(false);
    experiment.flows.clear();
    experiment.groups.clear();
    experiment.links.clear();
    experiment.windows_s.clear();
    experiment.paper.clear();
    assert!(page(&experiment, 1).contains("<h1>"));
    assert!(page(&made_up::experiment(false), 0).contains("<h1>"));
}

#[test]
fn a_run_of_zero_seconds_or_without_throughput_is_drawn() {
    let mut experiment = made_up::experiment(false);
    let mut replications = made_up::replications(&experiment, 2);
    for run in &mut replications {
        for window in &mut run.windows {
            window.flows.iter_mut().for_each(|flow| flow.throughput_kbps = 0.0);
        }
        run.series.flows.iter_mut().for_each(|flow| *flow = Default::default());
    }
    experiment.duration_s = 0.0;
    let summary = Summary::new(&experiment, &replications, RunCost::default()).unwrap();
    assert!(html(&experiment, &replications, &summary).unwrap().contains("<svg"));
}

#[test]
fn all_files_are_written_and_none_is_left_half() {
    let dir = std::env::temp_dir().join(format!("layercast-results-{}", std::process::id()));
    let experiment = made_up::experiment(false);
    let replications = made_up::replications(&experiment, 2);
    let summary = Summary::new(&experiment, &replications, RunCost::default()).unwrap();
    let written = write_all(&dir, &experiment, &replications, &summary).unwrap();
    assert_eq!(layercast_laboratory::results::read_summary(&written.summary).unwrap(), summary);
    let mut names: Vec<_> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["report.html", "series.parquet", "summary.json"]);
    std::fs::remove_dir_all(&dir).unwrap();
    let blocked = std::env::temp_dir().join(format!("layercast-blocked-{}", std::process::id()));
    std::fs::write(&blocked, "a file").unwrap();
    let error = write_all(&blocked, &experiment, &replications, &summary).unwrap_err().to_string();
    assert!(error.contains("layercast-blocked"), "{error}");
    std::fs::remove_file(&blocked).unwrap();
}
