//! Each lint fires on what it is about, and only then.

use layercast_protocols::registry::Registry;
use layercast_simulator::QueueKind;

use super::{ALL, after, before, emulated, markdown, render};
use crate::results::{Finding, LinkInfo, LinkMeasures, Replication, WindowMeasures};
use crate::scenario::catalogue::BUILT_IN;
use crate::scenario::{Catalogue, Scenario, read};

/// A scenario without a doubt.
const QUIET: &str = r#"name = "quiet"
duration = "60 s"
replications = 5

[defaults.link]
rate = "100 Mbit/s"
delay = "5 ms"
queue = { limit = "200 packets" }

[links]
S-G = {}
G-R = { rate = "10 Mbit/s" }

[sessions.m]
protocol = "elm"
source = "S"
receivers = ["R"]
layers = { scheme = "doubling", base = "128 kbit/s", count = 5 }

[flows.tcp]
protocol = "tcp-sack"
from = "S"
to = "R"
window = 1000

[defaults.flow]
packet_size = "1000 bytes"
ack_size = "40 bytes"
overhead = "0 s"
"#;

fn plan(text: &str) -> Scenario {
    read("quiet.toml", text, &[], &Catalogue::of::<Registry>()).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The findings of the quiet scenario with changes.
fn found(changes: &[(&str, &str)]) -> Vec<Finding> {
    let text = changes.iter().fold(QUIET.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "the quiet scenario has {from}");
        text.replacen(from, to, 1)
    });
    before(&plan(&text), &text)
}

/// The only finding, which must be of this lint and about this subject.
fn only(changes: &[(&str, &str)], lint: &str, subject: &str) -> Finding {
    let mut found = found(changes);
    assert_eq!(found.len(), 1, "{found:#?}");
    let finding = found.remove(0);
    assert_eq!((finding.lint, finding.subject.as_str()), (lint, subject));
    finding
}

fn nothing(changes: &[(&str, &str)]) {
    assert_eq!(found(changes), []);
}

const SLOW: &str = "G-R = { rate = \"10 Mbit/s\" }";

#[test]
fn a_scenario_without_doubts_has_none() {
    nothing(&[]);
}

#[test]
fn a_base_layer_above_a_link_is_found() {
    let fast = ("base = \"128 kbit/s\", count = 5", "base = \"20 Mbit/s\", count = 1");
    let finding = only(&[fast], "base-above-link", "session m");
    assert!(
        finding.message.contains("20 Mbit/s") && finding.message.contains("G-R with 10 Mbit/s"),
        "{finding:?}"
    );
    assert_eq!(finding.line, Some(18), "the line of its layers");
    // What adapts one rate has no base layer that it must send.
    nothing(&[fast, ("\"elm\"", "\"pgmcc\"")]);
    // The one rate of what makes its own layers is that of all of them.
    nothing(&[fast, ("\"elm\"", "\"webrc\"")]);
}

#[test]
fn packets_that_no_queue_holds_are_found() {
    let queue = |limit: &str, ns2_compat: bool| {
        let queue = format!("{{ limit = \"{limit}\", ns2_compat = {ns2_compat} }}");
        format!("G-R = {{ rate = \"10 Mbit/s\", queue = {queue} }}")
    };
    for (limit, ns2_compat) in [("900 bytes", false), ("1000 bytes", true), ("1 packet", true)] {
        let found = found(&[(SLOW, &queue(limit, ns2_compat))]);
        let about: Vec<_> = found.iter().map(|finding| (finding.lint, finding.subject.as_str())).collect();
        let lint = "packet-above-queue";
        assert_eq!(about, [(lint, "session m"), (lint, "flow tcp")], "{limit}");
    }
    nothing(&[(SLOW, &queue("1001 bytes", true))]);
    nothing(&[(SLOW, &queue("1000 bytes", false))]);
}

#[test]
fn packets_above_the_mtu_are_found() {
    let finding = only(
        &[("window = 1000", "window = 1000\npacket_size = \"1501 bytes\"")],
        "packet-above-mtu",
        "flow tcp",
    );
    assert_eq!(finding.line, Some(25));
    nothing(&[("window = 1000", "window = 1000\npacket_size = \"1500 bytes\"")]);
}

