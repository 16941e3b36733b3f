use layercast_laboratory::scenario::{self, Catalogue, catalogue};
use layercast_laboratory::sweep::{Measured, Part, PartWindow};
use layercast_protocols::registry::Registry;

use super::experiment::Experiment;
use super::measure::{Unit, matches, rows};
use super::rhythm::Rhythm;
use super::{list, page};

fn overrides(name: &str, rhythm: Rhythm) -> Vec<String> {
    let entry = catalogue::find(name).expect("a built-in scenario");
    let plan = scenario::read(entry.name, entry.text, &[], &Catalogue::of::<Registry>());
    rhythm.overrides(&plan.expect("it is valid"))
}

#[test]
fn each_bottleneck_moves_by_its_own_packet_time() {
    let sets = overrides("thesis/simulation-3-elm", Rhythm::Plain(3));
    // A packet of 1000 bytes takes 2666.7, 1333.3 and 666.7 us; three eighths of that.
    for expected in [
        "flow.tcp.overhead=0 s",
        "session.elm.dither=0",
        "link.G2-R1.delay=11000000 ns",
        "link.G2-R2.delay=10500000 ns",
        "link.G3-R3.delay=10250000 ns",
        "link.G2-R1.delay_backward=10000000 ns",
    ] {
        assert!(sets.iter().any(|set| set == expected), "no {expected} in {sets:?}");
    }
    assert_eq!(sets.len(), 2 + 2 * 3);
}

#[test]
fn jitter_is_of_tcps_and_of_sources() {
    let both = ["flow.tcp.overhead=automatic", "session.elm.dither=0.5"];
    let jittered = overrides("thesis/simulation-3-elm", Rhythm::Jittered(1));
    assert!(jittered.starts_with(&both.map(str::to_owned)) && jittered.len() == 2 + 2 * 3, "{jittered:?}");
    assert_eq!(overrides("thesis/simulation-3-elm", Rhythm::Waits), [both[0], "session.elm.dither=0"]);
    assert_eq!(overrides("thesis/simulation-3-elm", Rhythm::Dither), ["flow.tcp.overhead=0 s", both[1]]);
    let together = overrides("thesis/simulation-3-elm", Rhythm::Together(1));
    let begin = [both[0], "session.elm.dither=0", "session.elm.layers.phases=together"];
    assert!(together.starts_with(&begin.map(str::to_owned)) && together.len() == 3 + 2 * 3, "{together:?}");
}

#[test]
fn every_experiment_is_a_valid_scenario_with_a_directory_of_its_own() {
    let mut directories = std::collections::BTreeSet::new();
    for experiment in list::all() {
        let entry = catalogue::find(experiment.scenario).expect("a built-in scenario");
        let known = Catalogue::of::<Registry>();
        let plan = scenario::read(entry.name, entry.text, &experiment.set, &known);
        let plan = plan.unwrap_or_else(|errors| panic!("{}: {errors}", experiment.name));
        for rhythm in Rhythm::all() {
            let sets = [experiment.set.clone(), rhythm.overrides(&plan)].concat();
            let changed = scenario::read(entry.name, entry.text, &sets, &known);
            assert!(changed.is_ok(), "{}, {}: {changed:?}", experiment.name, rhythm.name());
        }
        assert!(directories.insert(experiment.directory()), "{}", experiment.directory());
        assert!(
            Rhythm::Plain(1).overrides(&plan).iter().any(|set| set.contains(".delay=")),
            "{}",
            experiment.name
        );
    }
}

#[test]
fn patterns_match_whole_names() {
    for (pattern, name, is) in [
        ("elm@R1", "elm@R1", true),
        ("elm@R1", "elm@R11", false),
        ("tcp-*@R1", "tcp-4@R1", true),
        ("tcp-*@R1", "tcp-4@R11", false),
        ("m*@R*", "m1@R3", true),
        ("m*@R*", "t1@R3", false),
    ] {
        assert_eq!(matches(pattern, name), is, "{pattern} {name}");
    }
}

