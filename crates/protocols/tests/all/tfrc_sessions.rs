//! TFRC's and CBR's source and receiver over synthetic paths.

use layercast_core::contract::{Action, Arrival, Ecn, Endpoint, Estimates, Input, Origin, Peer, TraceEvent};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_kit::equation::{Formula, Path as EquationPath};
use layercast_kit::estimator::{LossMethod, RtoRule, RttFilter};
use layercast_protocols::cbr;
use layercast_protocols::tfrc::header::Report;
use layercast_protocols::tfrc::options::Profile;
use layercast_protocols::tfrc::{Header, Options, Receiver, Source};
use layercast_testkit::{Pair, Path, cases, gauge, runs_long};

const SIZE: Size = Size::from_bytes(1000);
const DELAY: Duration = Duration::from_ms(50);
const PROFILES: [Profile; 3] = [Profile::Rfc5348, Profile::Rfc3448, Profile::Ns2];

fn plan(rate: Rate) -> SessionPlan {
    SessionPlan { layers: LayerTable::from_rates([rate]).expect("one layer"), packet_size: SIZE }
}

fn session(options: &Options, most: Rate, path: Path, seed: u64) -> Pair<Source, Receiver> {
    let source = Source::new(options, plan(most), Stream::new(seed, "source"));
    let receiver = Receiver::new(options, plan(most), Stream::new(seed, "receiver"));
    Pair::new(source, vec![(receiver, path)], Time::from_ns(1), seed)
}

fn profile(profile: Profile) -> Options {
    Options { profile, ..Options::default() }
}

/// The rate in kbit/s at which packets reached the receiver over the next while.
fn kbps_over(pair: &mut Pair<Source, Receiver>, span: Duration) -> f64 {
    let before = pair.record(0).delivered;
    pair.run(span);
    (pair.record(0).delivered - before) as f64 * 8.0 / span.as_secs_f64()
}

#[test]
fn the_rate_under_random_loss_is_near_the_equations() {
    if !runs_long("every profile at each loss rate") {
        return;
    }
    for which in PROFILES {
        for loss in [0.003, 0.01, 0.03] {
            let path = Path { delay: DELAY, loss, ..Path::default() };
            let mut pair = session(&profile(which), Rate::from_mbps(100.0), path, 7);
            pair.run(Duration::from_secs(30));
            let kbps = kbps_over(&mut pair, Duration::from_secs(1500));
            let equation = EquationPath::from_secs(1000.0, 0.1, 0.4);
            let fair = Formula::PftkSimplified.rate(&equation, loss).expect("a path").known();
            let share = kbps / fair.expect("loss bounds the rate").as_kbps();
            // Losses of one round trip count once, and the mean of a root is not the root of a mean: the
            // closed loop lies above the equation at the packet loss rate, the more the heavier the loss.
            assert!((0.9..1.4).contains(&share), "{which:?} at {loss}: {share}");
        }
    }
}

/// What a session with packets of so many bytes sends over 240 ms with random loss, in kbit/s.
fn sent_kbps(options: &Options, bytes: u32, loss: f64) -> f64 {
    let layers = LayerTable::from_rates([Rate::from_mbps(100.0)]).expect("one layer");
    let plan = SessionPlan { layers, packet_size: Size::from_bytes(bytes) };
    let source = Source::new(options, plan.clone(), Stream::new(7, "source"));
    let receiver = Receiver::new(options, plan, Stream::new(7, "receiver"));
    let path = Path { delay: Duration::from_ms(120), loss, ..Path::default() };
    let mut pair = Pair::new(source, vec![(receiver, path)], Time::from_ns(1), 7);
    pair.run(Duration::from_secs(50));
    let (before, seconds) = (pair.source().counters().sent, 3000);
    pair.run(Duration::from_secs(seconds));
    let sent = pair.source().counters().sent - before;
    sent as f64 * f64::from(bytes) * 8.0 / 1000.0 / seconds as f64
}

