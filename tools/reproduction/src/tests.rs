//! The frame with a small study: run, resumed, plotted and reported.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use super::report_figures;
use crate::frame::effort::Effort;
use crate::frame::figure::{Claim, Curve, Data, Figure, Kind, Label, Panel, Paper, Style, Table, Variant};
use crate::frame::finding::{Bound, Finding, Verdict};
use crate::frame::gallery::Shown;
use crate::frame::samples::Samples;
use crate::frame::scale::Scale;
use crate::frame::study::{self, Listener, Measured, Quantity, Study, Sweep};
use crate::frame::{gallery, page, plot};
use crate::papers;

const LOSSES: [f64; 2] = [0.01, 0.1];
const LOST: Quantity = Quantity { flow: "cbr", metric: "loss_rate" };

/// Two loss probabilities at one sending rate, with a second factor outside.
fn study() -> Study {
    let sweep = |outer| Sweep {
        outer: Some(outer),
        set: vec![format!("session.cbr.layers.base={} kbit/s", 80 * outer)],
        vary: vec!["link.G1-G2.loss.forward=0.01,0.1".to_owned()],
    };
    let metrics = &["loss_rate", "lip_loss"];
    Study { name: "small", scenario: "thesis/lossy-link", sweeps: vec![sweep(4), sweep(8)], metrics }
}

/// What was there when each sweep began.
#[derive(Default)]
struct ProgressLog(Mutex<Vec<(String, usize, usize)>>);

impl Listener for ProgressLog {
    fn begins(&self, what: &str, all: usize, done: usize) {
        self.0.lock().unwrap().push((what.to_owned(), all, done));
    }
}

