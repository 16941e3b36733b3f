//! A packet that a session needs, and whether a condition of nftables is true of it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use layercast_delivery::relay::session::Prefix;
use serde_json::Value;

use crate::host::Interface;

/// The elements of a named set, if they are known.
type Elements<'e> = dyn Fn(&str) -> Option<&'e Value> + 'e;

/// A packet that a session needs.
#[derive(Debug)]
pub(super) struct Packet<'i> {
    /// What it is, for the operator.
    pub(super) what: &'static str,
    /// Whether all need it; those that are sent to the group, a source alone.
    pub(super) is_needed: bool,
    interface: &'i str,
    is_incoming: bool,
    /// The names and the number of its protocol.
    protocol: &'static [&'static str],
    /// The type of a message of IGMP or MLD.
    kind: &'static str,
    from: Option<IpAddr>,
    to: SocketAddr,
}

/// A field of a packet.
enum Field {
    /// It has one of these names.
    Is(Vec<String>),
    /// The packet has no such field, so no condition on it is true.
    Absent,
    Unknown,
}

impl<'i> Packet<'i> {
    /// All that a session needs.
    pub(super) fn needed(
        interface: &'i Interface,
        group: SocketAddr,
        source: Option<IpAddr>,
    ) -> [Packet<'i>; 4] {
        let is_v4 = group.is_ipv4();
        let of = |v4: Ipv4Addr, v6: Ipv6Addr| SocketAddr::new(if is_v4 { v4.into() } else { v6.into() }, 0);
        let udp = Packet {
            what: "packets of the session",
            is_needed: true,
            interface: &interface.name,
            is_incoming: true,
            protocol: &["udp", "17"],
            kind: "",
            from: source,
            to: group,
        };
        let own = Some(interface.address);
        let protocol: &[&str] = if is_v4 { &["igmp", "2"] } else { &["ipv6-icmp", "icmpv6", "58"] };
        let query = Packet {
            what: if is_v4 { "queries by IGMP" } else { "queries by MLD" },
            protocol,
            kind: if is_v4 { "membership-query" } else { "mld-listener-query" },
            from: None,
            // All systems (RFC 1112, section 4; RFC 4291, section 2.7.1).
            to: of(Ipv4Addr::new(224, 0, 0, 1), Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1)),
            ..udp
        };
        let report = Packet {
            what: if is_v4 { "reports by IGMP" } else { "reports by MLD" },
            is_incoming: false,
            protocol,
            kind: if is_v4 { "membership-report-v3" } else { "mld2-listener-report" },
            from: own,
            // RFC 3376, section 4.2.14; RFC 3810, section 5.2.14.
            to: of(Ipv4Addr::new(224, 0, 0, 22), Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x16)),
            ..udp
        };
        let sent = Packet {
            what: "packets that a source here sends",
            is_needed: false,
            is_incoming: false,
            from: own,
            ..udp
        };
        [udp, query, report, sent]
    }

    /// Whether it passes the chains of a family at a hook.
    pub(super) fn passes(&self, family: &str, hook: &str) -> bool {
        let hooks: &[&str] = match self.is_incoming {
            true => &["ingress", "prerouting", "input"],
            false => &["output", "postrouting", "egress"],
        };
        let is_family = match family {
            "inet" | "netdev" => true,
            "ip" => self.to.is_ipv4(),
            "ip6" => self.to.is_ipv6(),
            "bridge" => Path::new("/sys/class/net").join(self.interface).join("bridge").is_dir(),
            _ => false,
        };
        is_family && hooks.contains(&hook)
    }

    /// Whether a chain at a device, as text, is at its interface, or at one below it.
    pub(super) fn is_at(&self, chain: &str) -> bool {
        let devices = chain.lines().find(|line| line.contains(" device")).unwrap_or_default();
        let below = |name: &str| {
            Path::new("/sys/class/net").join(self.interface).join(format!("lower_{name}")).exists()
        };
        devices.split('"').skip(1).step_by(2).any(|name| name == self.interface || below(name))
    }

    /// The condition of a rule that accepts it.
    pub(super) fn rule(&self) -> String {
        match self.protocol {
            ["udp", ..] => format!("udp dport {}", self.to.port()),
            protocol => format!("meta l4proto {}", protocol.first().copied().unwrap_or_default()),
        }
    }

    /// Whether a `match` is true of it; none if that cannot be judged.
    pub(super) fn fits(&self, of: &Value, sets: &Elements<'_>) -> Option<bool> {
        let (left, right) = (&of["left"], &of["right"]);
        match of["op"].as_str()? {
            "==" | "in" => self.holds(left, right, sets),
            "!=" => match self.field(left) {
                Field::Absent => Some(false),
                _ => self.holds(left, right, sets).map(|holds| !holds),
            },
            op => {
                let Field::Is(is) = self.field(left) else {
                    return self.holds(left, right, sets).filter(|is| !is);
                };
                let (is, than) = (is.iter().find_map(|is| is.parse::<u64>().ok())?, right.as_u64()?);
                match op {
                    "<" => Some(is < than),
                    "<=" => Some(is <= than),
                    ">" => Some(is > than),
                    ">=" => Some(is >= than),
                    _ => None,
                }
            }
        }
    }

    /// Whether a field has this value, or one of these.
    pub(super) fn holds(&self, field: &Value, value: &Value, sets: &Elements<'_>) -> Option<bool> {
        match self.field(field) {
            Field::Is(is) => among(&is, value, sets),
            Field::Absent => Some(false),
            Field::Unknown => None,
        }
    }

    fn field(&self, of: &Value) -> Field {
        let is = |text: &str| Field::Is(vec![text.to_owned()]);
        let address = |address: IpAddr| is(&address.to_string());
        let protocol = || Field::Is(self.protocol.iter().map(|&name| name.to_owned()).collect());
        // Without a device the kernel compares with an empty name.
        let here = |is_here: bool| is(if is_here { self.interface } else { "" });
        let has_ports = self.protocol.contains(&"udp");
        let text = |key: &str, of: &Value| of[key].as_str().unwrap_or_default().to_owned();
        if let Some(payload) = of.get("payload") {
            let header = text("protocol", payload);
            return match (header.as_str(), text("field", payload).as_str()) {
                ("ip", _) if self.to.is_ipv6() => Field::Absent,
                ("ip6", _) if self.to.is_ipv4() => Field::Absent,
                ("ip" | "ip6", "daddr") => address(self.to.ip()),
                ("ip" | "ip6", "saddr") => self.from.map_or(Field::Unknown, address),
                ("ip", "protocol") => protocol(),
                ("ip6", "nexthdr") if has_ports => protocol(),
                // The option of router alerts comes first (RFC 3810, section 5).
                ("ip6", "nexthdr") => Field::Is(vec!["hopopt".to_owned(), "0".to_owned()]),
                ("udp" | "th", "dport") if has_ports => is(&self.to.port().to_string()),
                ("ip" | "ip6" | "th" | "ether" | "vlan" | "", _) => Field::Unknown,
                (header, "type") if self.protocol.contains(&header) => is(self.kind),
                (header, _) if self.protocol.contains(&header) => Field::Unknown,
                _ => Field::Absent,
            };
        }
        if let Some(meta) = of.get("meta") {
            return match text("key", meta).as_str() {
                "l4proto" => protocol(),
                "nfproto" => is(if self.to.is_ipv4() { "ipv4" } else { "ipv6" }),
                "protocol" => is(if self.to.is_ipv4() { "ip" } else { "ip6" }),
                "iif" | "iifname" => here(self.is_incoming),
                "oif" | "oifname" => here(!self.is_incoming),
                "pkttype" if self.is_incoming => is("multicast"),
                _ => Field::Unknown,
            };
        }
        match (text("key", &of["ct"]).as_str(), &of["fib"]) {
            // A packet to a group has no answer; MLD is not tracked at all.
            ("state", _) => is(if self.protocol.contains(&"58") { "untracked" } else { "new" }),
            ("status", _) => Field::Is(Vec::new()),
            (_, fib) if fib["result"] == "type" && fib["flags"].to_string().contains("daddr") => {
                is("multicast")
            }
            _ => Field::Unknown,
        }
    }
}

