//! Queues that never drop, and queues that stood.

use layercast_simulator::QueueConfig;

use super::Doubt;
use super::facts::{Facts, controls_delay, direction, rounded};
use super::list::{STANDING_QUEUE, UNLIMITED_QUEUE};
use crate::results::{LinkInfo, Replication};
use crate::scenario::{QueueLimit, Scenario, Traffic};

/// Unlimited queues on links that may be offered more than they carry: one finding for all of them.
pub(super) fn check(facts: &Facts<'_>) -> Option<Doubt> {
    let offered = facts.offered_bps();
    let never_drops = |link: &usize| {
        let queue = &facts.direction(*link).queue;
        let by_kind = matches!(queue, QueueConfig::DropTail(_) | QueueConfig::Fair(_));
        by_kind && queue.limit() == Some(QueueLimit::Unlimited)
    };
    let rate = |link: usize| facts.direction(link).rate.as_bps();
    let grows: Vec<usize> =
        (0..facts.names.len()).filter(never_drops).filter(|&link| offered[link] > rate(link)).collect();
    let &first = grows.first()?;
    let name = &facts.scenario.links[first / 2].name;
    Some(Doubt {
        lint: UNLIMITED_QUEUE,
        subject: subject(facts, &grows),
        paths: vec![format!("links.{name}.queue"), "defaults.link.queue".to_owned(), format!("links.{name}")],
        message: format!(
            "the queue never drops, and up to {} may be offered to {}, which carries {}",
            rounded(offered[first]),
            facts.names[first],
            facts.direction(first).rate,
        ),
        remedy: format!(
            "`queue = {{ limit = \"{} packets\" }}`, what the link carries in 100 ms, or `kind = \"codel\"`",
            (rate(first) * 0.1 / 8e3).ceil().max(5.0)
        ),
    })
}

/// Links by name; many are counted.
pub(super) fn subject(facts: &Facts<'_>, links: &[usize]) -> String {
    const MOST: usize = 4;
    let shown: Vec<&str> = links.iter().take(MOST).map(|&link| facts.names[link].as_str()).collect();
    let (plural, shown) = (if links.len() == 1 { "" } else { "s" }, shown.join(", "));
    match links.len().saturating_sub(MOST) {
        0 => format!("link{plural} {shown}"),
        more => format!("links {shown} and {more} more"),
    }
}

/// Links whose queue was longer than [`LONGEST_S`] on average, over the main window of all replications.
pub(super) fn measured(scenario: &Scenario, links: &[LinkInfo], replications: &[Replication]) -> Vec<Doubt> {
    /// More than any network holds.
    const LONGEST_S: f64 = 2.0;
    let bits = usual_packet_bits(scenario);
    let mut doubts = Vec::new();
    for (index, link) in links.iter().enumerate() {
        let queues = replications.iter().filter_map(|replication| {
            replication.windows.first()?.links.get(index).map(|measures| measures.mean_queue_packets)
        });
        let count = replications.len().max(1) as f64;
        let packets = queues.sum::<f64>() / count;
        let seconds = packets * bits / direction(scenario, index).rate.as_bps();
        if seconds.is_nan() || seconds <= LONGEST_S {
            continue;
        }
        let name = &scenario.links[index / 2].name;
        let remedy = match controls_delay(&direction(scenario, index).queue) {
            Some(queue) => format!(
                "senders that slow down when {queue} drops or marks their packets, or a smaller `limit` of the queue"
            ),
            None => "a smaller `limit` of the queue, or one that controls delay, such as `kind = \"codel\"`"
                .to_owned(),
        };
        doubts.push(Doubt {
            lint: STANDING_QUEUE,
            subject: format!("link {}", link.name),
            paths: vec![format!("links.{name}.queue"), format!("links.{name}")],
            message: format!(
                "{packets:.0} packets waited on average, about {seconds:.1} s at the rate of the link"
            ),
            remedy,
        });
    }
    doubts
}

/// The mean size of data packets over tables, in bits: close enough to say how many seconds a queue is.
fn usual_packet_bits(scenario: &Scenario) -> f64 {
    let sessions = scenario.sessions.iter().map(|plan| plan.packet_size);
    let flows = scenario.flows.iter().map(|plan| match &plan.traffic {
        Traffic::Tcp { options, .. } => options.packet_size,
        Traffic::Udp { packet_size, .. } => *packet_size,
    });
    let sizes: Vec<f64> = sessions.chain(flows).map(|size| size.as_bits() as f64).collect();
    sizes.iter().sum::<f64>() / sizes.len().max(1) as f64
}
