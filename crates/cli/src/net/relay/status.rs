//! What a relay does: as measures and as JSON.

use std::net::SocketAddr;

use layercast_transport::relay::RelayStatus as Status;

use crate::failure::Failure;
use crate::net::metrics::{self, Page, Served};
use crate::output::complain;

/// Serves what is asked for by `--metrics`.
pub(crate) fn serve_metrics(at: Option<SocketAddr>, served: &Served) -> Result<(), Failure> {
    let Some(at) = at else { return Ok(()) };
    let at =
        metrics::serve(at, served.clone()).map_err(|error| anyhow::anyhow!("--metrics {at}: {error}"))?;
    complain(&format!("note: metrics at http://{at}/metrics"));
    Ok(())
}

/// Serves it from now on, as measures and as JSON.
pub(crate) fn serve(status: &Status, served: &Served) {
    served.set(page(status));
    served.set_status(serde_json::to_string(status).unwrap_or_default());
}

/// The measures for Prometheus.
fn page(status: &Status) -> Page {
    let counters = &status.node.counters;
    let mut page = Page::default();
    page.gauge("relay_children", "Children now.", Some(status.node.children.len() as f64));
    page.gauge("relay_sessions", "Sessions that some child wants.", Some(status.node.sessions.len() as f64));
    page.gauge("relay_rate_bps", "Bits per second to children.", Some(status.node.rate.as_bps()));
    page.gauge("relay_depth", "Relays up to the source or to multicast.", Some(f64::from(status.node.depth)));
    page.counter("relay_cpu_seconds_total", "Processor time of the relay.", status.cpu_s);
    if let Some(link) = &status.link {
        let hosts = Some(link.hosts as f64);
        page.gauge(
            "relay_local_hosts",
            "Hosts of the link that hold something, as far as they are tracked.",
            hosts,
        );
        page.counter("relay_local_reports_total", "Reports of memberships of the link.", link.reports);
    }
    if let Some(router) = &status.router {
        let is_taking_part = Some(f64::from(router.is_taking_part));
        page.gauge("relay_router_active", "Whether its router takes part in a session.", is_taking_part);
        let counters = &router.counters;
        for (name, help, value) in [
            ("relay_router_received_packets_total", "Packets of the protocol that came.", counters.received),
            ("relay_router_repairs_total", "Repairs that were sent or passed on.", counters.repairs),
            ("relay_router_marked_packets_total", "Packets that came with a mark.", counters.marked),
            ("relay_router_malformed_total", "Packets that could not be read.", counters.malformed),
        ] {
            page.counter(name, help, value);
        }
    }
    for (name, help, value) in [
        ("relay_packets_total", "Packets to children, each counted for itself.", status.node.packets),
        ("relay_bytes_total", "Their bytes, without headers of UDP and IP.", status.node.bytes),
        (
            "relay_dropped_packets_total",
            "Packets that were not sent, for lack of capacity.",
            status.node.dropped,
        ),
        ("relay_send_calls_total", "System calls that sent them.", status.send_calls),
        ("relay_welcomed_total", "Children that were let in.", counters.welcomed),
        ("relay_refused_total", "Children that were refused.", counters.refused),
        ("relay_lost_total", "Children that fell silent.", counters.lost),
        ("relay_moved_total", "Children whose address has changed.", counters.moved),
        ("relay_challenges_total", "Challenges to strangers.", counters.challenges),
        (
            "relay_unanswered_total",
            "Strangers that were not answered, since too many came.",
            counters.unanswered,
        ),
        ("relay_feedback_total", "Messages to sources that were passed on.", counters.feedback),
        (
            "relay_dropped_feedback_total",
            "Messages to sources that were left out, since a child sent too many.",
            counters.feedback_dropped,
        ),
    ] {
        page.counter(name, help, value);
    }
    page
}