#[test]
fn small_packets_get_what_large_ones_get() {
    if !runs_long("every profile at four loss rates") {
        return;
    }
    for which in PROFILES {
        let plain = profile(which);
        let small = Options { small_packets: true, ..plain.clone() };
        for (loss, most) in [(0.03, 1.3), (0.05, 1.35), (0.1, 1.5)] {
            let large = sent_kbps(&plain, 1460, loss);
            // The rate of a plain source is proportional to the size of its packets.
            let share = sent_kbps(&plain, 560, loss) / large / (560.0 / 1460.0);
            assert!((0.95..1.05).contains(&share), "{which:?} at {loss}, plain: {share}");
            // More small packets fall into a round trip, whose losses count once in an interval that is not
            // short: so their source gets somewhat more.
            let share = sent_kbps(&small, 560, loss) / large;
            assert!((0.95..most).contains(&share), "{which:?} at {loss}: {share}");
        }
        // At light loss the least time between packets decides: 100 packets/s, unless a packet is lost early.
        let kbps = sent_kbps(&small, 560, 0.001);
        assert!((440.0..448.1).contains(&kbps), "{which:?}: {kbps}");
    }
}

#[test]
fn an_own_choice_takes_the_place_of_the_profiles() {
    // Each of the four parts of the rate: the square-root formula has no timeouts, a long
    // timeout costs much, all losses are more than those that begin events, and the smallest of the samples
    // is that of an empty queue.
    let plain = sent_kbps(&Options::default(), 1000, 0.1);
    let with = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        sent_kbps(&options, 1000, 0.1)
    };
    let simple = with(|options| options.formula = Some(Formula::Simple));
    assert!(simple > 1.5 * plain, "{simple} of {plain}");
    let long_timeout = with(|options| {
        options.rto = Some(RtoRule::Rfc6298);
        options.rto_minimum = Duration::from_secs(4);
    });
    assert!(long_timeout < 0.5 * plain, "{long_timeout} of {plain}");
    let aggregated = with(|options| options.loss_estimator = Some(LossMethod::Lap));
    assert!(aggregated < 0.97 * plain, "{aggregated} of {plain}");
    let rate = Some(Rate::from_mbps(2.0));
    let path = Path { delay: DELAY, rate, queue: Duration::from_ms(100), ..Path::default() };
    let rtt_with = |rtt_filter| {
        let options = Options { rtt_filter, rtt_window: 1000, ..Options::default() };
        let mut pair = session(&options, Rate::from_mbps(100.0), path, 3);
        pair.run(Duration::from_secs(60));
        pair.source().estimates(pair.now()).rtt.expect("measured")
    };
    let (mean, least) = (rtt_with(RttFilter::Ewma), rtt_with(RttFilter::Minimum));
    assert!(least < Duration::from_ms(115) && mean > Duration::from_ms(120), "{least} and {mean}");
}

#[test]
fn a_bottleneck_is_filled_and_hardly_overfilled() {
    for which in PROFILES {
        let rate = Some(Rate::from_mbps(2.0));
        let path = Path { delay: DELAY, rate, queue: Duration::from_ms(100), ..Path::default() };
        let mut pair = session(&profile(which), Rate::from_mbps(100.0), path, 3);
        pair.run(Duration::from_secs(20));
        let (lost, delivered) = (pair.record(0).lost, pair.record(0).delivered);
        let kbps = kbps_over(&mut pair, Duration::from_secs(100));
        assert!(kbps > 1700.0, "{which:?}: {kbps} kbit/s");
        let lost = (pair.record(0).lost - lost) as f64 / (pair.record(0).delivered - delivered) as f64;
        assert!(lost < 0.02, "{which:?}: {lost} lost");
    }
}

#[test]
fn an_application_short_of_data_gets_its_rate() {
    let path = Path { delay: DELAY, ..Path::default() };
    let mut pair = session(&Options::default(), Rate::from_kbps(400.0), path, 3);
    pair.run(Duration::from_secs(10));
    assert!((kbps_over(&mut pair, Duration::from_secs(20)) - 400.0).abs() < 8.0);
}

