//! Sweeps: cells are what runs are, files are what the schema and the pages say, parts are trusted no
//! further than they fit.

use layercast_laboratory::scenario::Catalogue;
use layercast_protocols::registry::Registry;
use std::fs::{self, File};
use std::path::PathBuf;

use layercast_laboratory::results::Statistic;
use layercast_laboratory::sweep::{
    Grid, Outcome, Progress, Store, SubjectSummary, SweepError, SweepRequest, SweepSummary, metric, table,
    write_all,
};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};

use crate::conforming::conforms;
use crate::running::run_text;

/// Two sessions and some TCPs on a link, for some seconds.
const SMALL: &str = r#"
name = "Small"
duration = "12 s"
replications = 2
windows = [["4 s", "end"], ["2 s", "8 s"]]
[links]
S-G = { rate = "10 Mbit/s", delay = "5 ms" }
G-R = { rate = "2 Mbit/s", delay = "20 ms", queue = { limit = "20 packets" } }
[sessions.elm]
protocol = "elm"
source = "S"
receivers = ["R"]
layers = { scheme = "doubling", base = "64 kbit/s", count = 5 }
[flows.tcp]
protocol = "tcp-sack"
profile = "ns2"
from = "S"
to = "R"
[groups]
"R" = ["elm@R", "tcp*@R"]
"#;

fn request(vary: &[&str]) -> SweepRequest {
    SweepRequest {
        id: "small.toml".to_owned(),
        text: SMALL.to_owned(),
        vary: vary.iter().map(|flag| (*flag).to_owned()).collect(),
        command: "layercast sweep small.toml".to_owned(),
        ..SweepRequest::default()
    }
}

fn read(request: &SweepRequest) -> Grid {
    Grid::read::<Registry>(request).unwrap()
}

/// What is wrong with a request.
fn mistakes(request: &SweepRequest) -> String {
    Grid::read::<Registry>(request).unwrap_err().to_string()
}

