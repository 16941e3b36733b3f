//! The frame with a small study: run, resumed, plotted and reported.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use layercast_laboratory::scenario::{self, Catalogue, catalogue};
use layercast_protocols::registry::Registry;

use crate::claims;
use crate::claims::evidence::Verdict;
use crate::frame::effort::Effort;
use crate::frame::figure::{
    Curve, Data, Figure, Kind, Label, Measurements, Panel, Paper, Style, Supply, Table, Variant,
};
use crate::frame::report::{self, Report};
use crate::frame::scale::Scale;
use crate::frame::study::{self, InReading, Listener, Measured, Quantity, Runs, Study, Sweep};
use crate::frame::{gallery, page, summary};
use crate::papers;
use crate::readings::rhythm::Reading;
use crate::samples::Samples;

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
    fn keeps(&self, _what: &str, _set: &str) {}

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
    let run = |log: &ProgressLog| {
        let runs =
            Runs { effort: Effort::Quick, directory: &directory, jobs: Some(2), set: &[], listener: log };
        study::run(&study(), None, &runs).unwrap()
    };
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
        let estimated = first.samples(&[outer, loss], Quantity { flow: "cbr", metric: "lip_loss" });
        assert!(estimated.mean() > 0.2 * loss && estimated.mean() < 2.0 * loss);
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
    let log = ProgressLog::default();
    let runs = Runs { effort: Effort::Quick, directory: &directory, jobs: Some(2), set: &[], listener: &log };
    let measured = study::run(&study, None, &runs).unwrap();
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

const CLAIMS: &str = r#"
[[claim]]
id = "ten"
figure = "Figure 1"
place = "1"
kind = "paper"
says = "Ten times as much is lost."
reason = "a tenth"
[[claim.test]]
quantity = "Much over little"
within = [9, 11]
[[claim]]
id = "twice"
figure = "Figure 1"
place = "3"
kind = "own"
says = "Twice as much is lost."
reason = "a tenth"
[[claim.test]]
quantity = "Much over little"
within = [1, 3]
[[claim]]
id = "twice-again"
figure = "Figure 1"
place = "4"
kind = "own"
says = "Twice as much is lost."
reason = "a tenth"
[[claim.test]]
quantity = "Much over little"
within = [1, 3]
[[claim]]
id = "more"
figure = "Figure 1"
place = "3"
kind = "own"
says = "More is lost."
reason = "a tenth"
[[claim.test]]
quantity = "Much over little"
above = 2
[[left_out]]
place = "2"
says = "It is loud"
why = "there is no sound"
"#;

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
    let supply = Supply::new(|data, _| {
        let [little, much] = LOSSES.map(|loss| data.study("small").samples(&[4.0, loss], LOST));
        Measurements::of("Much over little", vec![("here".to_owned(), much.over(&little))])
    });
    let figure = Figure {
        label: Label::Figure(1),
        title: "What is lost",
        section: "1",
        kind: Kind::Sweep,
        panels: Box::new(panels),
        supplies: vec![supply],
    };
    Paper {
        name: "small",
        title: "Small",
        claims: CLAIMS,
        prose: "Why.\n\n---\n\nBecause.\n",
        studies: vec![study()],
        readings: Vec::new(),
        variants: vec![variant()],
        figures: vec![figure],
    }
}

/// What is measured if about these fractions are lost.
fn data(little: f64, much: f64) -> Data {
    let measured = |much: f64| {
        let mut measured = Measured::default();
        measured.add(&[4.0, LOSSES[0]], "cbr", "loss_rate", Samples::of([little, little]));
        measured.add(&[4.0, LOSSES[1]], "cbr", "loss_rate", Samples::of([0.999 * much, 1.001 * much]));
        measured
    };
    let studies = BTreeMap::from([("small", measured(much)), ("double", measured(2.0 * much))]);
    Data { effort: Effort::Quick, studies }
}

/// The verdict and both pages if about these fractions are lost.
fn reported(little: f64, much: f64) -> (Verdict, String, String) {
    let paper = paper();
    let report = Report::new(&paper, &data(little, much), &[]).unwrap();
    (report.judged[0].verdict, page::markdown(&report), gallery::html(&report).unwrap())
}

