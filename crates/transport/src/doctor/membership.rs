//! IGMP and MLD: versions, limits, bridges that snoop.

use std::net::SocketAddr;
use std::path::Path;

use super::{Finding, read};
use crate::host::Interface;

/// Whether this host may report sources (IGMPv3, MLDv2).
pub(super) fn version(interface: &Interface, group: SocketAddr, by_source: bool) -> Finding {
    let (family, key, newest) =
        if group.is_ipv4() { ("ipv4", "force_igmp_version", 3) } else { ("ipv6", "force_mld_version", 2) };
    let value = |of: &str| read(&format!("/proc/sys/net/{family}/conf/{of}/{key}"))?.parse::<u8>().ok();
    let forced = [("all", value("all")), (interface.name.as_str(), value(&interface.name))];
    of_version(&format!("net.{family}.conf"), key, newest, &forced, by_source)
}

fn of_version(root: &str, key: &str, newest: u8, forced: &[(&str, Option<u8>)], by_source: bool) -> Finding {
    if forced.iter().any(|(_, value)| value.is_none()) {
        return Finding::note(format!("{key} cannot be read"), format!("sysctl -a | grep {key}"));
    }
    let old = forced
        .iter()
        .find_map(|&(of, value)| value.filter(|&value| value > 0 && value < newest).map(|v| (of, v)));
    match old {
        None => Finding::fine(format!("no old version of the membership protocol is forced ({key})")),
        Some((of, old)) => {
            let text = format!(
                "version {old} of the membership protocol is forced ({key}), which cannot name a source"
            );
            let remedy = format!("sysctl {root}.{of}.{key}=0");
            if by_source { Finding::wrong(text, remedy) } else { Finding::note(text, remedy) }
        }
    }
}

/// Whether a socket may join a group at all.
pub(super) fn limit(group: SocketAddr) -> Finding {
    if group.is_ipv6() {
        return Finding::fine("memberships of IPv6 have no limit per socket");
    }
    of_limit(read("/proc/sys/net/ipv4/igmp_max_memberships").and_then(|max| max.parse().ok()))
}

fn of_limit(max: Option<u32>) -> Finding {
    match max {
        Some(0) => Finding::wrong(
            "sockets may join no group (igmp_max_memberships is 0)",
            "sysctl net.ipv4.igmp_max_memberships=20",
        ),
        Some(max) => {
            Finding::fine(format!("a socket may join {max} groups; a receiver needs one for each socket"))
        }
        None => Finding::note("igmp_max_memberships cannot be read", "sysctl net.ipv4.igmp_max_memberships"),
    }
}

/// Whether somebody on this host is a member of the group on the interface now.
pub(super) fn joined(interface: &Interface, group: SocketAddr) -> Finding {
    let name = &interface.name;
    let members = match group {
        SocketAddr::V4(group) => read("/proc/net/igmp").map(|table| {
            // In the byte order of this host.
            let wanted = format!("{:08X}", u32::from_ne_bytes(group.ip().octets()));
            members_v4(&table, name).any(|of| of == wanted)
        }),
        SocketAddr::V6(group) => read("/proc/net/igmp6").map(|table| {
            let wanted = base16ct::lower::encode_string(&group.ip().octets());
            table.lines().any(|line| {
                let mut fields = line.split_whitespace().skip(1);
                fields.next() == Some(name) && fields.next() == Some(wanted.as_str())
            })
        }),
    };
    match members {
        Some(true) => {
            Finding::fine(format!("a program on this host is a member of {} on {name} now", group.ip()))
        }
        Some(false) => Finding::note(
            format!("no program on this host is a member of {} on {name} now", group.ip()),
            "a receiver that runs should be: if one does, it uses another interface or group",
        ),
        None => Finding::note("the memberships of this host cannot be read", "ip maddress show"),
    }
}

/// The groups of an interface in `/proc/net/igmp`.
fn members_v4<'a>(table: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let mut inside = false;
    table.lines().filter_map(move |line| {
        let mut fields = line.split_whitespace();
        if !line.starts_with(char::is_whitespace) {
            inside = fields.nth(1).map(|device| device.trim_end_matches(':')) == Some(name);
            return None;
        }
        fields.next().filter(|_| inside)
    })
}

