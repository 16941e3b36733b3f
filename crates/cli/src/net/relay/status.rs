//! What a relay does: as measures and as JSON.

use layercast_transport::relay::RelayStatus as Status;
use serde_json::{Value, json};

use crate::net::metrics::{Page, Served};

/// Serves it from now on, as measures and as JSON.
pub(crate) fn serve(status: &Status, served: &Served) {
    served.set(page(status));
    served.set_status(json(status).to_string());
}

/// The measures for Prometheus.
fn page(status: &Status) -> Page {
    let counters = &status.counters;
    let mut page = Page::default();
    page.gauge("relay_children", "Children now.", Some(status.children.len() as f64));
    page.gauge("relay_sessions", "Sessions that some child wants.", Some(status.sessions.len() as f64));
    page.gauge("relay_rate_bps", "Bits per second to children.", Some(status.rate.as_bps()));
    page.gauge("relay_depth", "Relays up to the source or to multicast.", Some(f64::from(status.depth)));
    page.counter_s("relay_cpu_seconds_total", "Processor time of the relay.", status.cpu_s);
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
        ("relay_packets_total", "Packets to children, each counted for itself.", status.packets),
        ("relay_bytes_total", "Their bytes, without headers of UDP and IP.", status.bytes),
        ("relay_dropped_packets_total", "Packets that were not sent, for lack of capacity.", status.dropped),
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

/// All of it as JSON.
fn json(status: &Status) -> Value {
    let counters = &status.counters;
    let sessions = status.sessions.iter().map(|session| {
        json!({
            "session": session.place,
            "group": session.key.group.to_string(),
            "source": session.key.source.map(|source| source.to_string()),
            "children": session.children,
            "channels": session.channels,
            "parent": session.parent.map(|parent| json!({
                "address": parent.parent.to_string(),
                "from_port": session.parent_port,
                "rtt_s": parent.rtt.map(|rtt| rtt.as_secs_f64()),
                "received": parent.received,
                "dropped": parent.dropped,
            })),
        })
    });
    let children = status.children.iter().map(|child| {
        json!({
            "address": child.address.map(|address| address.to_string()),
            "session": child.session,
            "channels": child.channels,
            "for_s": child.for_s,
            "packets": child.packets,
            "bytes": child.bytes,
            "dropped": child.dropped,
            "missing": child.missing,
        })
    });
    let link = status.link.as_ref().map(|link| {
        json!({
            "interface": link.interface,
            "hosts": link.hosts,
            "queriers": link.other_queriers.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "reports": link.reports,
            "untracked": link.untracked,
        })
    });
    let router = status.router.as_ref().map(|router| {
        json!({
            "protocol": router.protocol,
            "active": router.is_taking_part,
            "received": router.counters.received,
            "data": router.counters.data,
            "repairs": router.counters.repairs,
            "marked": router.counters.marked,
            "malformed": router.counters.malformed,
        })
    });
    json!({
        "listen": status.listen.map(|listen| listen.to_string()),
        "depth": status.depth,
        "cpu_s": status.cpu_s,
        "rate_bps": status.rate.as_bps(),
        "packets": status.packets,
        "bytes": status.bytes,
        "dropped": status.dropped,
        "welcomed": counters.welcomed,
        "refused": counters.refused,
        "lost": counters.lost,
        "unanswered": counters.unanswered,
        "local": link,
        "router": router,
        "sessions": sessions.collect::<Vec<_>>(),
        "children": children.collect::<Vec<_>>(),
    })
}