#[test]
fn a_path_that_goes_silent_is_left_alone_and_found_again() {
    for which in PROFILES.into_iter().take(cases(PROFILES.len() as u32) as usize) {
        let path = Path { delay: DELAY, loss: 0.01, ..Path::default() };
        let mut pair = session(&profile(which), Rate::from_mbps(100.0), path, 5);
        pair.run(Duration::from_secs(60));
        pair.path_mut(0).loss = 1.0;
        pair.run(Duration::from_secs(120));
        let sent = pair.source().counters().sent;
        pair.run(Duration::from_secs(60));
        assert!(pair.source().counters().sent - sent <= 10, "{which:?} backs off");
        assert!(pair.source().counters().timeouts > 5);
        pair.path_mut(0).loss = 0.0;
        pair.run(Duration::from_secs(300));
        assert!(kbps_over(&mut pair, Duration::from_secs(10)) > 500.0, "{which:?} comes back");
    }
}

#[test]
fn the_receiver_gets_the_round_trip_time_and_knows_the_rate() {
    let path = Path { delay: DELAY, loss: 0.01, clock_ahead: Duration::from_secs(5), ..Path::default() };
    let mut pair = session(&Options::default(), Rate::from_mbps(100.0), path, 5);
    pair.run(Duration::from_secs(60));
    let Estimates { rate, loss, rtt, .. } = pair.receiver(0).estimates(pair.now());
    assert_eq!(rtt, Some(Duration::from_ms(100)), "the clocks differ by 5 s");
    assert!((0.004..0.025).contains(&loss.expect("a loss rate")), "{loss:?}");
    assert!(rate.known().is_some());
    let first =
        pair.record(0).notes.iter().find(|(_, note)| matches!(note, TraceEvent::FirstRoundTrip { .. }));
    assert!(first.is_some_and(|&(at, _)| at < Time::from_secs_f64(2.5)), "{first:?}");
}

#[test]
fn a_first_loss_does_not_count_the_packets_of_slow_start() {
    for which in PROFILES {
        let path = Path { delay: DELAY, ..Path::default() };
        let mut pair = session(&profile(which), Rate::from_mbps(100.0), path, 5);
        pair.run(Duration::from_ms(1000));
        let mut lose_one = true;
        pair.set_tamper(Box::new(move |_, _, _| !std::mem::take(&mut lose_one)));
        let before = pair.source().estimates(pair.now()).rate.known().expect("sending");
        pair.run(Duration::from_ms(400));
        // The calculated interval is for the receive rate, from half of the allowed rate up. The packets
        // counted so far would give a third of it at most.
        let after = pair.source().estimates(pair.now()).rate.known().expect("sending");
        let share = after.as_bps() / before.as_bps();
        assert!((0.4..1.0).contains(&share), "{which:?}: {share}");
    }
}

#[test]
fn a_lying_receiver_does_not_raise_the_limit() {
    let path = Path { delay: DELAY, ..Path::default() };
    let mut pair = session(&Options::default(), Rate::from_mbps(1000.0), path, 5);
    pair.run(Duration::from_secs(1));
    let honest = pair.source().estimates(pair.now()).rate.known().expect("sending");
    let mut source = pair.source().clone();
    let at = pair.now() + Duration::from_ms(150);
    let newest = Some(((at - Duration::from_ms(100)).as_wire_us(), 0));
    let report =
        Report { session: source.session(), newest, receive_rate: u32::MAX, loss: 0, leaving: false };
    let arrival = Arrival {
        origin: Origin::Peer(Peer(0)),
        size: Size::from_bytes(40),
        ecn: Ecn::NotCapable,
        header: Header::Report(report),
    };
    source.handle(at, Input::Packet(arrival));
    assert!(source.counters().reports > pair.source().counters().reports, "the report is taken");
    let lied = source.estimates(at).rate.known().expect("sending");
    assert!(lied.as_bps() <= 2.0 * honest.as_bps(), "{lied} after {honest}");
}

#[test]
fn the_end_of_the_source_and_of_the_receiver() {
    let path = Path { delay: DELAY, ..Path::default() };
    let mut pair = session(&Options::default(), Rate::from_mbps(1.0), path, 5);
    pair.run(Duration::from_secs(5));
    pair.finish_source();
    pair.run(Duration::from_secs(1));
    assert!(pair.held(0).is_empty());
    assert!(pair.record(0).notes.iter().any(|(_, note)| *note == TraceEvent::SessionEnded));

    let mut pair = session(&Options::default(), Rate::from_mbps(1.0), path, 5);
    pair.run(Duration::from_secs(5));
    pair.stop_receiver(0);
    pair.run(Duration::from_secs(1));
    let sent = pair.source().counters().sent;
    pair.run(Duration::from_secs(10));
    assert_eq!(pair.source().counters().sent, sent, "there is no receiver");
}

