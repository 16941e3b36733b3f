//! Each command of the laboratory: what it prints, and its exit status.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use layercast_laboratory::scenario::Catalogue;
use layercast_laboratory::scenario::catalogue::BUILT_IN;
use layercast_protocols::registry::Registry;

use super::{layercast, run, scratch, text};

/// A short run of a real scenario: 40 s, of which the last 10 are measured.
const SHORT: &[&str] = &["--set", "duration=40 s", "--set", "windows=[[\"30 s\", \"end\"]]"];

/// All that a user sees of a command.
fn seen(arguments: &[&str]) -> String {
    let output = run(arguments);
    let mut seen = format!("exit status {}\n", output.status.code().expect("no signal ended it"));
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !bytes.is_empty() {
            let _ = write!(seen, "--- {name}\n{}", text(bytes));
        }
    }
    seen
}

#[test]
fn expand_prints_a_flat_file_that_checks() {
    let flat = text(&run(&["expand", "networks/campus", "--set", "flow.web07.count=3"]).stdout);
    assert!(flat.contains("\nCORE-SITE30 = { rate = \"100 Mbit/s\""), "{flat}");
    assert!(flat.contains("[flows.web07]\ntraffic = \"web\"\nto = \"SITE07\"\ncount = 3\n"), "{flat}");
    let file = scratch("expand").join("flat.toml");
    fs::write(&file, flat).expect("the file can be written");
    let checked = seen(&["check", file.to_str().expect("the path is UTF-8")]);
    assert!(checked.starts_with("exit status 0\n"), "{checked}");
    assert!(checked.contains("33 nodes, 32 links"), "{checked}");
    let refused = seen(&["expand", "five-mistakes.toml"]);
    assert!(refused.starts_with("exit status 2\n") && !refused.contains("--- stdout"), "{refused}");
}

#[test]
fn lists_the_options_of_each_kind_of_traffic() {
    for (kind, option) in [("web", "page"), ("video", "ladder"), ("download", "file"), ("call", "payload")] {
        let listed = text(&run(&["list", kind, "--plain"]).stdout);
        assert!(listed.lines().any(|line| line == option), "{kind}: {listed}");
        assert!(text(&run(&["list"]).stdout).lines().any(|line| line.trim() == kind), "{kind}");
    }
}

#[test]
fn five_mistakes_give_five_messages() {
    let seen = seen(&["check", "five-mistakes.toml"]);
    assert!(seen.starts_with("exit status 2\n"), "{seen}");
    assert_eq!(seen.matches("error: ").count(), 5, "{seen}");
    insta::assert_snapshot!(seen);
}

#[test]
fn a_run_reports_mistakes_as_check_does() {
    let check = run(&["check", "five-mistakes.toml"]);
    assert_eq!(run(&["run", "five-mistakes.toml"]), check);
}

#[test]
fn text_that_is_no_toml_is_reported_with_its_place() {
    insta::assert_snapshot!(seen(&["check", "no-toml.toml"]));
}

#[test]
fn every_built_in_scenario_is_fine() {
    let listed = run(&["list", "--scenarios", "--plain"]);
    let listed = text(&listed.stdout);
    assert!(listed.lines().count() > 0);
    for name in listed.lines() {
        let output = run(&["check", name]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output.stderr));
        assert!(text(&output.stdout).starts_with(&format!("{name}: fine (")));
    }
}

/// The lines under a heading, up to the next blank line.
fn section<'t>(text: &'t str, heading: &str) -> Vec<&'t str> {
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| !line.is_empty()).collect()
}

/// The names of all multicast protocols.
fn protocols() -> Vec<&'static str> {
    Catalogue::of::<Registry>().names()
}

// A new scenario or protocol must not need a change here, so these look at the structure.

