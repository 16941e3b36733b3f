//! The interface, routes, filters and limits of this host.

use std::net::{IpAddr, SocketAddr};

use layercast_core::units::Size;
use nix::net::if_::InterfaceFlags;

use super::{Finding, read};
use crate::host::{Interface, RECEIVE_BUFFER, flags};

/// Whether it is up, connected and takes multicast.
pub(super) fn interface(interface: &Interface) -> Vec<Finding> {
    let name = &interface.name;
    let mut findings = vec![match Interface::trouble(name) {
        Some((what, remedy)) => Finding::wrong(what, remedy),
        None => Finding::fine(format!("{name} is up, with the address {}", interface.address)),
    }];
    findings.extend(flags(name).map(|flags| of_flags(name, flags)));
    findings
}

/// Whether it takes multicast.
fn of_flags(name: &str, flags: InterfaceFlags) -> Finding {
    let is_loopback = flags.contains(InterfaceFlags::IFF_LOOPBACK);
    match flags.contains(InterfaceFlags::IFF_MULTICAST) {
        true => Finding::fine(format!("{name} takes multicast")),
        false if is_loopback => Finding::note(
            format!("{name} is the loopback interface, without the flag MULTICAST"),
            "sessions between programs of this host need no flag; others need another --interface",
        ),
        false => Finding::wrong(
            format!("{name} takes no multicast (it has no flag MULTICAST)"),
            format!("ip link set {name} multicast on; a tunnel may not carry multicast at all"),
        ),
    }
}

/// The interface on the route to the group.
pub(super) fn route(interface: &Interface, group: SocketAddr) -> Finding {
    let net = if group.is_ipv4() { "224.0.0.0/4" } else { "ff00::/8 table local" };
    let name = &interface.name;
    match Interface::find(None, group) {
        Ok(routed) if routed.name == *name => {
            Finding::fine(format!("the route to {} leads over {name}", group.ip()))
        }
        Ok(routed) => Finding::note(
            format!("the route to {} leads over {}, not over {name}", group.ip(), routed.name),
            format!("name the interface with --interface, or ip route add {net} dev {name}"),
        ),
        Err(_) => Finding::note(
            format!("there is no route to {}", group.ip()),
            format!("name the interface with --interface, or ip route add {net} dev {name}"),
        ),
    }
}

/// Strict filtering by the reverse path drops packets of a source to which another interface leads.
pub(super) fn reverse_path(interface: &Interface, group: SocketAddr, source: Option<IpAddr>) -> Finding {
    if group.is_ipv6() {
        return Finding::fine(
            "the kernel does not filter IPv6 by the reverse path (a firewall may: rule `fib`)",
        );
    }
    let name = &interface.name;
    let value = |of: &str| read(&format!("/proc/sys/net/ipv4/conf/{of}/rp_filter"))?.parse::<u8>().ok();
    let (Some(all), Some(one)) = (value("all"), value(name)) else {
        return Finding::note(
            "the filter by the reverse path (rp_filter) cannot be read",
            "sysctl -a | grep rp_filter",
        );
    };
    let towards = source.and_then(|source| Interface::find(None, SocketAddr::new(source, 9)).ok());
    of_reverse_path(name, all.max(one), source, towards.map(|towards| towards.name))
}

fn of_reverse_path(name: &str, mode: u8, source: Option<IpAddr>, towards: Option<String>) -> Finding {
    let remedy = format!(
        "sysctl net.ipv4.conf.{name}.rp_filter=2 (and not 1 for `all`), or a route to the source over {name}"
    );
    match (mode, source, towards) {
        (1, Some(source), Some(towards)) if towards == name => {
            Finding::fine(format!("rp_filter is strict on {name}, and the route to {source} leads over it"))
        }
        (1, Some(source), _) => Finding::wrong(
            format!(
                "rp_filter is strict on {name}, and the route to {source} does not lead over it: its packets are dropped"
            ),
            remedy,
        ),
        (1, None, _) => Finding::note(
            format!(
                "rp_filter is strict on {name}: packets of a source to which another interface leads are dropped"
            ),
            format!("name the source with --source to have this checked; {remedy}"),
        ),
        _ => Finding::fine(format!("rp_filter on {name} is not strict")),
    }
}

/// Whether sockets get the receive buffer that they ask for.
pub(super) fn receive_buffer() -> Finding {
    of_buffer(read("/proc/sys/net/core/rmem_max").and_then(|max| max.parse().ok()))
}

fn of_buffer(max: Option<usize>) -> Finding {
    match max {
        Some(max) if max >= RECEIVE_BUFFER => Finding::fine(format!("receive buffers may have {max} bytes")),
        Some(max) => Finding::note(
            format!(
                "receive buffers are limited to {max} bytes: packets may be lost while a block is decoded"
            ),
            format!("sysctl net.core.rmem_max={RECEIVE_BUFFER}"),
        ),
        None => Finding::note("the limit of receive buffers cannot be read", "sysctl net.core.rmem_max"),
    }
}

/// Whether packets of this size leave whole.
pub(super) fn mtu(interface: &Interface, group: SocketAddr, packet: Size) -> Finding {
    let (name, packet) = (&interface.name, packet.as_bytes());
    match interface.mtu(group) {
        Some(mtu) if packet > mtu => Finding::wrong(
            format!("{name} carries {mtu} bytes at once (its MTU), less than packets of {packet} bytes"),
            format!("send with --packet \"{mtu} bytes\" or less"),
        ),
        Some(mtu) => Finding::fine(format!(
            "{name} carries {mtu} bytes at once; packets have {packet} (tunnels after it may carry less)"
        )),
        None => Finding::note(format!("the MTU of {name} cannot be read"), format!("ip link show {name}")),
    }
}

/// What the time to live means.
pub(super) fn time_to_live() -> Finding {
    Finding::fine(
        "`layercast send` sends with a time to live of 16: up to 15 routers; more need --ttl, and 1 stays in the network",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;

    #[test]
    fn an_interface_without_multicast_has_its_remedy() {
        let up = InterfaceFlags::IFF_UP;
        assert_eq!(of_flags("eth0", up | InterfaceFlags::IFF_MULTICAST).verdict, Verdict::Fine);
        assert!(of_flags("eth0", up).to_string().contains("ip link set eth0 multicast on"));
        assert_eq!(of_flags("eth0", up | InterfaceFlags::IFF_LOOPBACK).verdict, Verdict::Note);
    }

    #[test]
    fn a_strict_filter_is_wrong_only_for_a_source_elsewhere() {
        let source = Some("10.9.0.1".parse().expect("an address"));
        let verdict = |mode, source, towards: Option<&str>| {
            of_reverse_path("eth0", mode, source, towards.map(str::to_owned)).verdict
        };
        assert_eq!(verdict(1, source, Some("eth0")), Verdict::Fine);
        assert_eq!(verdict(1, source, Some("eth1")), Verdict::Wrong);
        assert_eq!(verdict(1, source, None), Verdict::Wrong);
        assert_eq!(verdict(1, None, None), Verdict::Note);
        assert_eq!(verdict(2, source, Some("eth1")), Verdict::Fine);
    }

    #[test]
    fn a_small_buffer_has_a_remedy() {
        assert!(of_buffer(Some(212_992)).to_string().contains("sysctl net.core.rmem_max=4194304"));
        assert_eq!(of_buffer(Some(4 << 20)).verdict, Verdict::Fine);
    }
}
