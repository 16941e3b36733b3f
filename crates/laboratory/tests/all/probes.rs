//! Probes: what they keep agrees with what is counted, and they change nothing.

use layercast_laboratory::scenario::Catalogue;
use layercast_protocols::registry::Registry;
use std::fs::{self, File};
use std::path::Path;
use std::sync::LazyLock;

use crate::running::{Ran, run_text, run_with_jobs};
use layercast_laboratory::results::{probes, series};
use layercast_laboratory::scenario;
use parquet::file::reader::{FileReader, SerializedFileReader};

const NAME: &str = "bottleneck.toml";
const SETS: [&str; 1] = ["replications=2"];

/// A session and a connection behind a bottleneck whose queue they fill.
const SCENARIO: &str = r#"
name = "a bottleneck"
duration = "60 s"

[links]
S-G = { rate = "100 Mbit/s", delay = "5 ms" }
G-R1 = { rate = "3 Mbit/s", delay = "10 ms", queue = { limit = "45000 bytes" } }

[sessions.elm]
protocol = "elm"
source = "S"
receivers = ["R1"]
start = "2 s"
layers = { scheme = "doubling", base = "128 kbit/s", count = 5 }

[flows.tcp]
protocol = "tcp-sack"
profile = "ns2"
from = "S"
to = "R1"
window = 1000
"#;

/// A queue, a receiver and a connection, looked at very often, seldom, and out of step with the bins.
const PROBES: &str = r#"
[probes.queue]
of = "link G-R1"
what = ["queue_packets", "queue_bytes", "queue_average", "sent_kbps", "drops", "marks"]
every = "1 ms"

[probes.elm]
of = "flow elm@R1"
what = ["throughput_kbps", "level", "rate_kbps", "smoothed_rate_kbps", "loss", "rtt_ms", "received", "in_slow_start", "source_reports", "source_sent"]
every = "1 s"

[probes.tcp]
of = "flow tcp@R1"
what = ["throughput_kbps", "cwnd_packets", "ssthresh_packets", "flight_packets"]
every = "700 ms"
"#;

/// What all tests look at.
static PROBED: LazyLock<Ran> =
    LazyLock::new(|| run_with_jobs(NAME, &format!("{SCENARIO}\n{PROBES}"), &SETS, 2));

fn values<'a>(ran: &'a Ran, replication: usize, probe: &str, quantity: &str) -> &'a [f64] {
    let probes = &ran.outcome.experiment.probes;
    let number = probes.iter().position(|info| info.name == probe).unwrap();
    let column = probes[number].quantities.iter().position(|name| *name == quantity).unwrap();
    &ran.outcome.replications[replication].probes[number][column]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// What a protocol's receivers show can be probed by name; what is counted is reported as its increase.
#[test]
fn gauges_of_the_protocol_are_probed() {
    let ran = &*PROBED;
    let received = values(ran, 0, "elm", "received");
    let throughput = values(ran, 0, "elm", "throughput_kbps");
    for (received, kbps) in received.iter().zip(throughput).skip(2) {
        assert!(
            (received * 8.0 - kbps).abs() < 0.05 * kbps,
            "{received} packets of 1000 bytes, {kbps} kbit/s"
        );
    }
    // Before the session begins there is nothing to see.
    let total = |name| values(ran, 0, "elm", name).iter().filter(|value| value.is_finite()).sum::<f64>();
    let [reports, sent, received] = ["source_reports", "source_sent", "received"].map(total);
    assert!(reports > 0.0 && sent > received, "{reports} reports, {received} packets of {sent}");
    let in_slow_start = values(ran, 0, "elm", "in_slow_start");
    assert_eq!((in_slow_start[3], in_slow_start.last()), (1.0, Some(&0.0)));
}

#[test]
fn probes_change_no_result() {
    let (plain, probed) = (run_with_jobs(NAME, SCENARIO, &SETS, 1), &*PROBED);
    for (plain, probed) in plain.outcome.replications.iter().zip(&probed.outcome.replications) {
        // As text, since numbers that are not there are equal too.
        assert_eq!(format!("{:?}", plain.windows), format!("{:?}", probed.windows));
        assert_eq!(format!("{:?}", plain.series), format!("{:?}", probed.series));
        let work =
            |engine: &layercast_laboratory::results::EngineMeasures| (engine.events, engine.packet_hops);
        assert_eq!(work(&plain.engine), work(&probed.engine));
    }
}