#[test]
fn lists_scenarios_and_protocols() {
    let output = run(&["list"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let listed = text(&output.stdout);
    let scenarios = section(&listed, "Scenarios");
    assert_eq!(scenarios.len(), BUILT_IN.len());
    let width = BUILT_IN.iter().map(|scenario| scenario.name.len()).max().expect("there are scenarios");
    for (line, scenario) in scenarios.iter().zip(BUILT_IN) {
        let (name, title) = line.split_at(2 + width + 2);
        assert_eq!(name.trim(), scenario.name);
        assert!(scenario.text.contains(&format!("\nname = \"{title}\"\n")), "{line}");
    }
    let known = format!("  {:width$}  Thesis, simulation 2: artificial congestion", "thesis/simulation-2");
    assert!(scenarios.contains(&known.as_str()), "{listed}");
    // The headings of the columns, a line for each protocol, and the flows.
    let lines = section(&listed, "Protocols");
    let names: Vec<&str> = lines.iter().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names[1..].starts_with(&protocols()), "{listed}");
    let flows = lines.last().copied().unwrap_or_default();
    assert!(flows.contains("tcp-sack") && flows.contains("udp"), "{listed}");
    let alone = text(&run(&["list", "--protocols"]).stdout);
    let names: Vec<&str> = section(&alone, "Protocols").iter().map(|line| line.trim_start()).collect();
    assert!(names.starts_with(&protocols()) && names.contains(&"udp"), "{alone}");
}

#[test]
fn why_answers_from_the_files_of_a_run_alone() {
    let out = scratch("why");
    let out_text = out.to_string_lossy().into_owned();
    let ran =
        run(&[&["run", "thesis/simulation-2", "--replications", "1", "--out", &out_text], SHORT].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let answer = run(&["why", &out_text, "elm@R2"]);
    assert_eq!((answer.status.code(), text(&answer.stderr)), (Some(0), String::new()));
    let answer = text(&answer.stdout);
    assert!(answer.starts_with("elm@R2 (elm) in thesis/simulation-2, 1 replication, 30–40 s\n"), "{answer}");
    assert!(answer.contains("\nbottleneck    "), "{answer}");
    let file = out.join("summary.json").to_string_lossy().into_owned();
    assert_eq!(text(&run(&["why", &file, "elm@R2"]).stdout), answer);

    let unknown = run(&["why", &out_text, "elm@R22"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("did you mean `elm@R2`?"), "{}", text(&unknown.stderr));
    let nowhere = run(&["why", "nowhere", "elm@R2"]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(text(&nowhere.stderr).contains("--out nowhere"), "{}", text(&nowhere.stderr));
}

#[test]
fn lists_names_alone_for_scripts() {
    let output = run(&["list", "--plain", "--scenarios"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let names: Vec<&str> = BUILT_IN.iter().map(|scenario| scenario.name).collect();
    assert_eq!(text(&output.stdout).lines().collect::<Vec<_>>(), names);
}

#[test]
fn lists_the_options_and_gauges_of_a_protocol() {
    insta::assert_snapshot!(seen(&["list", "fixed"]));
    let elm = text(&run(&["list", "elm"]).stdout);
    assert!(elm.starts_with("strategy = lazy    (one of naive, skeptical, lazy)\n    When "), "{elm}");
    let names = text(&run(&["list", "elm", "--plain"]).stdout);
    let (options, gauges) = elm.split_once("\ngauges, for probes and metrics").expect("gauges follow");
    assert_eq!(options.lines().count(), 2 * names.lines().count());
    assert!(gauges.contains("\nsuspect    (packets)\n    Packets whose time stamp"), "{gauges}");
    assert!(gauges.contains("\nsource_echoes    (echoes)\n"), "{gauges}");
}

#[test]
fn lists_the_keys_of_a_tcp_flow() {
    insta::assert_snapshot!(seen(&["list", "tcp-sack"]));
}

#[test]
fn lists_the_keys_of_tables_and_the_measures_of_suites() {
    let link = text(&run(&["list", "link"]).stdout);
    assert!(link.starts_with("link: "), "{link}");
    assert!(link.contains("\nrate = ") && link.contains("\ndelay = "), "{link}");
    let all = text(&run(&["list", "keys"]).stdout);
    assert!(all.contains(link.trim_end()), "{all}");
    let suite = text(&run(&["list", "cell", "--plain"]).stdout);
    assert!(suite.lines().any(|line| line == "starve"), "{suite}");
    let measures = text(&run(&["list", "measures", "--plain"]).stdout);
    assert!(measures.lines().any(|line| line == "others_slowdown"), "{measures}");
    let lints = text(&run(&["list", "lints"]).stdout);
    assert!(lints.contains("lockstep    (found before a run)\n"), "{lints}");
    let missing = text(&run(&["list", "sesion"]).stderr);
    assert!(missing.ends_with("did you mean `session`?\n"), "{missing}");
}

#[test]
fn the_reference_is_eight_pages() {
    let out = scratch("reference");
    let output = run(&["reference", "--out", out.to_str().expect("the path is text")]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let page = |name: &str| std::fs::read_to_string(out.join(name)).expect("a page");
    assert!(page("keys.md").contains("\n### session\n"));
    assert!(page("options.md").contains("\n## every TCP\n"));
    assert!(page("suites.md").contains("| `share` |"));
    assert!(page("lints.md").contains("| `lockstep` |"));
    assert!(page("modes.md").contains("not with `explore --seed`:"));
    for scenario in BUILT_IN {
        assert!(page("scenarios.md").contains(&format!("| `{}` | ", scenario.name)), "{}", scenario.name);
    }
    for protocol in protocols() {
        assert!(page("protocols.md").contains(&format!("\n## {protocol}\n")), "{protocol}");
    }
}

#[test]
fn an_unknown_protocol_is_reported() {
    let output = run(&["list", "elmo"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
    let reported = text(&output.stderr);
    let start = "error: there is no protocol, queue, traffic or table `elmo`\n  = allowed: the protocols ";
    let allowed = reported.strip_prefix(start).expect("what is wrong");
    assert!(allowed.starts_with(&protocols().join(", ")), "{reported}");
    assert!(allowed.contains(", tcp-sack, ") && allowed.contains("the queues drop-tail, red"), "{reported}");
}

#[test]
fn an_unknown_scenario_is_reported_with_the_nearest() {
    insta::assert_snapshot!(seen(&["run", "thesis/simulaton-2"]));
}

#[test]
fn a_directory_is_no_scenario() {
    let output = run(&["check", "."]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("error: `.` cannot be read: "));
}

#[test]
fn an_unknown_option_is_reported_with_the_nearest() {
    insta::assert_snapshot!(seen(&["check", "thesis/simulation-2", "--set", "session.elm.stratgy=naive"]));
}

#[test]
fn an_option_out_of_range_is_reported() {
    insta::assert_snapshot!(seen(&["check", "thesis/simulation-2", "--set", "session.elm.history=0"]));
}

#[test]
fn an_override_without_a_value_is_reported() {
    insta::assert_snapshot!(seen(&["check", "thesis/simulation-2", "--set", "duration"]));
}

#[test]
fn no_replications_are_reported() {
    insta::assert_snapshot!(seen(&["run", "thesis/simulation-2", "--replications", "0"]));
}

#[test]
fn a_wrong_flag_is_reported() {
    insta::assert_snapshot!(seen(&["run", "thesis/simulation-2", "--replication", "3"]));
}

#[test]
fn no_threads_are_reported() {
    insta::assert_snapshot!(seen(&["run", "thesis/simulation-2", "--jobs", "0"]));
}

#[test]
fn nothing_asked_for_gives_help_and_counts_as_wrong_usage() {
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("Usage: layercast <COMMAND>"));
}

#[test]
fn the_scenario_in_the_readme_runs() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = fs::read_to_string(readme).expect("the README is there");
    let example = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let file = scratch("readme").join("shared.toml");
    fs::write(&file, example.expect("the README has a scenario")).expect("the file can be written");
    let output = run(&["run", file.to_str().expect("the path is text"), "--replications", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("elm@R"));
}

#[test]
fn a_run_prints_a_table() {
    insta::assert_snapshot!(seen(&["run", "fixed.toml"]));
}

#[test]
fn a_short_run_of_a_built_in_scenario_prints_every_flow_and_group() {
    let arguments = [&["run", "thesis/simulation-2", "--replications", "2", "--quiet"], SHORT].concat();
    let output = run(&arguments);
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).starts_with("warning: thesis/simulation-2:"), "{}", text(&output.stderr));
    assert!(table.contains("2 replications · seed 1 · measured over 30–40 s"), "{table}");
    for name in ["elm@R1", "rlc@R2", "tcp@R3", "R1/elm", "R3/rlc"] {
        assert!(table.lines().any(|line| line.starts_with(name)), "{name} is missing:\n{table}");
    }
}

#[test]
fn threads_change_nothing() {
    let with = |jobs| {
        let arguments =
            [&["run", "thesis/simulation-2", "--replications", "3", "--jobs", jobs], SHORT].concat();
        text(&run(&arguments).stdout)
    };
    assert_eq!(with("1"), with("3"));
}

#[test]
fn progress_is_for_terminals() {
    // Standard error is a pipe here, so even without --quiet there is none.
    let output = run(&["run", "fixed.toml"]);
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn out_leaves_three_files_and_names_them() {
    let directory = scratch("three-files").join("made/on/the/way");
    let out = directory.to_str().expect("the path is text");
    let seen = seen(&["run", "fixed.toml", "--out", out]);
    insta::assert_snapshot!(seen.replace(out, "DIR"));
    let mut files: Vec<_> = fs::read_dir(&directory)
        .expect("the directory is there")
        .map(|entry| entry.expect("its entries can be read").file_name())
        .collect();
    files.sort();
    assert_eq!(files, ["report.html", "series.parquet", "summary.json"]);

    let summary = fs::read_to_string(directory.join("summary.json")).expect("the summary is there");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("the summary is JSON");
    assert_eq!(summary["schema"], 2);
    assert_eq!(summary["flows"][0]["name"], "fixed@R");
    let report = fs::read_to_string(directory.join("report.html")).expect("the report is there");
    assert!(report.contains("layercast run fixed.toml"), "the report says how to repeat the run");
    assert!(fs::read(directory.join("series.parquet")).expect("the series is there").starts_with(b"PAR1"));
}

#[test]
fn captures_and_notes_are_written_and_change_nothing_else() {
    let (plain, observed) = (scratch("plain-run"), scratch("observed-run"));
    let path = |directory: &Path| directory.to_str().expect("the path is text").to_owned();
    assert_eq!(run(&["run", "fixed.toml", "--out", &path(&plain)]).status.code(), Some(0));
    let seen = seen(&[
        "run",
        "fixed.toml",
        "--out",
        &path(&observed),
        "--notes",
        "--capture",
        "S-R:both",
        "--capture",
        "R-S",
    ]);
    insta::assert_snapshot!(seen.replace(&path(&observed), "DIR"));
    for file in ["series.parquet", "report.html"] {
        let read = |directory: &Path| fs::read(directory.join(file)).expect("the file is there");
        assert!(read(&plain) == read(&observed), "{file} differs");
    }
    let capture = fs::read(observed.join("capture-S-R.pcap")).expect("the capture is there");
    assert!(capture.starts_with(&[0x4d, 0x3c, 0xb2, 0xa1]), "pcap with nanoseconds");
    assert!(observed.join("capture-R-S.pcap").exists());
    let notes = fs::read_to_string(observed.join("notes.jsonl")).expect("the notes are there");
    assert!(notes.lines().count() > 1, "{notes}");
    let left = fs::read_dir(&observed).expect("the directory is there");
    assert_eq!(left.count(), 6, "nothing partial is left");
}

#[test]
fn probes_are_written_and_change_no_number() {
    let (plain, probed) = (scratch("not-probed"), scratch("probed"));
    let path = |directory: &Path| directory.to_str().expect("the path is text").to_owned();
    assert_eq!(run(&["run", "fixed.toml", "--out", &path(&plain)]).status.code(), Some(0));
    let link = ["--probe", "link S-R:queue_packets,sent_kbps@10 ms"];
    let flow = ["--probe", "flow fixed@R:level"];
    let seen = seen(&[&["run", "fixed.toml", "--out", &path(&probed)][..], &link, &flow].concat());
    assert!(seen.contains("probes.parquet\n"), "{seen}");
    let read = |directory: &Path, file: &str| fs::read(directory.join(file)).expect("the file is there");
    assert!(read(&plain, "series.parquet") == read(&probed, "series.parquet"), "the series differ");
    let summary = |directory: &Path| {
        let mut summary: serde_json::Value =
            serde_json::from_slice(&read(directory, "summary.json")).expect("the summary is JSON");
        summary["engine"].take();
        summary
    };
    assert_eq!(summary(&plain), summary(&probed));
    assert!(read(&probed, "probes.parquet").starts_with(b"PAR1"));
    let report = text(&read(&probed, "report.html"));
    assert!(report.contains("link S-R, every 0.01 s"), "the report plots the probe");
    assert!(!plain.join("probes.parquet").exists());
}

#[test]
fn what_cannot_be_probed_is_reported() {
    let out = scratch("no-probe");
    let out = out.to_str().expect("the path is text");
    let report = |probe: &str| seen(&["run", "thesis/simulation-2", "--out", out, "--probe", probe]);
    insta::assert_snapshot!(report("link G1-G2"));
    insta::assert_snapshot!(report("link G1-G22:queue_packts,cwnd_packets@10"));
    insta::assert_snapshot!(report("flow elm@R1:queue_packets"));
    insta::assert_snapshot!(report("flow elm@R1:suspct,lip_loss"));
}

#[test]
fn what_cannot_be_captured_is_reported() {
    let out = scratch("no-capture");
    let out = out.to_str().expect("the path is text");
    let report = |arguments: &[&str]| seen(&[&["run", "thesis/simulation-2"], arguments].concat());
    insta::assert_snapshot!(report(&["--capture", "G1-G2"]));
    insta::assert_snapshot!(report(&["--out", out, "--capture", "G1-G22"]));
    insta::assert_snapshot!(report(&["--out", out, "--capture", "G1-G2:backwards"]));
    insta::assert_snapshot!(report(&["--out", out, "--capture", "G1-G2", "--capture-replication", "99"]));
}

#[test]
fn out_that_cannot_be_written_fails_before_the_run() {
    // A file where the directory should be: nobody can write there, whatever their rights.
    let file = scratch("unwritable").join("file");
    fs::write(&file, "").expect("the file can be made");
    let out = file.join("results");
    let output = run(&["run", "thesis/simulation-2", "--out", out.to_str().expect("the path is text")]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "", "it fails before the run, not after");
    let reported = text(&output.stderr);
    let expected = format!("error: nothing can be written to the directory {}: ", out.display());
    assert!(reported.contains(&expected), "{reported}");
    assert_eq!(reported.matches("os error").count(), 1, "the reason stands there once: {reported}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    for arguments in [&["list"][..], &["list", "elm"], &["run", "fixed.toml"], &["run", "--help"]] {
        let (reader, writer) = std::io::pipe().expect("there are pipes");
        drop(reader);
        let output = layercast(arguments).stdout(writer).output().expect("the program starts");
        assert_eq!(text(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_failure() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has /dev/full");
    let output = layercast(&["list"]).stdout(full).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: the output could not be written: "));
}

#[test]
fn a_design_is_two_tables_and_an_error() {
    insta::assert_snapshot!(seen(&["design", "flid", "--layers", "6", "--by", "hill-climbing"]));
}

#[test]
fn a_design_leaves_two_files_and_names_them() {
    let directory = scratch("design");
    let out = directory.to_str().expect("a path in UTF-8");
    let output = run(&["design", "flid", "--above", "1 Mbit/s", "--rtt", "50 ms", "--out", out]);
    assert!(output.status.success(), "{output:?}");
    let reported = text(&output.stdout);
    for name in ["design.json", "design.svg"] {
        assert!(reported.contains(directory.join(name).to_str().expect("a path in UTF-8")), "{reported}");
    }
    let json = fs::read_to_string(directory.join("design.json")).expect("the numbers are there");
    let json: serde_json::Value = serde_json::from_str(&json).expect("they are JSON");
    let levels = json["levels"].as_array().expect("levels");
    assert_eq!((levels.len(), &json["rtt_s"]), (16, &serde_json::json!(0.05)));
    assert_eq!(levels[15]["rise"], 0.0);
    let svg = fs::read_to_string(directory.join("design.svg")).expect("the picture is there");
    assert!(svg.contains("TCP at 50 ms"));
}

#[test]
fn a_design_climbs_by_its_objective() {
    insta::assert_snapshot!(seen(&[
        "design",
        "flid",
        "--layers",
        "6",
        "--by",
        "hill-climbing",
        "--objective",
        "absolute"
    ]));
    insta::assert_snapshot!(seen(&["design", "flid", "--objective", "squares"]));
}

#[test]
fn a_design_for_synchronised_joins_chooses_an_interval() {
    insta::assert_snapshot!(seen(&["design", "wei-zhang", "--rtt", "44 ms", "--share", "1875 kbit/s"]));
    insta::assert_snapshot!(seen(&["design", "wei-zhang", "--share", "2 Mbit/s", "--fastest", "1 Mbit/s"]));
    let directory = scratch("design-wei-zhang");
    let out = directory.to_str().expect("a path in UTF-8");
    let output = run(&[
        "design",
        "wei-zhang",
        "--share",
        "2 Mbit/s",
        "--structure",
        "exponential",
        "--packets",
        "4",
        "--out",
        out,
    ]);
    assert!(output.status.success(), "{output:?}");
    let json = fs::read_to_string(directory.join("design.json")).expect("the numbers are there");
    let json: serde_json::Value = serde_json::from_str(&json).expect("they are JSON");
    assert_eq!((&json["structure"], &json["chosen"]["packets"]), (&"exponential".into(), &4.into()));
    // K' of eq. 22 with half of the time on the upper level, m = 4.
    let scale = json["chosen"]["scale"].as_f64().expect("K'");
    assert!((scale - 3.0_f64.sqrt()).abs() < 1e-12, "{scale}");
    let svg = fs::read_to_string(directory.join("design.svg")).expect("the picture is there");
    assert!(svg.contains("exponential layers, mean"));
}

#[test]
fn what_cannot_be_designed_is_reported() {
    insta::assert_snapshot!(seen(&["design", "flid", "--slot", "100 ms"]));
    insta::assert_snapshot!(seen(&["design", "flid", "--factor", "0.9"]));
    insta::assert_snapshot!(seen(&["design", "flid", "--rates", "20 kbit/s,10 kbit/s"]));
}

/// A scenario with a warning, in a file of its own.
fn doubtful(name: &str) -> PathBuf {
    let file = scratch(name).join("doubtful.toml");
    let text = "name = \"doubtful\"\nduration = \"1 s\"\n[links]\nA-B = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n\
                B-C = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n\
                [flows]\nu = { protocol = \"udp\", from = \"A\", to = \"B\", rate = \"1 kbit/s\" }\n";
    fs::write(&file, text).expect("the file can be written");
    file
}

#[test]
fn warnings_are_printed_and_can_be_denied() {
    let file = doubtful("warnings");
    let name = file.to_str().expect("the path is text");
    let out = scratch("denied").join("out");
    let out = out.to_str().expect("the path is text");
    let warning =
        "doubtful.toml:5: link B-C: no session and no flow uses it, nor the node C [unused]\n  = help: ";
    let checked = run(&["check", name]);
    assert!(text(&checked.stdout).contains(warning), "{checked:?}");
    assert_eq!((checked.status.code(), text(&checked.stderr)), (Some(0), String::new()));
    let commands: [&[&str]; 4] = [
        &["check", name],
        &["run", name, "--out", out],
        &["sweep", name, "--vary", "series_bin=1s,2s", "--out", out],
        &["compare", "thesis/simulation-2", "--protocols", "elm, rlc", "--replications", "2", "--out", out],
    ];
    for command in commands {
        let denied = run(&[command, &["--deny-warnings"]].concat());
        assert_eq!(denied.status.code(), Some(1), "{command:?}");
        assert!(
            text(&denied.stderr).contains("--deny-warnings makes an error; nothing was run"),
            "{denied:?}"
        );
        assert!(!Path::new(out).exists(), "{command:?} has made its directory");
    }
    let ran = run(&["run", name, "--out", out]);
    assert_eq!(text(&ran.stderr).matches("warning: ").count(), 1, "{ran:?}");
    let report = fs::read_to_string(Path::new(out).join("report.html")).expect("there is a report");
    assert!(report.contains("no session and no flow uses it"), "the report has the warning");
    let swept = run(&["sweep", name, "--vary", "series_bin=1s,2s", "--out", &format!("{out}-swept")]);
    assert_eq!(text(&swept.stderr).matches("warning: ").count(), 1, "once for all cells: {swept:?}");
}
