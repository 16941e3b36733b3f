//! `layercast relay status`: asks relays what they do, and prints them as a tree.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::commands::Failure;
use crate::net::host_address::Host;
use crate::net::relay::arguments::RelayStatus;
use crate::net::view::rounded;
use crate::output::{one_line, print};

/// How long a relay may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// What is no relay.
const OTHER: &str = "it does not answer as a relay does";
/// The longest answer.
const LONGEST: u64 = 16 << 20;

/// A relay that has answered.
struct Relay {
    /// Where it was asked.
    at: SocketAddr,
    status: Value,
}

/// Asks relays what they do, and prints it, with those that do not answer. Exit status 1 if there are any.
pub(crate) fn show(arguments: &RelayStatus) -> Result<(), Failure> {
    let (mut relays, mut silent) = (Vec::new(), Vec::new());
    // Together: each may take its time.
    std::thread::scope(|scope| {
        let asked: Vec<_> = arguments.at.iter().map(|host| (host, scope.spawn(move || ask(host)))).collect();
        for (host, answer) in asked {
            match answer.join() {
                Ok(Ok(relay)) => relays.push(relay),
                Ok(Err(error)) => silent.push((host, format!("{error:#}"))),
                Err(_) => silent.push((host, "it was not asked".to_owned())),
            }
        }
    });
    let mut text = if arguments.json {
        relays.iter().map(|relay| format!("{}\n", relay.status)).collect()
    } else {
        tree(&relays)
    };
    for (host, reason) in &silent {
        let _ = match arguments.json {
            true => writeln!(text, "{}", json!({ "at": host.to_string(), "unreachable": reason })),
            false => writeln!(text, "relay at {host}: unreachable: {}", one_line(reason)),
        };
    }
    print(&text)?;
    if silent.is_empty() { Ok(()) } else { Err(Failure::Status(1)) }
}

/// What a relay does, from the first of its addresses that is connected.
fn ask(host: &Host) -> anyhow::Result<Relay> {
    let mut refused = anyhow::anyhow!("it has no address");
    for at in host.addresses().context("the host is not found")? {
        match TcpStream::connect_timeout(&at, PATIENCE) {
            Ok(stream) => {
                let status = serde_json::from_str(&answer(stream)?).context(OTHER)?;
                return Ok(Relay { at, status });
            }
            Err(error) => refused = error.into(),
        }
    }
    Err(refused.context("there is no relay with --metrics there"))
}

fn answer(mut stream: TcpStream) -> anyhow::Result<String> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /status HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(LONGEST).read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context(OTHER)?;
    anyhow::ensure!(head.contains(" 200 "), OTHER);
    Ok(body.trim_end().to_owned())
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    one_line(value.as_str().unwrap_or("?"))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

impl Relay {
    /// Whether this address is where it serves children: its port, and the address that it names or at which it was asked.
    fn serves_at(&self, address: SocketAddr) -> bool {
        let Ok(listen) = text(&self.status["listen"]).parse::<SocketAddr>() else { return false };
        let is_same = |ip: IpAddr| ip.to_canonical() == address.ip().to_canonical();
        let is_any = listen.ip().is_unspecified();
        listen.port() == address.port() && (is_same(listen.ip()) || (is_any && is_same(self.at.ip())))
    }

    /// Whether the other is below this one in a session of this group.
    fn is_above(&self, other: &Relay, group: &Value) -> bool {
        array(&other.status["sessions"]).iter().any(|session| {
            let parent = text(&session["parent"]["address"]).parse();
            session["group"] == *group && parent.is_ok_and(|parent| self.serves_at(parent))
        })
    }

    /// Whether this child of the other is this relay.
    fn is_child(&self, child: &Value) -> bool {
        let port = text(&child["address"]).parse::<SocketAddr>().map(|address| u64::from(address.port()));
        let mut sessions = array(&self.status["sessions"]).iter();
        port.is_ok_and(|port| sessions.any(|session| session["parent"]["from_port"].as_u64() == Some(port)))
    }
}

/// The relays, those that are above first, with what is above and below each.
fn tree(relays: &[Relay]) -> String {
    let mut out = String::new();
    let mut left: Vec<&Relay> = relays.iter().collect();
    let is_top = |relay: &&Relay| {
        let mut sessions = array(&relay.status["sessions"]).iter();
        !sessions.any(|session| relays.iter().any(|other| other.is_above(relay, &session["group"])))
    };
    for top in relays.iter().filter(is_top) {
        branch(&mut out, top, 0, &mut left);
    }
    // Those that are above each other, which no relay should be.
    while let Some(relay) = left.first().copied() {
        branch(&mut out, relay, 0, &mut left);
    }
    out
}

