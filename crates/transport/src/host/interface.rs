//! The interface that packets are sent from and received on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};

use layercast_delivery::relay::session::Prefix;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::{InterfaceFlags, if_nametoindex};
use nix::sys::socket::{getsockopt, sockopt};
use socket2::SockRef;

use crate::error::Error;

/// An interface with an address of the version of IP that a group has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its number.
    pub index: u32,
    /// Its address.
    pub address: IpAddr,
}

impl Interface {
    /// The interface with that name or address; without one, the interface on the route to the group.
    ///
    /// # Errors
    /// [`Error::NoSuchInterface`], [`Error::NotReady`] or [`Error::NoRoute`].
    pub fn find(wanted: Option<&str>, group: SocketAddr) -> Result<Interface, Error> {
        let all = Interface::all(group.is_ipv6());
        if let Some(wanted) = wanted {
            let address = wanted.parse().ok();
            let fits = |one: &&Interface| one.name == wanted || Some(one.address) == address;
            return all.iter().find(fits).cloned().ok_or_else(|| missing(wanted, group.is_ipv6(), &all));
        }
        // The kernel chooses an address when a socket is connected; no packet is sent.
        let routed = UdpSocket::bind((unspecified(group), 0)).and_then(|socket| {
            socket.connect(group)?;
            socket.local_addr()
        });
        let address =
            routed.map_err(|source| match Error::socket("find a route to the group", group, source) {
                // A link that is down has no route.
                Error::NoRoute { .. } => {
                    match all.iter().find(|one| !one.address.is_loopback() && !one.is_up()) {
                        Some(Interface { name, .. }) => Error::NotReady {
                            reason: format!(
                                "no route to the group {group}, and {name} is down: ip link set {name} up"
                            ),
                        },
                        None => Error::NoRoute { group },
                    }
                }
                error => error,
            })?;
        all.into_iter().find(|one| address.ip() == one.address).ok_or(Error::NoRoute { group })
    }

    /// As [`Interface::find`], and it can send.
    ///
    /// # Errors
    /// Those, and [`Error::NotReady`] if it is down.
    pub(crate) fn ready(wanted: Option<&str>, group: SocketAddr) -> Result<Interface, Error> {
        let found = Interface::find(wanted, group)?;
        match Interface::trouble(&found.name) {
            Some((what, remedy)) if !found.is_up() => {
                Err(Error::NotReady { reason: format!("{what}: {remedy}") })
            }
            _ => Ok(found),
        }
    }

    fn is_up(&self) -> bool {
        flags(&self.name).is_some_and(|flags| flags.contains(InterfaceFlags::IFF_UP))
    }

    /// What keeps packets from passing an interface, and what helps: it is gone, it is down, or it has no carrier.
    pub fn trouble(name: &str) -> Option<(String, String)> {
        let Some(flags) = flags(name) else {
            return Some((
                format!("the interface {name} is gone"),
                "`ip link` shows those that are there".to_owned(),
            ));
        };
        if !flags.contains(InterfaceFlags::IFF_UP) {
            return Some((format!("{name} is down"), format!("ip link set {name} up")));
        }
        (!flags.contains(InterfaceFlags::IFF_RUNNING)).then(|| {
            (
                format!("{name} has no carrier"),
                "look at the cable, the switch's port or the other end".to_owned(),
            )
        })
    }

    /// The interface by name or address with what a router of its link has there: an address of this version of IP, link-local over
    /// IPv6 (RFC 3810, section 5.1.14), and the prefixes of the link.
    ///
    /// # Errors
    /// [`Error::NoSuchInterface`] or [`Error::NotReady`].
    pub(crate) fn of_link(wanted: &str, is_v6: bool) -> Result<(Interface, Vec<Prefix>), Error> {
        let versions = [Interface::all(is_v6), Interface::all(!is_v6)];
        let address = wanted.parse().ok();
        let named = versions.iter().flatten().find(|one| one.name == wanted || Some(one.address) == address);
        let name = named.map_or(wanted, |one| one.name.as_str());
        let [all, _] = &versions;
        let is_local =
            |one: &&Interface| matches!(one.address, IpAddr::V6(address) if address.is_unicast_link_local());
        let found = all.iter().find(|one| one.name == name && is_local(one) == is_v6).cloned();
        let found = found.ok_or_else(|| missing(wanted, is_v6, all))?;
        Ok((found, prefixes(name)))
    }

