//! TFRC's source, and virtual packets.

use layercast_core::stream::Stream;
use layercast_core::units::{Duration, Layer, Seq, Size, Time};
use layercast_kit::equation::Formula;
use layercast_kit::estimator::{
    Fate, LossConfig, LossEstimator, LossMethod, Packet, SendTime, VirtualLoss, VirtualPackets,
};
use layercast_protocols::tfrc::{FairRate, Feedback, RfcRate, RfcRules, SmallPackets, initial_window};
use layercast_testkit::golden::{Case, group, number, numbers, text, wholes};

use crate::golden::EQUATION_BASED;

/// A source for packets of a case's size, without damping.
fn source(case: &Case, size: &str) -> RfcRate {
    let rules = RfcRules {
        packet_bytes: case.number(size),
        several_at_first: true,
        recent_limit: true,
        damping: false,
        damping_q: 0.9,
        equation: FairRate::plain(Formula::PftkSimplified, case.number(size)),
    };
    RfcRate::new(Time::ZERO, rules)
}

fn report(rtt_s: f64, loss: f64, receive_rate: f64) -> Feedback {
    Feedback { sample_s: rtt_s, rtt_s, rto_s: 4.0 * rtt_s, loss, receive_rate, data_limited: false }
}

/// The time a number of round trips after the start.
fn round(rtt_s: f64, count: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(count * rtt_s)
}

#[test]
fn rates_of_a_source() {
    for case in group(EQUATION_BASED, "tfrc_sender") {
        let expected = number(&case.expected);
        match text(&case.input["kind"]).as_str() {
            "init" => {
                let rtt_s = case.number("r");
                let mut source = source(&case, "mss");
                source.on_report(Time::ZERO, &report(rtt_s, 0.0, 0.0));
                case.check("rate", source.allowed(), expected);
                case.check("window", initial_window(case.number("mss")) / rtt_s, expected);
            }
            "ca" => {
                let (rtt_s, loss) = (case.number("r"), case.number("p"));
                let mut source = source(&case, "s");
                source.on_report(Time::ZERO, &report(rtt_s, loss, 0.0));
                // Nothing is bounded for two round trips; the given rates are those of the two before now.
                for (index, receive_rate) in numbers(&case.input["x_recv"]).into_iter().enumerate() {
                    source.on_report(
                        round(rtt_s, 3.0 + 0.5 * index as f64),
                        &report(rtt_s, loss, receive_rate),
                    );
                }
                case.check("rate", source.allowed(), expected);
            }
            "ss" => {
                let (rtt_s, before) = (case.number("r"), case.number("x"));
                let mut source = source(&case, "mss");
                source.on_report(Time::ZERO, &report(rtt_s, 0.0, 0.0));
                source.on_report(round(rtt_s, 3.0), &report(rtt_s, 0.0, 0.5 * before));
                case.check("rate before", source.allowed(), before);
                let received = numbers(&case.input["x_recv"])[0];
                source.on_report(round(rtt_s, 4.0), &report(rtt_s, 0.0, received));
                case.check("rate", source.allowed(), expected);
            }
            "nofb_timeout" => {
                // The source reaches the given rate with a loss and a receive rate of half of it.
                let rtt_s = case.number("r");
                let mut source = source(&case, "s");
                source.on_report(Time::ZERO, &report(rtt_s, 1e-4, 0.0));
                source.on_report(round(rtt_s, 3.0), &report(rtt_s, 1e-4, 0.5 * case.number("x")));
                case.check("rate", source.allowed(), case.number("x"));
                case.check("patience", source.patience_s(), expected);
            }
            "x_inst" => {
                let sample_s = case.number("r_sample");
                let damped =
                    layercast_protocols::tfrc::damped(case.number("x"), case.number("sqmean"), sample_s);
                case.check("rate", damped, expected);
            }
            other => panic!("{}: kind {other}", case.id),
        }
    }
}

/// The size does not matter to real packets.
const RECEIVED: Fate = Fate::Received(Size::from_bytes(1000));

