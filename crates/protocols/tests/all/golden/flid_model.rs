use layercast_core::layers::LayerTable;
use layercast_core::math;
use layercast_core::units::{Duration, Rate, Size};
use layercast_protocols::flid::{
    Climb, Goal, Model, SEPARATION, Target, climb, heuristic, raw_heuristic, separated,
};
use layercast_testkit::golden::{Case, close, number, numbers, vector, whole};

use crate::golden::JOIN_LEAVE;

fn load(id: &str) -> Case {
    vector(JOIN_LEAVE, id)
}

/// The two vectors that the paper prints.
pub(super) fn printed(name: &str) -> Vec<f64> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/vectors-join-leave.json");
    let text = std::fs::read_to_string(path).unwrap();
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    numbers(&file["named_inputs"][name])
}

/// Multiplicative layers, given in packets/s.
fn model(base: f64, factor: f64, layers: u64, slot_s: f64) -> Model {
    let size = Size::from_bytes(1000);
    let base = Rate::from_bps(base * size.as_bits() as f64);
    let table = LayerTable::multiplicative(factor, base, layers as u16).unwrap();
    Model::new(&table, size, Duration::from_secs_f64(slot_s))
}

fn model_of(case: &Case) -> Model {
    model(case.number("R0"), case.number("c"), case.whole("layers"), case.number("T"))
}

/// The structure of the paper's examples 5 and 6.
fn example() -> Model {
    model(3.0, 1.3, 30, 0.5)
}

fn target(rtt_s: f64) -> Target {
    Target::new(Duration::from_secs_f64(rtt_s))
}

/// Absolute tolerances of probabilities.
fn check_near(case: &Case, actual: &[f64], expected: &serde_json::Value) {
    let expected = numbers(expected);
    assert_eq!(actual.len(), expected.len(), "{}", case.id);
    for (level, (actual, expected)) in actual.iter().zip(&expected).enumerate() {
        assert!((actual - expected).abs() < 1e-8, "{} level {level}: {actual}, not {expected}", case.id);
    }
}

#[test]
fn tcp_01_to_05_the_target() {
    for id in ["TCP-01", "TCP-02", "TCP-03", "TCP-04", "TCP-05"] {
        let case = load(id);
        let rate = target(case.number("rtt")).rate(case.number("q"));
        case.check("rate", rate, number(&case.expected["R"]));
    }
    // Constants rounded to three digits, as in other protocols, hardly matter.
    let case = load("TCP-06");
    let rate = target(case.number("rtt")).rate(case.number("q"));
    assert!(close(rate, number(&case.expected["R"]), 1e-3));
}

#[test]
fn tcp_07_the_target_inverted() {
    let case = load("TCP-07");
    let target = target(case.number("rtt"));
    let losses: Vec<f64> = numbers(&case.input["R"]).into_iter().map(|rate| target.loss(rate)).collect();
    case.check_list("loss rates", &losses, &case.expected["q"]);
}

#[test]
fn pi_01_to_04_the_heuristic() {
    for id in ["PI-01", "PI-02", "PI-03", "PI-04"] {
        let case = load(id);
        let (model, target) = (model_of(&case), target(case.number("rtt")));
        if id == "PI-01" {
            check_near(&case, &raw_heuristic(&model, &target), &case.expected["p_raw"]);
        } else {
            let increase_probabilities = heuristic(&model, &target);
            check_near(&case, &increase_probabilities, &case.expected["p"]);
            if !case.expected["argmax"].is_null() {
                let plateau =
                    increase_probabilities.iter().filter(|&&rise| rise == increase_probabilities[0]).count()
                        as u64;
                assert_eq!(plateau, whole(&case.expected["argmax"]) + 1, "{id}");
            }
        }
    }
}

#[test]
fn pi_05_shares_moved_apart() {
    let case = load("PI-05");
    let increase_probabilities = separated(&heuristic(&example(), &target(0.1)), case.number("alpha"));
    check_near(&case, &increase_probabilities, &case.expected["p"]);
}

