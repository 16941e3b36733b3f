//! A source and receivers that have their bottlenecks to themselves.

use layercast_core::contract::{Cause, Endpoint, Input, TraceEvent};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Rate, Size, Time};
use layercast_outside::plm::{Options, Receiver, Source};
use layercast_testkit::{Pair, Path};

/// Fifteen layers of 60 kbit/s.
fn plan() -> SessionPlan {
    let layers = LayerTable::from_rates([Rate::from_kbps(60.0); 15]).expect("a layer structure");
    SessionPlan { layers, packet_size: Size::from_bytes(500) }
}

fn session(seed: u64, paths: &[Path]) -> Pair<Source, Receiver> {
    let options = Options::default();
    let receiver = |&path: &Path| (Receiver::new(&options, plan(), Stream::new(seed, "receiver")), path);
    let source = Source::new(&options, plan(), Stream::new(seed, "source"));
    Pair::new(source, paths.iter().map(receiver).collect(), Time::from_ns(1), seed)
}

/// A bottleneck with room for the pairs of all layers at once, and as many again.
fn path(kbps: f64) -> Path {
    Path { rate: Some(Rate::from_kbps(kbps)), queue: Duration::from_ms(300), ..Path::default() }
}

fn held(pair: &Pair<Source, Receiver>, index: usize) -> usize {
    pair.held(index).len()
}

#[test]
fn each_receiver_reaches_the_level_below_its_bottleneck_in_one_step_and_keeps_it() {
    for seed in 1..=10 {
        let mut pair = session(seed, &[path(500.0), path(400.0), path(200.0), path(70.0), Path::default()]);
        // A period of 1 s, the first pair before it, and the pair that ends it; pairs of the base layer are
        // at most 200 ms apart.
        pair.run(Duration::from_ms(1_500));
        for _ in 0..600 {
            pair.run(Duration::from_ms(100));
            let levels = [0, 1, 2, 3, 4].map(|index| held(&pair, index));
            assert_eq!(levels, [8, 6, 3, 1, 15], "seed {seed} at {}", pair.now());
        }
        for index in 0..5 {
            assert_eq!(pair.record(index).lost, 0, "seed {seed}");
            let changes = pair.record(index).notes.iter();
            let joins = changes
                .filter(|(_, note)| matches!(note, TraceEvent::LevelChanged { cause: Cause::RateAbove, .. }));
            assert_eq!(joins.count(), usize::from(index != 3), "seed {seed}, receiver {index}");
        }
    }
}

#[test]
fn a_bottleneck_that_narrows_shows_within_a_few_packets() {
    let mut pair = session(1, &[path(500.0)]);
    pair.run(Duration::from_secs(10));
    assert_eq!(held(&pair, 0), 8);
    pair.path_mut(0).rate = Some(Rate::from_kbps(250.0));
    pair.run(Duration::from_ms(200));
    assert_eq!(held(&pair, 0), 4);
    pair.path_mut(0).rate = Some(Rate::from_kbps(800.0));
    pair.run(Duration::from_ms(2_300));
    assert_eq!(held(&pair, 0), 13, "at the end of the first period without the old estimates");
}

#[test]
fn random_loss_costs_a_layer_for_a_check_period_now_and_then() {
    // Two of the twelve packets after a loss are more than a tenth.
    let mut pair = session(1, &[Path { loss: 0.03, ..path(500.0) }]);
    pair.run(Duration::from_secs(2));
    let mut levels = [0; 16];
    for _ in 0..6000 {
        pair.run(Duration::from_ms(100));
        levels[held(&pair, 0)] += 1;
    }
    assert!(levels[8] > 5000, "{levels:?}");
    assert_eq!(levels[7] + levels[8], 6000, "{levels:?}");
}

#[test]
fn a_session_ends_in_good_order() {
    let mut pair = session(1, &[path(500.0)]);
    pair.run(Duration::from_secs(5));
    pair.stop_receiver(0);
    assert_eq!(held(&pair, 0), 0);
    pair.stop_source();
    let delivered = pair.record(0).delivered;
    pair.run(Duration::from_secs(60));
    assert!(pair.record(0).delivered <= delivered + 10, "what was on the way");

    let mut source = Source::new(&Options::default(), plan(), Stream::new(1, "source"));
    source.handle(Time::from_ns(1), Input::Start);
    source.handle(Time::from_ns(2), Input::Finish);
    assert_eq!(source.deadline(), None);
}
