use layercast_core::units::{Layer, Seq, Time, WireSeq};
use layercast_kit::estimator::{
    Packet, SendTime, SequenceTracker, WindowDecision, lost_send_time, window_decision,
};
use layercast_testkit::golden::{group, number, text, whole, wholes};

use crate::golden::EQUATION_BASED;

#[test]
fn signed_distance() {
    for case in group(EQUATION_BASED, "seq_diff") {
        let wire = |name: &str| WireSeq(case.whole(name) as u32);
        let distance = wire("a").distance(wire("b"));
        case.check("distance", f64::from(distance), number(&case.expected));
    }
}

#[test]
fn send_time_of_a_lost_packet() {
    for case in group(EQUATION_BASED, "loss_time") {
        let before = Seq(case.whole("s_before"));
        let seq = |name: &str| WireSeq(case.whole(name) as u32).expand(before);
        let time = |name: &str| SendTime::from_us(case.whole(name));
        let packet = |seq, sent| Packet { layer: Layer::BASE, seq, sent };
        let (first, next) = (packet(before, time("t_before")), packet(seq("s_after"), time("t_after")));
        let sent = lost_send_time(&first, &next, seq("s_loss"));
        assert_eq!(sent.as_us(), whole(&case.expected), "{}", case.id);
    }
}

#[test]
fn losses_among_reordered_packets() {
    for case in group(EQUATION_BASED, "reorder_loss_detect") {
        let mut tracker = SequenceTracker::new(Layer::BASE, case.whole("ndup") as u32, 1000);
        let mut declared = Vec::new();
        for (index, number) in wholes(&case.input["arrivals"]).into_iter().enumerate() {
            tracker.on_packet(WireSeq(number as u32), SendTime::default(), Time::ZERO, |lost| {
                declared.push(vec![lost.seq.0, index as u64]);
            });
        }
        let expected: Vec<Vec<u64>> = case.expected.as_array().unwrap().iter().map(wholes).collect();
        assert_eq!(declared, expected, "{}", case.id);
    }
}

#[test]
fn near_losses_in_one_sequence_space() {
    for case in group(EQUATION_BASED, "window_decision") {
        let wire = |name: &str| WireSeq(case.whole(name) as u32);
        let decision = match window_decision(wire("w"), wire("s"), case.whole("nw") as u32) {
            WindowDecision::Count => "count",
            WindowDecision::Ignore => "ignore",
            WindowDecision::Duplicate => "duplicate",
        };
        assert_eq!(decision, text(&case.expected), "{}", case.id);
    }
}