#[test]
fn windows_that_limit_a_flow_are_found() {
    let fast = (SLOW, "G-R = {}");
    let small = ("window = 1000", "window = 20");
    // Half of 100 Mbit/s, since a session shares it; 20 ms and four transmissions of 80 us there and back.
    let finding = only(&[fast, small], "window-below-path", "flow tcp");
    assert!(
        finding.message.contains("allows 7.94 Mbit/s") && finding.message.contains("is 50 Mbit/s"),
        "{finding:?}"
    );
    assert!(finding.remedy.contains("window = 126"), "{finding:?}");
    assert_eq!(finding.line, Some(24));
    // The same window is enough for the share of a slower link.
    nothing(&[small]);
    // Short transfers do not fill it.
    nothing(&[fast, small, ("to = \"R\"", "to = \"R\"\nsize = \"10 kB\"\ngap = \"1 s\"")]);
}

#[test]
fn queues_that_never_drop_and_may_grow_are_found() {
    let unlimited = (SLOW, "G-R = { rate = \"10 Mbit/s\", queue = { limit = \"unlimited\" } }");
    let finding = only(&[unlimited], "unlimited-queue", "link G-R");
    assert_eq!(finding.line, Some(12));
    let udp = |rate: &str| format!("protocol = \"udp\"\nrate = \"{rate}\"");
    let udp = |rate| {
        [("protocol = \"tcp-sack\"".to_owned(), udp(rate)), ("window = 1000\n".to_owned(), String::new())]
    };
    // The layers add up to 2048 kbit/s.
    for (rate, count) in [("8 Mbit/s", 1), ("7 Mbit/s", 0)] {
        let udp = udp(rate);
        let mut changes: Vec<_> = udp.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
        changes.push(unlimited);
        assert_eq!(found(&changes).len(), count, "{rate}");
    }
    nothing(&[(SLOW, "G-R = { rate = \"10 Mbit/s\", queue = { kind = \"red\", limit = \"unlimited\" } }")]);
    // A TCP does not fill the links before its bottleneck.
    nothing(&[("S-G = {}", "S-G = { queue = { limit = \"unlimited\" } }")]);
}

/// The session may bring 2.048 Mbit/s, a user of the web 1.126 (4.24 MB in 30.13 s), a film 7.8, a download 0.8 and a
/// call 0.08: so many of each fit on 10 Mbit/s, and one more does not.
#[test]
fn traffic_of_the_library_offers_its_mean_rate() {
    let tcp = "protocol = \"tcp-sack\"\nfrom = \"S\"\nto = \"R\"\nwindow = 1000\n";
    let unlimited = (SLOW, "G-R = { rate = \"10 Mbit/s\", queue = { limit = \"unlimited\" } }");
    for (kind, fit) in [("web", 7), ("video", 1), ("download", 9), ("call", 99)] {
        let protocol = if kind == "call" { "" } else { "protocol = \"tcp-cubic\"\n" };
        let flows = |count: u32| {
            format!("traffic = \"{kind}\"\n{protocol}from = \"S\"\nto = \"R\"\ncount = {count}\n")
        };
        nothing(&[unlimited, (tcp, &flows(fit))]);
        only(&[unlimited, (tcp, &flows(fit + 1))], "unlimited-queue", "link G-R");
    }
}

#[test]
fn equal_flows_in_lockstep_are_found() {
    let four = ("to = \"R\"", "to = \"R\"\ncount = 4");
    let finding = only(&[four], "lockstep", "flow tcp");
    assert!(finding.message.starts_with("4 equal flows") && finding.message.contains("G-R"), "{finding:?}");
    assert!(finding.remedy.contains("overhead = \"800 us\""), "{finding:?}");
    nothing(&[four, ("window = 1000", "window = 1000\noverhead = \"1 ms\"")]);
    nothing(&[four, ("window = 1000", "window = 1000\noverhead = \"automatic\"")]);
    nothing(&[four, ("tcp-sack", "tcp-bbr")]);
    nothing(&[four, (SLOW, "G-R = { rate = \"10 Mbit/s\", queue = { kind = \"red\" } }")]);
    // Two tables of equal flows are as much in step as one.
    let other =
        "window = 1000\n[flows.also]\nprotocol = \"tcp-sack\"\nfrom = \"S\"\nto = \"R\"\nwindow = 1000";
    only(&[("window = 1000", other)], "lockstep", "flow tcp, also");
    nothing(&[("window = 1000", &other.replace("tcp-sack", "tcp-cubic"))]);
}

