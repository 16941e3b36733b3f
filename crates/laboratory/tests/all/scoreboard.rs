//! The scoreboard: suites are checked, runs are kept and used again, results do not depend on threads, and every
//! protocol has a verdict or a reason.

use std::fs;
use std::path::PathBuf;

use layercast_laboratory::scenario::suite::{Criterion, Suite};
use layercast_laboratory::scenario::{Catalogue, SuiteFiles, read_suite};
use layercast_laboratory::scoreboard::{
    self, Done, Entry, Prepared, Progress, Scoreboard, ScoreboardError, ScoreboardRequest, Store, Verdict,
};
use layercast_protocols::registry::Registry;
use layercast_testkit::cases;

use crate::conforming::conforms;

/// One session and two TCP on a link, for some seconds.
const LINK: &str = r#"
name = "Small"
duration = "20 s"
windows = [["8 s", "end"]]
[links]
S-G = { rate = "10 Mbit/s", delay = "5 ms", queue = { limit = "unlimited" } }
G-R = { rate = "2 Mbit/s", delay = "20 ms", queue = { limit = "20 packets" } }
[sessions.session]
protocol = "elm"
source = "S"
receivers = ["R"]
layers = { scheme = "doubling", base = "64 kbit/s", count = 6 }
[flows.tcp]
protocol = "tcp-sack"
from = "S"
to = "R"
count = 2
start = { uniform = ["0 s", "1 s"] }
[flows.short]
protocol = "tcp-sack"
from = "S"
to = "R"
count = 2
size = "20 kB"
gap = "500 ms"
[groups]
R = ["session@R", "tcp-*@R"]
"#;

/// Two cells, one of each part.
const SUITE: &str = r#"
name = "Two cells"
replications = 2
brief_replications = 1
except = ["fixed"]

[defaults.modern]
scenario = "link.toml"
starve = [0.01, 100]

[cells.fair]
part = "papers"
scenario = "link.toml"
source = "a paper"
measure = "jain_index"
better = "higher"
brief = ["duration=15 s"]

[cells.share]
part = "modern"
source = "an RFC"
set = ["link.G-R.rate=3 Mbit/s"]
measure = "share"
band = [0.5, 2.0]
"#;

fn catalogue() -> Catalogue {
    Catalogue::of::<Registry>()
}

fn suite(text: &str) -> Suite {
    read_suite("suite.toml", text, SuiteFiles::Given(&[("link.toml", LINK)]), &catalogue()).unwrap()
}

fn request(text: &str, protocols: &[&str]) -> ScoreboardRequest {
    ScoreboardRequest {
        suite: suite(text),
        brief: false,
        protocols: protocols.iter().map(|name| (*name).to_owned()).collect(),
        cells: Vec::new(),
        with: Vec::new(),
        replications: None,
        seed: None,
        command: "layercast scoreboard suite.toml".to_owned(),
    }
}

fn prepare(request: ScoreboardRequest) -> Prepared {
    scoreboard::prepare(request, &catalogue()).unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scoreboard").join(name);
    let _ = fs::remove_dir_all(&directory);
    directory
}

/// The scoreboard, and how many runs were there already.
fn finish(prepared: &Prepared, store: &Store, again: &[&str], jobs: usize) -> (Scoreboard, usize) {
    let again: Vec<String> = again.iter().map(|name| (*name).to_owned()).collect();
    let begun = Progress::load(prepared, store, &again).unwrap();
    let there = begun.done();
    let done: Vec<Done> = begun.finish::<Registry>(Some(jobs), &|_| {}).unwrap();
    (Scoreboard::new(prepared, &done), there)
}

/// The errors of a suite in which a text is replaced.
fn errors(from: &str, to: &str) -> String {
    assert!(SUITE.contains(from), "{from}");
    let text = SUITE.replacen(from, to, 1);
    let read = read_suite("suite.toml", &text, SuiteFiles::Given(&[("link.toml", LINK)]), &catalogue());
    read.unwrap_err().to_string()
}

