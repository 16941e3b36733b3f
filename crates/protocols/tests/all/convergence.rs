//! What loss estimators converge to under independent loss.
//!
//! The expected values are time averages over the estimate divided by the true loss rate, from an
//! independent computation, with a
//! standard error of about 0.01. These runs have the same length, so the two differ by a standard
//! error of 0.014 to 0.02; three of those are allowed.

use layercast_core::layers::LayerTable;
use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Pacer, Rate, Seq, Size, Time, WireSeq};
use layercast_kit::estimator::{
    Fate, ImpactAverage, LossConfig, LossEstimator, LossMethod, Packet, SendTime, SequenceTracker,
};
use layercast_testkit::runs_long;

const RTT_US: u64 = 100_000;

/// The size does not matter to real packets.
const RECEIVED: Fate = Fate::Received(Size::from_bytes(1000));

/// The time average of the estimate over p, after the first nine events.
fn relative_estimate(config: &LossConfig, p: f64, per_rtt: u64, seed: u64, packets: u64) -> f64 {
    let mut estimator = LossEstimator::new(config);
    let mut stream = Stream::new(seed, "losses");
    let (mut sum, mut count) = (0.0, 0.0);
    for seq in 0..packets {
        let sent = SendTime::from_us(seq * RTT_US / per_rtt);
        let packet = Packet { layer: Layer::BASE, seq: Seq(seq), sent };
        estimator.on_packet(&packet, if stream.chance(p) { Fate::Lost } else { RECEIVED });
        if estimator.events() > 9 {
            sum += estimator.loss_rate();
            count += 1.0;
        }
    }
    sum / count / p
}

fn mean_of_two(config: &LossConfig, p: f64, per_rtt: u64) -> f64 {
    let packets = if p < 0.005 { 1_500_000 } else { 400_000 };
    let run = |seed| relative_estimate(config, p, per_rtt, seed, packets);
    (run(1) + run(2)) / 2.0
}

#[test]
fn periods_converge_to_the_table() {
    let plain = LossConfig {
        discounting: None,
        window: 1,
        initial_rtt: Duration::from_us(RTT_US),
        ..LossConfig::default()
    };
    let lip = LossConfig { method: LossMethod::Lip, ..plain };
    let weighted = LossConfig { impact: ImpactAverage::Weighted, ..plain };
    let mean = LossConfig { impact: ImpactAverage::Mean, ..plain };
    let rare = [(0.001, 1, [1.06, 1.06, 1.06]), (0.001, 64, [1.00, 1.06, 1.06])];
    // Seldom losses need the most packets.
    let rare = if runs_long("one loss in a thousand") { &rare[..] } else { &[] };
    let usual = [
        (0.01, 1, [1.07, 1.07, 1.07]),
        (0.01, 16, [0.91, 1.06, 1.06]),
        (0.01, 64, [0.62, 1.03, 1.03]),
        (0.03, 4, [0.97, 1.06, 1.06]),
        (0.03, 16, [0.71, 1.04, 1.04]),
        (0.03, 64, [0.35, 1.01, 1.02]),
        (0.1, 16, [0.40, 1.01, 1.02]),
        (0.1, 64, [0.14, 1.00, 1.01]),
    ];
    for &(p, per_rtt, expected) in rare.iter().chain(&usual) {
        // Few events in a run, or few losses, make a run less sure.
        let allowed = if p < 0.005 { 0.06 } else { 0.04 };
        for (config, expected) in [lip, weighted, mean].iter().zip(expected) {
            let got = mean_of_two(config, p, per_rtt);
            assert!(
                (got - expected).abs() < allowed,
                "p {p}, {per_rtt} per RTT, {:?} {:?}: {got}, not {expected}",
                config.method,
                config.impact
            );
        }
    }
}