/// An empty directory of a test's own.
fn scratch(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sweep").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// Runs what a directory lacks.
fn finish<'g>(grid: &'g Grid, store: &'g Store) -> Outcome<'g> {
    Progress::load(grid, store).unwrap().finish::<Registry>(Some(1), &|_| {}).unwrap()
}

#[test]
fn a_cell_is_what_a_run_with_its_values_is() {
    let grid = read(&request(&["link.G-R.delay=10 ms,40 ms", "session.elm.strategy=naive,lazy"]));
    let store = Store::open(&scratch("cells"), &grid).unwrap();
    let summary = SweepSummary::new(&finish(&grid, &store));
    assert_eq!(summary.cells.len(), 4);
    for cell in &summary.cells {
        let sets = [
            format!("link.G-R.delay={}", cell.values[0]),
            format!("session.elm.strategy={}", cell.values[1]),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let run = run_text("small.toml", SMALL, &sets).summary;
        assert_eq!(cell.scenario_hash, run.scenario_hash);
        let of = |subject: &SubjectSummary, metric: &str| subject.measures.get(metric).cloned();
        let window = &cell.windows[0];
        assert_eq!(window.flows.len(), run.flows.len());
        for (ours, flow) in window.flows.iter().zip(&run.flows) {
            assert_eq!(ours.name, flow.name);
            assert_eq!(of(ours, "throughput_kbps").as_ref(), Some(&flow.measures.throughput_kbps));
            assert_eq!(of(ours, "loss_rate").as_ref(), Some(&flow.measures.loss_rate));
            assert_eq!(of(ours, "level_changes"), flow.measures.level_changes);
            assert_eq!(of(ours, "mean_level"), flow.measures.mean_level);
        }
        assert_eq!(of(&window.groups[0], "jain_index").as_ref(), Some(&run.groups[0].jain_index));
        let further: &Statistic = &run.windows[0].flow("elm@R").unwrap().measures.throughput_kbps;
        assert_eq!(of(&cell.windows[1].flows[0], "throughput_kbps").as_ref(), Some(further));
    }
}

#[test]
fn shares_of_tcp_and_queueing_delays_are_metrics() {
    let metrics = ["throughput_kbps", "share_of_tcp", "queue_delay_ms", "queue_delay_p95_ms"];
    let metrics = metrics.iter().map(|&name| name.to_owned()).collect();
    let grid = read(&SweepRequest { metrics, ..request(&["link.G-R.delay=40 ms"]) });
    let store = Store::open(&scratch("shares"), &grid).unwrap();
    let summary = SweepSummary::new(&finish(&grid, &store));
    let window = &summary.cells[0].windows[0];
    let kbps =
        |flow: usize| window.flows[flow].measures["throughput_kbps"].samples.iter().map(|kbps| kbps.unwrap());
    let expected: Vec<Option<f64>> = kbps(0).zip(kbps(1)).map(|(elm, tcp)| Some(elm / tcp)).collect();
    assert_eq!(window.flows[0].measures["share_of_tcp"].samples, expected);
    assert!(!window.flows[1].measures.contains_key("share_of_tcp"), "a TCP has none");
    let run = run_text("small.toml", SMALL, &["link.G-R.delay=40 ms"]).summary;
    for (ours, link) in window.links.iter().zip(&run.links) {
        assert_eq!(ours.name, link.name);
        assert_eq!(ours.measures.get("queue_delay_ms"), link.queue_delay_ms.as_ref());
        assert_eq!(ours.measures.get("queue_delay_p95_ms"), link.queue_delay_p95_ms.as_ref());
    }
    assert!(run.links[2].queue_delay_ms.as_ref().unwrap().mean > Some(1.0));
}

#[test]
fn sweep_json_conforms_to_the_published_schema_and_reads_back() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sweep.schema.json");
    let schema: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let all: Vec<String> =
        metric::all(&Catalogue::of::<Registry>()).iter().map(|metric| metric.name.to_owned()).collect();
    for (number, metrics) in [Vec::new(), all, vec!["drops".to_owned()]].into_iter().enumerate() {
        let vary = ["flow.tcp.count=1,3", "session.elm.strategy=lazy"];
        let request = SweepRequest { metrics, replications: Some(number as u32 + 1), ..request(&vary) };
        let grid = read(&request);
        let store = Store::open(&scratch(&format!("schema-{number}")), &grid).unwrap();
        let summary = SweepSummary::new(&finish(&grid, &store));
        let text = summary.to_json();
        conforms(&serde_json::from_str(&text).unwrap(), &schema, &schema, "sweep");
        let again = SweepSummary::from_json(&text).unwrap();
        assert_eq!((again.to_json(), again), (text.clone(), summary));
        let newer = text.replacen("\"schema\": 1", "\"schema\": 2", 1);
        assert!(SweepSummary::from_json(&newer).unwrap_err().to_string().contains("schema version 2"));
    }
}

#[test]
fn sweep_parquet_has_a_row_for_each_value() {
    let grid = read(&request(&["link.G-R.delay=10 ms,0.04 s", "session.elm.strategy=naive,lazy"]));
    let directory = scratch("parquet");
    let store = Store::open(&directory, &grid).unwrap();
    let outcome = finish(&grid, &store);
    let summary = SweepSummary::new(&outcome);
    let written = write_all(&directory, &outcome, &summary).unwrap();
    let reader = SerializedFileReader::new(File::open(&written.values).unwrap()).unwrap();
    assert_eq!(reader.num_row_groups(), 4, "one for each cell");
    let rows: Vec<Row> = reader.get_row_iter(None).unwrap().collect::<Result<_, _>>().unwrap();
    let names: Vec<&str> = rows[0].get_column_iter().map(|(name, _)| name.as_str()).collect();
    let keys = ["link.G-R.delay", "session.elm.strategy"];
    let after = ["replication", "seed", "window", "kind", "name", "metric", "value"];
    assert_eq!(names, [&["scenario", "scenario_hash", "cell"][..], &keys, &after].concat());
    // Four measures of the receiver, two of the TCP, one of the group; two windows, two replications.
    assert_eq!(rows.len(), 4 * 2 * 2 * (4 + 2 + 1));
    let column = |row: &Row, name: &str| -> Field {
        row.get_column_iter().find(|(found, _)| *found == name).unwrap().1.clone()
    };
    let is = |row: &Row, name: &str, value: &Field| column(row, name) == *value;
    let text = |text: &str| Field::Str(text.to_owned());
    let found: Vec<Field> = rows
        .iter()
        .filter(|row| {
            is(row, "link.G-R.delay", &Field::Double(0.04))
                && is(row, "session.elm.strategy", &text("lazy"))
                && is(row, "window", &Field::UInt(1))
                && is(row, "kind", &text("flow"))
                && is(row, "name", &text("tcp@R"))
                && is(row, "metric", &text("throughput_kbps"))
        })
        .map(|row| column(row, "value"))
        .collect();
    let samples = &summary.cells[3].windows[0].flows[1].measures["throughput_kbps"].samples;
    assert_eq!(found, samples.iter().map(|sample| Field::Double(sample.unwrap())).collect::<Vec<_>>());
}

#[test]
fn what_is_there_is_not_run_again_and_what_is_damaged_is() {
    let grid = read(&request(&["link.G-R.delay=10 ms,20 ms,30 ms"]));
    let directory = scratch("damaged");
    let store = Store::open(&directory, &grid).unwrap();
    let first = SweepSummary::new(&finish(&grid, &store)).to_json();
    assert_eq!(Progress::load(&grid, &store).unwrap().done(), 6);

    let part = |cell: u32, replication: u32| {
        directory.join("parts").join(format!("cell-{cell}-replication-{replication}.json"))
    };
    let whole = fs::read_to_string(part(1, 1)).unwrap();
    fs::write(part(1, 1), &whole[..whole.len() / 2]).unwrap();
    fs::copy(part(2, 1), part(2, 2)).unwrap();
    fs::copy(part(1, 2), part(3, 2)).unwrap();
    let store = Store::open(&directory, &grid).unwrap();
    let begun = Progress::load(&grid, &store).unwrap();
    assert_eq!(begun.done(), 3, "half a part, another replication's and another cell's do not count");
    assert_eq!(SweepSummary::new(&begun.finish::<Registry>(Some(2), &|_| {}).unwrap()).to_json(), first);
    assert_eq!(fs::read_to_string(part(1, 1)).unwrap(), whole);
}

#[test]
fn the_directory_of_another_sweep_is_refused_and_said_why() {
    let directory = scratch("others");
    let first = request(&["link.G-R.delay=10 ms,20 ms"]);
    Store::open(&directory, &read(&first)).unwrap();
    let refused = |other: SweepRequest, why: &str| {
        let error = Store::open(&directory, &read(&other)).unwrap_err();
        assert!(matches!(error, SweepError::OtherSweep { .. }) && error.is_input());
        assert!(error.to_string().contains(why), "{error}");
    };
    refused(request(&["link.G-R.delay=10 ms,25 ms"]), "its --vary was link.G-R.delay=10 ms,20 ms, now");
    refused(SweepRequest { seed: Some(9), ..first.clone() }, "its seed was 1, now it is 9");
    let set = vec!["link.S-G.delay=6 ms".to_owned()];
    refused(SweepRequest { overrides: set, ..first.clone() }, "its --set was nothing, now");
    refused(
        SweepRequest { id: "other.toml".to_owned(), ..first.clone() },
        "its scenario was small.toml, now",
    );
    let text = SMALL.replace("2 Mbit/s", "3 Mbit/s");
    refused(SweepRequest { text, ..first.clone() }, "the scenario has another text now");
    let more = SweepRequest { replications: Some(9), metrics: vec!["drops".to_owned()], ..first };
    Store::open(&directory, &read(&more)).unwrap();
    fs::write(directory.join("parts/plan.json"), "{}").unwrap();
    refused(more, "parts/plan.json cannot be parsed");
}

#[test]
fn progress_is_the_share_of_what_was_left() {
    let grid = read(&request(&["link.G-R.delay=10 ms,20 ms"]));
    let directory = scratch("progress");
    let store = Store::open(&directory, &grid).unwrap();
    let heard = std::sync::Mutex::new(Vec::new());
    let on_progress = |share: f64| heard.lock().unwrap().push(share);
    Progress::load(&grid, &store).unwrap().finish::<Registry>(Some(1), &on_progress).unwrap();
    let shares = std::mem::take(&mut *heard.lock().unwrap());
    assert!(shares.is_sorted() && shares.last() == Some(&1.0) && shares.len() > 4);
    fs::remove_file(directory.join("parts/cell-2-replication-2.json")).unwrap();
    Progress::load(&grid, &store).unwrap().finish::<Registry>(Some(1), &on_progress).unwrap();
    assert_eq!(heard.lock().unwrap().len(), shares.len() / 4, "one of four was left");
}

#[test]
fn what_cannot_be_varied_is_reported_in_the_flag() {
    for (vary, reported) in [
        (vec!["duration"], "it needs `=` between a key and its values"),
        (vec!["duration=1 s\n,2 s"], "the values of a key are on one line"),
        (vec!["duration="], "a value is missing here"),
        (vec!["replications=1,2"], "`replications` cannot be varied"),
        (vec!["window=[[\"1 s\", \"end\"]]"], "a column of sweep.parquet has this name"),
        (vec!["duration=12 s,\"12 s\""], "the value 12 s is given twice"),
        (vec!["duration=12 s", "duration=13 s"], "`duration` is varied twice"),
        (vec!["flow.tcp.size.law=uniform,pareto"], "`law` is now `distribution`"),
        (vec!["link.G-R.delay=5 parsecs"], "5 parsecs is not allowed"),
        (vec!["link.G-R.delay=1 s..5 s"], "a range needs the number of its values"),
    ] {
        let text = mistakes(&request(&vary));
        assert!(
            text.contains(reported) && text.contains("--> --vary:1:") && text.ends_with("1 error"),
            "{text}"
        );
    }
}

#[test]
fn a_mistake_of_some_cells_names_them() {
    let text = mistakes(&request(&["duration=12 s,6 s,7 s", "session.elm.strategy=lazy,naive"]));
    assert!(text.contains("the window ends at 8 s, but the run at 6 s"), "{text}");
    assert!(text.contains("= in: the cell duration=6 s, session.elm.strategy=lazy and 1 more"), "{text}");
    assert!(text.ends_with("2 errors"), "{text}");
    let everywhere =
        SweepRequest { overrides: vec!["link.G-R.dely=3 ms".to_owned()], ..request(&["duration=12 s,13 s"]) };
    let text = mistakes(&everywhere);
    assert!(
        text.contains("--> --set:1:10") && !text.contains("= in:") && text.ends_with("1 error"),
        "{text}"
    );
}

#[test]
fn cells_of_protocols_that_ignore_marks_are_refused() {
    let text = mistakes(&request(&["session.elm.ecn=false,true", "session.elm.protocol=elm,rlc"]));
    assert!(text.contains("\"rlc\" do not react to marks"), "{text}");
    assert!(text.contains("--> --vary:1:23") && text.ends_with("1 error"), "{text}");
}

#[test]
fn flows_that_share_a_name_are_reported_as_their_mean() {
    let grid = read(&request(&["flow.tcp.count=1,3"]));
    let directory = scratch("families");
    let store = Store::open(&directory, &grid).unwrap();
    let outcome = finish(&grid, &store);
    let text = table::render(&outcome, 120);
    assert!(text.lines().any(|line| line.starts_with("1 ") && line.contains(" tcp@R  ")), "{text}");
    assert!(text.lines().any(|line| line.starts_with("3 ") && line.contains(" tcp@R × 3 ")), "{text}");
    let summary = SweepSummary::new(&outcome);
    let names: Vec<&str> = summary.cells[1].windows[0].flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["elm@R", "tcp-1@R", "tcp-2@R", "tcp-3@R"]);
}