#[test]
fn mistakes_in_a_suite_have_a_line_and_a_remedy() {
    let cases = [
        ("better = \"higher\"", "beter = \"higher\"", "suite.toml:16:1", "did you mean `better`?"),
        ("measure = \"share\"", "measure = \"shares\"", "suite.toml:23:11", "did you mean `share`?"),
        ("[0.5, 2.0]", "[2.0, 0.5]", "suite.toml:24:8", "its first end is not below the second"),
        ("[0.5, 2.0]", "[0.5, \"all\"]", "suite.toml:24:14", "\"any\" for no bound"),
        ("band = [0.5, 2.0]", "", "suite.toml:19:", "`band` is missing"),
        ("band = [0.5, 2.0]", "band = [0.5, 2.0]\nbetter = \"higher\"", "suite.toml:25:10", "no `better`"),
        ("[cells.share]", "[cells.\"a b\"]", "suite.toml:19:8", "letters, digits"),
        ("\"link.toml\"\nstarve", "\"lnk.toml\"\nstarve", "suite.toml:8:12", "did you mean `link.toml`?"),
        ("except = [\"fixed\"]", "except = [\"fixd\"]", "suite.toml:5:11", "did you mean `fixed`?"),
        ("measure = \"share\"", "measure = \"to_80_percent_s\"", "suite.toml:23:11", "the key `target`"),
        (
            "measure = \"share\"",
            "with = [\"elm.layers\"]\nmeasure = \"share\"",
            "suite.toml:23:9",
            "PROTOCOL.OPTION=VALUE",
        ),
        (
            "measure = \"share\"",
            "with = [\"eln.x=1\"]\nmeasure = \"share\"",
            "suite.toml:23:9",
            "did you mean `elm`?",
        ),
        (
            "better = \"higher\"",
            "better = \"nearer\"\nnegligible = 0.1",
            "suite.toml:17:14",
            "no `negligible`",
        ),
        ("replications = 2", "replications = 0", "suite.toml:3:16", "from 1 to 1000"),
        ("name = \"Two cells\"", "", "suite.toml:1:1", "the file must give `name`"),
    ];
    for (from, to, place, remedy) in cases {
        let text = errors(from, to);
        assert!(text.contains(place), "{to}: {place} is not in\n{text}");
        assert!(text.contains(remedy), "{to}: {remedy} is not in\n{text}");
    }
}

#[test]
fn a_wrong_change_of_a_scenario_names_the_cell_and_its_line() {
    let text = SUITE.replace("link.G-R.rate=3 Mbit/s", "link.G-R.rat=3 Mbit/s");
    let error = scoreboard::prepare(request(&text, &["elm"]), &catalogue()).unwrap_err();
    assert!(error.is_input());
    let text = error.to_string();
    assert!(text.contains("did you mean `rate`?"), "{text}");
    assert!(text.contains("in the cell `share` of suite.toml, line 19"), "{text}");
}

#[test]
fn a_cell_cannot_give_all_protocols_the_same_one() {
    let text = SUITE.replace("link.G-R.rate=3 Mbit/s", "session.session.protocol=rlc");
    let error = scoreboard::prepare(request(&text, &["elm", "rlc"]), &catalogue()).unwrap_err();
    assert!(
        matches!(&error, ScoreboardError::OtherProtocol { cell, line: 19, .. } if cell == "share"),
        "{error}"
    );
    assert!(error.to_string().contains("*.layers"));
}

#[test]
fn unknown_protocols_and_cells_are_refused() {
    let refused = |change: &dyn Fn(&mut ScoreboardRequest)| {
        let mut request = request(SUITE, &["elm"]);
        change(&mut request);
        let error = scoreboard::prepare(request, &catalogue()).unwrap_err();
        assert!(error.is_input());
        error.to_string()
    };
    assert!(refused(&|request| request.protocols.push("eln".to_owned())).contains("no protocol `eln`"));
    assert!(refused(&|request| request.protocols.push("elm".to_owned())).contains("twice"));
    assert!(
        refused(&|request| request.cells = vec!["fair".to_owned(), "x*".to_owned()]).contains("fair, share")
    );
    assert!(refused(&|request| request.with.push("elm".to_owned())).contains("PROTOCOL.OPTION=VALUE"));
    let wrong = refused(&|request| request.with.push("elm.strategy=quick".to_owned()));
    assert!(wrong.contains("lazy") && wrong.contains("in the cell `fair`"), "{wrong}");
}