#[test]
fn an_insensitive_period_falls_with_the_rate_and_an_aggregating_one_does_not() {
    // The renewal form of the bias, p / (1 + (N - 1) p), and the 6 % that averaging over eight adds.
    let config = LossConfig {
        discounting: None,
        window: 1,
        initial_rtt: Duration::from_us(RTT_US),
        ..LossConfig::default()
    };
    let lip = LossConfig { method: LossMethod::Lip, ..config };
    for per_rtt in [1, 8, 32, 128] {
        let renewal = 1.0 / (1.0 + (per_rtt as f64 - 1.0) * 0.03);
        let got = mean_of_two(&lip, 0.03, per_rtt);
        assert!(got / renewal > 0.97 && got / renewal < 1.11, "LIP at {per_rtt}: {got}, {renewal}");
        let got = mean_of_two(&config, 0.03, per_rtt);
        assert!(got > 0.96 && got < 1.11, "LAP at {per_rtt}: {got}");
    }
}

/// The time average of the estimate over p for a receiver of all layers of a doubling structure,
/// whose slow layers reveal their losses late.
fn layered_estimate(config: &LossConfig, p: f64, reorder: u32, seed: u64) -> f64 {
    let layers = LayerTable::doubling(Rate::from_kbps(128.0), 6).unwrap_or_else(|error| panic!("{error}"));
    let size = Size::from_bytes(1000);
    let mut stream = Stream::new(seed, "layers");
    let mut pacers: Vec<Pacer> = layers
        .layers()
        .map(|layer| {
            let spacing = layers.rate(layer).time_to_send(size);
            Pacer::new(Time::ZERO + stream.uniform_duration(spacing), size, layers.rate(layer))
        })
        .collect();
    let mut trackers: Vec<SequenceTracker> =
        layers.layers().map(|layer| SequenceTracker::new(layer, reorder, 1000)).collect();
    let mut next = vec![WireSeq(0); trackers.len()];
    let mut estimator = LossEstimator::new(config);
    let (mut sum, mut count) = (0.0, 0.0);
    for _ in 0..400_000 {
        let due = pacers.iter().enumerate().min_by_key(|(_, pacer)| pacer.next());
        let Some((index, now)) = due.map(|(index, pacer)| (index, pacer.next())) else { break };
        pacers[index].advance();
        let wire = next[index];
        next[index] = wire.next();
        if stream.chance(p) {
            continue;
        }
        let sent = SendTime::from(now);
        let (seq, class) = trackers[index].on_packet(wire, sent, now, |lost| {
            estimator.on_packet(lost, Fate::Lost);
        });
        assert!(class.counts());
        estimator.on_packet(&Packet { layer: Layer(index as u16), seq, sent }, RECEIVED);
        if reorder > 1 {
            trackers[index].expire(now, config.initial_rtt, |lost| {
                estimator.on_packet(lost, Fate::Lost);
            });
        }
        if estimator.events() > 9 {
            sum += estimator.loss_rate();
            count += 1.0;
        }
    }
    sum / count / p
}

#[test]
fn losses_of_slow_layers_that_become_known_late_do_not_bias_the_estimate() {
    for (p, rtt_ms) in [(0.01, 60), (0.03, 60), (0.03, 250), (0.1, 60)] {
        for reorder in [1, 3] {
            let initial_rtt = Duration::from_ms(rtt_ms);
            let config = LossConfig { discounting: None, window: 1, initial_rtt, ..LossConfig::default() };
            // From one layer: 1.00 to 1.07, by how many losses a period has.
            let got = layered_estimate(&config, p, reorder, 3);
            assert!((0.95..1.11).contains(&got), "p {p}, {rtt_ms} ms, reorder {reorder}: {got}");
            // The window ignores a loss that has another among the two packets before it.
            let window = LossConfig { window: 3, ..config };
            let kept = layered_estimate(&window, p, reorder, 3) / got;
            let near = (1.0 - p) * (1.0 - p);
            assert!((near - 0.04..1.01).contains(&kept), "p {p}, {rtt_ms} ms: {kept}, {near}");
        }
    }
}
