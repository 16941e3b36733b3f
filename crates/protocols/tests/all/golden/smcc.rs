//! SMCC: binary counting.

use layercast_protocols::smcc::counting::CountingSet;
use layercast_testkit::golden::{group, number, wholes};

use crate::golden::EQUATION_BASED;

#[test]
fn binary_counting() {
    for case in group(EQUATION_BASED, "smcc_binary_count") {
        let n = case.whole("n") as u32;
        let (before, held) = (CountingSet::at_step(n - 1), CountingSet::at_step(n));
        let places = |set: CountingSet| set.places().map(u64::from).collect::<Vec<u64>>();
        assert_eq!(places(held), wholes(&case.expected["held"]), "{} held", case.id);
        assert_eq!(places(held.without(before)), wholes(&case.expected["join"]), "{} join", case.id);
        assert_eq!(places(before.without(held)), wholes(&case.expected["leave"]), "{} leave", case.id);
        let rate = f64::from(held.units()) * case.number("u");
        case.check("rate", rate, number(&case.expected["rate"]));
    }
}