#[test]
fn results_are_used_again_and_a_changed_cell_runs_again() {
    let directory = scratch("again");
    let store = Store::open(&directory).unwrap();
    let prepared = prepare(request(SUITE, &["elm", "flid-dl"]));
    assert_eq!(prepared.runs.len(), 4);
    let (board, there) = finish(&prepared, &store, &[], 1);
    assert_eq!(there, 0);

    // As after an interruption: one result is missing, one is damaged.
    let file = |run: usize| directory.join("results").join(format!("{}.json", prepared.runs[run].key));
    let kept = fs::metadata(file(2)).unwrap().modified().unwrap();
    fs::remove_file(file(0)).unwrap();
    let whole = fs::read_to_string(file(1)).unwrap();
    fs::write(file(1), &whole[..whole.len() / 2]).unwrap();
    let (again, there) = finish(&prepared, &store, &[], 1);
    assert_eq!(there, 2);
    assert_eq!(again.to_json(), board.to_json());
    assert_eq!(fs::read_to_string(file(1)).unwrap(), whole);
    assert_eq!(fs::metadata(file(2)).unwrap().modified().unwrap(), kept);

    // What is only judged otherwise is not run again; what is changed is.
    let judged = SUITE.replace("band = [0.5, 2.0]", "band = [5, 6]").replace("jain_index", "utilisation");
    let (judged, there) = finish(&prepare(request(&judged, &["elm", "flid-dl"])), &store, &[], 1);
    assert_eq!(there, 4);
    assert!(judged.cells[1].results.iter().all(|result| result.verdict == Verdict::OutOfBand));
    let changes = [
        ("rate=3 Mbit/s", "rate=4 Mbit/s", 2),
        ("replications = 2", "replications = 3", 0),
        ("except", "seed = 2\nexcept", 0),
        ("set =", "with = [\"elm.strategy=naive\"]\nset =", 3),
        ("set =", "against = [\"tcp*\"]\nset =", 2),
    ];
    for (from, to, expected) in changes {
        let prepared = prepare(request(&SUITE.replacen(from, to, 1), &["elm", "flid-dl"]));
        assert_eq!(Progress::load(&prepared, &store, &[]).unwrap().done(), expected, "{to}");
    }
    let (fresh, there) = finish(&prepared, &store, &["elm"], 1);
    assert_eq!((there, fresh.to_json()), (2, board.to_json()));
}

#[test]
fn threads_change_nothing() {
    let prepared = prepare(request(SUITE, &["elm", "rlc", "webrc"]));
    let (one, _) = finish(&prepared, &Store::open(&scratch("one")).unwrap(), &[], 1);
    let (four, _) = finish(&prepared, &Store::open(&scratch("four")).unwrap(), &[], 4);
    assert_eq!(one.to_json(), four.to_json());
}

#[test]
fn a_protocol_that_cannot_run_a_cell_has_a_reason_and_no_verdict() {
    let prepared = prepare(request(SUITE, &["elm", "webrc"]));
    let (board, _) = finish(&prepared, &Store::open(&scratch("refused")).unwrap(), &[], 1);
    for cell in &board.cells {
        assert_eq!(cell.results[1].verdict, Verdict::NotRun);
        assert!(
            cell.results[1].reason.as_ref().unwrap().contains("one layer"),
            "{:?}",
            cell.results[1].reason
        );
        assert_ne!(cell.results[0].verdict, Verdict::NotRun);
    }
    assert_eq!((board.totals[1].papers.not_run, board.totals[1].papers.cells), (1, 0));
    assert_eq!((board.totals[1].modern.not_run, board.totals[1].modern.cells), (1, 0));
    let page = scoreboard::markdown::render(&board);
    assert!(page.contains("- webrc, in fair, share:"), "{page}");
    // With a rate of its own it takes part; with layers for all, those that cannot carry them do not.
    let with = "with = ['webrc.layers={ scheme = \"explicit\", rates = [\"4 Mbit/s\"] }']\nset =";
    let prepared = prepare(request(&SUITE.replace("set =", with), &["webrc"]));
    assert!(matches!(prepared.cells[1].entries[0], Entry::Run(_)));
    let with = "with = ['*.layers={ scheme = \"equal\", base = \"10 kbit/s\", count = 40 }']\nset =";
    let prepared = prepare(request(&SUITE.replace("set =", with), &["elm", "rlm"]));
    assert!(
        matches!(&prepared.cells[1].entries[0], Entry::NotRun(reason) if reason.contains("fewer layers"))
    );
    assert!(matches!(prepared.cells[1].entries[1], Entry::Run(_)));
}

#[test]
fn options_reach_the_protocols_that_have_them() {
    let text = SUITE.replace("set =", "options_if_known = [\"strategy=naive\", \"ecn=true\"]\nset =");
    let prepared = prepare(request(&text, &["elm", "rlc"]));
    let run = |protocol: &str| {
        prepared.runs.iter().find(|run| run.cell == "share" && run.candidate.protocol == protocol).unwrap()
    };
    assert_eq!(run("elm").options["strategy"], "naive");
    let marks = |protocol: &str| run(protocol).candidate.plan.sessions[0].ecn;
    assert!(marks("elm") && !marks("rlc"), "ECN is for those that react to marks");
    let mut request = request(&text, &["elm", "rlc"]);
    request.with.push("elm.strategy=skeptical".to_owned());
    let prepared = prepare(request);
    let skeptical =
        prepared.runs.iter().filter(|run| run.options.get("strategy").is_some_and(|it| it == "skeptical"));
    assert_eq!(skeptical.count(), 2, "the user's setting is the last, in all cells");
}

#[test]
fn the_brief_version_is_what_the_suite_says() {
    let mut request = request(SUITE, &["elm"]);
    request.brief = true;
    let prepared = prepare(request.clone());
    assert_eq!(prepared.cells.len(), 1);
    assert_eq!(prepared.runs[0].replications(), 1);
    assert_eq!(prepared.runs[0].candidate.plan.duration.as_secs_f64(), 15.0);
    request.replications = Some(3);
    assert_eq!(prepare(request).runs[0].replications(), 3);
}

