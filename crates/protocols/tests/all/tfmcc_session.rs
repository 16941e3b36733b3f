//! A TFMCC source and its receivers over lossy paths.

use layercast_core::contract::{Cause, Endpoint, TraceEvent};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Level, Rate, Size, Time};
use layercast_kit::equation::{Formula, Path as Model};
use layercast_protocols::tfmcc::{Header, Options, Receiver, Source};
use layercast_testkit::{Pair, Path};

fn run_with(options: &Options, paths: &[Path]) -> Pair<Source, Receiver> {
    let layers = LayerTable::from_rates([Rate::from_mbps(10.0)]).expect("a layer");
    let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
    let receiver = |(index, &path): (usize, &Path)| {
        (Receiver::new(options, plan.clone(), Stream::new(index as u64, "receiver")), path)
    };
    let source = Source::new(options, plan.clone(), Stream::new(7, "source"));
    Pair::new(source, paths.iter().enumerate().map(receiver).collect(), Time::from_ns(5000), 3)
}

fn run(paths: &[Path], seconds: u64) -> Pair<Source, Receiver> {
    let mut pair = run_with(&Options::default(), paths);
    pair.run(Duration::from_secs(seconds));
    pair
}

#[test]
fn the_source_follows_the_receiver_with_the_lowest_rate() {
    let lossy = Path { loss: 0.05, ..Path::default() };
    let mut pair = run(&[Path::default(), lossy, Path { loss: 0.01, ..Path::default() }], 60);
    assert_eq!(pair.source().limiting(), Some(pair.receiver(1).id()));
    assert!(pair.receiver(1).is_limiting() && !pair.receiver(0).is_limiting());
    assert!(!pair.source().in_slow_start());
    let before = pair.record(1).delivered + pair.record(1).lost;
    pair.run(Duration::from_secs(120));
    let sent = pair.record(1).delivered + pair.record(1).lost - before;
    // Eight intervals scatter, and a rate that falls at once and grows slowly is below their mean.
    let model = Formula::PftkSimplified.rate(&Model::from_secs(1000.0, 0.06, 0.24), 0.05).expect("a path");
    let ratio = sent as f64 * 8000.0 / 120.0 / model.known().expect("a rate").as_bps();
    assert!((0.6..1.2).contains(&ratio), "{ratio} of the equation");
}

#[test]
fn the_limiting_receiver_reports_once_a_round_trip_time_and_others_once_a_round() {
    let lossy = Path { loss: 0.03, ..Path::default() };
    let mut pair = run(&[Path::default(), lossy], 60);
    let (before, rounds) = (pair.source().counters().other_reports, pair.source().counters().rounds);
    let reports = pair.record(1).reports.len();
    pair.run(Duration::from_secs(60));
    let per_s = (pair.record(1).reports.len() - reports) as f64 / 60.0;
    // Once in 60 ms, with the next packet; and once more at each loss event.
    assert!((10.0..20.0).contains(&per_s), "{per_s}");
    let others = pair.source().counters().other_reports - before;
    let rounds = pair.source().counters().rounds - rounds;
    assert!(rounds > 20 && others > 0 && others <= rounds, "{others} reports in {rounds} rounds");
}

#[test]
fn round_trip_times_do_not_depend_on_clocks() {
    let ahead = Path { clock_ahead: Duration::from_secs(4000), loss: 0.01, ..Path::default() };
    let pair = run(&[Path { loss: 0.01, ..Path::default() }, ahead], 90);
    for index in 0..2 {
        let rtt = pair.receiver(index).estimates(pair.now()).rtt.expect("a round-trip time");
        assert!(rtt >= Duration::from_ms(60) && rtt < Duration::from_ms(61), "{index}: {rtt}");
        let first = pair.record(index).notes.iter().find_map(|(_, note)| match note {
            TraceEvent::FirstRoundTrip { rtt } => Some(*rtt),
            _ => None,
        });
        assert!(first.is_some_and(|rtt| rtt < Duration::from_ms(61)), "{index}: {first:?}");
        assert_eq!(pair.receiver(index).counters().bad_echo, 0);
    }
    assert!(pair.source().max_rtt() < Duration::from_ms(500));
}

#[test]
fn the_rate_stays_in_its_bounds() {
    let pair = run(&[Path::default()], 60);
    assert_eq!(pair.source().rate(), Rate::from_mbps(10.0), "the peak, without loss");
    let floor_rate = Rate::from_kbps(200.0);
    let mut pair =
        run_with(&Options { floor_rate, ..Options::default() }, &[Path { loss: 0.5, ..Path::default() }]);
    pair.run(Duration::from_secs(60));
    assert_eq!(pair.source().rate(), floor_rate);
}

#[test]
fn without_receivers_the_source_falls_silent_but_for_a_packet_in_eight_seconds() {
    let mut pair = run(&[Path { loss: 0.02, ..Path::default() }], 30);
    assert!(pair.source().rate() > Rate::from_kbps(100.0));
    pair.set_tamper(Box::new(|_, _, _| false));
    // Ten of the spacings that grow with each halving: 80 s for the last one.
    pair.run(Duration::from_secs(300));
    assert_eq!(pair.source().rate(), Rate::from_bps(1000.0));
    assert_eq!(pair.source().limiting(), None);
}

#[test]
fn a_receiver_that_can_have_nothing_leaves() {
    let options = Options {
        floor_rate: Rate::from_kbps(100.0),
        starved_leave: Duration::from_secs(20),
        max_spacing: Duration::from_ms(200),
        ..Options::default()
    };
    let mut pair = run_with(&options, &[Path { loss: 0.4, ..Path::default() }, Path::default()]);
    pair.run(Duration::from_secs(60));
    assert_eq!(pair.receiver(0).estimates(pair.now()).level, Level::NONE);
    let left = |note: &TraceEvent| matches!(note, TraceEvent::LevelChanged { cause: Cause::RateBelow, .. });
    assert!(pair.record(0).notes.iter().any(|(_, note)| left(note)));
    pair.run(Duration::from_secs(60));
    assert!(pair.source().rate() > Rate::from_mbps(1.0), "it held up the other: {}", pair.source().rate());
}

#[test]
fn a_session_that_restarts_is_learned_again_after_two_packets() {
    let mut pair = run(&[Path { loss: 0.01, ..Path::default() }], 20);
    let mut forged = 0;
    // One forged packet changes nothing; from 30 s on all are of another session.
    pair.set_tamper(Box::new(move |now, _, arrival| {
        if let Header::Data(data) = &mut arrival.header
            && (forged == 0 || now > Time::from_secs_f64(30.0))
        {
            data.session ^= 1;
            forged += 1;
        }
        true
    }));
    pair.run(Duration::from_secs(5));
    assert_eq!((pair.receiver(0).counters().foreign, pair.receiver(0).counters().restarts), (1, 0));
    pair.run(Duration::from_secs(15));
    assert_eq!(pair.receiver(0).counters().restarts, 1);
    assert!(pair.source().counters().invalid > 0, "the source refuses reports to another session");
}