/// A relay, its sessions and their children, of which those that are among the relays follow in full.
fn branch<'r>(out: &mut String, relay: &'r Relay, depth: usize, left: &mut Vec<&'r Relay>) {
    left.retain(|other| !std::ptr::eq(*other, relay));
    let (status, indent) = (&relay.status, "  ".repeat(depth));
    let _ = writeln!(
        out,
        "{indent}relay {}: {} to children, {} packets dropped, {} refused, {:.1} s of processor time",
        text(&status["listen"]),
        rounded(status["rate_bps"].as_f64().unwrap_or(0.0)),
        number(&status["dropped"]),
        number(&status["refused"]),
        status["cpu_s"].as_f64().unwrap_or(0.0),
    );
    let link = &status["local"];
    if !link.is_null() {
        let queriers: Vec<String> = array(&link["queriers"]).iter().map(text).collect();
        let by = if queriers.is_empty() { "this relay".to_owned() } else { queriers.join(", ") };
        let (interface, hosts) = (text(&link["interface"]), number(&link["hosts"]));
        let _ = writeln!(out, "{indent}  multicast on {interface}: {hosts} hosts, queries by {by}");
    }
    let router = &status["router"];
    if !router.is_null() {
        let _ = writeln!(
            out,
            "{indent}  a router of {}: {} packets, {} repairs, {} marked{}",
            text(&router["protocol"]),
            number(&router["received"]),
            number(&router["repairs"]),
            number(&router["marked"]),
            if router["active"] == true { "" } else { ", waits for a session" },
        );
    }
    for session in array(&status["sessions"]) {
        let above = match &session["parent"] {
            Value::Null => "multicast".to_owned(),
            parent => {
                let rtt = parent["rtt_s"].as_f64().map_or(String::new(), |s| format!(", {:.0} ms", s * 1e3));
                format!("{}{rtt}, {} dropped there", text(&parent["address"]), number(&parent["dropped"]))
            }
        };
        let _ = writeln!(out, "{indent}  {} from {above}", text(&session["group"]));
        for child in array(&status["children"]).iter().filter(|child| child["session"] == session["session"])
        {
            let name = match child["address"].is_null() {
                true => format!("multicast on {}", text(&link["interface"])),
                false => text(&child["address"]),
            };
            let _ = writeln!(
                out,
                "{indent}    {name}: {} channels, {} packets, {} dropped, {} missing, {:.0} s",
                number(&child["channels"]),
                number(&child["packets"]),
                number(&child["dropped"]),
                number(&child["missing"]),
                child["for_s"].as_f64().unwrap_or(0.0),
            );
            let below = left
                .iter()
                .copied()
                .find(|other| other.is_child(child) && relay.is_above(other, &session["group"]));
            if let Some(below) = below {
                branch(out, below, depth + 3, left);
            }
        }
        // Relays behind a translation of addresses, whose row cannot be known.
        while let Some(below) = left.iter().copied().find(|other| relay.is_above(other, &session["group"])) {
            branch(out, below, depth + 2, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relay(at: &str, listen: &str, parent: &Value, children: &[&str]) -> Relay {
        let child = |address: &&str| json!({"address": address, "session": 0, "channels": 3, "for_s": 9.6, "packets": 70, "dropped": 1, "missing": 2});
        let children: Vec<Value> = children.iter().map(child).collect();
        let status = json!({
            "listen": listen, "rate_bps": 2e6, "dropped": 1, "refused": 0, "cpu_s": 0.25, "children": children,
            "sessions": [{"session": 0, "group": "239.1.2.0:5500", "parent": parent}],
        });
        Relay { at: at.parse().unwrap(), status }
    }

    fn parent(address: &str, port: u16) -> Value {
        json!({"address": address, "from_port": port, "rtt_s": 0.02, "dropped": 4})
    }

    #[test]
    fn relays_below_others_are_shown_there() {
        let relays = [
            relay("192.0.2.2:9100", "0.0.0.0:5600", &parent("192.0.2.1:5600", 4001), &["192.0.2.9:7000"]),
            relay("192.0.2.1:9100", "0.0.0.0:5600", &Value::Null, &["192.0.2.2:4001", "192.0.2.8:7000"]),
            // Behind a translation of addresses.
            relay("127.0.0.1:9100", "192.0.2.3:5600", &parent("192.0.2.1:5600", 4002), &[]),
        ];
        insta::assert_snapshot!(tree(&relays));
    }

    #[test]
    fn the_link_is_shown_with_its_hosts_and_its_querier() {
        let mut relay = relay("192.0.2.2:9100", "0.0.0.0:5600", &Value::Null, &[]);
        relay.status["local"] = json!({ "interface": "eth1", "hosts": 2, "queriers": ["192.0.2.1"] });
        relay.status["children"] =
            json!([{ "address": null, "session": 0, "channels": 3, "packets": 7, "for_s": 2.0 }]);
        let tree = tree(&[relay]);
        assert!(tree.contains("\n  multicast on eth1: 2 hosts, queries by 192.0.2.1\n"), "{tree}");
        assert!(tree.contains("\n    multicast on eth1: 3 channels, 7 packets, "), "{tree}");
    }

    #[test]
    fn a_router_is_shown_with_its_protocol() {
        let mut relay = relay("192.0.2.2:9100", "0.0.0.0:5600", &parent("192.0.2.1:5600", 5600), &[]);
        relay.status["router"] =
            json!({ "protocol": "amca", "active": false, "received": 9, "repairs": 2, "marked": 1 });
        let tree = tree(&[relay]);
        let line = "\n  a router of amca: 9 packets, 2 repairs, 1 marked, waits for a session\n";
        assert!(tree.contains(line), "{tree}");
    }

    #[test]
    fn relays_in_a_circle_are_shown_once() {
        let relays = [
            relay("192.0.2.1:9100", "0.0.0.0:5600", &parent("192.0.2.2:5600", 1), &["192.0.2.2:1"]),
            relay("192.0.2.2:9100", "0.0.0.0:5600", &parent("192.0.2.1:5600", 1), &["192.0.2.1:1"]),
        ];
        assert_eq!(tree(&relays).matches("relay 0.0.0.0").count(), 2);
        assert_eq!(tree(&[]), "");
    }
}