#[test]
fn measures_are_what_they_say() {
    let cell = |name: &str, rest: &str| {
        format!(
            "[cells.{name}]\npart = \"modern\"\nscenario = \"link.toml\"\nsource = \"none\"\nband = [0, 1000]\n{rest}\n"
        )
    };
    let text = format!(
        "name = \"Measures\"\nreplications = 1\n{}{}{}{}{}{}",
        cell("slow", "measure = \"others_slowdown\""),
        cell("kept", "measure = \"others_kept\""),
        cell("against", "measure = \"share\"\nagainst = [\"tcp-1@R\"]"),
        cell(
            "start",
            "measure = \"to_80_percent_s\"\ntarget = \"512 kbit/s\"\nset = [\"flow.tcp.count=0\", \"flow.short.count=0\"]"
        ),
        cell("worst", "measure = \"others_worst_second\"\ntarget = \"2 Mbit/s\""),
        cell("half", "measure = \"others_half_after_s\"\ntarget = \"2 Mbit/s\""),
    );
    let mut request = request(&text, &["fixed", "elm"]);
    request.with.push("fixed.level=3".to_owned());
    let prepared = prepare(request);
    let (board, _) = finish(&prepared, &Store::open(&scratch("measures")).unwrap(), &[], 2);
    let of = |cell: usize, protocol: usize| &board.cells[cell].results[protocol];
    // 512 kbit/s of 2000 are taken from the others at once; the short transfers are slower than alone.
    let kept = of(1, 0).value.mean.unwrap();
    assert!((0.6..0.9).contains(&kept), "{kept}");
    let measures = &of(1, 0).measures;
    assert_eq!(measures["others_slowdown"], of(0, 0).measures["others_slowdown"], "the same run");
    // Against one named flow and not the mean of both.
    let (share, both) = (of(2, 0).value.mean.unwrap(), of(1, 0).measures["share"]);
    assert!(share != both && share > 0.0, "{share} {both}");
    // It has all its layers within a bin or two; the other one climbs for seconds.
    let (at_once, later) = (of(3, 0).value.mean.unwrap(), of(3, 1).value.mean.unwrap());
    assert!(at_once <= 2.0 && later > at_once, "{at_once} {later}");
    let worst = of(4, 0).value.mean.unwrap();
    assert!(worst > 0.0 && worst < 1.5, "{worst}");
    // The end of the first second in which they have half of it.
    let half = of(5, 0).value.mean.unwrap();
    assert!((1.0..10.0).contains(&half), "{half}");
}

#[test]
fn the_built_in_suite_fits_the_built_in_protocols() {
    let suite = scoreboard::built_in(&catalogue()).unwrap();
    // The brief suite has a part of the cells.
    for brief in [true, false].into_iter().take(cases(2) as usize) {
        let request = ScoreboardRequest { suite: suite.clone(), brief, ..request(SUITE, &[]) };
        let prepared = prepare(request);
        assert!(prepared.protocols.len() >= 9 && !prepared.protocols.contains(&"fixed".to_owned()));
        for (column, protocol) in prepared.protocols.iter().enumerate() {
            let runs = prepared.cells.iter().filter(|cell| matches!(cell.entries[column], Entry::Run(_)));
            assert!(
                runs.count() * 2 > prepared.cells.len(),
                "{protocol} takes part in less than half of the cells"
            );
        }
        for cell in &prepared.cells {
            let runs = cell.entries.iter().filter(|entry| matches!(entry, Entry::Run(_))).count();
            assert!(runs * 2 > prepared.protocols.len(), "{} is for few protocols", cell.plan.name);
            if let Criterion::Band { band, starve: Some(starve) } = cell.plan.criterion {
                assert!(starve[0] <= band[0] && band[1] <= starve[1], "{}: bands cross", cell.plan.name);
            }
        }
    }
}

#[test]
fn scoreboard_json_conforms_to_the_published_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scoreboard.schema.json");
    let schema: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let directory = scratch("schema");
    let store = Store::open(&directory).unwrap();
    let (board, _) = finish(&prepare(request(SUITE, &["elm", "webrc"])), &store, &[], 2);
    let written = scoreboard::write_all(&directory, &board).unwrap();
    let text = fs::read_to_string(written.scoreboard).unwrap();
    conforms(&serde_json::from_str(&text).unwrap(), &schema, &schema, "scoreboard");
    let page = fs::read_to_string(written.report).unwrap();
    for part in ["Two cells", "class=\"not-run\"", "Experiments of papers", "Networks of today", "one layer"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<script") && !page.contains("http-equiv=\"refresh\""));
}