#[test]
fn verdicts_follow_from_what_was_measured() {
    let (verdict, page, html) = reported(0.01, 0.1);
    assert_eq!(verdict, Verdict::Held);
    for part in [
        "Why.\n\n## Claims",
        "| **the paper's** | 1 | 0 | 0 | 0 | 0 |",
        "| the paper's, with double loss | 0 | 1 | 0 | 0 | 0 |",
        "| Ten times as much is lost (1) | held: 10.0 (9.00–11.0); double: failed |",
        "are in the HTML page.\n\nBecause.\n",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(!page.contains("Twice as much is lost") && !page.contains("More is lost"), "{page}");
    for part in [
        "<svg",
        "CBR",
        "held",
        "10.0 ± 0.1 at here",
        "Bound: a tenth",
        "With double loss",
        "0.100 ± 0.001",
        "Twice as much is lost",
    ] {
        assert!(html.contains(part), "{part} is not in {html}");
    }
    assert!(!html.contains("src="), "it needs no other file");
    assert_eq!(reported(0.01, 0.1).2, html, "the same bytes twice");
    let (verdict, page, _) = reported(0.01, 0.2);
    assert_eq!(verdict, Verdict::Failed);
    assert!(page.contains("**failed**"), "{page}");
}

#[test]
fn claims_name_the_readings_that_decide_otherwise() {
    let (paper, own) = (paper(), data(0.01, 0.1));
    let reported = |of_together: Data| {
        let in_readings = [(Reading::Jittered, own.clone()), (Reading::Together, of_together)];
        let report = Report::new(&paper, &own, &in_readings).unwrap();
        let marks = "<!-- claims -->\n<!-- end of claims -->\n";
        let row = summary::with_row(marks, &report, &["small"]).unwrap();
        (page::markdown(&report), gallery::html(&report).unwrap(), row)
    };
    let (page, html, row) = reported(data(0.01, 0.2));
    for part in [
        "| the paper's, jittered | 1 | 0 | 0 | 0 | 0 |\n| the paper's, together | 0 | 1 | 0 | 0 | 0 |",
        "| held: 10.0 (9.00–11.0); double: failed | together: failed |",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(html.contains("together: failed"), "{html}");
    assert!(row.contains("| [Small](reproduction/small.md) | 1 | 1 | 0 | 0 | 0 | 0 | 1 |"), "{row}");
    let (page, _, row) = reported(data(0.01, 0.101));
    assert!(page.contains("double: failed |  |") && row.contains("| 0 | 0 |"), "they agree: {page}");
    let (page, ..) = reported(own.clone());
    assert!(page.contains("double: failed | – |"), "nothing depends on a reading: {page}");
}

#[test]
fn in_a_reading_delays_take_turns() {
    let directory = scratch("reading");
    let sweep = |outer, vary: &[&str]| Sweep {
        outer: Some(outer),
        set: vec!["session.flid.count=2".to_owned()],
        vary: vary.iter().map(|vary| (*vary).to_owned()).collect(),
    };
    let sweeps = vec![sweep(1, &[]), sweep(2, &["session.flid.leave_latency=0 s"])];
    let study =
        Study { name: "turns", scenario: "flid/many-receivers", sweeps, metrics: &["throughput_kbps"] };
    let log = ProgressLog::default();
    let runs = Runs { effort: Effort::Quick, directory: &directory, jobs: Some(2), set: &[], listener: &log };
    let asked = InReading { reading: Reading::Together, counts: true };
    let measured = study::run(&study, Some(asked), &runs).unwrap();
    let time_series = measured.time_series(Some(1)).unwrap();
    assert_eq!(time_series.replications().collect::<Vec<_>>(), [1, 2], "one at each of two delays");
    let samples = measured.of(&[2.0, 0.0], "flid", "throughput_kbps");
    assert!(samples.0.len() == 2 && samples.0[0] != samples.0[1], "{samples:?}");
    assert!(directory.join("turns-2-together-4").is_dir());
    assert_eq!(Effort::Full.phases(15, true).1, 2);
    assert_eq!(Effort::Full.phases(15, false), ((0..8).collect(), 1));
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn studies_that_are_read_have_a_queue_that_drops() {
    for name in papers::NAMES {
        let paper = papers::find(name).unwrap();
        for read in paper.readings.iter().flat_map(|read| &read.studies) {
            let study = paper.studies.iter().find(|study| study.name == *read);
            let study = study.unwrap_or_else(|| panic!("{name} has no study {read}"));
            let built_in = catalogue::find(study.scenario).unwrap();
            // Another sweep of the study may have RED in its place.
            let is_shifted = study.sweeps.iter().any(|sweep| {
                let known = Catalogue::of::<Registry>();
                let plan = scenario::read(built_in.name, built_in.text, &sweep.set, &known).unwrap();
                Reading::Plain.at(1).overrides(&plan).iter().any(|set| set.contains(".delay="))
            });
            assert!(is_shifted, "{name}, {read}");
        }
    }
}

#[test]
fn a_row_of_the_summary_is_replaced_and_others_stay() {
    let paper = paper();
    let report = Report::new(&paper, &nothing(), &[]).unwrap();
    let other = "| [Other](reproduction/other.md) | 2 | 2 | 0 | 0 | 0 | 0 | 0 |";
    let page = format!("a\n<!-- claims -->\n{other}\n<!-- end of claims -->\nb\n");
    let once = summary::with_row(&page, &report, &["small", "other"]).unwrap();
    assert!(
        once.contains(&format!(
            "| [Small](reproduction/small.md) | 1 | 0 | 0 | 1 | 0 | 0 | 0 |\n{other}\n<!--"
        )),
        "{once}"
    );
    assert_eq!(summary::with_row(&once, &report, &["small", "other"]).unwrap(), once);
    assert_eq!(summary::with_row("no marks", &report, &["small"]), None);
}

/// Nothing of what would be run.
fn nothing() -> Data {
    Data { effort: Effort::Quick, studies: BTreeMap::new() }
}

#[test]
fn every_figure_can_be_drawn_of_nothing() {
    for name in papers::NAMES {
        let paper = papers::find(name).unwrap();
        let mut slugs: Vec<String> = paper.figures.iter().map(|figure| figure.label.slug()).collect();
        slugs.sort();
        assert!(slugs.is_sorted_by(|one, other| one < other), "each once: {slugs:?}");
        let report = Report::new(&paper, &nothing(), &[]).unwrap_or_else(|error| panic!("{error}"));
        for shown in &report.figures {
            // Nothing is reported of simulations that were not run.
            let good = |verdict| matches!(verdict, Verdict::Held | Verdict::Observed);
            let holds = report.of_figure(shown.figure.label).any(|(_, judged)| good(judged.verdict));
            assert!(!holds || shown.figure.kind != Kind::Sweep, "{name}, {}", shown.figure.label);
        }
        assert!(page::markdown(&report).starts_with("# "));
    }
}

#[test]
fn every_quantity_is_used() {
    for name in papers::NAMES {
        let paper = papers::find(name).unwrap();
        let book =
            claims::read(&report::file(&paper), paper.claims).unwrap_or_else(|error| panic!("{error}"));
        let (_, supplies) = report::measure(&paper.figures, &nothing());
        let is_used = |(figure, quantity): &&(String, String)| {
            let claims = book.claims.iter().filter(|claim| claim.figure == *figure);
            let mut tests = claims.flat_map(|claim| &claim.tests);
            tests.any(|test| test.quantities.contains(quantity) || test.over.as_ref() == Some(quantity))
        };
        let unused: Vec<_> = supplies.names().filter(|name| !is_used(name)).collect();
        assert!(unused.is_empty(), "{name}: no claim asks for {unused:?}: add one, or supply it no more");
        let twice = supplies.twice();
        assert!(twice.is_empty(), "{name}: supplied twice: {twice:?}");
        let figures: Vec<String> = paper.figures.iter().map(|figure| figure.label.to_string()).collect();
        let lost = book.claims.iter().find(|claim| !figures.contains(&claim.figure));
        assert!(lost.is_none(), "{name}: there is no such figure: {lost:?}");
    }
}
