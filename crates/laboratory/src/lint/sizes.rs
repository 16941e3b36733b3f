//! Packets against queues and the MTU.

use layercast_core::units::Size;
use layercast_simulator::QueueConfig;

use super::Doubt;
use super::facts::{Facts, Table};
use super::list::{PACKET_ABOVE_MTU, PACKET_ABOVE_QUEUE};
use crate::scenario::{QueueLimit, QueuePlan, Traffic};

/// What Ethernet carries, and with it nearly every path, in bytes of IP packets.
const MTU: u32 = 1500;

/// Sessions and flows whose packets are too large for a queue on their paths, or for the MTU.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for (plan, routes) in facts.session_tables() {
        let table = Table { kind: "session", name: &plan.name, routes };
        check_table(facts, table, plan.packet_size, &mut doubts);
    }
    for (plan, routes) in facts.flow_tables() {
        let (Traffic::Tcp { options: layercast_simulator::tcp::TcpOptions { packet_size, .. }, .. }
        | Traffic::Udp { packet_size, .. }) = &plan.traffic;
        check_table(facts, Table { kind: "flow", name: &plan.name, routes }, *packet_size, &mut doubts);
    }
    doubts
}

fn check_table(facts: &Facts<'_>, table: Table<'_>, packet: Size, doubts: &mut Vec<Doubt>) {
    let key = |path: String| format!("{path}.packet_size");
    let paths = || vec![key(table.path()), key(format!("defaults.{}", table.kind)), table.path()];
    if packet.as_bytes() > MTU {
        doubts.push(Doubt {
            lint: PACKET_ABOVE_MTU,
            subject: table.subject(),
            paths: paths(),
            message: format!("its packets of {packet} are larger than the {MTU} bytes of an Ethernet"),
            remedy: format!("`packet_size` of at most \"{MTU} bytes\""),
        });
    }
    let too_small = |link: &&usize| never_admits(&facts.direction(**link).queue, packet);
    let Some(&link) = table.routes.iter().flat_map(|route| &route.links).find(too_small) else { return };
    doubts.push(Doubt {
        lint: PACKET_ABOVE_QUEUE,
        subject: table.subject(),
        paths: paths(),
        message: format!(
            "its packets of {packet} do not fit in the queue of {}, whose limit is {}, so all are lost",
            facts.names[link],
            facts.direction(link).queue.limit().map_or(String::new(), |limit| limit.to_string()),
        ),
        remedy: "a queue that holds several packets, or smaller packets".to_owned(),
    });
}

/// Whether a queue drops every packet of a size, even when nothing waits.
fn never_admits(queue: &QueuePlan, packet: Size) -> bool {
    // Plain queues in the way of ns-2 drop what would fill them to the limit.
    let reaches = matches!(queue, QueueConfig::DropTail(config) if config.ns2_compat);
    match queue.limit() {
        Some(QueueLimit::Bytes(limit)) if reaches => u64::from(packet.as_bytes()) >= limit,
        Some(QueueLimit::Bytes(limit)) => u64::from(packet.as_bytes()) > limit,
        Some(QueueLimit::Packets(limit)) => reaches && limit == 1,
        Some(QueueLimit::Unlimited) | None => false,
    }
}
