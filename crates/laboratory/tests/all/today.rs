//! Flows and links without a profile or a queue: those of today.

use crate::running::{Ran, read, root, run_text, runs_long};
use layercast_laboratory::scenario::catalogue::BUILT_IN;
use layercast_laboratory::scenario::{QueueLimit, QueuePlan, default_queue};

/// The scenario of docs/tcp.md: one connection, alone.
fn alone() -> String {
    let page = std::fs::read_to_string(root().join("docs/tcp.md")).unwrap();
    let (_, rest) = page.split_once("```toml\nname = \"One CUBIC").unwrap();
    format!("name = \"One CUBIC{}", rest.split_once("```").unwrap().0)
}

/// The share of a link that CUBIC gets alone, from 30 to 90 s.
fn share(rate_mbps: u32, rtt_ms: u32, queue: &str) -> f64 {
    let sets = [
        format!("link.S-R.rate={rate_mbps} Mbit/s"),
        format!("link.S-R.delay={} us", rtt_ms * 500),
        queue.to_owned(),
    ];
    let ran = run_text("alone.toml", &alone(), &sets.each_ref().map(String::as_str));
    let kbps = ran.flow("dl@R").throughput_kbps.mean.unwrap();
    kbps / f64::from(rate_mbps) / 1e3
}

/// What CUBIC gets too little of at this rate, with drop-tail of one bandwidth-delay product and with CoDel. Where
/// the round-trip time is twice CoDel's interval, docs/tcp.md explains why it gets less than 90 %; RFC 8289 asks for an
/// interval of about the round-trip time and a target of 5 to 10 % of it, which the third one has.
fn cells_below(rate_mbps: u32) -> Vec<String> {
    let mut below = Vec::new();
    for rtt_ms in [10, 50, 200] {
        let packets = (f64::from(rate_mbps * rtt_ms) * 1e3 / 8.0 / 1500.0).ceil();
        let drop_tail = format!("link.S-R.queue.limit={packets} packets");
        let codel = "link.S-R.queue.kind=codel";
        let long_codel = "link.S-R.queue={ kind = \"codel\", interval = \"200 ms\", target = \"20 ms\" }";
        let least_with_codel = if rtt_ms > 100 { 0.85 } else { 0.9 };
        for (queue, least) in [(drop_tail.as_str(), 0.9), (codel, least_with_codel), (long_codel, 0.9)] {
            if queue == long_codel && rtt_ms < 200 {
                continue;
            }
            let share = share(rate_mbps, rtt_ms, queue);
            let cell = format!("{rate_mbps} Mbit/s, {rtt_ms} ms, {queue}: {:.1} %", 100.0 * share);
            println!("{cell}");
            if share < least {
                below.push(cell);
            }
        }
    }
    below
}

#[test]
fn cubic_alone_uses_a_link() {
    if !runs_long() {
        return;
    }
    assert_eq!(cells_below(10), [""; 0]);
    assert_eq!(cells_below(100), [""; 0]);
}

/// `cargo test -p layercast-laboratory --test all today -- --ignored --nocapture` prints all of them.
#[test]
#[ignore = "a minute or two"]
fn cubic_alone_uses_a_fast_link() {
    assert_eq!([10, 100, 1000].map(cells_below).concat(), [""; 0]);
}

const THREE_SITES: &str = r#"
name = "Web to three sites"
duration = "60 s"
[defaults.link]
rate = "100 Mbit/s"
delay = "5 ms"
[links]
W-C = {}
C-A = {}
C-B = {}
C-D = { queue = { limit = "unlimited" } }
[flows.web]
protocol = "tcp-cubic"
from = "W"
to = ["A", "B", "D"]
count = 10
size = "50 kB"
arrivals = { distribution = "exponential", mean = "500 ms" }
"#;

fn transfers_to(ran: &Ran, node: &str) -> f64 {
    let flows = ran.summary.flows.iter().filter(|flow| flow.node == node);
    flows.filter_map(|flow| flow.measures.transfers.as_ref()?.mean).sum()
}

