//! The interface that packets are sent from and received on.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use nix::ifaddrs::getifaddrs;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{getsockopt, sockopt};
use socket2::SockRef;

use crate::error::Error;

/// An interface with an IPv4 address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its number.
    pub index: u32,
    /// Its address.
    pub address: Ipv4Addr,
}

impl Interface {
    /// The interface with that name or address; without one, the interface on the route to the group.
    ///
    /// # Errors
    /// [`Error::NoSuchInterface`] or [`Error::NoRoute`].
    pub fn find(wanted: Option<&str>, group: SocketAddrV4) -> Result<Interface, Error> {
        let all = Interface::all();
        if let Some(wanted) = wanted {
            let address = wanted.parse().ok();
            let fits = |one: &&Interface| one.name == wanted || Some(one.address) == address;
            return all.iter().find(fits).cloned().ok_or_else(|| {
                let mut known: Vec<_> = all.iter().map(|one| one.name.clone()).collect();
                known.dedup();
                Error::NoSuchInterface { name: wanted.to_owned(), known }
            });
        }
        // The kernel chooses an address when a socket is connected; no packet is sent.
        let routed = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
            socket.connect(group)?;
            socket.local_addr()
        });
        let address = routed.map_err(|source| Error::socket("find a route to the group", group, source))?;
        all.into_iter().find(|one| address.ip() == one.address).ok_or(Error::NoRoute { group })
    }

    /// The largest packet that this interface carries to the group without fragments, in bytes; none if the system
    /// does not say.
    pub fn mtu(&self, group: SocketAddrV4) -> Option<u32> {
        let socket = UdpSocket::bind((self.address, 0)).ok()?;
        SockRef::from(&socket).set_multicast_if_v4(&self.address).ok()?;
        socket.connect(group).ok()?;
        getsockopt(&socket, sockopt::IpMtu).ok().and_then(|mtu| u32::try_from(mtu).ok())
    }

    /// All interfaces with an IPv4 address.
    fn all() -> Vec<Interface> {
        let addresses = getifaddrs().into_iter().flatten();
        let named = addresses.filter_map(|entry| {
            let address = entry.address?.as_sockaddr_in()?.ip();
            let index = if_nametoindex(entry.interface_name.as_str()).ok()?;
            Some(Interface { name: entry.interface_name, index, address })
        });
        named.collect()
    }
}
