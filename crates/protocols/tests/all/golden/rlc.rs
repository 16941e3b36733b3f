use layercast_core::layers::LayerTable;
use layercast_core::units::{Duration, Layer, Rate};
use layercast_core::wire::{Wire as _, WireNumbers};
use layercast_protocols::rlc::{Header, SpacingRule, highest_point, spacing_factor};
use layercast_testkit::golden::{text, vector, whole};

use crate::golden::JOIN_LEAVE;

#[test]
fn rl_01_layers() {
    let case = vector(JOIN_LEAVE, "RL-01");
    let base = Rate::from_kbps(case.number("B0"));
    let table = LayerTable::doubling(base, case.whole("layers") as u16).unwrap();
    let own: Vec<f64> = table.layers().map(|layer| table.rate(layer).as_kbps()).collect();
    let cumulative: Vec<f64> = table.layers().map(|layer| table.cumulative(layer).as_kbps()).collect();
    case.check_list("own", &own, &case.expected["r"]);
    case.check_list("cumulative", &cumulative, &case.expected["B"]);
}

fn spacings(rule: SpacingRule, base: Duration, layers: u64) -> Vec<Duration> {
    (0..layers as u16).map(|layer| base * spacing_factor(rule, Layer(layer))).collect()
}

#[test]
fn rl_02_spacing_of_mcl() {
    let case = vector(JOIN_LEAVE, "RL-02");
    let base = Duration::from_ms(case.whole("sp_cycle_ms"));
    let spacing = spacings(SpacingRule::Mcl, base, case.whole("layers"));
    let in_ms: Vec<f64> = spacing.iter().map(|span| span.as_ns() as f64 / 1e6).collect();
    case.check_list("spacing", &in_ms, &case.expected["spacing_ms"]);
}

#[test]
fn rl_03_spacing_of_the_paper() {
    let case = vector(JOIN_LEAVE, "RL-03");
    let base = Duration::from_secs_f64(case.number("t0"));
    let spacing = spacings(SpacingRule::Doubling, base, case.whole("layers"));
    let in_s: Vec<f64> = spacing.iter().map(|span| span.as_secs_f64()).collect();
    case.check_list("spacing", &in_s, &case.expected["t"]);
}

#[test]
fn rl_04_nested_points() {
    let case = vector(JOIN_LEAVE, "RL-04");
    let count = case.whole("layers") as u16;
    let highest = |interval| f64::from(highest_point(SpacingRule::Doubling, count, interval).unwrap().0);
    let layers: Vec<f64> = (1..=case.whole("count")).map(highest).collect();
    case.check_list("highest", &layers, &case.expected["highest"]);
}

#[test]
fn hd_01_word() {
    let case = vector(JOIN_LEAVE, "HD-01");
    let header = Header {
        is_point: whole(&case.input["sp"]) == 1,
        layer: case.whole("layer") as u8,
        seq: case.whole("seq") as u16,
        ..Header::default()
    };
    let hex: String = header.word().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, text(&case.expected["bytes_hex"]));
    let numbers = WireNumbers { extensions: &[81], report: None };
    assert_eq!(Header::from_lct(&header.to_lct(&numbers).unwrap(), &numbers), Ok(header));
}