/// Two a second for a minute to each, and not the same times for all.
#[test]
fn every_destination_has_its_own_arrivals() {
    let ran = run_text("arrivals.toml", THREE_SITES, &[]);
    let transfers = ["A", "B", "D"].map(|node| transfers_to(&ran, node));
    assert!(transfers.iter().all(|count| (80.0..160.0).contains(count)), "{transfers:?}");
    let bins = ["A", "B", "D"].map(|node| {
        let outcome = &ran.outcome;
        let first = outcome.experiment.flows.iter().position(|flow| flow.node == node).unwrap();
        outcome.replications[0].series.flows[first].throughput_kbps.clone()
    });
    assert!(bins[0] != bins[1] && bins[1] != bins[2], "they start at the same times");
}

#[test]
fn a_link_without_a_queue_gets_one_and_the_results_say_so() {
    let scenario = read("arrivals.toml", THREE_SITES, &["link.C-A.rate=100 kbit/s"]).unwrap();
    let limit = |link: usize| match &scenario.links[link].forward.queue {
        QueuePlan::DropTail(config) => config.limit,
        _ => unreachable!("it is drop-tail"),
    };
    // 100 ms of 100 Mbit/s in packets of 1500 bytes; ten at least.
    assert_eq!(limit(0), QueueLimit::Packets(834));
    assert_eq!(limit(1), QueueLimit::Packets(10));
    assert_eq!(limit(3), QueueLimit::Unlimited);
    let remark = default_queue::remark(&scenario).unwrap();
    assert!(remark.starts_with("Links W-C, C-A, C-B have no `queue`"), "{remark}");
    let ran = run_text("arrivals.toml", THREE_SITES, &["duration=5 s"]);
    assert_eq!(ran.outcome.experiment.remarks.len(), 1);
}

#[test]
fn the_results_tell_what_limited_a_tcp() {
    let cases = [
        (["flow.dl.window=20", "flow.dl.stop=40 s"], "window"),
        (["flow.dl.window=20000", "flow.dl.stop=40 s"], "network"),
        (["flow.dl.size=20 kB", "flow.dl.gap=1 s"], "application"),
    ];
    for ([set, other], limit) in cases {
        let ran = run_text("alone.toml", &alone(), &["duration=60 s", set, other]);
        let limited = ran.flow("dl@R").limited.as_ref().unwrap();
        let shares = limited.clone().named().map(|(_, share)| share.mean.unwrap());
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
        let main = limited.main().unwrap();
        assert!(main.starts_with(limit), "{set}: {main}");
    }
}

const TWICE_THE_RATE: &str = r#"
name = "Twice the rate of a link"
duration = "30 s"
replications = 1
windows = [["10 s", "end"]]
[links]
S-R = { rate = "1 Mbit/s", delay = "10 ms", queue = { limit = "25 packets" } }
[flows]
udp = { protocol = "udp", from = "S", to = "R", rate = "2 Mbit/s" }
"#;

/// The queue is full but for the times between a departure and the next arrival: at most half of them.
#[test]
fn a_limit_is_what_waits() {
    let waiting = |sets: &[&str]| {
        let ran = run_text("twice.toml", TWICE_THE_RATE, sets);
        ran.summary.links[0].mean_queue_packets.mean.unwrap()
    };
    let true_count = waiting(&[]);
    assert!((24.5..=25.0).contains(&true_count), "{true_count}");
    let as_ns2 = waiting(&["link.S-R.queue.ns2_compat=true"]);
    assert!((true_count - as_ns2 - 1.0).abs() < 1e-6, "{true_count}, {as_ns2}");
}

/// Their results are of the papers' simulator. Networks of today have no such queue.
#[test]
fn built_in_scenarios_count_limits_as_ns2_does() {
    for built_in in BUILT_IN.iter().filter(|built_in| !built_in.name.starts_with("networks/")) {
        let scenario = read(built_in.name, built_in.text, &[]).unwrap();
        for link in &scenario.links {
            for direction in [&link.forward, &link.backward] {
                let QueuePlan::DropTail(config) = &direction.queue else { continue };
                assert!(config.ns2_compat, "{}: {}", built_in.name, link.name);
            }
        }
    }
}