fn constant(options: &cbr::Options, rate: Rate, loss: f64) -> Pair<cbr::Source, cbr::Receiver> {
    let source = cbr::Source::new(options, plan(rate), Stream::new(4, "source"));
    let receiver = cbr::Receiver::new(options, plan(rate), Stream::new(4, "receiver"));
    let path = Path { delay: DELAY, loss, ..Path::default() };
    Pair::new(source, vec![(receiver, path)], Time::from_ns(1), 4)
}

#[test]
fn a_constant_source_stays_constant_and_its_measures_differ() {
    // 16 packets in a round trip of 100 ms.
    let mut pair = constant(&cbr::Options::default(), Rate::from_kbps(1280.0), 0.05);
    pair.run(Duration::from_secs(500));
    let counters = *pair.source().counters();
    assert!((counters.sent as f64 - 80_000.0).abs() < 20.0, "{counters:?}");
    let estimates = pair.receiver(0).estimates(pair.now());
    let shown = |name| gauge(pair.receiver(0), name, pair.now());
    assert_eq!(estimates.loss, shown("lip_loss"));
    let share = |counted| shown(counted).expect("several") / shown("packets").expect("several");
    // A period holds 17 packets, since the last one of a round trip is sent just within it.
    let lip = 0.05 / (1.0 + 16.0 * 0.05);
    assert!((share("lip_losses") / lip - 1.0).abs() < 0.1, "{}", share("lip_losses"));
    assert!((share("lap_losses") / 0.05 - 1.0).abs() < 0.05, "{}", share("lap_losses"));
    let rates = ["lip_rate_kbps", "lap_rate_kbps"].map(|rate| shown(rate).expect("lossy"));
    assert!(rates[0] > 1.3 * rates[1], "{rates:?}");
}

#[test]
fn virtual_packets_thin_the_stream_out() {
    let options = cbr::Options {
        virtual_size: Size::from_bytes(4000),
        estimator: cbr::options::ShownMeasure::Lap,
        ..Default::default()
    };
    let mut pair = constant(&options, Rate::from_kbps(1280.0), 0.05);
    pair.run(Duration::from_secs(500));
    let shown = |name| gauge(pair.receiver(0), name, pair.now()).expect("several");
    assert!((shown("packets") - 20_000.0).abs() < 20.0, "{}", shown("packets"));
    let share = shown("lap_losses") / shown("packets");
    assert!((share / 0.05 - 1.0).abs() < 0.1, "lost as often as real ones: {share}");
}

#[test]
fn a_source_that_announces_begins_with_the_first_report() {
    let options = Options { announce_interval: Duration::from_ms(500), ..Options::default() };
    let mut source = Source::new(&options, plan(Rate::from_mbps(1.0)), Stream::new(1, "source"));
    let mut now = Time::from_ns(1);
    let packets_over = |source: &mut Source, now: &mut Time, span: Duration| {
        let (end, mut packets) = (*now + span, 0);
        loop {
            while let Some(action) = source.poll_action() {
                packets += u32::from(matches!(action, Action::Send(_)));
            }
            let Some(next) = source.deadline().filter(|&next| next <= end) else { break };
            *now = next;
            source.handle(next, Input::Timer);
        }
        *now = end;
        packets
    };
    source.handle(now, Input::Start);
    assert_eq!(
        packets_over(&mut source, &mut now, Duration::from_ms(2900)),
        6,
        "two a second without a receiver"
    );

    // A receiver that has received one of them reports and sends no hello. Another session's is ignored.
    let report = |session| Report {
        session,
        newest: Some((now.as_wire_us(), 0)),
        receive_rate: 0,
        loss: 0,
        leaving: false,
    };
    for (session, begins) in [(source.session() ^ 1, false), (source.session(), true)] {
        let header = Header::Report(report(session));
        let origin = Origin::Peer(Peer(0));
        let size = Size::from_bytes(60);
        source.handle(now, Input::Packet(Arrival { origin, size, ecn: Ecn::NotCapable, header }));
        let level = source.estimates(now).level.layer_count();
        assert_eq!(level == 1, begins, "it knows its receiver");
    }
}