/// A bridge that snoops needs a querier.
pub(super) fn snooping(interface: &Interface, is_v6: bool) -> Finding {
    let root = Path::new("/sys/class/net").join(&interface.name);
    let bridge = if root.join("bridge").is_dir() {
        Some(interface.name.clone())
    } else {
        std::fs::read_link(root.join("master"))
            .ok()
            .and_then(|master| Some(master.file_name()?.to_str()?.to_owned()))
            .filter(|master| Path::new("/sys/class/net").join(master).join("bridge").is_dir())
    };
    let Some(bridge) = bridge else {
        return Finding::note(
            format!(
                "{} is no part of a bridge of this host; switches beyond it cannot be seen",
                interface.name
            ),
            "a switch that snoops on IGMP or MLD needs a querier: a router, or the switch itself (`igmp snooping querier`)",
        );
    };
    let value = |key: &str| read(&format!("/sys/class/net/{bridge}/bridge/{key}"));
    of_bridge(&bridge, value("multicast_snooping").as_deref(), value("multicast_querier").as_deref(), is_v6)
}

fn of_bridge(bridge: &str, snooping: Option<&str>, querier: Option<&str>, is_v6: bool) -> Finding {
    match (snooping, querier) {
        (Some("0"), _) => {
            Finding::fine(format!("the bridge {bridge} does not snoop: it passes all groups to all ports"))
        }
        (Some(_), Some("0")) => Finding::note(
            format!(
                "the bridge {bridge} snoops and is not a querier itself: without one in the network it forgets members after minutes"
            ),
            format!(
                "ip link set {bridge} type bridge mcast_querier 1{}; or mcast_snooping 0",
                if is_v6 { " (it needs a link-local address to query)" } else { "" }
            ),
        ),
        (Some(_), Some(_)) => Finding::fine(format!("the bridge {bridge} snoops, and is a querier")),
        _ => Finding::note(
            format!("whether the bridge {bridge} snoops cannot be read"),
            format!("ip -d link show {bridge}"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;

    #[test]
    fn an_old_version_is_wrong_where_a_source_is_named() {
        let of = |all, one, by_source| {
            of_version("net.ipv4.conf", "force_igmp_version", 3, &[("all", all), ("eth0", one)], by_source)
        };
        assert_eq!(of(Some(0), Some(0), true).verdict, Verdict::Fine);
        assert_eq!(of(Some(0), Some(3), true).verdict, Verdict::Fine);
        assert_eq!(of(Some(0), Some(2), false).verdict, Verdict::Note);
        let wrong = of(Some(0), Some(2), true);
        assert_eq!(
            (wrong.verdict, wrong.remedy.as_str()),
            (Verdict::Wrong, "sysctl net.ipv4.conf.eth0.force_igmp_version=0")
        );
        assert_eq!(of(None, Some(0), true).verdict, Verdict::Note);
        assert_eq!(of_limit(Some(0)).verdict, Verdict::Wrong);
        assert_eq!(of_limit(Some(20)).verdict, Verdict::Fine);
    }

    #[test]
    fn memberships_are_those_of_the_interface() {
        let table = "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n\
                     1\tlo        :     1      V3\n\t\t\t\t010000E0     1 0:00000000\t\t0\n\
                     2\teth0      :     2      V3\n\t\t\t\t030201EF     1 0:00000000\t\t0\n\
                     \t\t\t\t010000E0     1 0:00000000\t\t0\n";
        assert_eq!(members_v4(table, "lo").collect::<Vec<_>>(), ["010000E0"]);
        assert_eq!(members_v4(table, "eth0").collect::<Vec<_>>(), ["030201EF", "010000E0"]);
    }

    #[test]
    fn a_bridge_that_snoops_without_a_querier_is_named() {
        let line = of_bridge("br0", Some("1"), Some("0"), false).to_string();
        assert!(
            line.starts_with("note") && line.contains("ip link set br0 type bridge mcast_querier 1"),
            "{line}"
        );
        assert_eq!(of_bridge("br0", Some("1"), Some("1"), false).verdict, Verdict::Fine);
        assert_eq!(of_bridge("br0", Some("0"), Some("0"), false).verdict, Verdict::Fine);
    }
}
