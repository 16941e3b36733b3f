//! Which routers take part, and when they fail.

use crate::scenario::Catalogue;
use layercast_core::units::Time;
use layercast_protocols::registry::Registry;

use crate::scenario::plan::{RouterFailure, RouterPlan, SessionPlan};
use crate::scenario::testing::SMALL;
use crate::scenario::{ScenarioErrors, read};

/// The session of the small scenario with another protocol and these routers.
fn session(protocol: &str, routers: &str) -> Result<SessionPlan, ScenarioErrors> {
    // Only reliable protocols have use for an end of the data.
    let packets = if protocol == "nca" { "packets = 9" } else { "" };
    let text = SMALL.replace("start = \"10 s\"", &format!("start = \"10 s\"\n{packets}\n{routers}"));
    let text = text.replace("protocol = \"elm\"", &format!("protocol = \"{protocol}\""));
    read("test.toml", &text, &[], &Catalogue::of::<Registry>()).map(|scenario| scenario.sessions[0].clone())
}

fn mistake(protocol: &str, routers: &str) -> String {
    let errors = session(protocol, routers).unwrap_err();
    assert_eq!(errors.0.len(), 1, "{errors}");
    errors.to_string()
}

#[test]
fn routers_are_all_none_or_named() {
    let plan = |routers: &str| session("nca", routers).unwrap().routers;
    assert_eq!(session("nca", "").unwrap().packets, Some(9));
    assert_eq!(plan(""), RouterPlan::default());
    assert_eq!(plan("routers = {}"), RouterPlan::default());
    assert_eq!(plan("routers = { active = \"none\" }").active, Some(Vec::new()));
    // S and G are the first nodes that links mention.
    assert_eq!(plan("routers = { active = [\"G\"] }").active, Some(vec![1]));
    let second = Time::from_secs_f64(1.0);
    let failure = |back, failing| RouterFailure { at: second, back, failing };
    assert_eq!(plan("routers = { fail = \"1 s\" }").failure, Some(failure(second, None)));
    let partly = plan("routers = { fail = \"1 s\", back = \"2 s\", failing = [\"G\"] }");
    assert_eq!(partly.failure, Some(failure(Time::from_secs_f64(2.0), Some(vec![1]))));
}

#[test]
fn what_makes_no_sense_is_reported_with_what_does() {
    let has = |text: String, part: &str| assert!(text.contains(part), "{text}");
    has(mistake("elm", "routers = {}"), "routers take no part in \"elm\"");
    has(mistake("nca", "routers = { active = \"G\" }"), "\"all\", \"none\" or a list of nodes");
    has(mistake("nca", "routers = { active = [\"H\"] }"), "there is no node `H`");
    has(mistake("nca", "routers = { back = \"1 s\" }"), "no router fails");
    has(mistake("nca", "routers = { fail = \"2 s\", back = \"1 s\" }"), "back before they fail at 2 s");
    has(mistake("nca", "routers = { passive = true }"), "has no key `passive`");
    has(mistake("nca", "options = { cache = 8 }"), "give a cache of at least the buffer");
}