fn part(elm: f64, tcp: [f64; 2]) -> Part {
    let flow = |name: &str, kbps: f64| Measured {
        name: name.to_owned(),
        values: [("throughput_kbps".to_owned(), Some(kbps)), ("loss_rate".to_owned(), Some(0.02))].into(),
    };
    let flows = vec![flow("elm@R1", elm), flow("tcp-1@R1", tcp[0]), flow("tcp-2@R1", tcp[1])];
    let window = PartWindow { flows, groups: Vec::new(), links: Vec::new() };
    Part { schema: 1, scenario_hash: String::new(), replication: 0, windows: vec![window] }
}

#[test]
fn the_plain_reading_is_a_mean_over_phases_with_their_range() {
    let experiment = Experiment::new("thesis/simulation-3-elm").row("R1", "elm@R1", Some("tcp-*@R1"));
    let phases = [(0, 100.0), (1, 500.0)].map(|(phase, kbps)| {
        (Rhythm::Plain(phase), vec![part(kbps, [900.0, 1100.0]), part(kbps, [1000.0, 1000.0])])
    });
    let jittered = [(0, 400.0), (1, 600.0)]
        .map(|(phase, kbps)| (Rhythm::Jittered(phase), vec![part(kbps, [1000.0, 1000.0])]));
    let together =
        [(0, 900.0)].map(|(phase, kbps)| (Rhythm::Together(phase), vec![part(kbps, [1000.0, 1000.0])]));
    let rows = rows(&experiment, &[&phases[..], &jittered, &together].concat());
    let units: Vec<Unit> = rows.iter().map(|row| row.unit).collect();
    assert_eq!(units, [Unit::OfTcp, Unit::LossPercent, Unit::TcpLossPercent]);
    let plain = rows[0].plain().expect("both phases have values");
    assert!((plain.mean - 0.3).abs() < 1e-12 && (plain.least, plain.most) == (0.1, 0.5), "{plain:?}");
    let table = page::table(&[(experiment, rows)]);
    let line =
        "| thesis/simulation-3-elm | R1 | 0.300 (0.100–0.500) | 0.500 (0.400–0.600) | 0.900 (0.900–0.900) |";
    assert!(table.contains(line), "{table}");
    let page = "# Readings\n<!-- readings -->\nold\n<!-- end of readings -->\nend\n";
    let written = page::with_table(page, &table).expect("it has the marks");
    assert!(written.contains(&table) && !written.contains("old") && written.ends_with("end\n"));
    assert_eq!(page::with_table("# No marks\n", &table), None);
}

#[test]
fn an_index_is_of_flows_in_windows_of_their_own() {
    let mut both = part(400.0, [400.0, 400.0]);
    let mut burst = part(400.0, [400.0, 0.0]).windows;
    burst[0].flows.retain(|flow| flow.name.starts_with("tcp"));
    both.windows.extend(burst);
    let experiment = Experiment::new("thesis/simulation-5")
        .index("three", &[("elm@R1", 0), ("tcp-*@R1", 0)])
        .index("five", &[("elm@R1 tcp-*@R1", 0), ("tcp-*@R1", 1)])
        .index("none", &[("tcp-*@R1", 2)]);
    let rows = rows(&experiment, &[(Rhythm::Plain(0), vec![both])]);
    let indices: Vec<Option<f64>> = rows.iter().map(|row| row.samples[0].1.0[0]).collect();
    // Of n flows that are equal but for one of nothing it is (n - 1) / n.
    assert_eq!(indices, [Some(1.0), Some(0.8), None]);
    assert!(rows.iter().all(|row| row.unit == Unit::Index));
    let table = page::table(&[(experiment, rows)]);
    assert!(table.contains("| thesis/simulation-5 | three | 1.00 (1.00–1.00) |"), "{table}");
}
