//! What a relay does: as measures, as JSON, and as a tree.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Context as _;
use layercast_transport::relay::RelayStatus as Status;
use serde_json::{Value, json};

use crate::commands::Failure;
use crate::metrics::Page;
use crate::output::print;
use crate::relay_arguments::RelayStatus;
use crate::view::rounded;

/// How long the relay may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest answer.
const LONGEST: u64 = 16 << 20;

/// The measures for Prometheus.
pub(crate) fn page(status: &Status) -> Page {
    let counters = &status.counters;
    let mut page = Page::default();
    page.gauge("relay_children", "Children now.", Some(status.children.len() as f64));
    page.gauge("relay_sessions", "Sessions that some child wants.", Some(status.sessions.len() as f64));
    page.gauge("relay_rate_bps", "Bits per second to children.", Some(status.rate.as_bps()));
    page.gauge("relay_depth", "Relays up to the source or to multicast.", Some(f64::from(status.depth)));
    if let Some(link) = &status.link {
        let hosts = Some(link.hosts as f64);
        page.gauge(
            "relay_local_hosts",
            "Hosts of the link that hold something, as far as they are tracked.",
            hosts,
        );
        page.counter("relay_local_reports_total", "Reports of memberships of the link.", link.reports);
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
pub(crate) fn json(status: &Status) -> Value {
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
    json!({
        "listen": status.listen.map(|listen| listen.to_string()),
        "depth": status.depth,
        "rate_bps": status.rate.as_bps(),
        "packets": status.packets,
        "bytes": status.bytes,
        "dropped": status.dropped,
        "welcomed": counters.welcomed,
        "refused": counters.refused,
        "lost": counters.lost,
        "unanswered": counters.unanswered,
        "local": link,
        "sessions": sessions.collect::<Vec<_>>(),
        "children": children.collect::<Vec<_>>(),
    })
}

/// Asks a relay what it does, and prints it.
pub(crate) fn show(arguments: &RelayStatus) -> Result<(), Failure> {
    let text =
        ask(arguments.at).with_context(|| format!("there is no relay with --metrics at {}", arguments.at))?;
    if arguments.json {
        return Ok(print(&format!("{text}\n"))?);
    }
    let status: Value = serde_json::from_str(&text).context("the answer is none of a relay")?;
    Ok(print(&tree(&status))?)
}

fn ask(at: SocketAddr) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect_timeout(&at, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /status HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(LONGEST).read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("it does not answer as a relay does")?;
    anyhow::ensure!(head.contains(" 200 "), "it does not answer as a relay does");
    Ok(body.trim_end().to_owned())
}

/// The relay with what is above and below it.
fn tree(status: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let mut out = format!(
        "relay {}: {} to children, {} packets dropped, {} refused\n",
        text(&status["listen"]),
        rounded(status["rate_bps"].as_f64().unwrap_or(0.0)),
        number(&status["dropped"]),
        number(&status["refused"]),
    );
    let link = &status["local"];
    if !link.is_null() {
        let queriers: Vec<_> = link["queriers"].as_array().into_iter().flatten().map(text).collect();
        let by = if queriers.is_empty() { "this relay".to_owned() } else { queriers.join(", ") };
        let _ = writeln!(
            out,
            "  multicast on {}: {} hosts, queries by {by}",
            text(&link["interface"]),
            number(&link["hosts"])
        );
    }
    let none = Vec::new();
    let sessions = status["sessions"].as_array().unwrap_or(&none);
    let children = status["children"].as_array().unwrap_or(&none);
    for session in sessions {
        let above = match &session["parent"] {
            Value::Null => "multicast".to_owned(),
            parent => {
                let rtt = parent["rtt_s"].as_f64().map_or(String::new(), |s| format!(", {:.0} ms", s * 1e3));
                format!("{}{rtt}, {} dropped there", text(&parent["address"]), number(&parent["dropped"]))
            }
        };
        let _ = writeln!(out, "  {} from {above}", text(&session["group"]));
        for child in children.iter().filter(|child| child["session"] == session["session"]) {
            let _ = writeln!(
                out,
                "    {}: {} channels, {} packets, {} dropped, {} missing, {:.0} s",
                child["address"]
                    .as_str()
                    .map_or_else(|| format!("multicast on {}", text(&link["interface"])), str::to_owned),
                number(&child["channels"]),
                number(&child["packets"]),
                number(&child["dropped"]),
                number(&child["missing"]),
                child["for_s"].as_f64().unwrap_or(0.0),
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_is_shown_with_its_hosts_and_its_querier() {
        let status = json!({
            "listen": "0.0.0.0:5600",
            "local": { "interface": "eth1", "hosts": 2, "queriers": ["192.0.2.1"] },
            "sessions": [{ "session": 0, "group": "239.1.2.0:5500", "parent": null }],
            "children": [{ "address": null, "session": 0, "channels": 3, "packets": 7, "for_s": 2.0 }],
        });
        let tree = tree(&status);
        assert!(tree.contains("\n  multicast on eth1: 2 hosts, queries by 192.0.2.1\n"), "{tree}");
        assert!(tree.contains("\n    multicast on eth1: 3 channels, 7 packets, "), "{tree}");
    }
}