fn scratch(name: &str) -> PathBuf {
    let directory =
        std::env::temp_dir().join(format!("layercast-reproduction-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    directory
}

#[test]
fn a_study_goes_on_where_it_stopped() {
    let directory = scratch("study");
    let run = |log: &ProgressLog| study::run(&study(), Effort::Quick, &directory, Some(2), log).unwrap();
    let log = ProgressLog::default();
    let first = run(&log);
    fs::remove_file(directory.join("small-8/parts/cell-2-replication-1.json")).unwrap();
    let again = run(&log);
    let log = log.0.into_inner().unwrap();
    let progress = |name: &str, done| (name.to_owned(), 4, done);
    assert_eq!(
        log,
        [progress("small-4", 0), progress("small-8", 0), progress("small-4", 4), progress("small-8", 3)]
    );
    assert_eq!(first.len(), 4);
    for (outer, loss) in [4.0, 8.0].into_iter().flat_map(|outer| LOSSES.map(|loss| (outer, loss))) {
        let lost = first.samples(&[outer, loss], LOST);
        assert_eq!(lost.0.len(), 2, "a sample of each replication");
        assert_eq!(again.samples(&[outer, loss], LOST), lost);
        assert!((lost.mean() / loss - 1.0).abs() < 0.5, "{} of {loss}", lost.mean());
        let believed = first.samples(&[outer, loss], Quantity { flow: "cbr", metric: "lip_loss" });
        assert!(believed.mean() > 0.2 * loss && believed.mean() < 2.0 * loss);
    }
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_study_has_courses_categories_links_and_flows() {
    let directory = scratch("time_series");
    let sweep = |outer, vary: &[&str]| Sweep {
        outer: Some(outer),
        set: vec!["session.flid.count=2".to_owned()],
        vary: vary.iter().map(|vary| (*vary).to_owned()).collect(),
    };
    let latencies = "session.flid.leave_latency=0 s,{ uniform = [\"2 s\", \"4 s\"] }";
    let study = Study {
        name: "trajectories",
        scenario: "flid/many-receivers",
        sweeps: vec![sweep(1, &[]), sweep(2, &[latencies])],
        metrics: &["throughput_kbps", "drops"],
    };
    let measured = study::run(&study, Effort::Quick, &directory, Some(2), &ProgressLog::default()).unwrap();
    let time_series = measured.time_series(Some(1)).unwrap();
    assert_eq!(time_series.replications().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(time_series.flows().collect::<Vec<_>>(), ["flid-1@R", "flid-2@R"]);
    let levels = time_series.levels(1, "flid-1@R");
    assert!(levels.iter().any(|(at, level)| *at == 20.0 && *level > 10.0), "{levels:?}");
    let rates = time_series.throughput(2, "flid-2@R");
    assert!(rates.iter().all(|(_, rate)| (0.0..=2100.0).contains(rate)) && rates.len() > 100);
    assert_eq!(time_series.window_s(), [30.0, 60.0], "it is short as it is");
    assert!(time_series.probe(1, "none", "drops").is_empty() && time_series.levels(3, "flid-1@R").is_empty());
    // The second value is not a number, so it counts by its index in the list.
    for position in [0.0, 1.0] {
        let at = [2.0, position];
        let each = ["flid-1@R", "flid-2@R"].map(|flow| measured.of(&at, flow, "throughput_kbps"));
        let mean = measured.of(&at, "flid", "throughput_kbps");
        assert!((Samples::average(&each).mean() / mean.mean() - 1.0).abs() < 1e-9, "{mean:?}");
        assert!(measured.of(&at, "A-B", "utilisation").mean() > 0.7);
    }
    fs::remove_dir_all(&directory).unwrap();
}

/// In which twice as much is lost at the second probability.
fn variant() -> Variant {
    Variant { name: "double", with: "double loss", replaced: vec![("small", "double")] }
}

/// A paper of one figure whose claim holds if the second loss rate is ten times the first.
fn paper() -> Paper {
    let panels = |data: &Data| {
        let points = LOSSES.map(|loss| (loss, data.study("small").samples(&[4.0, loss], LOST)));
        vec![Panel {
            title: "Lost".to_owned(),
            across: "loss probability",
            across_scale: Scale::Logarithmic,
            up_scale: Scale::Linear,
            curves: vec![Curve { name: "CBR".to_owned(), look: Style::Dots(1), points: points.to_vec() }],
            table: Table::Whole,
        }]
    };
    let claim = Claim::new("Ten times as much is lost.", |data, _| {
        let [little, much] = LOSSES.map(|loss| data.study("small").samples(&[4.0, loss], LOST));
        Finding::each(
            "Much over little",
            Bound::Within(9.0, 11.0),
            vec![("here".to_owned(), much.over(&little))],
        )
    });
    let figure = Figure {
        label: Label::Figure(1),
        title: "What is lost",
        section: "1",
        kind: Kind::Sweep,
        panels: Box::new(panels),
        claims: vec![claim],
    };
    Paper {
        name: "small",
        title: "Small",
        preface: "Why.",
        studies: vec![study()],
        variants: vec![variant()],
        figures: vec![figure],
    }
}

/// The report if these fractions are lost, the same in both replications.
fn told_of(little: f64, much: f64) -> (Verdict, String, String, String) {
    let measured = |much: f64| {
        let mut measured = Measured::default();
        for (loss, lost) in LOSSES.into_iter().zip([little, much]) {
            measured.add(&[4.0, loss], "cbr", "loss_rate", Samples::of([lost, lost]));
        }
        measured
    };
    let studies = BTreeMap::from([("small", measured(much)), ("double", measured(2.0 * much))]);
    let data = Data { effort: Effort::Quick, studies };
    let paper = paper();
    let reports = report_figures(&paper, &data);
    let page = page::markdown(&paper, &reports);
    let Shown { panels, findings } = &reports[0].shown;
    (findings[0].verdict, page, gallery::html(&paper, &reports), plot::svg(panels).unwrap())
}

#[test]
fn verdicts_follow_from_what_was_measured() {
    let (verdict, page, gallery, svg) = told_of(0.01, 0.1);
    assert_eq!(verdict, Verdict::Holds);
    assert!(page.contains("Of 1 claims: 1 holds, 0 do not hold, 0 cannot be decided."), "{page}");
    assert!(
        page.contains(
            "| [Figure 1](#figure-1-what-is-lost) | Ten times as much is lost. | holds | **does not hold** |"
        ),
        "{page}"
    );
    assert!(page.contains("| 0.1 | 0.100 ± 0.000 |"), "{page}");
    assert!(
        page.contains("With double loss, of 1 claims: 0 hold, 1 does not hold, 0 cannot be decided."),
        "{page}"
    );
    assert!(gallery.contains("figure-1-double.svg"));
    assert!(gallery.contains("figure-1.svg") && gallery.contains("holds"));
    assert!(svg.contains("CBR"));
    let (verdict, page, gallery, _) = told_of(0.01, 0.2);
    assert_eq!(verdict, Verdict::Fails);
    assert!(page.contains("**does not hold**") && page.contains("20.0 ± 0.0 at here"), "{page}");
    assert!(gallery.contains("does not hold"));
}

#[test]
fn every_figure_can_be_told_of_nothing() {
    for name in papers::NAMES {
        let paper = papers::find(name).unwrap();
        let data = Data { effort: Effort::Quick, studies: BTreeMap::new() };
        let mut files: Vec<String> = paper.figures.iter().map(|figure| figure.label.slug()).collect();
        files.sort();
        assert!(files.is_sorted_by(|one, other| one < other), "each once: {files:?}");
        for one in report_figures(&paper, &data) {
            assert!(!one.figure.claims.is_empty(), "{}", one.figure.label);
            // Nothing is reported of simulations that were not run.
            let holds = one.shown.findings.iter().any(|finding| finding.verdict == Verdict::Holds);
            assert_eq!(holds, one.figure.kind != Kind::Sweep, "{}", one.figure.label);
        }
    }
}
