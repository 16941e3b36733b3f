//! A source of RLA and its receivers over lossy paths.

use crate::window_sessions::{lossy, plan, run};
use layercast_core::contract::{Arrival, Ecn, Endpoint, Input, Origin, Peer};
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Size, Time, WireSeq};
use layercast_protocols::rla::header::{ReceiverId, Report};
use layercast_protocols::rla::{Header, Options, Receiver, Source};
use layercast_testkit::{Pair, Path};

fn run_with(options: &Options, paths: &[Path], seconds: u64) -> Pair<Source, Receiver> {
    let source = |stream| Source::new(options, plan(), stream);
    run(source, |stream| Receiver::new(options, plan(), stream), paths, seconds)
}

/// Packets per second that the source sent in the next two minutes.
fn per_second(pair: &mut Pair<Source, Receiver>) -> f64 {
    let before = pair.source().counters().sent;
    pair.run(Duration::from_secs(120));
    (pair.source().counters().sent - before) as f64 / 120.0
}

/// With one receiver it is a TCP: the window is near sqrt(3 / (2 p)).
#[test]
fn with_one_receiver_the_rate_is_that_of_a_tcp() {
    for loss in [0.005, 0.02] {
        let ratio = per_second(&mut run_with(&Options::default(), &[lossy(loss)], 30)) * 0.06;
        let ratio = ratio / (1.5 / loss).sqrt();
        assert!((0.6..1.3).contains(&ratio), "{loss}: {ratio} of the model");
    }
}

/// Ten receivers with losses of their own lose ten times as often, and are listened to a tenth as often.
#[test]
fn many_receivers_with_losses_of_their_own_do_not_starve_the_session() {
    let one = per_second(&mut run_with(&Options::default(), &[lossy(0.01)], 30));
    let mut pair = run_with(&Options::default(), &[lossy(0.01); 10], 30);
    let ten = per_second(&mut pair);
    assert!((0.5..1.3).contains(&(ten / one)), "{ten} with ten, {one} with one");
    assert_eq!(pair.source().receivers(), 10);
    let (signals, cuts) = (pair.source().signals(), pair.source().cuts());
    let listened = cuts as f64 / signals as f64;
    assert!((0.07..0.2).contains(&listened), "{cuts} of {signals}");
}

#[test]
fn only_receivers_with_frequent_signals_are_troubled() {
    let mut pair = run_with(&Options::default(), &[lossy(0.0), lossy(0.05), lossy(0.05), lossy(0.0001)], 60);
    let mut counts = [0; 5];
    for _ in 0..60 {
        pair.run(Duration::from_secs(1));
        counts[pair.source().troubled(pair.now())] += 1;
    }
    assert!(counts[2] > 40, "{counts:?}");
}

#[test]
fn every_receiver_acknowledges_every_packet() {
    let pair = run_with(&Options::default(), &[lossy(0.01), lossy(0.0)], 30);
    for index in 0..2 {
        let delivered = pair.record(index).delivered;
        assert_eq!(pair.record(index).reports.len() as u64, delivered);
    }
    assert_eq!(pair.source().counters().invalid, 0);
}

#[test]
fn a_receiver_that_leaves_is_not_waited_for_and_one_that_crashes_is_given_up_in_time() {
    let mut pair = run_with(&Options::default(), &[lossy(0.01), lossy(0.05)], 30);
    let id = pair.receiver(1).id();
    assert!(pair.source().follows(id));
    pair.stop_receiver(1);
    pair.run(Duration::from_ms(100));
    assert!(!pair.source().follows(id));
    assert!(per_second(&mut pair) > 100.0);

    let mut pair = run_with(&Options::default(), &[lossy(0.01), lossy(0.01)], 30);
    pair.path_mut(1).loss = 1.0;
    pair.run(Duration::from_secs(20));
    assert_eq!((pair.source().receivers(), pair.source().window() < 3.0), (2, true));
    pair.run(Duration::from_secs(60));
    assert_eq!((pair.source().receivers(), pair.source().counters().given_up), (1, 1));
    assert!(per_second(&mut pair) > 100.0);
}

fn give(source: &mut Source, now: Time, input: Input<Header>) {
    source.handle(now, input);
    while source.poll_action().is_some() {}
}

fn report(source: &Source, now: Time, receiver: u64, highest: u32, came: u32) -> Input<Header> {
    let report = Report {
        session: source.session(),
        receiver: ReceiverId(std::num::NonZeroU64::new(receiver).expect("not zero")),
        leaving: false,
        highest: WireSeq(highest),
        came,
        heard_us: now.as_wire_us().wrapping_sub(40_000),
    };
    let (origin, size) = (Origin::Peer(Peer(0)), Size::from_bytes(64));
    Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header: Header::Report(report) })
}

/// The table of receivers is bounded however many report, and implausible reports are dropped.
#[test]
fn a_source_with_arbitrary_reports_keeps_its_bounds() {
    let options = Options { most_receivers: 20, most_window: 30.0, ..Options::default() };
    let mut source = Source::new(&options, plan(), Stream::new(1, "source"));
    let mut stream = Stream::new(2, "reports");
    let mut now = Time::from_ns(1);
    give(&mut source, now, Input::Start);
    for _ in 0..50_000 {
        now += stream.uniform_duration(Duration::from_ms(20));
        let newest = source.counters().sent as u32;
        let highest = if stream.chance(0.2) { stream.bits() as u32 } else { newest };
        let input = report(&source, now, 1 + stream.bits() % 100, highest, stream.bits() as u32 | 1);
        give(&mut source, now, input);
        assert!(source.receivers() <= 20 && source.deadline().is_none_or(|at| at > now));
        assert!((1.0..=30.0).contains(&source.window()));
    }
    let counters = source.counters();
    assert!(counters.invalid > 1000 && counters.surplus_reports > 1000 && counters.sent > 20, "{counters:?}");
}

#[test]
fn a_source_without_data_is_silent_and_one_that_ends_says_so_once() {
    let mut source = Source::new(&Options::default(), plan(), Stream::new(1, "source"));
    let now = Time::from_ns(1_000_000_000);
    give(&mut source, now, Input::Start);
    give(&mut source, now, Input::DataExhausted);
    let input = report(&source, now, 1, 1, 1);
    give(&mut source, now, input);
    assert_eq!((source.counters().sent, source.deadline()), (1, None));
    give(&mut source, now, Input::DataAvailable);
    assert_eq!(source.counters().sent, 3, "as many as the window allows");
    give(&mut source, now, Input::Finish);
    assert_eq!((source.counters().sent, source.deadline()), (6, None));
    give(&mut source, now, Input::Stop);
    assert_eq!(source.counters().sent, 6);
}