/// Whether one of these names is a value of a rule.
fn among(is: &[String], value: &Value, sets: &Elements<'_>) -> Option<bool> {
    let same = |text: &str| match text.strip_suffix('*') {
        Some(start) => is.iter().any(|is| is.starts_with(start)),
        None => is.iter().any(|is| is == text),
    };
    match value {
        Value::String(name) if name.starts_with('@') => {
            sets(name).and_then(|elements| among(is, elements, sets))
        }
        Value::String(text) => Some(same(text)),
        Value::Number(number) => Some(same(&number.to_string())),
        Value::Array(values) => {
            let mut all = values.iter().map(|value| among(is, value, sets));
            let unknown = all.try_fold(false, |unknown, one| match one {
                Some(true) => Err(()),
                one => Ok(unknown || one.is_none()),
            });
            match unknown {
                Err(()) => Some(true),
                Ok(unknown) => (!unknown).then_some(false),
            }
        }
        Value::Object(_) => {
            if let Some(inner) = value.get("set").or_else(|| value["elem"].get("val")) {
                return among(is, inner, sets);
            }
            let [first, last] = match (value.get("prefix"), value["range"].as_array().map(Vec::as_slice)) {
                (Some(prefix), _) => {
                    let bits = u8::try_from(prefix["len"].as_u64()?).ok()?;
                    let prefix = Prefix::new(prefix["addr"].as_str()?.parse().ok()?, bits)?;
                    return Some(is.iter().filter_map(|is| is.parse().ok()).any(|is| prefix.contains(is)));
                }
                (None, Some([first, last])) => [number(first)?, number(last)?],
                _ => return None,
            };
            let is_in =
                |is: &String| number(&Value::from(is.as_str())).is_some_and(|is| first <= is && is <= last);
            Some(is.iter().any(is_in))
        }
        _ => None,
    }
}

/// An address, a port or a number, of which there are ranges.
fn number(of: &Value) -> Option<u128> {
    match of.as_str() {
        Some(text) => match text.parse() {
            Ok(IpAddr::V4(address)) => Some(address.to_bits().into()),
            Ok(IpAddr::V6(address)) => Some(address.to_bits()),
            Err(_) => text.parse().ok(),
        },
        None => of.as_u64().map(u128::from),
    }
}
