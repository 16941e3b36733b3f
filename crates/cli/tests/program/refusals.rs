//! What the program refuses: directories of other results, queues without end, wrong flags, pipes.

use super::{run, scratch, text};
use std::fs;
use std::process::{Command, Stdio};

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
        refused(&[&send[..], &["--stream", "--rounds", "3"]].concat(), "= help: end it before by --for");
        let list = text(&run(&["list", "modes"]).stdout);
        assert!(list.contains("  not with `receive flute://...`:\n"), "{list}");
    }
}

#[test]
fn why_of_a_comparison_names_its_runs() {
    let out = scratch("why-compared").to_string_lossy().into_owned();
    let flags = ["--set", "duration=40 s", "--replications", "1", "--out", &out];
    let compared = run(&[&["compare", "thesis/simulation-2", "--protocols", "elm,rlc"], &flags[..]].concat());
    assert_eq!(compared.status.code(), Some(0), "{compared:?}");
    let asked = run(&["why", &out, "elm@R1"]);
    assert_eq!(asked.status.code(), Some(2));
    let reported = text(&asked.stderr);
    assert!(reported.contains("holds a comparison, not the results of one run"), "{reported}");
    let named = format!("`layercast why {out}/elm RECEIVER`");
    assert!(reported.contains(&named), "{reported}");
    assert_eq!(run(&["why", &format!("{out}/elm"), "elm@R1"]).status.code(), Some(0));
}

#[test]
#[cfg(unix)]
fn two_runs_do_not_write_to_one_directory() {
    let out = scratch("claimed");
    // It has the lock, as another run would, until its input ends.
    let holder = Command::new("flock").arg(&out).arg("cat").stdin(Stdio::piped()).spawn();
    let Ok(mut holder) = holder else { return };
    let path = out.to_string_lossy().into_owned();
    let second = || run(&["run", "fixed.toml", "--replications", "1", "--out", &path]);
    let mut refused = second();
    // The other one may not have the lock yet.
    for _ in 0..100 {
        if refused.status.code() == Some(2) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        refused = second();
    }
    let reported = text(&refused.stderr);
    assert!(reported.contains("another process writes its results to"), "{refused:?}");
    drop(holder.stdin.take());
    holder.wait().expect("it ends");
    assert_eq!(second().status.code(), Some(0));
}

#[test]
fn names_and_units_of_other_programs_are_answered_with_ours() {
    let check = |set: &str| text(&run(&["check", "thesis/simulation-2", "--set", set]).stderr);
    for (set, meant) in [
        ("link.G2-R1.rate=2 Mbps", "did you mean `2 Mbit/s`?"),
        ("link.G2-R1.delay=20 msec", "did you mean `20 ms`?"),
        ("link.G2-R1.loss=5%", "did you mean `0.05`?"),
        ("flow.tcp.protocol=cubic", "did you mean `tcp-cubic`?"),
        ("flow.tcp.min_rto=200 msec", "did you mean `200 ms`?"),
    ] {
        let reported = check(set);
        assert!(reported.contains(meant), "{set}: {reported}");
    }
    let compared = text(&run(&["compare", "thesis/simulation-2", "--protocols", "elmm,rlc"]).stderr);
    assert!(compared.contains("did you mean `elm`?"), "{compared}");
}

