use layercast_core::contract::{Action, Cause, Endpoint, Input};
use layercast_core::layers::LayerTable;
use layercast_core::lct::Cci;
use layercast_core::session::SessionPlan;
use layercast_core::stream::Stream;
use layercast_core::units::{Layer, Rate, Size, Time, WireSeq};
use layercast_protocols::flid::dl as flid_dl;
use layercast_protocols::flid::{
    Congestion, EcnSettings, Header, ReverseCounter, Source, next_level, signal,
};
use layercast_testkit::golden::{Case, number, numbers, vector, whole, wholes};
use serde_json::Value;

use super::flid_model::printed;
use crate::golden::JOIN_LEAVE;

fn load(id: &str) -> Case {
    vector(JOIN_LEAVE, id)
}

/// Levels with -1 for none.
fn signed(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|level| level.as_i64().unwrap()).collect()
}

fn increase_probabilities(case: &Case) -> Vec<f64> {
    case.input["p"].as_str().map_or_else(|| numbers(&case.input["p"]), printed)
}

/// Values and signals of a counter over some slots.
fn run(increase_probabilities: &[f64], bits: u32, first: u32, count: u64) -> (Vec<f64>, Vec<i64>) {
    let mut counter = ReverseCounter::new(first, bits);
    let slot = |_| {
        let value = counter.value();
        counter.advance(1);
        (value, signal(increase_probabilities, value).map_or(-1, i64::from))
    };
    (0..count).map(slot).unzip()
}

#[test]
fn rc_01_bits_in_reverse() {
    let case = load("RC-01");
    let bits = case.input["bits"].as_str().unwrap();
    let counter = ReverseCounter::new(u32::from_str_radix(bits, 2).unwrap(), bits.len() as u32);
    case.check("value", counter.value(), number(&case.expected["value"]));
}

#[test]
fn rc_02_to_04_06_and_07_signals_of_a_counter() {
    for id in ["RC-02", "RC-03", "RC-04", "RC-06", "RC-07"] {
        let case = load(id);
        let first = case.whole("first_b") as u32;
        let (values, signals) =
            run(&increase_probabilities(&case), case.whole("bits") as u32, first, case.whole("count"));
        assert_eq!(signals, signed(&case.expected["signal"]), "{id}");
        if !case.expected["b_hat"].is_null() {
            case.check_list("values", &values, &case.expected["b_hat"]);
        }
    }
}

#[test]
fn rc_05_how_often_each_level_may_rise() {
    let case = load("RC-05");
    let bits = case.whole("bits") as u32;
    let increase_probabilities = increase_probabilities(&case);
    let (_, signals) = run(&increase_probabilities, bits, 0, 1 << bits);
    let may_rise = |level: i64| signals.iter().filter(|&&signal| signal >= level).count() as u64;
    let counts: Vec<u64> = (0..3).map(may_rise).collect();
    assert_eq!(counts, wholes(&case.expected["count"]));
    let formula: Vec<u64> =
        increase_probabilities[..3].iter().map(|p| (p * f64::from(1u32 << bits)) as u64 + 1).collect();
    assert_eq!(formula, wholes(&case.expected["formula"]));
}

fn signal_of(signal: &Value) -> Option<u8> {
    u8::try_from(signal.as_i64().unwrap()).ok()
}

#[test]
fn fr_01_and_02_the_level_after_each_slot() {
    for id in ["FR-01", "FR-02"] {
        let case = load(id);
        let levels = case.whole("levels") as u16;
        let mut level = case.whole("start") as u16;
        let slots = case.input["slots"].as_array().unwrap();
        let after = |slot: &Value| {
            level = next_level(level, levels, slot[0].as_bool().unwrap(), signal_of(&slot[1]));
            u64::from(level)
        };
        let actual: Vec<u64> = slots.iter().map(after).collect();
        assert_eq!(actual, wholes(&case.expected["level"]), "{id}");
    }
}

#[test]
fn ef_01_marks_decide() {
    let case = load("EF-01");
    let levels = case.whole("levels") as u16;
    let mut level = case.whole("start") as u16;
    let mut congestion = Congestion::new(Some(EcnSettings { safety: false }), Time::ZERO);
    let after = |slot: &Value| {
        let (marked, lost) = (slot[0].as_bool().unwrap(), u32::from(slot[1].as_bool().unwrap()));
        let judged = congestion.evaluate(Time::ZERO, 5, lost, marked);
        assert!(judged.is_none_or(|cause| cause == Cause::CongestionMark));
        level = next_level(level, levels, judged.is_some(), signal_of(&slot[2]));
        u64::from(level)
    };
    let actual: Vec<u64> = case.input["slots"].as_array().unwrap().iter().map(after).collect();
    assert_eq!(actual, wholes(&case.expected["level"]));
}

#[test]
fn ef_02_rates_of_the_paper() {
    let case = load("EF-02");
    let base = Rate::from_kbps(case.number("R0_kbps"));
    let table = LayerTable::multiplicative(case.number("c"), base, case.whole("layers") as u16).unwrap();
    case.check("top rate", table.top_rate().as_kbps(), number(&case.expected["R_19_kbps"]));
}

#[test]
fn hd_03_the_word_on_the_wire() {
    let case = load("HD-03");
    assert_eq!(case.input["signal"].as_i64(), Some(-1));
    let header = Header {
        slot: WireSeq(case.whole("slot") as u32),
        signal: None,
        first_of_slot: case.whole("first") == 1,
        channel: case.whole("group") as u8,
        seq: case.whole("seq") as u16,
        ..Header::default()
    };
    let hex: String = header.word().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, case.expected["bytes_hex"]);
    assert_eq!(Header::from_word(header.word()), Ok(header));
    // On LCT it is the congestion control information, of 64 bits.
    let pieces = header.to_lct(89);
    assert_eq!(pieces.cci, Cci::Long(header.word()));
    assert_eq!(Header::from_lct(&pieces), Ok(header));
}

/// Packets of a source in each slot, on one layer alone; its credit starts at 0.
fn packets(case: &Case, layer: u16) -> Vec<u64> {
    let size = Size::from_bytes(1000);
    let per_s = |packets: f64| Rate::from_bps(packets * size.as_bits() as f64);
    // The layer of the vector is the base, or the first one above it.
    let rates = [if layer == 0 { case.number("rate") } else { 2.0 }, case.number("rate")];
    let layers = LayerTable::from_rates(rates.map(per_s)).unwrap();
    let options = flid_dl::Options::default();
    assert_eq!(options.slot.as_secs_f64(), case.number("T"));
    let plan = SessionPlan { layers, packet_size: size };
    let mut source = Source::new(&options, plan, Stream::new(1, "source"));
    let slots = case.whole("slots");
    let mut counts = vec![0; slots as usize];
    let end = Time::ZERO + options.slot * slots;
    let (mut now, mut input) = (Time::ZERO, Input::Start);
    while now < end {
        source.handle(now, input);
        while let Some(action) = source.poll_action() {
            let Action::Send(send) = action else { panic!("a source only sends") };
            if send.header.layer() == Layer(layer) {
                counts[send.header.slot.0 as usize] += 1;
            }
        }
        (now, input) = (source.deadline().unwrap(), Input::Timer);
    }
    counts
}

#[test]
fn ls_12_and_13_whole_packets_in_each_slot() {
    for (id, layer) in [("LS-12", 1), ("LS-13", 0)] {
        let case = load(id);
        assert_eq!(packets(&case, layer), wholes(&case.expected["packets"]), "{id}");
    }
    assert_eq!(whole(&load("LS-13").expected["packets"][0]), 1);
}
