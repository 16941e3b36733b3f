//! pgmcc: the loss filter and the choice of the acker.

use layercast_protocols::pgmcc::LossFilter;
use layercast_protocols::pgmcc::election::{replaces, throughput};
use layercast_protocols::pgmcc::options::{Model, Options};
use layercast_testkit::golden::{number, vector, wholes};

use crate::golden::ACTIVE;

#[test]
fn the_loss_filter() {
    let case = vector(ACTIVE, "pgmcc-loss-01");
    assert_eq!(case.number("W"), Options::default().loss_memory);
    let lost = wholes(&case.input["lost"]);
    let mut filter = LossFilter::new(case.number("W"));
    (1..=case.whole("n")).for_each(|packet| filter.on_packet(lost.contains(&packet)));
    case.check("loss", filter.rate(), number(&case.expected["loss"]));
}

#[test]
fn choice_of_the_acker() {
    for id in ["pgmcc-sw-01", "pgmcc-sw-02", "pgmcc-sw-03", "pgmcc-sw-04"] {
        let case = vector(ACTIVE, id);
        let of = |who: &str| {
            let number = |what: &str| case.number(&format!("{what}_{who}"));
            throughput(Model::Simple, number("rtt"), number("p"))
        };
        let (new, acker) = (of("new"), of("acker"));
        case.check("T_new", new, number(&case.expected["T_new"]));
        case.check("T_acker", acker, number(&case.expected["T_acker"]));
        let switch = replaces(new, acker, case.number("c"));
        assert_eq!(Some(switch), case.expected["switch"].as_bool(), "{}", case.id);
    }
}