#[test]
fn tcps_of_papers_at_queues_of_today_are_found() {
    for kind in ["codel", "fq-codel", "pie", "dualpi2"] {
        let queue = format!("G-R = {{ rate = \"10 Mbit/s\", queue = {{ kind = \"{kind}\" }} }}");
        let finding =
            only(&[(SLOW, &queue), ("window", "profile = \"ns2\"\nwindow")], "paper-tcp", "flow tcp");
        assert_eq!(finding.line, Some(24), "the line of the profile");
    }
    nothing(&[(SLOW, "G-R = { rate = \"10 Mbit/s\", queue = { kind = \"red\" } }")]);
}

#[test]
fn ecn_that_nothing_comes_of_is_found() {
    let queue = |queue: &str| format!("G-R = {{ rate = \"10 Mbit/s\", queue = {{ {queue} }} }}");
    let ecn = ("window = 1000", "window = 1000\necn = true");
    let finding = only(&[ecn], "ecn-without-marks", "flow tcp");
    assert_eq!(finding.line, Some(25));
    only(&[("receivers =", "ecn = true\nreceivers =")], "ecn-without-marks", "session m");
    only(&[ecn, (SLOW, &queue("kind = \"codel\""))], "ecn-without-marks", "flow tcp");
    for marking in [
        "kind = \"codel\", ecn = true",
        "kind = \"red\", ecn = true",
        "kind = \"fq-codel\"",
        "kind = \"dualpi2\"",
    ] {
        nothing(&[ecn, (SLOW, &queue(marking))]);
    }
    let bbr = only(
        &[ecn, ("tcp-sack", "tcp-bbr"), (SLOW, &queue("kind = \"fq-codel\""))],
        "ecn-without-marks",
        "flow tcp",
    );
    assert!(bbr.message.contains("`tcp-bbr` does not answer marks"), "{bbr:?}");
}

/// The path takes 20.9 ms there and back: 5 ms on each of two links, each way, and 0.08 and 0.8 ms for the packet.
#[test]
fn flows_that_hardly_run_are_found() {
    let start = |start: &str| format!("window = 1000\nstart = \"{start}\"");
    let finding = only(&[("window = 1000", &start("59.99 s"))], "hardly-runs", "flow tcp");
    assert_eq!(finding.line, Some(25));
    assert!(finding.message.contains("start 0.010 s before its end"), "{finding:?}");
    nothing(&[("window = 1000", &start("59.7 s"))]);
    only(&[("window = 1000", "window = 1000\nstop = \"100 ms\"")], "hardly-runs", "flow tcp");
    let slow = (SLOW, "G-R = { rate = \"10 Mbit/s\", delay = \"61 s\" }");
    let found = found(&[slow, ("window = 1000", "window = 100000000")]);
    let about: Vec<_> = found.iter().map(|finding| (finding.lint, finding.subject.as_str())).collect();
    assert_eq!(about, [("hardly-runs", "session m"), ("hardly-runs", "flow tcp")]);
}

#[test]
fn outages_after_the_end_are_found() {
    let down =
        |from: &str, to: &str| format!("G-R = {{ rate = \"10 Mbit/s\", down = [[\"{from}\", \"{to}\"]] }}");
    only(&[(SLOW, &down("60 s", "70 s"))], "changes-after-end", "link G-R");
    nothing(&[(SLOW, &down("59 s", "70 s"))]);
}

#[test]
fn relays_are_of_the_emulated_world() {
    let relayed = ("receivers = [\"R\"]", "receivers = [\"R\"]\nrelays = [\"G\"]");
    let finding = only(&[relayed], "relays", "session m");
    assert_eq!(finding.line, Some(18));
    assert_eq!(emulated(vec![finding]), []);
}