#[test]
fn mk_01_to_07_mean_rates() {
    for id in ["MK-01", "MK-02", "MK-03", "MK-04", "MK-05", "MK-06", "MK-07"] {
        let case = load(id);
        let (model, increase_probabilities) = match id {
            "MK-07" => (example(), heuristic(&example(), &target(0.1))),
            _ => (model_of(&case), printed("ex6_printed")),
        };
        let loss = case.number("q");
        case.check(
            "rate",
            model.mean_rate(&increase_probabilities, loss),
            number(&case.expected["throughput"]),
        );
        if !case.expected["mode"].is_null() {
            let shares = model.level_probabilities(&increase_probabilities, loss);
            let mode = (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap();
            assert_eq!(mode as u64, whole(&case.expected["mode"]), "{}", case.id);
        }
    }
}

/// The recursion as the paper prints it, with 1 - p_i where p_i belongs.
fn misprinted(model: &Model, increase_probabilities: &[f64], loss: f64) -> f64 {
    let clean = |level: usize| math::pow(1.0 - loss, model.slot_s * model.packets_per_s[level]);
    let mut weights = vec![1.0];
    for level in 0..model.levels() - 1 {
        let up = (1.0 - increase_probabilities[level]) * clean(level) / (1.0 - clean(level + 1));
        weights.push(weights[level] * up);
    }
    let sum: f64 = weights.iter().sum();
    weights.iter().zip(&model.packets_per_s).map(|(weight, rate)| weight * rate / sum).sum()
}

#[test]
fn mk_08_the_printed_recursion_is_another() {
    let case = load("MK-08");
    let (model, increase_probabilities) = (example(), printed("ex6_printed"));
    let wrong = misprinted(&model, &increase_probabilities, case.number("q"));
    case.check("rate", wrong, number(&case.expected["throughput"]));
    assert!(wrong < 0.1 * model.mean_rate(&increase_probabilities, case.number("q")));
}

#[test]
fn mk_09_and_10_a_small_chain() {
    let case = load("MK-09");
    let model = Model { packets_per_s: numbers(&case.input["R"]), slot_s: case.number("T") };
    let (increase_probabilities, loss) = (numbers(&case.input["p"]), case.number("q"));
    case.check_list("shares", &model.level_probabilities(&increase_probabilities, loss), &case.expected["f"]);
    case.check("rate", model.mean_rate(&increase_probabilities, loss), number(&case.expected["throughput"]));

    let case = load("MK-10");
    // Slots of one second, so joins per second are joins per slot.
    let joins = model.memberships(&increase_probabilities, loss);
    case.check("joins", joins.dynamic, number(&case.expected["joins_per_slot"]));
    let clean_base = math::pow(1.0 - loss, model.packets_per_s[0]);
    let identity = 1.0 - model.level_probabilities(&increase_probabilities, loss)[0] * (1.0 - clean_base);
    case.check("leaves", identity, number(&case.expected["identity_1_minus_f0_times_1_minus_s0"]));
    let above = joins.dynamic_above_base;
    case.check("above the base", above, number(&case.expected["joins_static_base"]));
}

#[test]
fn mk_11_joins_of_the_example() {
    let case = load("MK-11");
    let joins = model_of(&case).memberships(&printed("ex6_printed"), case.number("q"));
    for (what, joins) in [
        ("dl_joins_per_s", joins.dynamic),
        ("dl_joins_per_s_static_base", joins.dynamic_above_base),
        ("dl_leaves_per_s", joins.dynamic),
        ("sl_joins_per_s", joins.fixed),
        ("sl_leaves_per_s", joins.fixed),
    ] {
        case.check(what, joins, number(&case.expected[what]));
    }
}

#[test]
fn nm_01_to_04_errors() {
    let (model, goal) = (example(), Goal::from_paper(&target(0.1)));
    let heuristic = heuristic(&model, &target(0.1));
    for (id, increase_probabilities) in [
        ("NM-01", printed("ex5_printed")),
        ("NM-02", heuristic.clone()),
        ("NM-03", printed("ex6_printed")),
        ("NM-04", separated(&heuristic, SEPARATION)),
    ] {
        let case = load(id);
        case.check("error", goal.error(&model, &increase_probabilities), number(&case.expected["nmse"]));
    }
}

#[test]
fn nm_05_hill_climbing() {
    let case = load("NM-05");
    let (model, target) = (example(), target(0.1));
    let start = separated(&heuristic(&model, &target), SEPARATION);
    let climbing =
        Climb { separation: case.number("alpha"), enough: case.number("beta"), ..Climb::default() };
    let fitted = climb(&model, &Goal::from_paper(&target), &start, &climbing);
    assert!(fitted.error <= number(&case.expected["nmse_at_most"]), "{}", fitted.error);
    // Another search along a coordinate may end in another place of the same depth.
    assert!(close(fitted.error, number(&case.expected["nmse_reference"]), 1e-3), "{}", fitted.error);
    let reference = whole(&case.expected["sweeps_reference"]);
    assert!(u64::from(fitted.sweeps).abs_diff(reference) <= 2, "{} sweeps", fitted.sweeps);
    let apart = |pair: &[f64]| pair[0] - pair[1] >= case.number("alpha") - 1e-12;
    assert!(fitted.increase_probabilities.windows(2).all(apart), "{:?}", fitted.increase_probabilities);
}

#[test]
fn nm_06_the_printed_recursion_fits_nothing() {
    let case = load("NM-06");
    let (model, increase_probabilities, target) = (example(), printed("ex6_printed"), target(0.1));
    let square = |j: u32| {
        let loss = 0.001 + 0.099 * f64::from(j) / 499.0;
        let rate = target.rate(loss);
        math::pow((misprinted(&model, &increase_probabilities, loss) - rate) / rate, 2.0)
    };
    case.check("error", (0..500).map(square).sum(), number(&case.expected["nmse"]));
}
