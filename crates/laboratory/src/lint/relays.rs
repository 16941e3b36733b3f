//! Relays, of which the simulated world has none.

use super::Doubt;
use super::list::RELAYS;
use crate::scenario::Scenario;

/// Sessions with relays.
pub(super) fn check(scenario: &Scenario) -> Vec<Doubt> {
    let relayed = scenario.sessions.iter().filter(|session| !session.relays.is_empty());
    let doubt = |name: &str| Doubt {
        lint: RELAYS,
        subject: format!("session {name}"),
        paths: vec![
            format!("sessions.{name}.relays"),
            "defaults.session.relays".to_owned(),
            format!("sessions.{name}"),
        ],
        message: "its relays change nothing in the simulated world, where every router carries multicast"
            .to_owned(),
        remedy: "`--world emulated`, or `layercast agree`, which compares both".to_owned(),
    };
    relayed.map(|session| doubt(&session.name)).collect()
}
