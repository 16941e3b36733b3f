//! The option `fair_to`: which protocols have it, and its defaults.

use layercast_core::family::AnyProtocol as _;
use layercast_protocols::registry::{NAMES, Protocol};

/// Those that calculate a rate from a loss rate.
const WITH: [&str; 9] = ["elm", "tfrc", "tfmcc", "smcc", "webrc", "flid-sl", "flid-dl", "e-flid-dl", "tide"];

#[test]
fn papers_are_fair_to_reno_and_real_sessions_to_cubic() {
    for name in NAMES {
        let mut protocol = Protocol::named(name).expect("a protocol of the list");
        assert_eq!(protocol.get("fair_to").is_some(), WITH.contains(name), "{name}");
        if !WITH.contains(name) {
            continue;
        }
        assert_eq!(protocol.get("fair_to").as_deref(), Some("reno"), "{name}");
        protocol.deploy();
        assert_eq!(protocol.get("fair_to").as_deref(), Some("cubic"), "{name}");
    }
}

/// Where the source sets one rate by what receivers calculate, or both ends calculate, all must follow one response:
/// the session description carries it.
#[test]
fn members_agree_where_one_rate_is_for_all() {
    for name in WITH {
        let protocol = Protocol::named(name).expect("a protocol of the list");
        let agreed = protocol.requirements().agreed().contains(&"fair_to");
        assert_eq!(agreed, ["tfrc", "tfmcc", "smcc"].contains(&name), "{name}");
    }
}
