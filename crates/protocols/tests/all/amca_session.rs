//! One source and receivers behind paths of their own: where the rate goes without loss, and what the profiles
//! change.

use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_protocols::amca::{Options, Profile, Receiver, Source};
use layercast_testkit::{Pair, Path};

/// The bottleneck of the report, section 5, and a queue of about 50 packets.
const CAPACITY_KBPS: f64 = 900.0;
const QUEUE: Duration = Duration::from_ms(455);

fn session(options: &Options, paths: &[Path]) -> Pair<Source, Receiver> {
    let layers = LayerTable::doubling(Rate::from_kbps(128.0), 1).unwrap();
    let plan = SessionPlan { layers, packet_size: Size::from_bytes(1024) };
    let receiver = |(index, &path): (usize, &Path)| {
        let stream = Stream::new(1, &format!("receiver/{index}"));
        (Receiver::new(options, plan.clone(), stream), path)
    };
    let receivers = paths.iter().enumerate().map(receiver).collect();
    let source = Source::new(options, plan.clone(), Stream::new(1, "source"));
    Pair::new(source, receivers, Time::from_ns(1), 1)
}

fn narrow(delay: Duration) -> Path {
    Path { delay, rate: Some(Rate::from_kbps(CAPACITY_KBPS)), queue: QUEUE, ..Path::default() }
}

/// What a receiver got from one time to another, in kbit/s.
fn throughput(pair: &mut Pair<Source, Receiver>, warm_up: Duration, span: Duration) -> f64 {
    pair.run(warm_up);
    let before = pair.record(0).delivered;
    pair.run(span);
    (pair.record(0).delivered - before) as f64 * 8192.0 / span.as_secs_f64() / 1000.0
}

/// A lossless single flow settles near capacity. With the default profile it then loses nothing; when the rate
/// first meets the bottleneck, long report intervals may cost some packets.
#[test]
fn a_single_flow_settles_near_capacity() {
    for delay_ms in [10, 50] {
        for report_every in [32, 64, 128] {
            let options = Options { report_every, ..Options::default() };
            let mut pair = session(&options, &[narrow(Duration::from_ms(delay_ms))]);
            pair.run(Duration::from_secs(50));
            let at_first = pair.record(0).lost;
            let kbps = throughput(&mut pair, Duration::from_secs(100), Duration::from_secs(50));
            let name = format!("N = {report_every}, {delay_ms} ms");
            assert!((0.95..1.05).contains(&(kbps / CAPACITY_KBPS)), "{name}: {kbps} kbit/s");
            assert!(at_first <= 20, "{name}: {at_first} lost");
            assert_eq!(pair.record(0).lost, at_first, "{name}");
        }
    }
}

/// As the report counts them, no packet is ever unacknowledged without loss, so the queue grows until it
/// overflows (errata E7).
#[test]
fn the_literal_profile_fills_the_queue() {
    let lost = [Profile::Literal, Profile::Backlog].map(|profile| {
        let options = Options { profile, ..Options::default() };
        let mut pair = session(&options, &[narrow(Duration::from_ms(50))]);
        pair.run(Duration::from_secs(200));
        pair.record(0).lost
    });
    assert!(lost[0] > 50, "{lost:?}");
    assert_eq!(lost[1], 0);
}

/// The rate does not move without reports, and does not grow faster with more receivers.
#[test]
fn many_receivers_do_not_make_the_source_faster() {
    let rate_of = |count: usize| {
        let mut pair = session(&Options::default(), &vec![narrow(Duration::from_ms(50)); count]);
        let mut rates = Vec::new();
        for _ in 0..40 {
            pair.run(Duration::from_ms(500));
            rates.push(pair.source().control().rate().as_kbps());
        }
        rates
    };
    assert_eq!(rate_of(0), [8.192; 40]);
    let (one, ten) = (rate_of(1), rate_of(10));
    assert!(ten.iter().zip(&one).all(|(ten, one)| *ten < 1.3 * one.max(CAPACITY_KBPS)), "{one:?} {ten:?}");
    assert!(ten[39] > 0.5 * one[39], "{one:?} {ten:?}");
}