#[test]
fn the_queue_that_a_probe_sees_is_the_mean_queue_of_the_link() {
    let ran = &*PROBED;
    let links = &ran.outcome.experiment.links;
    let link = links.iter().position(|link| link.name == "G-R1").unwrap();
    for (number, replication) in ran.outcome.replications.iter().enumerate() {
        let measured = &replication.windows[0].links[link];
        let queue = values(ran, number, "queue", "queue_packets");
        assert_eq!(queue.len(), 60_000);
        // The queue changes by one packet at a time, and between two looks at most by what comes in or
        // goes out in 1 ms: it transmits a packet in some 2.7 ms. So a look is off by a packet at most,
        // mostly by none, to either side; over 60 000 looks a hundredth of the mean is ample.
        let seen = mean(queue);
        assert!(seen > 1.0, "there is a queue: {seen}");
        assert!((seen - measured.mean_queue_packets).abs() < 0.01 * seen, "{seen} and {measured:?}");
        // Packets have 1000 bytes, or 40 if they open a connection.
        let bytes = values(ran, number, "queue", "queue_bytes");
        assert!(queue.iter().zip(bytes).all(|(&packets, &bytes)| bytes <= 1000.0 * packets));
        assert!((mean(bytes) - 1000.0 * seen).abs() < 10.0 * seen);
        // A drop-tail queue keeps no average.
        assert!(values(ran, number, "queue", "queue_average").iter().all(|value| value.is_nan()));
        let sum = |quantity: &str| values(ran, number, "queue", quantity).iter().sum::<f64>();
        assert_eq!(sum("drops") as u64, measured.drops);
        let sent_kbit = sum("sent_kbps") / 1e3;
        let busy_kbit = measured.utilisation * links[link].rate_kbps * 60.0;
        assert!((sent_kbit - busy_kbit).abs() < 1e-6 * busy_kbit, "{sent_kbit} and {busy_kbit} kbit");
    }
}

#[test]
fn probes_of_flows_agree_with_the_series() {
    let ran = &*PROBED;
    let flow = ran.outcome.experiment.flows.iter().position(|flow| flow.name == "elm@R1").unwrap();
    let series = &ran.outcome.replications[0].series.flows[flow];
    for (quantity, column) in series.columns().into_iter().filter(|(name, _)| *name != "cwnd_packets") {
        let probed = values(ran, 0, "elm", quantity);
        assert_eq!(format!("{probed:?}"), format!("{column:?}"), "{quantity}");
    }
    let (cwnd, flight) = (values(ran, 0, "tcp", "cwnd_packets"), values(ran, 0, "tcp", "flight_packets"));
    assert_eq!(cwnd.len(), 85, "60 s have 85 whole intervals of 0.7 s");
    assert!(cwnd.iter().any(|&cwnd| cwnd > 2.0) && flight.iter().any(|&flight| flight > 2.0));
    assert!(values(ran, 0, "tcp", "ssthresh_packets").iter().any(|&threshold| threshold >= 2.0));
}

#[test]
fn mistakes_in_probes_are_reported_all_at_once() {
    let wrong = r#"
[probes.a]
of = "R1"
what = ["level"]

[probes.b]
of = "link R1-G"
what = ["drops", "drops", "level"]

[probes.c]
of = "flow elm@R2"
what = []
every = "0 s"

[probes.d]
of = "link G-R1"
what = ["marks"]
every = "1 ns"
"#;
    let text = format!("{SCENARIO}\n{wrong}");
    let errors = scenario::read(NAME, &text, &[], &Catalogue::of::<Registry>()).unwrap_err();
    insta::assert_snapshot!(errors);
}

/// A stream of 400 kbit/s next to all that, of which the queue may drop some.
const STREAM: &str = r#"
[flows.stream]
protocol = "udp"
from = "S"
to = "R1"
rate = "400 kbit/s"

[probes.stream]
of = "flow stream@R1"
what = ["throughput_kbps"]
every = "1 s"
"#;

#[test]
fn a_stream_has_its_throughput_and_nothing_else() {
    let ran = run_text(NAME, &format!("{SCENARIO}\n{STREAM}"), &SETS);
    let got = values(&ran, 0, "stream", "throughput_kbps");
    assert_eq!(got.len(), 60);
    let flow = ran.outcome.experiment.flows.iter().position(|flow| flow.name == "stream@R1").unwrap();
    let measured = ran.outcome.replications[0].windows[0].flows[flow].throughput_kbps;
    assert!((mean(got) - measured).abs() < 1e-6 * measured, "{} and {measured}", mean(got));
    assert!((200.0..=401.0).contains(&measured), "{measured}");
    let wrong = STREAM.replace("[\"throughput_kbps\"]", "[\"throughput_kbps\", \"cwnd_packets\", \"level\"]");
    let text = format!("{SCENARIO}\n{wrong}");
    let errors = scenario::read(NAME, &text, &[], &Catalogue::of::<Registry>()).unwrap_err().to_string();
    insta::assert_snapshot!("quantities_that_a_stream_has_not", errors);
}

#[test]
fn the_file_has_a_row_for_each_value() {
    // A tenth of the time: writing so many values takes long in a development build.
    let ran = run_text(NAME, &format!("{SCENARIO}\n{PROBES}"), &["replications=2", "duration=7 s"]);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("probes.parquet");
    probes::write(&path, &ran.outcome.experiment, &ran.outcome.replications).unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let meta = reader.metadata();
    assert_eq!(meta.num_row_groups(), 2 * 3, "one for each probe of each replication");
    assert_eq!(meta.file_metadata().num_rows(), 2 * (6 * 7_000 + 10 * 7 + 4 * 10));
    let group = reader.get_row_group(meta.num_row_groups() - 1).unwrap();
    let last = group.get_row_iter(None).unwrap().last().unwrap().unwrap().to_string();
    assert!(
        last.contains("probe: \"tcp\", subject: \"flow tcp@R1\", quantity: \"flight_packets\""),
        "{last}"
    );
    assert!(last.contains("time_s: 7"), "{last}");
    // The series next to it is written by the same means.
    series::write(&path, &ran.outcome.experiment, &ran.outcome.replications).unwrap();
    assert!(fs::read(&path).unwrap().starts_with(b"PAR1"));
}
