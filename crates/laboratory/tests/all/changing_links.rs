//! Links that change, from the scenario file to the summary.

use crate::running::{root, run_text, run_with_jobs};
use layercast_laboratory::results::{LinkMeasures, Replication};

/// One TCP over a link that is given, in three windows.
fn scenario(link: &str) -> String {
    format!(
        r#"
name = "A link that changes"
duration = "60 s"
replications = 2
windows = [["10 s", "30 s"], ["40 s", "60 s"], ["0 s", "end"]]

[links]
S-G = {{ rate = "100 Mbit/s", delay = "5 ms" }}
G-R = {{ {link}, queue = {{ limit = "40 packets" }} }}

[flows.tcp]
protocol = "tcp-sack"
profile = "ns2"
from = "S"
to = "R"
window = 100
start = {{ uniform = ["0 s", "1 s"] }}
"#
    )
}

/// Runs it as a file of the project's root, where paths of traces begin.
fn replications(link: &str) -> Vec<Replication> {
    let name = root().join("test.toml");
    run_text(name.to_str().unwrap(), &scenario(link), &[]).outcome.replications
}

/// What one replication says of the changing link in a window.
fn window(replications: &[Replication], window: usize) -> (&LinkMeasures, f64) {
    let window = &replications[0].windows[window];
    (&window.links[2], window.flows[0].throughput_kbps)
}

#[test]
fn utilisation_is_over_what_the_link_could_carry() {
    let ran = replications(
        r#"rate = "4 Mbit/s", delay = "10 ms", changes = [{ at = "30 s", rate = "1 Mbit/s" }, { at = "60 s", rate = "9 Mbit/s" }]"#,
    );
    // The queue is never empty once the window has reached it.
    for (index, kbps) in [(0, 4000.0), (1, 1000.0)] {
        let (link, throughput) = window(&ran, index);
        assert!((throughput / kbps - 1.0).abs() < 0.02, "{throughput} of {kbps}");
        assert!((link.utilisation - 1.0).abs() < 0.02, "{link:?}");
    }
    // All of it but the start, of 30 s at either rate; by the first rate alone it would be 0.63.
    let (link, _) = window(&ran, 2);
    assert!((0.95..=1.001).contains(&link.utilisation), "{link:?}");
}

#[test]
fn a_link_that_is_down_has_no_utilisation() {
    let ran = replications(r#"rate = "4 Mbit/s", delay = "10 ms", down = [["9 s", "31 s"]]"#);
    let (link, throughput) = window(&ran, 0);
    assert!(link.utilisation.is_nan() && throughput == 0.0, "{link:?} {throughput}");
    assert!(link.drops > 0, "what is sent in vain counts as lost");
    // Timeouts have backed off to some ten seconds at most when it is up again.
    let (_, throughput) = window(&ran, 1);
    assert!(throughput > 2000.0, "{throughput}");
}

#[test]
fn a_trace_is_filled_as_a_link_of_its_rate() {
    // Five opportunities in 10 ms, 6 Mbit/s, at uneven distances.
    let ran = replications(r#"trace = "fixtures/traces/small.down", rate = "6 Mbit/s", delay = "10 ms""#);
    for index in [0, 1] {
        let (link, throughput) = window(&ran, index);
        assert!((throughput / 6000.0 - 1.0).abs() < 0.02, "{throughput}");
        assert!((link.utilisation - 1.0).abs() < 0.02, "{link:?}");
    }
}

#[test]
fn results_depend_on_files_and_not_on_the_number_of_threads() {
    let folder = std::env::temp_dir().join(format!("layercast-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let name = folder.join("test.toml");
    let text = scenario(r#"trace = "cell", rate = "6 Mbit/s", delay = { uniform = ["1 ms", "9 ms"] }"#);
    let run = |trace: &str, jobs| {
        std::fs::write(folder.join("cell"), trace).unwrap();
        run_with_jobs(name.to_str().unwrap(), &text, &[], jobs).summary.without_engine()
    };
    let summaries = [run("1\n2\n9\n", 1), run("1\n2\n9\n", 2), run("1\n3\n9\n", 2)];
    let text = scenario(r#"rates = "cell", rate = "6 Mbit/s", delay = "9 ms""#);
    let hash = |rates: &str| {
        std::fs::write(folder.join("cell"), rates).unwrap();
        run_text(name.to_str().unwrap(), &text, &[]).summary.scenario_hash
    };
    let hashes = [hash("1 s 2 Mbit/s"), hash("1 s 2 Mbit/s\n"), hash("1 s 3 Mbit/s")];
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(hashes[0] == hashes[1] && hashes[1] != hashes[2], "{hashes:?}");
    assert_eq!(summaries[0].to_json(), summaries[1].to_json());
    assert_ne!(summaries[0].scenario_hash, summaries[2].scenario_hash, "the text is the same");
}
