//! A source that sends what all receivers allow, and its receivers, over lossy paths.

use crate::window_sessions::{lossy, plan, run};
use layercast_core::contract::{Arrival, Ecn, Endpoint, Input, Origin, Peer};
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Size, Time, WireSeq};
use layercast_protocols::golestani_sabnani::header::{ReceiverId, Report};
use layercast_protocols::golestani_sabnani::{Header, Options, Receiver, Source};
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

/// The window with a random loss of p is near sqrt(3 / (2 p)); reports after half a window make it wait.
#[test]
fn with_one_receiver_the_rate_is_somewhat_below_that_of_a_tcp() {
    for loss in [0.005, 0.02] {
        let ratio = per_second(&mut run_with(&Options::default(), &[lossy(loss)], 30)) * 0.06;
        let ratio = ratio / (1.5 / loss).sqrt();
        assert!((0.4..1.1).contains(&ratio), "{loss}: {ratio} of the model");
    }
}

#[test]
fn the_source_never_sends_more_than_the_worst_receiver_allows() {
    let worst = per_second(&mut run_with(&Options::default(), &[lossy(0.03)], 30));
    let mut pair = run_with(&Options::default(), &[lossy(0.0), lossy(0.03), lossy(0.003)], 30);
    let all = per_second(&mut pair);
    assert!((0.6..1.1).contains(&(all / worst)), "{all}, with the worst alone {worst}");
    // The window of the best stays within reach of the worst's, which is 8 or so and 20 at times.
    assert!(pair.receiver(0).window() < 100.0, "{}", pair.receiver(0).window());
}

#[test]
fn a_report_is_sent_when_half_a_window_more_is_allowed() {
    let pair = run_with(&Options::default(), &[lossy(0.01), lossy(0.0)], 60);
    for index in 0..2 {
        let part = pair.record(index).reports.len() as f64 / pair.record(index).delivered as f64;
        assert!((0.005..0.4).contains(&part), "{index}: {part} reports a packet");
    }
    let every = Options { report_part: 0.0, ..Options::default() };
    let pair = run_with(&every, &[lossy(0.01)], 60);
    let part = pair.record(0).reports.len() as f64 / pair.record(0).delivered as f64;
    assert!(part > 0.95, "{part}");
}

#[test]
fn a_window_of_losses_does_not_stop_the_session() {
    let mut pair = run_with(&Options::default(), &[lossy(0.01)], 30);
    pair.path_mut(0).loss = 1.0;
    pair.run(Duration::from_secs(5));
    pair.path_mut(0).loss = 0.01;
    let rate = per_second(&mut pair);
    assert!(rate > 80.0 && pair.source().counters().timeouts >= 2, "{rate}");
    assert_eq!(pair.source().counters().given_up, 0);
}

#[test]
fn a_receiver_that_leaves_is_not_waited_for_and_one_that_crashes_is_given_up_in_time() {
    let mut pair = run_with(&Options::default(), &[lossy(0.005), lossy(0.05)], 30);
    let slow = per_second(&mut pair);
    pair.stop_receiver(1);
    pair.run(Duration::from_ms(100));
    assert_eq!(pair.source().receivers(), 1);
    assert!(per_second(&mut pair) > 1.5 * slow);

    let mut pair = run_with(&Options::default(), &[lossy(0.01), lossy(0.01)], 30);
    pair.path_mut(1).loss = 1.0;
    pair.run(Duration::from_secs(80));
    assert_eq!((pair.source().receivers(), pair.source().counters().given_up), (1, 1));
    assert!(per_second(&mut pair) > 80.0);
}

fn give(source: &mut Source, now: Time, input: Input<Header>) {
    source.handle(now, input);
    while source.poll_action().is_some() {}
}

fn report(source: &Source, now: Time, receiver: u64, in_order: u32, allowed: u32) -> Input<Header> {
    let report = Report {
        session: source.session(),
        receiver: ReceiverId(std::num::NonZeroU64::new(receiver).expect("not zero")),
        leaving: false,
        in_order: WireSeq(in_order),
        allowed: WireSeq(allowed),
        heard_us: now.as_wire_us().wrapping_sub(40_000),
    };
    let (origin, size) = (Origin::Peer(Peer(0)), Size::from_bytes(64));
    Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header: Header::Report(report) })
}

#[test]
fn the_least_number_allowed_counts_and_a_smaller_one_later_recalls_nothing() {
    let mut source = Source::new(&Options::default(), plan(), Stream::new(1, "source"));
    let now = Time::from_ns(1_000_000_000);
    give(&mut source, now, Input::Start);
    let later = now + Duration::from_ms(100);
    let input = report(&source, later, 1, 1, 9);
    give(&mut source, later, input);
    assert_eq!((source.counters().sent, source.window()), (9, 8));
    let input = report(&source, later, 2, 1, 5);
    give(&mut source, later, input);
    let later = later + Duration::from_ms(100);
    let input = report(&source, later, 1, 9, 17);
    give(&mut source, later, input);
    assert_eq!((source.counters().sent, source.window()), (9, 4), "the second allows five");
    let input = report(&source, later, 2, 5, 10);
    give(&mut source, later, input);
    assert_eq!(source.counters().sent, 10);
    for (in_order, allowed) in [(11, 12), (0, 5), (8, 8), (8, 7), (8, 1_000_000)] {
        let input = report(&source, later, 2, in_order, allowed);
        give(&mut source, later, input);
    }
    assert_eq!((source.counters().invalid, source.counters().sent), (5, 10));
}

#[test]
fn a_source_with_arbitrary_reports_keeps_its_bounds() {
    let options = Options { most_receivers: 20, ..Options::default() };
    let mut source = Source::new(&options, plan(), Stream::new(1, "source"));
    let mut stream = Stream::new(2, "reports");
    let mut now = Time::from_ns(1);
    give(&mut source, now, Input::Start);
    for _ in 0..50_000 {
        now += stream.uniform_duration(Duration::from_ms(20));
        let newest = source.counters().sent as u32;
        let in_order = if stream.chance(0.2) { stream.bits() as u32 } else { newest };
        let allowed = in_order.wrapping_add(stream.bits() as u32 % 40);
        let input = report(&source, now, 1 + stream.bits() % 100, in_order, allowed);
        give(&mut source, now, input);
        assert!(source.receivers() <= 20 && source.deadline().is_none_or(|at| at > now));
        // Never faster than the session's rate, whatever is allowed.
        assert!((source.counters().sent as f64) < now.as_secs_f64() * 1250.0 + 10.0);
    }
    let counters = source.counters();
    assert!(
        counters.invalid > 1000 && counters.surplus_reports > 1000 && counters.sent > 100,
        "{counters:?}"
    );
}

#[test]
fn a_source_without_data_is_silent_and_one_that_ends_says_so_once() {
    let mut source = Source::new(&Options::default(), plan(), Stream::new(1, "source"));
    let now = Time::from_ns(1_000_000_000);
    give(&mut source, now, Input::Start);
    give(&mut source, now, Input::DataExhausted);
    let input = report(&source, now, 1, 1, 4);
    give(&mut source, now, input);
    assert_eq!((source.counters().sent, source.deadline()), (1, None));
    give(&mut source, now, Input::DataAvailable);
    assert_eq!(source.counters().sent, 4, "as many as allowed");
    give(&mut source, now, Input::Finish);
    assert_eq!((source.counters().sent, source.deadline()), (7, None));
    give(&mut source, now, Input::Stop);
    assert_eq!(source.counters().sent, 7);
}