#[test]
fn the_report_has_curves_for_one_key_and_maps_for_more() {
    let page = |name: &str, vary: &[&str], replications: u32| {
        let grid = read(&SweepRequest { replications: Some(replications), ..request(vary) });
        let directory = scratch(name);
        let store = Store::open(&directory, &grid).unwrap();
        let outcome = finish(&grid, &store);
        let written = write_all(&directory, &outcome, &SweepSummary::new(&outcome)).unwrap();
        let page = fs::read_to_string(written.report).unwrap();
        assert!(!page.contains("NaN") && !page.contains("<script") && !page.contains("inf"), "{name}");
        assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
        page
    };
    let delays = "link.G-R.delay=10 ms,20 ms,40 ms";
    let one = page("one-key", &[delays], 2);
    // A band for the receiver and one for the TCP, on a wide page and on a narrow one.
    let figure = |page: &str, label: &str| {
        let parts: Vec<String> = page
            .split("<svg")
            .filter(|part| part.contains(&format!("aria-label=\"{label}\"")))
            .map(|part| part.split("</svg>").next().unwrap().to_owned())
            .collect();
        assert_eq!(parts.len(), 2, "{label}");
        parts
    };
    let curves = figure(&one, "Throughput in kbit/s over link.G-R.delay");
    assert_eq!(curves[0].matches("<polygon").count(), 2);
    assert_eq!(curves[0].matches("<circle").count(), 2 * 3);
    let single = page("one-replication", &[delays], 1);
    let curves = figure(&single, "Throughput in kbit/s over link.G-R.delay");
    assert_eq!(curves[0].matches("<polygon").count(), 0, "one replication has no interval");
    let names = page("names", &["session.elm.strategy=lazy,naive"], 2);
    let dots = figure(&names, "Mean level over session.elm.strategy");
    assert!(dots[0].contains("lazy") && !dots[0].contains("<polygon"), "names have no way between them");

    let two = page("two-keys", &[delays, "session.elm.strategy=lazy,naive"], 2);
    let maps = figure(&two, "Throughput in kbit/s over link.G-R.delay and session.elm.strategy");
    assert_eq!(maps[0].matches("<rect").count(), 2 * 3 * 2, "a tile for each flow and cell");
    let three = page("three-keys", &[delays, "session.elm.strategy=lazy,naive", "flow.tcp.count=1,2"], 1);
    let maps = figure(&three, "Jain index over link.G-R.delay and session.elm.strategy");
    assert_eq!(maps[0].matches("<rect").count(), 3 * 2 * 2);
    assert!(maps[0].contains("R · count 2"));
    let none = page("no-choice", &["session.elm.strategy=lazy"], 1);
    assert!(!none.contains("<svg") && none.contains("All numbers"));
}

