//! The scenario of this folder in the laboratory: PLM among the built-in protocols.

use layercast_core::family::{AnyProtocol, Family, Union, numbers_differ};
use layercast_laboratory::BuiltIn;
use layercast_laboratory::compare::{self, CompareRequest};
use layercast_laboratory::results::{RunCost, Summary};
use layercast_laboratory::run::{self, RunRequest};
use layercast_laboratory::scenario::{self, Catalogue};
use layercast_outside::Outside;

type Protocols = Union<Outside, BuiltIn>;

const NAME: &str = "plm.toml";
const TEXT: &str = include_str!("../../scenarios/plm.toml");

fn summary(overrides: &[&str]) -> Summary {
    let overrides: Vec<String> = overrides.iter().map(|set| (*set).to_owned()).collect();
    let plan = scenario::read(NAME, TEXT, &overrides, &Catalogue::of::<Protocols>()).expect("a scenario");
    let request = RunRequest { id: NAME.to_owned(), text: TEXT.to_owned(), ..RunRequest::default() };
    let outcome = run::run::<Protocols>(&plan, &request, &|_| {}).expect("a run");
    let cost = RunCost { wall_s: 0.0, peak_rss_bytes: None };
    Summary::new(&outcome.experiment, &outcome.replications, cost).expect("a summary")
}

/// Levels are counted from 0. R1 is alone for 15 s, shares for 17 s and is alone again; R2 and R3 are alone.
#[test]
fn receivers_hold_the_highest_level_below_their_fair_share() {
    let summary = summary(&["replications=3"]);
    // The second and the third window of the scenario: with the TCP, and after it.
    let level = |window: usize, receiver: usize| {
        let name = format!("plm@R{}", receiver + 1);
        let flow = summary.windows[window].flow(&name).expect("a receiver");
        flow.measures.mean_level.as_ref().and_then(|level| level.mean).expect("a level")
    };
    // A leave overshoots or a pair is torn apart now and then: a tenth of a level is one second in ten at one
    // level less.
    for (window, receiver, expected) in
        [(0, 0, 7.0), (1, 0, 14.0), (0, 1, 5.0), (1, 1, 5.0), (0, 2, 2.0), (1, 2, 2.0)]
    {
        let held = level(window, receiver);
        assert!((held - expected).abs() < 0.25, "window {window}, R{}: level {held}", receiver + 1);
    }
}

#[test]
fn plm_is_compared_with_a_built_in_protocol() {
    let request = CompareRequest {
        id: NAME.to_owned(),
        text: TEXT.to_owned(),
        overrides: ["replications=1", "duration=\"30 s\"", "windows=[[\"5 s\", \"20 s\"]]"]
            .map(str::to_owned)
            .to_vec(),
        protocols: vec!["plm".to_owned(), "rlc".to_owned()],
        ..CompareRequest::default()
    };
    let prepared = compare::read(&request, &Catalogue::of::<Protocols>()).expect("candidates");
    let ran: Vec<_> = prepared
        .candidates
        .into_iter()
        .map(|candidate| compare::run::<Protocols>(candidate, None, &|_| {}).expect("a run"))
        .collect();
    let of = |index: usize| ran[index].summary.flows[0].measures.throughput_kbps.mean.expect("a receiver");
    assert!(of(0) > of(1), "PLM is at its share after a second, RLC climbs: {} and {} kbit/s", of(0), of(1));
}

#[test]
fn no_wire_number_is_taken() {
    let protocol = |name: &str| <Protocols as Family>::Protocol::named(name).expect("a name");
    let names = <<Protocols as Family>::Protocol as AnyProtocol>::names();
    assert!(names.contains(&"plm") && names.contains(&"elm"), "{names:?}");
    let numbers: Vec<_> = names.into_iter().map(|name| protocol(name).wire_numbers()).collect();
    assert!(numbers_differ(&numbers));
}
