//! Sources and receivers of the FLID family over simple paths.

use layercast_core::contract::{Cause, Ecn, Endpoint, TraceEvent};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Level, Rate, Size, Time};
use layercast_kit::dynamic::Layering;
use layercast_protocols::flid::{Header, Model, Receiver, Source, Variant};
use layercast_protocols::flid::{dl as flid_dl, ecn as e_flid_dl, sl as flid_sl};
use layercast_testkit::{Pair, Path};

/// The paper's layers: 24 kbit/s, each cumulative rate 1.3 times the one below.
fn plan(layers: u16) -> SessionPlan {
    let layers = LayerTable::multiplicative(1.3, Rate::from_kbps(24.0), layers).expect("a structure");
    SessionPlan { layers, packet_size: Size::from_bytes(1000) }
}

fn session(options: &impl Variant, layers: u16, paths: &[Path]) -> Pair<Source, Receiver> {
    let plan = plan(layers);
    let receiver = |(index, &path): (usize, &Path)| {
        (Receiver::new(options, plan.clone(), Stream::new(index as u64, "receiver")), path)
    };
    let source = Source::new(options, plan.clone(), Stream::new(7, "source"));
    Pair::new(source, paths.iter().enumerate().map(receiver).collect(), Time::from_ns(5000), 3)
}

fn level(pair: &Pair<Source, Receiver>, index: usize) -> Level {
    pair.receiver(index).estimates(pair.now()).level
}

fn lossy(loss: f64) -> Path {
    Path { loss, ..Path::default() }
}

fn narrow(kbps: f64) -> Path {
    Path { rate: Some(Rate::from_kbps(kbps)), ..Path::default() }
}

/// The rate of the level held, averaged over some seconds, in packets/s.
fn mean_rate(pair: &mut Pair<Source, Receiver>, layers: u16, seconds: u64) -> f64 {
    let table = plan(layers).layers;
    let mut sum = 0.0;
    for _ in 0..4 * seconds {
        pair.run(Duration::from_ms(250));
        sum += table.rate_of(level(pair, 0)).as_bps() / 8000.0;
    }
    sum / (4 * seconds) as f64
}

fn causes(pair: &Pair<Source, Receiver>, index: usize) -> Vec<Cause> {
    let cause = |(_, note): &(Time, TraceEvent)| match note {
        TraceEvent::LevelChanged { cause, .. } => Some(*cause),
        _ => None,
    };
    pair.record(index).notes.iter().filter_map(cause).collect()
}

#[test]
fn the_mean_rate_under_loss_is_that_of_the_chain() {
    let at = |options: &dyn Fn(f64) -> Pair<Source, Receiver>, loss: f64| {
        let mut pair = options(loss);
        let model = Model::new(&plan(16).layers, Size::from_bytes(1000), Duration::from_ms(500));
        let chain = model.mean_rate(pair.source().increase_probabilities(), loss);
        pair.run(Duration::from_secs(20));
        mean_rate(&mut pair, 16, 2000) / chain
    };
    let fixed = |loss| session(&flid_sl::Options::default(), 16, &[lossy(loss)]);
    let dynamic = |loss| session(&flid_dl::Options::default(), 16, &[lossy(loss)]);
    // A loss before the first packet of a newly joined layer is not visible; with few packets in a
    // slot that matters.
    for (loss, most) in [(0.02, 1.06), (0.08, 1.18)] {
        let ratio = at(&fixed, loss);
        assert!((0.94..most).contains(&ratio), "static at {loss}: {ratio} of the chain's");
    }
    // With dynamic layers each slot has a channel that begins and one that ends.
    let ratio = at(&dynamic, 0.02);
    assert!((1.0..1.15).contains(&ratio), "dynamic at 0.02: {ratio} of the chain's");
    let ratio = at(&dynamic, 0.08);
    assert!((1.1..1.45).contains(&ratio), "dynamic at 0.08: {ratio} of the chain's");
}

#[test]
fn a_clean_path_is_climbed_to_the_top_one_layer_at_a_time() {
    for (name, mut pair) in [
        ("dynamic", session(&flid_dl::Options::default(), 12, &[Path::default()])),
        ("static", session(&flid_sl::Options::default(), 12, &[Path::default()])),
    ] {
        pair.run(Duration::from_secs(60));
        let levels: Vec<u16> = pair
            .record(0)
            .notes
            .iter()
            .filter_map(|(_, note)| match note {
                TraceEvent::LevelChanged { to, .. } => Some(to.layer_count()),
                _ => None,
            })
            .collect();
        assert_eq!(levels, (1..=12).collect::<Vec<_>>(), "{name}");
        assert!(causes(&pair, 0)[1..].iter().all(|&cause| cause == Cause::IncreaseSignal), "{name}");
    }
}

#[test]
fn what_is_held_is_what_the_level_needs_in_every_slot() {
    for static_base in [true, false] {
        let options = flid_dl::Options { static_base, ..flid_dl::Options::default() };
        let layering = options.settings().layering(&plan(10));
        let mut pair = session(&options, 10, &[lossy(0.02)]);
        pair.run(Duration::from_secs(10));
        let mut exact = 0;
        for slot in 20..420 {
            // Just before the end of a slot all losses are decided.
            pair.run(Duration::from_ms(500));
            let held: Vec<_> = pair.held(0).iter().copied().collect();
            let mut wanted: Vec<_> = layering.channels_of(level(&pair, 0).layer_count(), slot).collect();
            wanted.sort();
            exact += usize::from(held == wanted);
        }
        // A receiver that lost all packets of a slot learns of it in the next one.
        assert!(exact > 390, "static base {static_base}: {exact} of 400 slots");
        assert_eq!(matches!(layering, Layering::TurningAboveBase(_)), static_base);
        assert!(causes(&pair, 0).contains(&Cause::Loss));
    }
}