#[test]
fn probes_of_flows_are_reported_as_their_mean_over_the_window() {
    let text = format!(
        "{SMALL}\n[probes.elm]\nof = \"flow elm@R\"\nwhat = [\"rtt_ms\", \"loss\", \"received\"]\nevery = \"500 ms\"\n"
    );
    let metrics = ["rtt_ms", "throughput_kbps", "received"].map(str::to_owned).to_vec();
    let request = SweepRequest { text: text.clone(), metrics, ..request(&["link.G-R.delay=10 ms,30 ms"]) };
    let grid = read(&request);
    let summary = SweepSummary::new(&finish(&grid, &Store::open(&scratch("probed"), &grid).unwrap()));
    for (cell, delay) in summary.cells.iter().zip(["10 ms", "30 ms"]) {
        let ran = run_text("small.toml", &text, &[&format!("link.G-R.delay={delay}")]);
        for (window, [from, to]) in cell.windows.iter().zip([[4.0, 12.0], [2.0, 8.0]]) {
            let reported = &window.flows[0].measures["rtt_ms"];
            for (reported, replication) in reported.samples.iter().zip(&ran.outcome.replications) {
                let looks = replication.probes[0][0].iter().zip(1..).filter(|(_, look)| {
                    let at = f64::from(*look) * 0.5;
                    at > from && at <= to
                });
                let known: Vec<f64> =
                    looks.map(|(value, _)| *value).filter(|value| value.is_finite()).collect();
                assert!(known.len() > 6, "a look every half a second");
                assert_eq!(*reported, Some(known.iter().sum::<f64>() / known.len() as f64));
            }
            let received = window.flows[0].measures["received"].mean.unwrap();
            let reported = window.flows[0].measures["throughput_kbps"].mean.unwrap() * (to - from) / 8.0;
            assert!(
                (received / reported - 1.0).abs() < 0.1,
                "{received} of {reported} packets of 1000 bytes"
            );
            assert!(!window.flows[0].measures.contains_key("loss"), "not asked for");
            assert!(!window.flows[1].measures.contains_key("rtt_ms"), "TCP has no such probe");
        }
    }
}

#[test]
fn a_group_is_of_no_protocol_where_the_protocol_is_a_key() {
    let legend = |vary: &str, name: &str| {
        let grid = read(&request(&[vary]));
        let directory = scratch(name);
        let store = Store::open(&directory, &grid).unwrap();
        let outcome = finish(&grid, &store);
        write_all(&directory, &outcome, &SweepSummary::new(&outcome)).unwrap();
        let page = fs::read_to_string(directory.join("report.html")).unwrap();
        let index = page.split("<h2>Jain index</h2>").nth(1).unwrap();
        index.split("<figure").next().unwrap().to_owned()
    };
    assert!(legend("link.G-R.delay=10 ms,40 ms", "legend-delay").contains("elm"), "it is about elm");
    let of_protocols = legend("session.elm.protocol=elm,rlc", "legend-protocol");
    assert!(!of_protocols.contains("elm") && !of_protocols.contains("rlc"), "{of_protocols}");
}
