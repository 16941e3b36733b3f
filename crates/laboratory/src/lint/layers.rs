//! Layers against links.

use layercast_core::session::{Rates, SessionPlan};
use layercast_core::units::Level;

use super::Doubt;
use super::facts::Facts;
use super::list::BASE_ABOVE_LINK;

/// Sessions whose base layer is above a link to their receivers.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for (plan, routes) in facts.session_tables() {
        // Where the source adapts one rate, the layers only bound it.
        let needs = plan.protocol.requirements();
        if needs.character().rates == Rates::One {
            continue;
        }
        let session = SessionPlan { layers: plan.layers.clone(), packet_size: plan.packet_size };
        let base = needs.level_rate(&session, Level::from_count(1));
        let slow = |link: &usize| facts.direction(*link).rate.as_bps() < base.as_bps();
        let behind: Vec<_> = routes.iter().filter(|route| route.links.iter().any(slow)).collect();
        let rate = |link: &usize| facts.direction(*link).rate.as_bps();
        let links = behind.iter().flat_map(|route| &route.links);
        let Some(&slowest) = links.min_by(|a, b| rate(a).total_cmp(&rate(b))) else { continue };
        let receivers: usize = behind.iter().map(|route| route.count).sum();
        let plural = if receivers == 1 { "" } else { "s" };
        doubts.push(Doubt {
            lint: BASE_ABOVE_LINK,
            subject: format!("session {}", plan.name),
            paths: vec![
                format!("sessions.{}.layers", plan.name),
                format!("sessions.{}", plan.name),
                "defaults.session.layers".to_owned(),
            ],
            message: format!(
                "its base layer of {base} is faster than the path to {receivers} receiver{plural}; the slowest link \
                 is {} with {}",
                facts.names[slowest],
                facts.direction(slowest).rate
            ),
            remedy: format!(
                "a base layer of at most {}, or no receivers behind that link",
                facts.direction(slowest).rate
            ),
        });
    }
    doubts
}
