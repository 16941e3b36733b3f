//! What `--set` does.

use layercast_core::units::{Duration, Rate, Time};

use crate::scenario::testing::{SMALL, read_text};
use crate::scenario::{Draw, LossModel, QueueLimit, QueuePlan, Scenario};
use layercast_simulator::DropTailConfig;

#[test]
fn paths_lead_to_keys_in_the_singular_and_the_plural() {
    let sets = [
        "duration=90 s",
        "replications = 3",
        "link.G-R2.rate=\"8 Mbit/s\"",
        "links.G-R1.queue.limit=9000 bytes",
        "link.G-R2.loss.forward=0.25",
        "link.S-G.loss.backward=0.5",
        "defaults.link.delay=20 ms",
        "session.elm.layers.count=3",
        "flow.tcp.start.uniform=[\"1 s\", \"2 s\"]",
        "flow.tcp.count=1",
    ];
    let scenario = read_text(SMALL, &sets).unwrap();
    assert_eq!((scenario.duration, scenario.replications), (Duration::from_secs(90), 3));
    assert_eq!(scenario.links[2].forward.rate, Rate::from_mbps(8.0));
    let QueuePlan::DropTail(DropTailConfig { limit, .. }) = scenario.links[1].forward.queue else { panic!() };
    assert_eq!(limit, QueueLimit::Bytes(9000));
    assert_eq!(scenario.links[2].forward.loss, LossModel::Bernoulli(0.25));
    let first = &scenario.links[0];
    assert_eq!(
        (first.forward.loss.clone(), first.backward.loss.clone()),
        (LossModel::Bernoulli(0.01), LossModel::Bernoulli(0.5))
    );
    assert_eq!(first.forward.delay, Draw::Fixed(Duration::from_ms(20)));
    assert_eq!(scenario.sessions[0].layers.count(), 3);
    let second = |s| Time::ZERO + Duration::from_secs(s);
    assert_eq!(scenario.flows[0].start, Draw::Uniform { low: second(1), high: second(2) });
    assert_eq!(scenario.flows[0].to[0].flow, "tcp@R1");
}

#[test]
fn a_count_of_nothing_takes_a_table_out() {
    let grouped = SMALL.to_owned() + "[groups]\nR1 = [\"elm-*@R1\", \"tcp-*@R1\"]\n";
    let without = read_text(&grouped, &["flow.tcp.count=0"]).unwrap();
    assert_eq!((without.sessions.len(), without.flows.len()), (1, 0));
    let without = read_text(&grouped, &["session.elm.count=0"]).unwrap();
    assert_eq!((without.sessions.len(), without.flows.len()), (0, 1));
    let errors = read_text(SMALL, &["session.elm.count=0", "flow.tcp.count=0"]).unwrap_err().to_string();
    assert!(errors.contains("there is nothing to measure"), "{errors}");
}

#[test]
fn options_of_the_protocol_need_no_table_name() {
    let scenario = read_text(SMALL, &["session.elm.strategy=naive", "session.elm.t_join_max=5 s"]).unwrap();
    let option = |scenario: &Scenario, name: &str| scenario.sessions[0].protocol.get_option(name).unwrap();
    assert_eq!(option(&scenario, "strategy"), "naive");
    assert_eq!(option(&scenario, "t_join_max"), "5 s");
    let same = read_text(SMALL, &["sessions.elm.options.strategy=naive"]).unwrap();
    assert_eq!(option(&same, "strategy"), "naive");
}

#[test]
fn the_last_override_holds() {
    let scenario = read_text(SMALL, &["seed=3", "seed=4"]).unwrap();
    assert_eq!(scenario.seed, 4);
}

#[test]
fn errors_point_into_the_override() {
    let sets = [
        "duration",
        "durration=3 s",
        "duration.length=3 s",
        "link.G-R3.rate=1 Mbit/s",
        "session.elm.stratgy=naive",
        "session.elm.strategy=nave",
        "link.G-R2.rate=6 Mbps",
        "seed = 1\nname = \"other\"",
    ];
    let errors = read_text(SMALL, &sets).unwrap_err();
    insta::assert_snapshot!(errors);
}