/// Many receivers on paths of their own.
fn crowd() -> String {
    let file = scratch("crowd").join("crowd.toml");
    let scenario = "name = \"crowd\"\nduration = \"10 s\"\nreplications = 1\n\
                    [defaults.link]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
                    [links]\nS-G = { rate = \"100 Mbit/s\" }\n\
                    [[for]]\neach = { site = \"01..30\" }\nlinks.\"G-R{site}\" = {}\n\
                    [sessions.m]\nprotocol = \"elm\"\nsource = \"S\"\nreceivers = \"R*\"\n\
                    layers = { scheme = \"doubling\", base = \"64 kbit/s\", count = 4 }\n";
    fs::write(&file, scenario).expect("the file can be written");
    file.to_string_lossy().into_owned()
}

#[test]
fn many_receivers_are_a_row_and_values_have_a_line_each() {
    let file = crowd();
    let table = run(&["run", &file]);
    assert_eq!(table.status.code(), Some(0), "{table:?}");
    let printed = text(&table.stdout);
    assert!(printed.lines().any(|line| line.starts_with("m × 30 ")), "{printed}");
    assert!(printed.contains("(m@R") && printed.lines().count() < 20, "{printed}");

    let out = scratch("crowd-out").to_string_lossy().into_owned();
    let values = run(&["run", &file, "--csv", "--out", &out]);
    assert_eq!(values.status.code(), Some(0), "{values:?}");
    let (printed, named) = (text(&values.stdout), text(&values.stderr));
    let mut lines = printed.lines();
    assert_eq!(lines.next(), Some("from_s,to_s,kind,name,metric,mean,ci95,replications"));
    let rates: Vec<&str> =
        lines.clone().filter(|line| line.contains(",flow,") && line.contains(",throughput_kbps,")).collect();
    assert_eq!(rates.len(), 30, "{printed}");
    assert!(
        rates[0].starts_with("0.0,10.0,flow,m@R01,") || rates[0].starts_with("0,10,flow,m@R01,"),
        "{}",
        rates[0]
    );
    assert!(lines.all(|line| line.split(',').count() == 8), "{printed}");
    assert!(named.contains("Report") && !printed.contains("Report"), "{named}");

    let compared = run(&["compare", &file, "--protocols", "elm,rlc", "--csv"]);
    let compared = text(&compared.stdout);
    assert!(compared.starts_with("protocol,from_s,"), "{compared}");
    assert!(
        compared.lines().any(|line| line.starts_with("rlc,0,10,flow,m@R30,throughput_kbps,")),
        "{compared}"
    );
    let swept = run(&[
        "sweep",
        &file,
        "--vary",
        "link.S-G.delay=5ms,50ms",
        "--csv",
        "--out",
        &format!("{out}/sweep"),
    ]);
    let swept = text(&swept.stdout);
    assert!(swept.starts_with("link.S-G.delay,from_s,"), "{swept}");
    assert!(swept.lines().any(|line| line.starts_with("50ms,0,10,flow,m@R30,throughput_kbps,")), "{swept}");
}

#[test]
fn self_loops_of_a_topology_are_warned_of_and_its_keys_can_be_set_and_varied() {
    let folder = scratch("topology");
    let graph = "<graphml><key id=\"l\" for=\"node\" attr.name=\"label\"/><graph>\
                 <node id=\"1\"><data key=\"l\">Zürich</data></node><node id=\"2\"><data key=\"l\">Łódź</data></node>\
                 <edge source=\"1\" target=\"2\"/><edge source=\"2\" target=\"1\"/><edge source=\"1\" target=\"1\"/>\
                 </graph></graphml>";
    fs::write(folder.join("net.graphml"), graph).expect("the file can be written");
    let scenario = "name = \"zoo\"\nduration = \"5 s\"\nreplications = 1\n[topology]\ngraphml = \"net.graphml\"\n\
                    [defaults.link]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
                    [flows]\nt = { protocol = \"tcp-cubic\", from = \"Zurich\", to = \"Lodz\" }\n";
    let file = folder.join("zoo.toml");
    fs::write(&file, scenario).expect("the file can be written");
    let file = file.to_string_lossy().into_owned();
    let refused = text(&run(&["check", &file]).stderr);
    assert!(refused.contains("several edges") && !refused.contains("itself"), "{refused}");
    let checked = run(&["check", &file, "--set", "topology.parallel=fastest"]);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    let printed = text(&checked.stdout);
    assert!(printed.contains("1 edge of the file leads from a node to itself"), "{printed}");
    assert!(printed.contains("at Zurich [self-loop]"), "{printed}");
    let wrong = text(&run(&["check", &file, "--set", "topology.parallel=fastst"]).stderr);
    assert!(wrong.contains("--> --set:1:") && wrong.contains("\"fastest\""), "{wrong}");
    let out = folder.join("sweep").to_string_lossy().into_owned();
    let swept = run(&["sweep", &file, "--vary", "topology.parallel=fastest,sum", "--out", &out]);
    assert_eq!(swept.status.code(), Some(0), "{swept:?}");
    assert!(text(&swept.stdout).contains("topology.parallel"), "{swept:?}");
}
