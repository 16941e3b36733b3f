//! Sessions that distribute an object: when receivers have it, what a loss, a late start or a short run changes, and
//! what happens after the last packet.

use crate::running::{Ran, built_in, read, run_text, run_with_jobs};
use layercast_laboratory::results::why::HeldBack;
use layercast_laboratory::results::{self, Statistic};
use layercast_laboratory::run::Outcome;
use layercast_laboratory::why::answer;

/// 1 MB is 1097 symbols of 912 bytes in 2 blocks, each of which takes two more.
const PACKETS: f64 = 1101.0;
/// One packet of 1000 bytes at 1 Mbit/s.
const INTERVAL_S: f64 = 0.008;
const SIZE_OVER_RATE_S: f64 = PACKETS * INTERVAL_S;

/// Constant layers of 1 Mbit/s behind links of 10 Mbit/s and 10 ms, so that nothing but losses delays a receiver.
const CONSTANT: &str = r#"
name = "Constant"
duration = "60 s"
series_bin = "1 s"
[defaults.link]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { limit = "50 packets" }
[links]
S-G = {}
G-R1 = {}
G-R2 = {}
[sessions.s]
protocol = "fixed"
source = "S"
receivers = ["R1", "R2"]
layers = { scheme = "doubling", base = "1 Mbit/s", count = 1 }
object = "1 MB"
"#;

fn samples(statistic: Option<&Statistic>) -> &[Option<f64>] {
    &statistic.unwrap().samples
}

/// From the receiver's start until it had the object, in the first replication.
fn completion_s(ran: &Ran, flow: &str) -> Option<f64> {
    samples(ran.flow(flow).completion_s.as_ref())[0]
}

fn mean(statistic: Option<&Statistic>) -> f64 {
    statistic.unwrap().mean.unwrap()
}

/// The packets of a flow until it had its object, of 1000 bytes each.
fn packets(ran: &Ran, flow: &str) -> f64 {
    let found = ran.summary.flows.iter().find(|one| one.name == flow).unwrap();
    let until_s = mean(found.why.as_ref().unwrap().measured_until_s.as_ref());
    (ran.kbps(flow) * 1e3 * until_s / 8e3).round()
}

/// The packets come one by one at the layer's rate. The join takes 20 ms up, the data 20 ms down and 0.8 ms at each of
/// two links; the first packet may be one interval away.
#[test]
fn on_a_clean_link_it_takes_size_over_rate() {
    let ran = run_text("constant", CONSTANT, &[]);
    for flow in ["s@R1", "s@R2"] {
        let took = completion_s(&ran, flow).unwrap();
        let expected = SIZE_OVER_RATE_S + 0.04;
        assert!((took - expected).abs() <= 2.0 * INTERVAL_S, "{took} s and not {expected} s");
        let measures = ran.flow(flow);
        assert_eq!(measures.completion_since_source_s, measures.completion_s, "they start together");
        assert_eq!(samples(measures.complete.as_ref()), [Some(1.0)]);
        assert_eq!(samples(measures.object_received.as_ref()), [Some(1.0)]);
        assert!(measures.transfers.is_none(), "an object is not a transfer");
        // It leaves at once, and nothing comes after that.
        assert_eq!(packets(&ran, flow), PACKETS);
    }
}

/// Of n packets a share p is lost, so n(1 - p) must be as many as are needed. The number sent until K have come has
/// a standard deviation of sqrt(K p) / (1 - p): 18.5 packets of 1370. Five replications, four deviations of the mean.
#[test]
fn losses_delay_it_by_one_over_the_share_that_arrives() {
    let ran = run_text("constant", CONSTANT, &["link.G-R2.loss=0.2", "replications=5"]);
    let delayed = mean(ran.flow("s@R2").completion_s.as_ref());
    let expected = SIZE_OVER_RATE_S / 0.8 + 0.04;
    let deviation = (PACKETS * 0.2).sqrt() / 0.8 * INTERVAL_S / 5.0_f64.sqrt();
    assert!((delayed - expected).abs() < 4.0 * deviation + INTERVAL_S, "{delayed} {expected} ± {deviation}");
    let clean = mean(ran.flow("s@R1").completion_s.as_ref());
    assert!(
        (clean - SIZE_OVER_RATE_S - 0.04).abs() <= 2.0 * INTERVAL_S,
        "the other one is not delayed: {clean}"
    );
}

