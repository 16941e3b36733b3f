use layercast_core::layers::LayerTable;
use layercast_core::units::{Layer, Rate};
use layercast_testkit::golden::{Case, group, number, numbers, vector, whole};

use crate::golden::{EQUATION_BASED, JOIN_LEAVE};

/// The vectors give packets/s or kbit/s; a table is linear in its unit, so they stand for kbit/s.
fn kbps(value: f64) -> Rate {
    Rate::from_kbps(value)
}

fn own(table: &LayerTable) -> Vec<f64> {
    table.layers().map(|layer| table.rate(layer).as_kbps()).collect()
}

fn cumulative(table: &LayerTable) -> Vec<f64> {
    table.layers().map(|layer| table.cumulative(layer).as_kbps()).collect()
}

/// Rates that are calculated as differences may differ from the printed ones in the last digits.
fn load(id: &str) -> Case {
    let case = vector(JOIN_LEAVE, id);
    Case { rel_tol: case.rel_tol.max(1e-11), ..case }
}

fn count(case: &Case) -> u16 {
    case.whole("layers") as u16
}

#[test]
fn cumulative_rates() {
    for case in group(EQUATION_BASED, "cumulative_rates") {
        let table = LayerTable::from_rates(numbers(&case.input["layers"]).into_iter().map(kbps)).unwrap();
        case.check_list("cumulative", &cumulative(&table), &case.expected);
    }
}

#[test]
fn ls_01_equal() {
    let case = load("LS-01");
    let table = LayerTable::equal(kbps(case.number("r0")), count(&case)).unwrap();
    case.check("first", cumulative(&table)[0], number(&case.expected["R_first"]));
    case.check("last", table.top_rate().as_kbps(), number(&case.expected["R_last"]));
    let in_kbps = table.top_rate().as_kbps() * 8.0;
    case.check("in kbit/s", in_kbps, number(&case.expected["R_last_kbps_1000B"]));
}

#[test]
fn ls_02_increase_by_one() {
    let case = load("LS-02");
    let table = LayerTable::increase_by_one(kbps(case.number("R0")), count(&case)).unwrap();
    case.check_list("own", &own(&table), &case.expected["r"]);
    case.check("last", table.top_rate().as_kbps(), number(&case.expected["R_last"]));
}

#[test]
fn ls_03_doubling() {
    let case = load("LS-03");
    let table = LayerTable::doubling(kbps(case.number("R0")), count(&case)).unwrap();
    case.check_list("own", &own(&table)[..6], &case.expected["r_first6"]);
    case.check("last", table.top_rate().as_kbps(), number(&case.expected["R_last"]));
}

#[test]
fn ls_04_and_05_multiplicative() {
    let case = load("LS-04");
    let base = kbps(case.number("R0"));
    let table = LayerTable::multiplicative(case.number("c"), base, count(&case)).unwrap();
    for (name, layer) in [("R_1", 1), ("R_10", 10), ("R_19", 19)] {
        case.check(name, table.cumulative(Layer(layer)).as_kbps(), number(&case.expected[name]));
    }
    for (name, layer) in [("r_1", 1), ("r_19", 19)] {
        case.check(name, table.rate(Layer(layer)).as_kbps(), number(&case.expected[name]));
    }

    let case = load("LS-05");
    let base = kbps(case.number("R0"));
    let table = LayerTable::multiplicative(case.number("c"), base, count(&case)).unwrap();
    case.check_list("cumulative", &cumulative(&table), &case.expected["R"]);
}

#[test]
fn ls_06_and_07_heavy_tail() {
    let case = load("LS-06");
    let table = LayerTable::heavy_tail(kbps(case.number("C")), count(&case)).unwrap();
    case.check_list("own", &own(&table), &case.expected["r"]);
    case.check("last", table.top_rate().as_kbps(), number(&case.expected["R_last"]));

    let case = load("LS-07");
    let table = LayerTable::heavy_tail(kbps(case.number("C")), count(&case)).unwrap();
    case.check_list("own", &own(&table), &case.expected["r"]);
    case.check_list("cumulative", &cumulative(&table), &case.expected["R"]);
}

#[test]
fn ls_08_tailored() {
    let case = load("LS-08");
    let capacities: Vec<Rate> = numbers(&case.input["capacities_kbps"]).into_iter().map(kbps).collect();
    let fractions = numbers(&case.input["fractions"]);
    let table = LayerTable::fractions_of(&capacities, &fractions).unwrap();
    case.check_list("cumulative", &cumulative(&table), &case.expected["R"]);
    case.check_list("own", &own(&table), &case.expected["r"]);
    let explicit = LayerTable::from_cumulative(numbers(&case.expected["R"]).into_iter().map(kbps)).unwrap();
    case.check_list("explicit", &own(&explicit), &case.expected["r"]);
}

#[test]
fn ls_09_linear() {
    let case = load("LS-09");
    let layers = (case.number("target") / case.number("B0")).ceil() as u16;
    assert_eq!(u64::from(layers), whole(&case.expected["layers"]));
    let table = LayerTable::equal(kbps(case.number("B0")), layers).unwrap();
    case.check_list("first", &cumulative(&table)[..3], &case.expected["B_first3"]);
    case.check("last", table.top_rate().as_kbps(), number(&case.expected["B_last"]));
}

#[test]
fn ls_10_exponential() {
    let case = load("LS-10");
    let layers = whole(&case.expected["layers"]) as u16;
    let table = LayerTable::doubling(kbps(case.number("B0")), layers).unwrap();
    case.check_list("cumulative", &cumulative(&table), &case.expected["B"]);
    case.check_list("own", &own(&table), &case.expected["r"]);
    case.check("target", table.top_rate().as_kbps(), case.number("target"));
}

#[test]
fn ls_11_thin_layers() {
    let case = load("LS-11");
    let base = kbps(case.number("R0"));
    let table = LayerTable::multiplicative(case.number("c"), base, count(&case)).unwrap();
    let per_slot: Vec<f64> = own(&table).into_iter().map(|rate| rate * case.number("T")).collect();
    case.check_list("packets per slot", &per_slot, &case.expected["packets_per_slot"]);
}

#[test]
fn ls_14_subset_of_layers() {
    let case = load("LS-14");
    let table = LayerTable::from_rates(numbers(&case.input["r"]).into_iter().map(kbps)).unwrap();
    let mask = numbers(&case.input["mask"]);
    let held = table.layers().filter(|layer| mask[layer.index()] == 1.0);
    case.check("rate", table.rate_of_layers(held).as_kbps(), number(&case.expected["rate"]));
}

#[test]
fn ls_15_layers_needed() {
    let case = load("LS-15");
    let (base, most) = (kbps(case.number("R0_kbps")), case.whole("cap") as u16);
    let needed = |bottleneck: f64| {
        f64::from(
            LayerTable::multiplicative_above(kbps(bottleneck), case.number("c"), base, most).unwrap().count(),
        )
    };
    let counts: Vec<f64> = numbers(&case.input["bottleneck_kbps"]).into_iter().map(needed).collect();
    case.check_list("layers", &counts, &case.expected["layers"]);
}
