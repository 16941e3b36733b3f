//! Tide in the simulator: its share against TCP of both kinds, and different round-trip times.

#![allow(clippy::unwrap_used)]

mod running;

use running::{Ran, built_in, run_text};

fn run(name: &str, more: &[&str]) -> Ran {
    run_text(name, built_in(name), &[&["replications=2"], more].concat())
}

/// The mean rate of four TCP flows.
fn tcp_kbps(ran: &Ran) -> f64 {
    (1..=4).map(|number| ran.kbps(&format!("tcp-{number}@R"))).sum::<f64>() / 4.0
}

/// 20 Mbit/s and 60 ms, one bandwidth-delay product of queue.
const LINK: &str = r#"
name = "One link"
duration = "70 s"
windows = [["20 s", "end"]]
replications = 2

[defaults.link]
rate = "1 Gbit/s"
delay = "5 ms"
queue = { limit = "unlimited" }

[links]
S-A = {}
A-B = { rate = "20 Mbit/s", delay = "20 ms", queue = { limit = "100 packets" } }
B-R = {}

[sessions.tide]
protocol = "tide"
source = "S"
receivers = ["R"]
packet_size = "1500 bytes"
layers = { scheme = "doubling", base = "128 kbit/s", count = 9 }
options = { fair_to = "cubic" }

[sessions.other]
protocol = "tide"
source = "S"
receivers = ["R"]
packet_size = "1500 bytes"
layers = { scheme = "doubling", base = "128 kbit/s", count = 9 }
options = { fair_to = "cubic" }

[flows.tcp]
protocol = "tcp-cubic"
from = "S"
to = "R"
count = 4
"#;

fn on_link(more: &[&str]) -> Ran {
    run_text("link", LINK, more)
}

const ALONE: [&str; 2] = ["flow.tcp.count=0", "session.other.stop=0.1 s"];

/// Measured over four replications of 150 s: 18.2 Mbit/s with CUBIC's window, 19.0 with Reno's; without leaves while
/// an overload lasts 9.1.
#[test]
fn alone_it_uses_the_link() {
    for fair_to in ["session.tide.fair_to=cubic", "session.tide.fair_to=reno"] {
        let ran = on_link(&[&ALONE[..], &[fair_to]].concat());
        let (kbps, loss) = (ran.kbps("tide@R"), ran.flow("tide@R").loss_rate.mean.unwrap());
        assert!(kbps > 15_000.0 && loss < 0.05, "{fair_to}: {kbps} kbit/s, {loss} lost");
    }
}

/// The start takes 2 s, and the first round-trip times of a join are assumed to be 100 ms.
#[test]
fn it_has_four_fifths_of_a_free_link_within_five_seconds() {
    let ran = on_link(&[&ALONE[..], &["duration=7 s", r#"windows=[["5 s", "end"]]"#]].concat());
    assert!(ran.kbps("tide@R") > 16_000.0, "{}", ran.kbps("tide@R"));
}

/// Delay is the second witness: at 30 % of random loss a TCP has 0.02 Mbit/s, this protocol what it would have at 2 %.
/// A queue of five packets that is always full loses at any delay too, and there it has no more than a TCP.
#[test]
fn random_loss_does_not_stop_it_but_a_full_short_queue_does() {
    let one = "session.other.stop=0.1 s";
    let random = on_link(&[one, "link.A-B.loss=0.3"]);
    assert!(random.kbps("tide@R") > 400.0, "{}", random.kbps("tide@R"));
    let full = on_link(&[one, "link.A-B.rate=1 Mbit/s", "link.A-B.queue.limit=5 packets"]);
    let tcp = (1..=4).map(|number| full.kbps(&format!("tcp-{number}@R"))).sum::<f64>() / 4.0;
    assert!(full.kbps("tide@R") < 1.4 * tcp, "{} {tcp}", full.kbps("tide@R"));
}

/// Two sessions share a link: the one that comes 15 s later has its part 15 s after that.
#[test]
fn two_sessions_share_a_link() {
    let ran = on_link(&["flow.tcp.count=0", "session.other.start=15 s", r#"windows=[["30 s", "end"]]"#]);
    let (first, second) = (ran.kbps("tide@R"), ran.kbps("other@R"));
    assert!(first + second > 15_000.0 && second / first > 0.4 && second / first < 2.5, "{first} {second}");
}

/// Measured over ten replications: 0.96 of a TCP's rate with reports, 0.64 without, since 100 ms are assumed there
/// and the round-trip time with queueing is 60 to 120 ms. Two replications scatter by a fifth.
#[test]
fn its_share_is_that_of_reno_with_reports_and_less_without() {
    let ran = run("tide/beside-tcp", &[]);
    let share = |flow| ran.kbps(flow) / tcp_kbps(&ran);
    assert!((0.75..1.33).contains(&share("reports@R")), "{}", share("reports@R"));
    assert!((0.4..1.0).contains(&share("silent@R")), "{}", share("silent@R"));
}

/// CUBIC goes with the cube of the interval between losses, so shares scatter more.
#[test]
fn its_share_is_that_of_cubic_when_it_is_set_to_cubic() {
    let sets = ["flow.tcp.protocol=tcp-cubic", "session.reports.fair_to=cubic"];
    let ran = run("tide/beside-tcp", &sets);
    let share = ran.kbps("reports@R") / tcp_kbps(&ran);
    assert!((0.6..1.6).contains(&share), "{share}");
}

/// Round-trip times of 250, 50 and 500 ms and random losses: measured over three replications of 300 s, 1.03, 1.17
/// and 0.83 of a TCP's rate.
#[test]
fn its_share_does_not_depend_on_the_round_trip_time() {
    let sets = ["session.elm.protocol=tide", "flow.tcp.profile=linux"];
    let ran = run("thesis/simulation-4-elm", &sets);
    for receiver in ["R1", "R2", "R3"] {
        let share = ran.kbps(&format!("elm@{receiver}")) / ran.kbps(&format!("tcp@{receiver}"));
        assert!((0.5..1.8).contains(&share), "{receiver}: {share}");
    }
}
