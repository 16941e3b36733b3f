use layercast_core::units::RateEstimate;
use layercast_kit::equation::{EquationError, Formula, Path, expected_window};
use layercast_testkit::golden::{Case, group, number, vector};

use crate::golden::{ACTIVE, EQUATION_BASED};

fn path(case: &Case) -> Path {
    let rto_s = if case.input["rto"].is_null() { 4.0 * case.number("rtt") } else { case.number("rto") };
    Path::from_secs(case.number("s"), case.number("rtt"), rto_s)
}

fn bytes_per_s(rate: Result<RateEstimate, EquationError>) -> f64 {
    match rate {
        Ok(RateEstimate::Known(rate)) => rate.as_bytes_per_s(),
        Ok(RateEstimate::Unbounded) => f64::INFINITY,
        Ok(RateEstimate::Unknown) | Err(_) => f64::NAN,
    }
}

fn check_rates(id: &str, formula: Formula) {
    for case in group(EQUATION_BASED, id) {
        let rate = formula.rate(&path(&case), case.number("p"));
        if case.expected == "error" {
            assert!(rate.is_err(), "{}", case.id);
        } else {
            case.check("rate", bytes_per_s(rate), number(&case.expected));
        }
    }
}

#[test]
fn throughput_by_every_formula() {
    check_rates("mathis_rate", Formula::Simple);
    check_rates("tfrc_rate", Formula::PftkSimplified);
    check_rates("tfrc_rate_clamped", Formula::PftkSimplifiedClamped);
    check_rates("tfrc_rate_edge", Formula::PftkSimplified);
}

/// The report on AMCA prints the equation without a factor of 3, which makes its rate too high.
#[test]
fn throughput_where_a_factor_was_left_out() {
    for id in ["tfrc-01", "tfrc-02", "tfrc-03", "tfrc-04"] {
        let case = vector(ACTIVE, id);
        let path = Path::from_secs(case.number("S_bits") / 8.0, case.number("rtt"), case.number("rto"));
        let rate = bytes_per_s(Formula::PftkSimplified.rate(&path, case.number("p"))) * 8.0;
        case.check("rate", rate, number(&case.expected["correct_bps"]));
        assert!(rate < number(&case.expected["paper_printed_bps"]), "{id}");
    }
}

#[test]
fn full_model() {
    for case in group(EQUATION_BASED, "pftk_full") {
        let mut path = Path::from_secs(1.0, case.number("rtt"), case.number("rto"));
        path.window_packets = case.number("wmax");
        path.packets_per_ack = case.number("b");
        let p = case.number("p");
        let packets_per_s = bytes_per_s(Formula::PftkFull.rate(&path, p));
        case.check("rate", packets_per_s, number(&case.expected["packets_per_s"]));
        case.check("window", expected_window(p, path.packets_per_ack), number(&case.expected["ew"]));
    }
}

#[test]
fn loss_rate_from_a_rate() {
    for case in group(EQUATION_BASED, "inverse_p") {
        let p = Formula::PftkSimplified.loss_rate(&path(&case), case.number("x")).unwrap();
        if case.expected.is_object() {
            case.check("p", p, number(&case.expected["p"]));
            case.check("interval", 1.0 / p, number(&case.expected["interval"]));
        } else {
            case.check("p", p, number(&case.expected));
        }
    }
}