/// What a receiver got is measured until it has its object, and so is what others got next to it: a link of 2 Mbit/s of
/// which the session takes 1 Mbit/s for 8.8 s, and a TCP the other half then and all of it for the rest of a minute.
#[test]
fn what_is_measured_ends_with_the_object() {
    let flows = "[flows.tcp]\nprotocol = \"tcp-cubic\"\nfrom = \"S\"\nto = \"R1\"\n[groups]\none = [\"s@R1\", \"tcp@R1\"]\n";
    let text = format!("{CONSTANT}{flows}")
        .replace("G-R1 = {}", "G-R1 = { rate = \"2 Mbit/s\", queue = { kind = \"fair\" } }");
    let windows = r#"windows=[["2 s", "end"], ["20 s", "end"]]"#;
    let ran = run_text("constant", &text, &[windows, "replications=2"]);
    let found = ran.summary.flows.iter().find(|flow| flow.name == "s@R1").unwrap();
    let (measures, why) = (&found.measures, found.why.as_ref().unwrap());
    let took = mean(measures.completion_s.as_ref());
    assert!((mean(why.measured_until_s.as_ref()) - took).abs() < 1e-6);
    // All of a packet every 8 ms, but for one at each end.
    assert!((ran.kbps("s@R1") - 1000.0).abs() < 3.0, "{}", ran.kbps("s@R1"));
    assert_eq!(mean(measures.mean_level.as_ref()), 0.0, "it held its only layer all the time");
    assert_eq!(mean(measures.level_changes.as_ref()), 0.0, "leaving with the object is no change");
    assert_eq!(why.held_back.iter().find(|held| held.by == HeldBack::NoLayer), None, "{why:?}");
    // A TCP has less than its half until its window is open, and nearly all of the link later.
    assert!(mean(Some(&ran.summary.groups[0].jain_index)) > 0.98, "{:?}", ran.summary.groups[0].jain_index);
    assert!(ran.kbps("tcp@R1") > 1700.0, "over the whole window: {}", ran.kbps("tcp@R1"));
    // Nothing is said of a window in which it had its object already.
    let later = &ran.summary.windows[0];
    assert_eq!(later.flow("s@R1").unwrap().measures.throughput_kbps.mean, None);
    assert_eq!(later.flow("s@R1").unwrap().measures.mean_level.as_ref().unwrap().mean, None);
    assert_eq!(later.group("one").unwrap().jain_index.mean, None);
    let Outcome { experiment, replications, .. } = &ran.outcome;
    let series = &replications[0].series.flows[0];
    let measured = took.ceil() as usize;
    assert!(series.throughput_kbps[..measured].iter().all(|kbps| kbps.is_finite()));
    assert!(series.throughput_kbps[measured..].iter().all(|kbps| kbps.is_nan()));
    assert!(series.level[measured..].iter().all(Option::is_none));
    // And readers know.
    let page = results::report::html(experiment, replications, &ran.summary).unwrap();
    for text in [results::table::render(experiment, &ran.summary, usize::MAX), page] {
        assert!(text.contains("receivers until they have their object"), "{text}");
    }
    let answer = answer(&ran.summary, "s@R1").unwrap();
    assert!(answer.contains("until it had its object, 8."), "{answer}");
}

/// The source goes on for those who come later, which need as long as if they had been first.
#[test]
fn a_late_joiner_completes_after_its_own_time() {
    let ran = run_text("constant", CONSTANT, &["session.s.receivers_start=30 s"]);
    for flow in ["s@R1", "s@R2"] {
        let took = completion_s(&ran, flow).unwrap();
        assert!((took - SIZE_OVER_RATE_S - 0.04).abs() <= 2.0 * INTERVAL_S, "{took}");
        let since_source = mean(ran.flow(flow).completion_since_source_s.as_ref());
        assert!((since_source - took - 30.0).abs() < 1e-6, "{since_source} {took}");
    }
    let drawn = r#"session.s.receivers_start={ uniform = ["0 s", "40 s"] }"#;
    let ran = run_text("constant", CONSTANT, &[drawn]);
    let since = |flow: &str| mean(ran.flow(flow).completion_since_source_s.as_ref());
    assert!((since("s@R1") - since("s@R2")).abs() > 1.0, "they start at times of their own");
    for flow in ["s@R1", "s@R2"] {
        let took = completion_s(&ran, flow).unwrap();
        assert!((took - SIZE_OVER_RATE_S - 0.04).abs() <= 2.0 * INTERVAL_S, "{flow}: {took}");
    }
}

