//! Changes of links that never happen.

use layercast_core::units::Time;

use super::Doubt;
use super::list::CHANGES_AFTER_END;
use crate::scenario::{LinkPlan, Scenario};

/// Links with changes or outages from the end of the run on.
pub(super) fn check(scenario: &Scenario) -> Vec<Doubt> {
    let end = Time::ZERO + scenario.duration;
    scenario.links.iter().filter_map(|link| late(link, end)).collect()
}

fn late(link: &LinkPlan, end: Time) -> Option<Doubt> {
    let variation = &link.forward.variation;
    let changes = variation.changes.iter().filter(|change| change.at >= end).count();
    let outages = variation.outages.iter().filter(|outage| outage.start >= end).count();
    let of = variation.changes.len() + variation.outages.len();
    let key = if outages > 0 { "down" } else { "rates" };
    (changes + outages > 0).then(|| Doubt {
        lint: CHANGES_AFTER_END,
        subject: format!("link {}", link.name),
        paths: vec![
            format!("links.{}.{key}", link.name),
            format!("defaults.link.{key}"),
            format!("links.{}", link.name),
        ],
        message: format!(
            "{} of its {of} changes and outages come after the end of the run at {end}",
            changes + outages
        ),
        remedy: "a longer `duration`, or no such changes".to_owned(),
    })
}