/// A receiver's estimator after the packets of a case: `losses` of `length` packets over so many round
/// trips of 100 ms from one event to the next.
fn short_intervals(case: &Case) -> LossEstimator {
    let rtt = Duration::from_ms(100);
    let (length, losses) = (case.whole("length"), case.whole("losses"));
    let spacing_us = case.number("span_rtts") * rtt.as_us() as f64 / length as f64;
    let config = LossConfig { method: LossMethod::LipShort, initial_rtt: rtt, ..LossConfig::default() };
    let mut estimator = LossEstimator::new(&config);
    for seq in 0..=length {
        let sent = SendTime::from_us((seq as f64 * spacing_us) as u64);
        let packet = Packet { layer: Layer::BASE, seq: Seq(seq), sent };
        // The first loss opens the interval, and the one after its end closes it.
        let lost = seq < losses || seq == length;
        let _ = estimator.on_packet(&packet, if lost { Fate::Lost } else { RECEIVED });
    }
    estimator
}

#[test]
fn small_packets() {
    for case in group(EQUATION_BASED, "tfrc_sp") {
        let expected = number(&case.expected);
        if case.input["p"].is_null() {
            let estimator = short_intervals(&case);
            let newest = estimator.intervals().closed().next().expect("a closed interval");
            case.check("length", newest.length, expected);
        } else {
            let small = SmallPackets {
                nominal: Size::from_bytes(1460),
                header: Size::from_bytes(40),
                spacing: Duration::from_ms(10),
            };
            let equation = FairRate::small(Formula::PftkSimplified, &small, case.number("st"));
            let report = report(case.number("r"), case.number("p"), 0.0);
            case.check("rate", equation.rate(&report).expect("a loss"), expected);
        }
    }
}

#[test]
fn virtual_packets() {
    for case in group(EQUATION_BASED, "virtual_packets") {
        let size = Size::from_bytes(case.whole("sv") as u32);
        let mut packets = VirtualPackets::new(size, VirtualLoss::Representative);
        let lost = wholes(&case.input["lost"]);
        let mut completed = Vec::new();
        for (index, bytes) in wholes(&case.input["sizes"]).into_iter().enumerate() {
            let index = index as u64;
            let done = match lost.contains(&index) {
                true => packets.on_lost(),
                false => packets.on_received(Size::from_bytes(bytes as u32)),
            };
            let first = (done.count > 0).then_some((index, done.first_lost));
            completed.extend(first);
            completed.extend((1..done.count).map(|_| (index, done.others_lost)));
        }
        let expected: Vec<(u64, bool)> = case
            .expected
            .as_array()
            .expect("a list")
            .iter()
            .map(|pair| (pair[0].as_u64().expect("an index"), pair[1].as_bool().expect("a flag")))
            .collect();
        assert_eq!(completed, expected, "{}", case.id);
    }
}

/// How often virtual packets are lost is measured; the vectors have the formulas.
#[test]
fn losses_of_virtual_packets() {
    const COUNT: u32 = 200_000;
    for case in group(EQUATION_BASED, "virtual_loss_prob") {
        let (loss, parts) = (case.number("p"), case.whole("m") as u32);
        let rules = [("any", VirtualLoss::Any), ("representative", VirtualLoss::Representative)];
        for (name, rule) in rules {
            let mut packets = VirtualPackets::new(Size::from_bytes(100 * parts), rule);
            let mut stream = Stream::new(1, &case.id);
            // The first packet is received, so that the size of lost ones is known.
            packets.on_received(Size::from_bytes(100));
            let (mut completed, mut lost) = (0, 0);
            for _ in 0..COUNT * parts {
                let done = match stream.chance(loss) {
                    true => packets.on_lost(),
                    false => packets.on_received(Size::from_bytes(100)),
                };
                completed += done.count;
                lost += if done.first_lost { done.count } else { 0 };
            }
            let expected = number(&case.expected[name]);
            let deviation = (expected * (1.0 - expected) / completed as f64).sqrt();
            let measured = lost as f64 / completed as f64;
            assert!((measured - expected).abs() < 4.0 * deviation, "{} {name}: {measured}", case.id);
        }
    }
}