    /// The largest packet that this interface carries to the group without fragments, in bytes; none if the system
    /// does not say.
    pub fn mtu(&self, group: SocketAddr) -> Option<u32> {
        if group.is_ipv6() {
            let mtu = std::fs::read_to_string(format!("/sys/class/net/{}/mtu", self.name)).ok()?;
            return mtu.trim().parse().ok();
        }
        let socket = UdpSocket::bind(self.port(0)).ok()?;
        self.select(&SockRef::from(&socket)).ok()?;
        socket.connect(group).ok()?;
        getsockopt(&socket, sockopt::IpMtu).ok().and_then(|mtu| u32::try_from(mtu).ok())
    }

    /// A port of its address.
    pub(super) fn port(&self, port: u16) -> SocketAddr {
        match self.address {
            IpAddr::V4(_) => SocketAddr::new(self.address, port),
            IpAddr::V6(address) => {
                let scope = if address.is_unicast_link_local() { self.index } else { 0 };
                SocketAddrV6::new(address, port, 0, scope).into()
            }
        }
    }

    /// Lets a socket send multicast packets from here.
    pub(super) fn select(&self, socket: &socket2::Socket) -> std::io::Result<()> {
        match self.address {
            IpAddr::V4(address) => socket.set_multicast_if_v4(&address),
            IpAddr::V6(_) => socket.set_multicast_if_v6(self.index),
        }
    }

    /// All interfaces with an address of this version of IP; one for each address, the wider scopes first.
    fn all(is_v6: bool) -> Vec<Interface> {
        let addresses = getifaddrs().into_iter().flatten();
        let named = addresses.filter_map(|entry| {
            let address = entry.address?;
            let address: IpAddr = if is_v6 {
                address.as_sockaddr_in6()?.ip().into()
            } else {
                address.as_sockaddr_in()?.ip().into()
            };
            let index = if_nametoindex(entry.interface_name.as_str()).ok()?;
            Some(Interface { name: entry.interface_name, index, address })
        });
        let mut all: Vec<Interface> = named.collect();
        // Another network cannot reply to an address that counts on one link alone.
        all.sort_by_key(|one| matches!(one.address, IpAddr::V6(address) if address.is_unicast_link_local()));
        all
    }
}

/// The flags of an interface; none if it is gone.
pub(crate) fn flags(name: &str) -> Option<InterfaceFlags> {
    let mut all = getifaddrs().into_iter().flatten();
    all.find(|entry| entry.interface_name == name).map(|entry| entry.flags)
}

/// Why there is no such interface with an address: one that is there may get it later, and so may an address.
fn missing(wanted: &str, is_v6: bool, all: &[Interface]) -> Error {
    let version = if is_v6 { "IPv6" } else { "IPv4" };
    if wanted.parse::<IpAddr>().is_ok() {
        return Error::NotReady { reason: format!("no interface has the {version} address {wanted} now") };
    }
    if if_nametoindex(wanted).is_ok() {
        let down = Interface::trouble(wanted)
            .map_or(String::new(), |(what, remedy)| format!(", and {what} ({remedy})"));
        return Error::NotReady { reason: format!("{wanted} has no {version} address now{down}") };
    }
    let mut known: Vec<_> = all.iter().map(|one| one.name.clone()).collect();
    known.dedup();
    Error::NoSuchInterface { name: wanted.to_owned(), known }
}

/// The prefixes of an interface's link, of both versions of IP.
fn prefixes(name: &str) -> Vec<Prefix> {
    let of = |entry: nix::ifaddrs::InterfaceAddress| {
        let (address, mask) = (entry.address?, entry.netmask?);
        let (address, bits): (IpAddr, u32) = match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
            (Some(address), _) => (address.ip().into(), mask.as_sockaddr_in()?.ip().to_bits().count_ones()),
            (_, Some(address)) => (address.ip().into(), mask.as_sockaddr_in6()?.ip().to_bits().count_ones()),
            _ => return None,
        };
        (entry.interface_name == name).then(|| Prefix::new(address, u8::try_from(bits).ok()?))?
    };
    getifaddrs().into_iter().flatten().filter_map(of).collect()
}

/// Where a socket is bound that reaches all of these: one of IPv6 reaches those of IPv4 too.
pub(crate) fn reaching<'a>(addresses: impl IntoIterator<Item = &'a SocketAddr>) -> SocketAddr {
    match addresses.into_iter().any(SocketAddr::is_ipv6) {
        true => (Ipv6Addr::UNSPECIFIED, 0).into(),
        false => (Ipv4Addr::UNSPECIFIED, 0).into(),
    }
}

/// Any address of the version of IP of a group.
pub(crate) fn unspecified(group: SocketAddr) -> IpAddr {
    if group.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}
