use layercast_core::layers::LayerTable;
use layercast_core::lct::Cci;
use layercast_core::session::SessionPlan;
use layercast_core::units::{Duration, Rate, Size};
use layercast_protocols::webrc::{
    BASE, Header, LossFilter, Options, RoundTripFilter, Waves, Weights, equation_rate, starts_slot,
};
use layercast_testkit::golden::{Case, number, numbers, text, vector, wholes};

use crate::golden::JOIN_LEAVE;

/// The options of a case, where it gives them.
fn options(case: &Case) -> Options {
    let or = |name: &str, default: f64| case.input[name].as_f64().unwrap_or(default);
    let span = |name: &str, default: f64| Duration::from_secs_f64(or(name, default));
    Options {
        base_rate: or("BCR_P", 1.0),
        slot: span("TSD", 10.0),
        quiet: span("QD", 300.0),
        fall: or("P", 0.75),
        waves: or("N", 0.0) as u32,
        epoch: span("EL", 0.0),
        nu: or("Nu", 0.3),
        delta: or("Delta", 0.3),
        alpha: or("Alpha", 0.25),
        ..Options::default()
    }
}

/// Waves of a session that has room for all that the cases ask for.
fn waves(options: &Options) -> Waves {
    let layers = LayerTable::from_rates([Rate::from_mbps(100.0)]).expect("a layer");
    options.waves(&SessionPlan { layers, packet_size: Size::from_bytes(1000) })
}

#[test]
fn wb_01_parameters() {
    let case = vector(JOIN_LEAVE, "WB-01");
    let waves = waves(&options(&case));
    let cycle_s = waves.slot().as_secs_f64() * f64::from(waves.cycle());
    assert_eq!(f64::from(waves.base_packets()), number(&case.expected["L"]));
    assert_eq!(f64::from(waves.silent_slots()), number(&case.expected["Q"]));
    assert_eq!(f64::from(waves.cycle()), number(&case.expected["T"]));
    assert_eq!(cycle_s, number(&case.expected["cycle_s"]));
}

#[test]
fn wb_02_joined_rates() {
    let case = vector(JOIN_LEAVE, "WB-02");
    let waves = waves(&options(&case));
    let rates: Vec<f64> = (0..=8).map(|held| waves.joined_rate(held)).collect();
    case.check_list("joined rate", &rates, &case.expected["ARR_max"]);
}

#[test]
fn wb_03_join_factors() {
    let case = vector(JOIN_LEAVE, "WB-03");
    let waves = waves(&options(&case));
    let factors: Vec<f64> = (0..=5).map(|held| waves.join_factor(held)).collect();
    case.check_list("factor", &factors, &case.expected["factor"]);
}

#[test]
fn wb_04_loss_filter() {
    let case = vector(JOIN_LEAVE, "WB-04");
    let mut filter = LossFilter::new(&options(&case));
    filter.reset(case.number("reset"));
    for (epoch, expected) in case.expected["state"].as_array().unwrap().iter().enumerate() {
        (0..25).for_each(|_| filter.on_packet());
        if epoch == 1 || epoch == 2 {
            filter.on_event();
        }
        filter.end_epoch();
        let state = [filter.state().as_slice(), &[filter.loss()]].concat();
        case.check_list(&format!("epoch {epoch}"), &state, expected);
    }
}

#[test]
fn wb_05_round_trip_filter() {
    let case = vector(JOIN_LEAVE, "WB-05");
    let options = options(&case);
    let mut filter = RoundTripFilter::new(options.alpha, options.fall, case.number("first"));
    let samples = numbers(&case.input["MRTT"]);
    for (sample, expected) in samples.into_iter().zip(case.expected["steps"].as_array().unwrap()) {
        let (omega, rho) = filter.update(sample);
        let step = [omega, rho, filter.mean_square(), filter.average_s()];
        case.check_list(&format!("{sample}"), &step, expected);
    }
}

