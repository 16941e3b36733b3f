//! A WEBRC source and its receivers over lossy and narrow paths.

use layercast_core::contract::{Cause, Endpoint, TraceEvent};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Level, Rate, Size, Time};
use layercast_protocols::webrc::{BASE, Header, Options, Receiver, Source, equation_rate};
use layercast_testkit::{Pair, Path, cases};

fn plan() -> SessionPlan {
    let layers = LayerTable::from_rates([Rate::from_mbps(8.0)]).expect("a layer");
    SessionPlan { layers, packet_size: Size::from_bytes(1000) }
}

fn run_with(options: &Options, paths: &[Path], seed: u64) -> Pair<Source, Receiver> {
    let receiver = |&path: &Path| (Receiver::new(options, plan(), Stream::new(1, "receiver")), path);
    let source = Source::new(options, plan(), Stream::new(7, "source"));
    Pair::new(source, paths.iter().map(receiver).collect(), Time::from_ns(5000), seed)
}

fn run(paths: &[Path], seconds: u64) -> Pair<Source, Receiver> {
    let mut pair = run_with(&Options::default(), paths, 3);
    pair.run(Duration::from_secs(seconds));
    pair
}

/// Joins by cause, and slow starts that ended.
fn level_changes(pair: &Pair<Source, Receiver>, index: usize, wanted: Cause) -> usize {
    let is_wanted = |(_, note): &&(Time, TraceEvent)| matches!(note, TraceEvent::LevelChanged { cause, .. } if *cause == wanted);
    pair.record(index).notes.iter().filter(is_wanted).count()
}

#[test]
fn without_loss_all_waves_are_joined_and_each_is_left_at_its_end() {
    let pair = run(&[Path::default()], 200);
    let waves = Options::default().waves(&plan());
    let estimates = pair.receiver(0).estimates(pair.now());
    // The session's rate is the maximum: start-up ends there.
    assert!(estimates.level >= Level::from_count(waves.active_waves()), "{:?}", estimates.level);
    assert!(level_changes(&pair, 0, Cause::WaveEnded) > 10);
    assert_eq!(pair.record(0).lost, 0);
    assert!(pair.record(0).notes.iter().any(|(_, note)| matches!(note, TraceEvent::SlowStartEnded { .. })));
    assert!(!pair.record(0).notes.iter().any(|(_, note)| matches!(note, TraceEvent::LossEvent { .. })));
}

#[test]
fn the_rate_under_independent_loss_is_near_the_equation() {
    for loss in [0.02, 0.005].into_iter().take(cases(2) as usize) {
        let path = Path { loss, delay: Duration::from_ms(100), ..Path::default() };
        let mut pair = run_with(&Options::default(), &[path], 11);
        pair.run(Duration::from_secs(200));
        let before = pair.record(0).delivered + pair.record(0).lost;
        pair.run(Duration::from_secs(800));
        let rate = (pair.record(0).delivered + pair.record(0).lost - before) as f64 / 800.0;
        // Joins take effect at once here, so the round trip is the one-way delay.
        let fair = equation_rate(loss, 0.1);
        // A rate that reaches the target at each join and falls by a quarter until the next is 0.87 of it
        // on average; 0.90 and 0.99 were measured, since the loss rate comes out a little low.
        let ratio = rate / fair;
        assert!((0.75..1.15).contains(&ratio), "{loss}: {rate} packets/s, {ratio} of the equation");
    }
}

#[test]
fn a_narrow_path_is_filled_and_not_flooded() {
    let narrow = Path { rate: Some(Rate::from_mbps(1.0)), queue: Duration::from_ms(200), ..Path::default() };
    let mut pair = run(&[narrow], 200);
    let (before, lost) = (pair.record(0).delivered, pair.record(0).lost);
    pair.run(Duration::from_secs(400));
    let rate = (pair.record(0).delivered - before) as f64 / 400.0;
    let loss = (pair.record(0).lost - lost) as f64 / (pair.record(0).delivered - before) as f64;
    assert!((70.0..125.1).contains(&rate), "{rate} of 125 packets/s");
    assert!(loss < 0.05, "{loss}");
}

#[test]
fn a_receiver_without_packets_leaves_and_comes_back() {
    let mut pair = run(&[Path::default()], 60);
    pair.path_mut(0).loss = 1.0;
    pair.run(Duration::from_secs(15));
    assert!(pair.held(0).is_empty());
    assert_eq!(pair.receiver(0).estimates(pair.now()).level, Level::NONE);
    assert!(level_changes(&pair, 0, Cause::Silence) > 0);
    pair.path_mut(0).loss = 0.0;
    pair.run(Duration::from_secs(60));
    assert!(pair.held(0).contains(&BASE) && pair.held(0).len() > 3, "{:?}", pair.held(0));
}

#[test]
fn a_receiver_that_loses_most_of_the_base_leaves() {
    let options = Options { rejoin_after: Duration::ZERO, ..Options::default() };
    let pair_at = |loss| {
        let mut pair = run_with(&options, &[Path { loss, ..Path::default() }], 5);
        // No wave carries a packet, so that the base is alone.
        pair.set_tamper(Box::new(|_, _, arrival| arrival.header.channel == BASE));
        pair.run(Duration::from_secs(300));
        pair.held(0).clone()
    };
    assert!(pair_at(0.1).contains(&BASE));
    assert!(pair_at(0.75).is_empty());
}

#[test]
fn a_wave_that_brings_nothing_is_given_up() {
    // Ten packets per second on the base, so that the first round-trip time is short.
    let options = Options { base_rate: 10.0, ..Options::default() };
    let mut pair = run_with(&options, &[Path::default()], 5);
    pair.set_tamper(Box::new(|_, _, arrival| arrival.header.channel == BASE));
    pair.run(Duration::from_secs(60));
    assert!(level_changes(&pair, 0, Cause::SilentLayer) > 10);
    assert!(pair.held(0).len() <= 2);
    // Joins that are undone leave no trace: the target is four times the rate of the base.
    let target = pair.receiver(0).estimates(pair.now()).rate.known().expect("a target");
    assert!(target < Rate::from_kbps(4.0 * 120.0), "{target}");
}

#[test]
fn forged_slots_end_no_waves() {
    let mut pair = run(&[Path::default()], 100);
    let level = pair.receiver(0).estimates(pair.now()).level;
    // Every second packet carries a slot number ten slots later.
    let mut turn = 0;
    pair.set_tamper(Box::new(move |_, _, arrival| {
        turn += 1;
        let header = &mut arrival.header;
        if turn % 2 == 0 {
            header.slot = (header.slot + 10) % header.cycle;
        }
        true
    }));
    pair.run(Duration::from_secs(8));
    let now = pair.receiver(0).estimates(pair.now()).level;
    assert!(now.layer_count() + 2 >= level.layer_count(), "{level:?} became {now:?}");
}

#[test]
fn the_end_is_accepted_when_it_is_announced_twice() {
    let mut pair = run(&[Path::default(), Path::default()], 30);
    let mut ends = 0;
    pair.set_tamper(Box::new(move |_, index, arrival: &mut layercast_core::contract::Arrival<Header>| {
        ends += usize::from(arrival.header.end_of_session && index == 1);
        index == 0 || !arrival.header.end_of_session || ends == 1
    }));
    pair.finish_source();
    pair.run(Duration::from_secs(1));
    let ended =
        |index: usize| pair.record(index).notes.iter().any(|(_, note)| *note == TraceEvent::SessionEnded);
    assert!(ended(0) && pair.held(0).is_empty());
    assert!(!ended(1) && !pair.held(1).is_empty());
}