#[test]
fn a_receiver_stays_for_the_others_if_it_is_asked_to_and_the_source_stops_last() {
    let slow = ["link.G-R2.loss=0.5", r#"windows=[["0 s", "end"], ["40 s", "end"]]"#];
    let stay = [&slow[..], &["session.s.leave_when_complete=false"]].concat();
    let (leaving, staying) = (run_text("constant", CONSTANT, &slow), run_text("constant", CONSTANT, &stay));
    assert_eq!(packets(&leaving, "s@R1"), PACKETS);
    // One that stays is measured to the end of the second in which it has it.
    let (until_s, rate) = (PACKETS * INTERVAL_S + 0.04, 1.0 / INTERVAL_S);
    assert!((packets(&staying, "s@R1") - (until_s.ceil() - 0.04) * rate).abs() < 3.0);
    assert_eq!(completion_s(&leaving, "s@R1"), completion_s(&staying, "s@R1"));
    // R2 needs twice as long, and R1 gets all of that, but for what is still on its way at the end.
    let took = completion_s(&staying, "s@R2").unwrap();
    let sent = (took - 0.04) / INTERVAL_S;
    let carried = |ran: &Ran| {
        let link = ran.summary.links.iter().find(|link| link.name == "G-R1").unwrap();
        mean(link.packets.as_ref())
    };
    assert!((carried(&staying) - sent).abs() < 10.0, "{} of {sent}", carried(&staying));
    assert!((carried(&leaving) - PACKETS).abs() < 10.0, "{}", carried(&leaving));
    assert!(took > 1.8 * SIZE_OVER_RATE_S && took < 40.0, "{took}");
    for ran in [&leaving, &staying] {
        let later = &ran.summary.windows[0].flow("s@R1").unwrap().measures.throughput_kbps;
        assert_eq!(later.mean, None, "it had its object before that window");
    }
}

/// A session that stops after all receivers have left stops nobody twice.
#[test]
fn a_session_may_stop_after_it_is_complete_or_before() {
    for protocol in ["elm", "rlc", "flid-dl", "webrc", "tfmcc", "pgmcc", "rlm", "wei-zhang", "smcc", "rla"] {
        let name = format!("session.s.protocol={protocol}");
        let ran = run_text("constant", CONSTANT, &[&name, "session.s.object=50 kB", "session.s.stop=55 s"]);
        assert_eq!(samples(ran.flow("s@R1").complete.as_ref()), [Some(1.0)], "{protocol}");
        assert!(completion_s(&ran, "s@R1").unwrap() < 55.0, "{protocol}");
    }
    let ran = run_text("constant", CONSTANT, &["session.s.stop=5 s"]);
    assert_eq!(samples(ran.flow("s@R1").complete.as_ref()), [Some(0.0)]);
}

/// After 5 s of 8.8 s, less 40 ms, a share of 0.566 has come.
#[test]
fn receivers_that_do_not_finish_are_counted_and_named() {
    let ran = run_text("constant", CONSTANT, &["duration=5 s", "link.G-R1.rate=100 Mbit/s"]);
    let measures = ran.flow("s@R1");
    assert_eq!(samples(measures.complete.as_ref()), [Some(0.0)]);
    assert_eq!(samples(measures.completion_s.as_ref()), [None]);
    let received = mean(measures.object_received.as_ref());
    assert!((received - 4.96 / SIZE_OVER_RATE_S).abs() < 0.003, "{received}");
    let Outcome { experiment, replications, .. } = &ran.outcome;
    let table = results::table::render(experiment, &ran.summary, 120);
    assert!(table.contains("Complete at the end: 0 of 2 receivers."), "{table}");
    assert!(table.contains("s@R1 not complete: 56 % at the end."), "{table}");
    let page = results::report::html(experiment, replications, &ran.summary).unwrap();
    assert!(page.contains("s@R2 not complete: 56 % at the end."));
    assert!(page.contains("Share of receivers with the object over time"), "it has the plot");
    let written = ran.summary.to_json();
    assert!(
        written.contains("\"complete\"") && written.contains("\"completion_since_source_s\""),
        "{written}"
    );
}

#[test]
fn a_column_of_completion_is_there_only_with_an_object() {
    let table = |ran: &Ran| results::table::render(&ran.outcome.experiment, &ran.summary, 120);
    let with = run_text("constant", CONSTANT, &[]);
    assert!(table(&with).contains("complete, s"), "{}", table(&with));
    assert!(table(&with).contains("Complete at the end: 2 of 2 receivers."), "{}", table(&with));
    let without = run_text("constant", &CONSTANT.replace("object = \"1 MB\"", ""), &["duration=5 s"]);
    assert!(!table(&without).contains("omplete"), "{}", table(&without));
    assert!(!without.summary.to_json().contains("complet"));
}

/// A reliable protocol gets the object as so many packets: complete when the last one is delivered in order.
#[test]
fn a_reliable_protocol_delivers_the_object_in_order() {
    for name in ["nca/one-bottleneck", "amca/finite"] {
        let session = name.split('/').next().unwrap();
        let text = built_in(name);
        let text = text.replace("\npackets = 5000\n", "\n");
        // What a packet of 1024 or 1000 bytes carries.
        let size = 100 * if session == "amca" { 936 } else { 912 };
        let common = ["replications=1", "duration=100 s", r#"windows=[["0 s", "end"]]"#];
        let with = |key: String| run_text(name, &text, &[&common[..], &[&key]].concat());
        let object = with(format!("session.{session}.object={size} bytes"));
        let counted = with(format!("session.{session}.packets=100"));
        let flow = format!("{session}@R1");
        let (object, counted) = (object.flow(&flow), counted.flow(&flow));
        assert_eq!(samples(object.complete.as_ref()), [Some(1.0)], "{name}");
        assert_eq!(object.completion_since_source_s, counted.completion_s, "{name}: the same packets");
        assert!(object.transfers.is_none() && counted.complete.is_none());
    }
}

/// Every packet of every layer counts, so a receiver has the object when it has received so many packets.
#[test]
fn packets_of_all_layers_count() {
    let layers = r#"session.s.layers={ scheme = "doubling", base = "250 kbit/s", count = 4 }"#;
    let options = "session.s.options={ level = 3 }";
    let ran = run_text("constant", CONSTANT, &[layers, options]);
    let took = completion_s(&ran, "s@R1").unwrap();
    // 2 Mbit/s altogether.
    assert!((took - SIZE_OVER_RATE_S / 2.0 - 0.04).abs() < 5.0 * INTERVAL_S, "{took}");
}

#[test]
fn the_file_of_the_transport_reaches_all_three_in_the_order_of_their_links() {
    let short = ["replications=2", "session.elm.object=10 MB", "duration=120 s"];
    let name = "transport/file";
    let ran = run_text(name, built_in(name), &short);
    let times = ["elm@R1", "elm@R2", "elm@R3"].map(|flow| mean(ran.flow(flow).completion_s.as_ref()));
    assert!(times[0] > times[1] && times[1] > times[2], "{times:?}");
    // Not before the link could have carried it.
    for (time, link_mbps) in times.iter().zip([3.0, 6.0, 12.0]) {
        assert!(*time > 10.0 * 8.0 * 1000.0 / 912.0 / link_mbps, "{times:?}");
    }
    let again = run_with_jobs(name, built_in(name), &short, 2);
    assert_eq!(ran.summary.without_engine().flows, again.summary.without_engine().flows);
}

/// Reading refuses an object together with `packets` wherever each comes from.
#[test]
fn an_override_cannot_give_both_ends() {
    assert!(read("constant", CONSTANT, &["session.s.packets=10"]).is_none());
    assert!(read("constant", CONSTANT, &["session.s.object=2 GB"]).is_some());
}
