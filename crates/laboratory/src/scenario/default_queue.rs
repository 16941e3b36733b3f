//! The queue of a link that names none.

use layercast_core::units::{Duration, Rate};
use layercast_simulator::DropTailConfig;

use super::Scenario;
use super::plan::{QueueLimit, QueuePlan};

/// What the queue holds: what the link carries in this time.
const HOLDS: Duration = Duration::from_ms(100);

/// The packets that it counts in, in bytes.
const PACKET_BYTES: f64 = 1500.0;

/// The fewest packets that it holds.
const AT_LEAST: u32 = 10;

/// Drop-tail, of the packets of 1500 bytes that the link transmits in 100 ms, at least ten.
pub(super) fn default_queue(rate: Rate) -> QueuePlan {
    let packets = (rate.as_bytes_per_s() * HOLDS.as_secs_f64() / PACKET_BYTES).ceil() as u32;
    let limit = QueueLimit::Packets(packets.max(AT_LEAST));
    QueuePlan::DropTail(DropTailConfig { limit, ns2_compat: false, drop_front: false })
}

/// One line on the links that have it; none if all name a queue.
#[must_use]
pub fn remark(scenario: &Scenario) -> Option<String> {
    let has_default = |link: &&super::LinkPlan| link.forward.default_queue || link.backward.default_queue;
    let links: Vec<&str> = scenario.links.iter().filter(has_default).map(|link| link.name.as_str()).collect();
    let (first, more) = links.split_at(links.len().min(3));
    let which = match (first, more.len()) {
        ([], _) => return None,
        ([one], _) => format!("Link {one} has"),
        (some, 0) => format!("Links {} have", some.join(", ")),
        (some, more) => format!("Links {} and {more} more have", some.join(", ")),
    };
    Some(format!(
        "{which} no `queue`, so drop-tail of one bandwidth-delay product at 100 ms, at least {AT_LEAST} packets."
    ))
}
