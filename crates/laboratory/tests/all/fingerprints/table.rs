//! The text of `goldens/fingerprints.txt`: a line for each scenario, below it one for each flow and window, and one for
//! each link.
//!
//! ```text
//! SCENARIO  SEED  DURATION  HASH  HOPS  EVENTS
//!   FLOW: MEASURE=MEAN MEASURE=MEAN ...
//!   FLOW 30-60 s: MEASURE=MEAN ...
//!   link NODE-NODE: MEASURE=MEAN ...
//! ```
//!
//! The hash guards everything; these lines say what has changed. What is zero or undefined is not written, apart from a
//! flow's throughput, loss rate and level, nor is a link with nothing but packets and load.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use layercast_laboratory::results::Summary;
use layercast_laboratory::results::statistics::mean;
use layercast_laboratory::results::summary::{FlowStatistics, FlowSummary, LinkSummary};

/// A window with more flows than this has lines for the first few of them and a line of means over all. So have links.
const ROWS_MAX: usize = 100;
const FIRST_ROWS: usize = 10;

/// A flow or a link, and its measures.
type Row = (String, Vec<(&'static str, f64)>);

/// The lines of all flows of a run, in the main window and then in the further ones, and those of links.
pub(crate) fn lines(summary: &Summary) -> String {
    let main = summary.flows.iter().map(|flow| (flow.name.clone(), means(&flow.measures)));
    let mut text = rows("flows", &main.collect::<Vec<_>>());
    for window in &summary.windows {
        let [from, to] = window.window_s;
        let row = |flow: &FlowSummary| (format!("{} {from}-{to} s", flow.name), means(&flow.measures));
        let mut flows: Vec<Row> = window.flows.iter().map(row).collect();
        flows.sort_by(|one, other| one.0.cmp(&other.0));
        text += &rows(&format!("flows {from}-{to} s"), &flows);
    }
    let links = summary.links.iter().map(|link| (format!("link {}", link.name), link_means(link)));
    let does =
        |(_, means): &Row| means.iter().any(|(name, mean)| ["drops", "marks"].contains(name) && *mean > 0.0);
    text + &rows("links", &links.filter(does).collect::<Vec<_>>())
}

fn rows(what: &str, rows: &[Row]) -> String {
    let mut text = String::new();
    let mut line = |name: &str, values: &[(&str, f64)]| {
        let values: Vec<String> = values
            .iter()
            .map(|(measure, mean)| (measure, rounded(*mean)))
            .filter(|(measure, mean)| *mean != 0.0 || MEASURES.contains(measure))
            .map(|(measure, mean)| format!("{measure}={mean}"))
            .collect();
        let _ = writeln!(text, "  {name}: {}", values.join(" "));
    };
    let shown = if rows.len() > ROWS_MAX { FIRST_ROWS } else { rows.len() };
    for (name, means) in &rows[..shown] {
        line(name, means);
    }
    if shown < rows.len() {
        let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (measure, value) in rows.iter().flat_map(|(_, means)| means) {
            all.entry(*measure).or_default().push(*value);
        }
        let all: Vec<_> = all.into_iter().filter_map(|(name, values)| Some((name, mean(&values)?))).collect();
        line(&format!("mean of {} {what}", rows.len()), &all);
    }
    text
}

/// Those that are always written.
const MEASURES: [&str; 3] = ["throughput_kbps", "loss_rate", "mean_level"];

/// The means of a flow's measures, without those that are undefined.
fn means(flow: &FlowStatistics) -> Vec<(&'static str, f64)> {
    let [throughput, loss, level] = MEASURES;
    let own = [
        (throughput, flow.throughput_kbps.mean),
        (loss, flow.loss_rate.mean),
        (level, flow.mean_level.as_ref().and_then(|level| level.mean)),
        ("lost_packets", flow.lost_packets.as_ref().and_then(|lost| lost.mean)),
        ("late_kbps", flow.late_kbps.as_ref().and_then(|late| late.mean)),
    ];
    let moved =
        flow.movement.clone().into_iter().flat_map(layercast_laboratory::results::movement::Movement::named);
    let moved = moved.map(|(name, statistic)| (name, statistic.mean));
    own.into_iter().chain(moved).filter_map(|(name, mean)| Some((name, mean?))).collect()
}

/// The means of a link's measures, without those that are undefined.
fn link_means(link: &LinkSummary) -> Vec<(&'static str, f64)> {
    let own = [
        ("packets", link.packets.as_ref()),
        ("drops", Some(&link.drops)),
        ("losses", link.losses.as_ref()),
        ("marks", Some(&link.marks)),
        ("queue_delay_ms", link.queue_delay_ms.as_ref()),
        ("queue_delay_p95_ms", link.queue_delay_p95_ms.as_ref()),
        ("queue_delay_p99_ms", link.queue_delay_p99_ms.as_ref()),
    ];
    own.into_iter().filter_map(|(name, statistic)| Some((name, statistic?.mean?))).collect()
}

/// A number with four significant digits, more than a reviewer needs and too few for the last bits to show.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The events of a scenario, as stored.
pub(crate) fn events(golden: &str, scenario: &str) -> Option<u64> {
    let line = golden.lines().find(|line| line.split(' ').next() == Some(scenario))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// A text without the scenarios that are not to `stay`.
pub(crate) fn only(golden: &str, stay: impl Fn(&str) -> bool) -> String {
    let mut stays = true;
    let lines = golden.split_inclusive('\n').filter(|line| {
        if !line.starts_with(['#', ' ']) {
            stays = stay(line.split(' ').next().unwrap_or_default());
        }
        stays
    });
    lines.collect()
}

/// What differs between the stored text and the one found, a sentence for each value.
pub(crate) fn differences(golden: &str, found: &str) -> Vec<String> {
    let (was, is) = (parse(golden), parse(found));
    let mut sentences = Vec::new();
    let names = was.keys().chain(is.keys().filter(|name| !was.contains_key(*name)));
    for name in names {
        match (was.get(name), is.get(name)) {
            (Some(was), Some(is)) => compare(name, was, is, &mut sentences),
            (Some(_), None) => sentences.push(format!("{name} is no longer there")),
            (None, _) => sentences.push(format!("{name} is not in the stored text yet")),
        }
    }
    if sentences.is_empty() && golden != found {
        sentences.push("only the order, the spaces or the comments differ".to_owned());
    }
    sentences
}

/// The values of a scenario's line (key "") and of its flows, by name.
type Values<'a> = BTreeMap<&'a str, Vec<(&'a str, &'a str)>>;

/// The columns of a scenario's line, after its name.
const COLUMNS: [&str; 6] = ["seed", "duration", "unit of duration", "hash", "packet hops", "events"];

fn parse(text: &str) -> BTreeMap<&str, Values<'_>> {
    let mut scenarios: BTreeMap<&str, Values<'_>> = BTreeMap::new();
    let mut current = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(flow) = line.strip_prefix("  ") {
            let (name, values) = flow.split_once(": ").unwrap_or((flow, ""));
            let values = values.split_whitespace().filter_map(|word| word.split_once('=')).collect();
            scenarios.entry(current).or_default().insert(name, values);
        } else {
            let mut words = line.split_whitespace();
            current = words.next().unwrap_or("");
            scenarios.entry(current).or_default().insert("", COLUMNS.into_iter().zip(words).collect());
        }
    }
    scenarios
}

fn compare(scenario: &str, was: &Values<'_>, is: &Values<'_>, sentences: &mut Vec<String>) {
    let before = sentences.len();
    let names = was.keys().chain(is.keys().filter(|name| !was.contains_key(*name)));
    for &name in names {
        let place = match name {
            "" => scenario.to_owned(),
            link if link.starts_with("link ") => format!("{scenario}, {link}"),
            flow => format!("{scenario}, flow {flow}"),
        };
        match (was.get(name), is.get(name)) {
            (Some(was), Some(is)) => compare_values(&place, was, is, sentences),
            (Some(_), None) => sentences.push(format!("{place} is no longer there")),
            (None, _) => sentences.push(format!("{place} is not in the stored text yet")),
        }
    }
    let of_row = |sentence: &String| sentence.contains(", flow ") || sentence.contains(", link ");
    if sentences.len() > before && !sentences[before..].iter().any(of_row) {
        sentences.push(format!("{scenario}: no mean of a flow or link differs in its first four digits"));
    }
}

fn compare_values(place: &str, was: &[(&str, &str)], is: &[(&str, &str)], sentences: &mut Vec<String>) {
    let value = |of: &[(&str, &str)], name: &str| {
        let found = of.iter().find(|(other, _)| *other == name);
        found.map_or("zero or undefined".to_owned(), |(_, value)| (*value).to_owned())
    };
    let names = was.iter().chain(is.iter().filter(|(name, _)| was.iter().all(|(other, _)| other != name)));
    for (name, _) in names {
        let (was, is) = (value(was, name), value(is, name));
        if was != is {
            sentences.push(format!("{place}: {name} was {was}, is {is}"));
        }
    }
}

#[test]
fn a_difference_names_scenario_flow_measure_and_both_values() {
    let golden = "# a comment\n\
                  elm/a   1   60 s  00ff   10   20\n  \
                    elm@r1: throughput_kbps=100.5 loss_rate=0\n  \
                    elm@r1 30-60 s: throughput_kbps=99\n  \
                    link A-B: drops=3\n\
                  elm/gone  1  60 s  00  1  2\n";
    let found = "# a comment\n\
                 elm/a   1   60 s  00fe   10   20\n  \
                   elm@r1: throughput_kbps=101 loss_rate=0 late_kbps=0.5\n  \
                   tcp@r2: throughput_kbps=1\n  \
                   link A-B: drops=4\n\
                 elm/new  1  60 s  00  1  2\n";
    assert_eq!(
        differences(golden, found),
        [
            "elm/a: hash was 00ff, is 00fe",
            "elm/a, flow elm@r1: throughput_kbps was 100.5, is 101",
            "elm/a, flow elm@r1: late_kbps was zero or undefined, is 0.5",
            "elm/a, flow elm@r1 30-60 s is no longer there",
            "elm/a, link A-B: drops was 3, is 4",
            "elm/a, flow tcp@r2 is not in the stored text yet",
            "elm/gone is no longer there",
            "elm/new is not in the stored text yet",
        ]
    );
    let other_hash = golden.replace("00ff", "00fe");
    assert_eq!(
        differences(golden, &other_hash),
        [
            "elm/a: hash was 00ff, is 00fe",
            "elm/a: no mean of a flow or link differs in its first four digits",
        ]
    );
    assert!(differences(golden, golden).is_empty());
    assert_eq!(differences(golden, &golden.replace("comment", "remark")).len(), 1);
}

#[test]
fn a_part_of_the_scenarios_is_compared_by_itself() {
    let golden = "# a comment\nelm/a   1   60 s  00ff   10   20\n  elm@r1: loss_rate=0\n\
                  elm/b   1   60 s  00fe   10   7000000\n  elm@r1: loss_rate=1\n";
    assert_eq!(
        [events(golden, "elm/a"), events(golden, "elm/b"), events(golden, "elm")],
        [Some(20), Some(7_000_000), None]
    );
    let part = only(golden, |name| name != "elm/b");
    assert_eq!(part, "# a comment\nelm/a   1   60 s  00ff   10   20\n  elm@r1: loss_rate=0\n");
    assert_eq!(only(golden, |_| true), golden);
}

#[test]
fn numbers_have_four_digits() {
    assert_eq!(
        [123.456, 0.000_123_456, 0.0, 98_765.4, -1.0].map(rounded),
        [123.5, 0.000_123_5, 0.0, 98_770.0, -1.0]
    );
}