#[test]
fn a_bottleneck_is_filled_and_shared_levels_are_found_together() {
    let paths = [narrow(400.0); 3];
    let mut pair = session(&flid_dl::Options::default(), 16, &paths);
    pair.run(Duration::from_secs(30));
    let before: Vec<u64> = (0..3).map(|index| pair.record(index).delivered).collect();
    pair.run(Duration::from_secs(100));
    for (index, before) in before.into_iter().enumerate() {
        let kbps = (pair.record(index).delivered - before) as f64 * 8.0 / 100.0;
        assert!((240.0..400.0).contains(&kbps), "{kbps} kbit/s");
    }
    assert_eq!(level(&pair, 0), level(&pair, 1));
    assert_eq!(level(&pair, 0), level(&pair, 2));
}

#[test]
fn marks_decide_for_e_flid_dl() {
    let literal = e_flid_dl::Options { loss_safety: false, ..e_flid_dl::Options::default() };
    // Losses alone do nothing.
    let mut pair = session(&literal, 8, &[lossy(0.1)]);
    pair.run(Duration::from_secs(60));
    assert_eq!(level(&pair, 0), Level::from_count(8));
    // Everything above level 3 is marked.
    let mut pair = session(&literal, 8, &[Path::default()]);
    pair.set_tamper(Box::new(|_, _, arrival| {
        let header: &Header = &arrival.header;
        arrival.ecn = if header.layer > 3 { Ecn::Marked } else { Ecn::Capable };
        true
    }));
    pair.run(Duration::from_secs(60));
    assert!(causes(&pair, 0).contains(&Cause::CongestionMark));
    let counts = pair.record(0).notes.iter().filter_map(|(_, note)| match note {
        TraceEvent::LevelChanged { to, .. } => Some(to.layer_count()),
        _ => None,
    });
    // A mark on a thin layer may come some slots after the join.
    assert!(counts.max().is_some_and(|most| (5..8).contains(&most)));
    // A path that loses much and never marks is detected.
    let mut pair = session(&e_flid_dl::Options::default(), 8, &[lossy(0.1)]);
    pair.run(Duration::from_secs(120));
    assert!(causes(&pair, 0).contains(&Cause::Loss));
    assert!(level(&pair, 0) < Level::from_count(8));
}

#[test]
fn joins_ahead_of_time_miss_less() {
    let delivered = |join_mode, join_lead| {
        let options = flid_dl::Options { join_mode, join_lead, ..flid_dl::Options::default() };
        let path = Path { delay: Duration::from_ms(100), ..Path::default() };
        let mut pair = session(&options, 12, &[path]);
        pair.run(Duration::from_secs(30));
        assert_eq!(level(&pair, 0), Level::from_count(12));
        let before = pair.record(0).delivered;
        pair.run(Duration::from_secs(60));
        (pair.record(0).delivered - before) as f64 / 60.0
    };
    use layercast_protocols::flid::JoinMode::{AtBoundary, Early};
    let full = plan(12).layers.top_rate().as_bps() / 8000.0;
    // Joins take effect at once here, but a slot's packets take 100 ms.
    let (late, early) = (delivered(AtBoundary, Duration::ZERO), delivered(Early, Duration::from_ms(100)));
    assert!(late < 0.97 * full, "{late} of {full}");
    assert!((0.99..1.01).contains(&(early / full)), "{early} of {full}");
}

#[test]
fn the_end_is_accepted_after_a_second() {
    for mut pair in [
        session(&flid_dl::Options::default(), 8, &[Path::default(); 2]),
        session(&flid_sl::Options::default(), 8, &[Path::default(); 2]),
    ] {
        pair.run(Duration::from_secs(20));
        pair.stop_source();
        pair.run(Duration::from_ms(500));
        assert!(!pair.held(0).is_empty());
        pair.run(Duration::from_secs(1));
        for index in 0..2 {
            assert!(pair.held(index).is_empty());
            assert!(pair.record(index).notes.iter().any(|(_, note)| *note == TraceEvent::SessionEnded));
            assert_eq!(level(&pair, index), Level::NONE);
        }
    }
}

#[test]
fn a_broken_path_costs_all_but_the_base_and_is_climbed_again() {
    for mut pair in [
        session(&flid_dl::Options::default(), 8, &[Path::default()]),
        session(
            &flid_dl::Options { static_base: false, ..flid_dl::Options::default() },
            8,
            &[Path::default()],
        ),
        session(&flid_sl::Options::default(), 8, &[Path::default()]),
    ] {
        pair.run(Duration::from_secs(30));
        assert_eq!(level(&pair, 0), Level::from_count(8));
        pair.path_mut(0).loss = 1.0;
        pair.run(Duration::from_secs(3));
        assert_eq!(level(&pair, 0), Level::from_count(1));
        assert!(pair.held(0).len() == 1 && causes(&pair, 0).contains(&Cause::Silence));
        pair.run(Duration::from_secs(60));
        assert!(pair.record(0).notes.iter().any(|(_, note)| matches!(note, TraceEvent::Silent { .. })));
        pair.path_mut(0).loss = 0.0;
        pair.run(Duration::from_secs(60));
        assert_eq!(level(&pair, 0), Level::from_count(8));
    }
}
