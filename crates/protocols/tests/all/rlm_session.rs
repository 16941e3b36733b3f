//! An RLM source and its receivers: queues, loss, and learning from the experiments of others.

use layercast_core::contract::{Cause, Origin};
use layercast_core::layers::LayerTable;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Channel, Duration, Rate, Size, Time};
use layercast_protocols::rlm::{Options, Receiver, Source};
use layercast_testkit::pair::gauge;
use layercast_testkit::{Pair, Path, Record};

/// Layers that double: 128, 256, 512, 1024 and 2048 kbit/s together.
const LAYERS: u16 = 5;

fn start(options: &Options, paths: &[Path]) -> Pair<Source, Receiver> {
    let layers = LayerTable::doubling(Rate::from_kbps(128.0), LAYERS).expect("layers");
    let plan = SessionPlan { layers, packet_size: Size::from_bytes(1000) };
    let receiver = |(index, &path): (usize, &Path)| {
        (Receiver::new(options, plan.clone(), Stream::new(index as u64, "receiver")), path)
    };
    let source = Source::new(options, plan.clone(), Stream::new(7, "source"));
    Pair::new(source, paths.iter().enumerate().map(receiver).collect(), Time::ZERO, 3)
}

fn run(paths: &[Path], seconds: u64) -> Pair<Source, Receiver> {
    let mut pair = start(&Options::default(), paths);
    pair.run(Duration::from_secs(seconds));
    pair
}

/// A path that carries three layers (512 kbit/s) but not four.
fn narrow() -> Path {
    Path { rate: Some(Rate::from_kbps(600.0)), ..Path::default() }
}

/// The mean number of layers after the first 100 s.
fn mean(record: &Record, now: Time) -> f64 {
    record.mean_layers(Time::ZERO + Duration::from_secs(100), now)
}

fn count(pair: &Pair<Source, Receiver>, index: usize, name: &str) -> f64 {
    gauge(pair.receiver(index), name, pair.now()).expect("a count")
}

#[test]
fn a_receiver_holds_what_its_path_carries_and_another_all() {
    let pair = run(&[Path::default(), narrow()], 1000);
    // Without losses each experiment succeeds, the first four join timers being of some 5 s.
    assert_eq!(count(&pair, 0, "failed_experiments"), 0.0);
    assert_eq!(mean(pair.record(0), pair.now()), f64::from(LAYERS));
    // Experiments with the fourth layer fail, and fall back within seconds.
    let narrow = pair.record(1);
    let held = mean(narrow, pair.now());
    assert!((2.7..3.3).contains(&held), "{held} layers");
    assert!(count(&pair, 1, "failed_experiments") >= 5.0);
    assert!(narrow.levels().all(|(_, level, _)| level.layer_count() <= 4));
    // Its timer grows to the longest one, so that losses become rare: the queue drops less than a hundredth.
    let share = narrow.lost as f64 / (narrow.lost + narrow.delivered) as f64;
    assert!((0.0..0.02).contains(&share), "{share} lost");
}

#[test]
fn a_failed_experiment_makes_the_next_one_later() {
    let pair = run(&[narrow()], 1000);
    let experiments: Vec<Time> = pair
        .record(0)
        .levels()
        .filter(|&(_, level, cause)| cause == Cause::Experiment && level.layer_count() == 4)
        .map(|(at, ..)| at)
        .collect();
    assert!(experiments.len() >= 6, "{experiments:?}");
    let waits: Vec<f64> = experiments.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64()).collect();
    // The timer doubles from 5 s to 60 s, and a wait is drawn from half of it upwards.
    let (first, last) = (waits[0], &waits[waits.len() - 3..]);
    assert!(last.iter().all(|wait| *wait > first), "{waits:?}");
    assert!(last.iter().all(|wait| *wait >= 30.0), "{waits:?}");
}

#[test]
fn a_lossy_receiver_is_lower_than_a_clean_one() {
    let lossy = |loss| Path { loss, ..Path::default() };
    let pair = run(&[Path::default(), lossy(0.002), lossy(0.02)], 1000);
    let held: Vec<f64> = (0..3).map(|index| mean(pair.record(index), pair.now())).collect();
    // Any loss within the detection time of some seconds fails an experiment. With 256 packets/s that is
    // one in five at 0.2 %, and almost each from the second layer on (32 packets/s) at 2 %.
    assert_eq!(held[0], f64::from(LAYERS));
    assert!(held[0] > held[1] + 0.5 && held[1] > held[2] + 0.5, "{held:?}");
}

/// Starts receivers behind one bottleneck that carries three layers: while a packet of the fourth has come
/// in the last 100 ms, every third packet is lost, whatever its layer.
fn share_a_bottleneck(shared_learning: bool, receivers: usize) -> Pair<Source, Receiver> {
    let options = Options { shared_learning, ..Options::default() };
    let mut pair = start(&options, &vec![Path::default(); receivers]);
    let (mut congested_until, mut count) = (Time::ZERO, 0u32);
    pair.set_tamper(Box::new(move |now, _, arrival| {
        let Origin::Channel(channel) = arrival.origin else { return true };
        if channel == Channel(LAYERS) {
            return true;
        }
        if channel >= Channel(3) {
            congested_until = now + Duration::from_ms(100);
        }
        count += 1;
        now >= congested_until || !count.is_multiple_of(3)
    }));
    pair.run(Duration::from_secs(1000));
    pair
}

#[test]
fn receivers_learn_from_experiments_of_others() {
    const RECEIVERS: usize = 4;
    let sum = |pair: &Pair<Source, Receiver>, name: &str| -> f64 {
        (0..RECEIVERS).map(|index| count(pair, index, name)).sum()
    };
    let (alone, together) = (share_a_bottleneck(false, RECEIVERS), share_a_bottleneck(true, RECEIVERS));
    assert!((0..RECEIVERS).all(|index| alone.record(index).reports.is_empty()));
    // Each experiment is announced once.
    let announced: usize = (0..RECEIVERS).map(|index| together.record(index).reports.len()).sum();
    assert_eq!(announced as f64, sum(&together, "experiments"));
    // The failure of one counts for all, so that a group makes little more experiments than one receiver
    // would, where receivers that learn alone make as many each.
    let (alone_failed, failed) = (sum(&alone, "failed_experiments"), sum(&together, "failed_experiments"));
    assert!(failed >= 5.0 && failed < 0.6 * alone_failed, "{failed} and {alone_failed}");
    for index in 0..RECEIVERS {
        let held = mean(together.record(index), together.now());
        assert!((2.5..3.5).contains(&held), "{held} layers");
        // The timer of the fourth layer has grown at each, whichever failed.
        assert!(count(&together, index, "join_timer_ms") >= 30e3);
    }
}

#[test]
fn equal_seeds_give_equal_runs() {
    let levels = |pair: &Pair<Source, Receiver>| pair.record(0).levels().collect::<Vec<_>>();
    let paths = [Path { loss: 0.01, ..narrow() }];
    assert_eq!(levels(&run(&paths, 200)), levels(&run(&paths, 200)));
}