#[test]
fn links_and_nodes_that_nothing_uses_are_found() {
    let more = (SLOW, "G-R = { rate = \"10 Mbit/s\" }\nG-X = {}\nX-Y = {}\nY-G = {}");
    let finding = only(&[more], "unused", "links G-X, X-Y, Y-G");
    assert!(finding.message.contains("nor X and 1 more node"), "{finding:?}");
    // A flow in either direction uses a link.
    let back =
        "window = 1000\n[flows.back]\nprotocol = \"udp\"\nrate = \"1 Mbit/s\"\nfrom = \"X\"\nto = \"G\"";
    nothing(&[(SLOW, "G-R = { rate = \"10 Mbit/s\" }\nG-X = {}"), ("window = 1000", back)]);
}

#[test]
fn few_replications_are_found() {
    let finding = only(&[("replications = 5", "replications = 4")], "few-replications", "scenario");
    assert_eq!(finding.line, Some(3));
    // One replication has no interval.
    nothing(&[("replications = 5", "replications = 1")]);
}

#[test]
fn queues_that_stood_for_seconds_are_found() {
    let measured = |packets: f64, queue: &str| {
        let link = |mean_queue_packets| LinkMeasures { mean_queue_packets, ..LinkMeasures::default() };
        let links = vec![link(0.0), link(0.0), link(packets), link(0.0)];
        let window = WindowMeasures { links, ..WindowMeasures::default() };
        let replication = Replication { windows: vec![window], ..Replication::default() };
        let scenario = plan(&QUIET.replace(SLOW, &format!("G-R = {{ rate = \"10 Mbit/s\"{queue} }}")));
        let names = scenario.link_names().into_iter();
        let links: Vec<LinkInfo> = names
            .map(|name| LinkInfo { name, rate_kbps: 1.0, delay: String::new(), queue: String::new() })
            .collect();
        after(&scenario, QUIET, &links, &[replication.clone(), replication])
    };
    // 10 Mbit/s carry 1250 packets of 1000 bytes in a second.
    assert_eq!(measured(2500.0, ""), []);
    let found = measured(2600.0, "");
    assert_eq!((found.len(), found[0].lint, found[0].subject.as_str()), (1, "standing-queue", "link G-R"));
    assert!(found[0].message.contains("about 2.1 s"), "{found:?}");
    assert!(found[0].remedy.contains("`kind = \"codel\"`"), "{found:?}");
    // What is there already is no remedy.
    for kind in QueueKind::NAMES {
        let found = measured(2600.0, &format!(", queue = {{ kind = \"{kind}\" }}"));
        assert!(found.len() == 1 && !found[0].remedy.contains(&format!("\"{kind}\"")), "{found:?}");
    }
}

#[test]
fn findings_are_printed_with_place_and_remedy() {
    let found = found(&[("replications = 5", "replications = 2")]);
    assert_eq!(
        render("my.toml", &found),
        "warning: my.toml:3: scenario: with 2 replications, confidence intervals are wide and unreliable \
         [few-replications]\n  = help: at least 5, with `replications` or `--replications`\n"
    );
    let many = vec![found[0].clone(); 11];
    let text = render("my.toml", &many);
    assert!(text.ends_with("warning: ... and 3 more of this kind [few-replications]\n"), "{text}");
}

#[test]
fn every_lint_that_is_found_is_in_the_list() {
    for built_in in BUILT_IN {
        let scenario = plan(built_in.text);
        for finding in before(&scenario, built_in.text) {
            assert!(ALL.iter().any(|lint| lint.name == finding.lint), "{finding:?}");
        }
    }
}

#[test]
fn the_page_names_every_lint() {
    let page = std::fs::read_to_string(layercast_testkit::generated::in_project("docs/lints.md")).unwrap();
    let missing: Vec<&str> =
        ALL.iter().map(|lint| lint.name).filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/lints.md does not name {missing:?}");
    assert_eq!(markdown().lines().count(), 2 + ALL.len());
}