#[test]
fn wb_06_correction() {
    let case = vector(JOIN_LEAVE, "WB-06");
    let waves = waves(&options(&case));
    let corrections: Vec<f64> = (1..=5).map(|held| waves.first_packet_delay_s(held)).collect();
    case.check_list("correction", &corrections, &case.expected["correction"]);
}

#[test]
fn wb_07_equation() {
    let case = vector(JOIN_LEAVE, "WB-07");
    let rate = equation_rate(case.number("LOSSP"), case.number("ARTT"));
    case.check("rate", rate, number(&case.expected["REQN"]));
}

#[test]
fn wb_08_weights() {
    let case = vector(JOIN_LEAVE, "WB-08");
    let options = options(&case);
    let (start_up, normal) = (Weights::new(&options, true), Weights::new(&options, false));
    case.check("Beta, start-up", start_up.beta, number(&case.expected["beta_startup"]));
    case.check("Zeta, start-up", start_up.zeta, number(&case.expected["zeta_startup"]));
    case.check("Beta", normal.beta, number(&case.expected["beta_normal"]));
    case.check("Zeta", normal.zeta, number(&case.expected["zeta_normal"]));
    case.check("SSMINR", waves(&options).slow_start_floor(), number(&case.expected["SSMINR"]));
}

#[test]
fn wb_09_active_waves() {
    let case = vector(JOIN_LEAVE, "WB-09");
    let quiet = Duration::from_secs(10 * case.whole("Q"));
    let waves = waves(&Options { quiet, ..options(&case) });
    assert_eq!(waves.cycle(), 7);
    for (slot, expected) in [0, 1, 6].into_iter().zip(case.expected["active"].as_array().unwrap()) {
        let active: Vec<u64> = waves.active_in(slot).map(u64::from).collect();
        assert_eq!(active, wholes(expected), "slot {slot}");
    }
}

#[test]
fn wb_10_slots() {
    let case = vector(JOIN_LEAVE, "WB-10");
    let (cycle, silent) = (case.whole("T"), case.whole("Q"));
    let waves = waves(&Options {
        quiet: Duration::from_secs(10 * silent),
        waves: (cycle - silent) as u32,
        ..Options::default()
    });
    let pairs = case.input["pairs"].as_array().unwrap();
    for (pair, expected) in pairs.iter().zip(case.expected["accept"].as_array().unwrap()) {
        let pair = wholes(pair);
        let (received, current) = (pair[0] as u16, pair[1] as u16);
        // However long ago the slot began: it only decides whether one packet is proof enough.
        let started = starts_slot(&waves, current, received, Duration::from_secs(10_000));
        assert_eq!(started.is_some(), expected.as_bool().unwrap(), "{received} after {current}");
        if let Some((ahead, plausible)) = started {
            assert_eq!((u64::from(current) + u64::from(ahead)) % cycle, u64::from(received));
            assert!(plausible);
        }
    }
    assert_eq!(starts_slot(&waves, 5, 6, Duration::from_secs(9)), Some((1, true)));
    assert_eq!(starts_slot(&waves, 5, 6, Duration::from_secs(2)), Some((1, false)));
    assert_eq!(starts_slot(&waves, 5, 8, Duration::from_secs(9)), Some((3, false)));
}

#[test]
fn hd_02_word() {
    let case = vector(JOIN_LEAVE, "HD-02");
    let cycle = case.whole("CN") as u16;
    let header = Header {
        slot: case.whole("CTSI") as u16,
        channel: BASE,
        number: case.whole("PSN") as u32,
        cycle,
        is_long: false,
        end_of_session: false,
    };
    let hex = |word: Cci| word.bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(hex(header.word()), text(&case.expected["bytes_hex"]));
    assert_eq!(Header::from_word(header.word(), cycle, false), Ok(header));
    let long = Header { is_long: true, ..header };
    assert_eq!(hex(long.word()), "000500320000ffff");
    assert_eq!(Header::from_word(long.word(), cycle, false), Ok(long));
}
