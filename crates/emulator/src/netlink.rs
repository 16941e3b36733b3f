//! The few requests to the kernel's routing tables that a host needs (rtnetlink): an interface goes up, an address,
//! a route. Each is for the namespace of the calling thread.

use std::io;
use std::net::IpAddr;

use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// Numbers of linux/netlink.h, rtnetlink.h, if_link.h and if_addr.h.
const NLMSG_ERROR: u16 = 2;
const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
const REQUEST_ACK: u16 = 1 | 4;
const CREATE_REPLACE: u16 = 0x400 | 0x100;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_F_NODAD: u8 = 2;
const IFLA_TXQLEN: u16 = 13;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;

/// A connection to the kernel's routing.
pub(crate) struct Netlink {
    socket: OwnedFd,
}

impl Netlink {
    pub(crate) fn open() -> io::Result<Netlink> {
        let kind = SocketType::RAW;
        let socket = rustix::net::socket_with(AddressFamily::NETLINK, kind, SocketFlags::CLOEXEC, None)?;
        Ok(Netlink { socket })
    }

    /// Lets an interface go up, with a queue of so many packets. The older request for its length (`SIOCSIFTXQLEN`) is
    /// refused in user namespaces.
    pub(crate) fn set_up(&self, interface: u32, queue: u32) -> io::Result<()> {
        let mut body = vec![0; 4];
        body.extend(interface.to_ne_bytes());
        // Flags, and which of them change: IFF_UP.
        body.extend(1u32.to_ne_bytes());
        body.extend(1u32.to_ne_bytes());
        attribute(&mut body, IFLA_TXQLEN, &queue.to_ne_bytes());
        self.request(RTM_NEWLINK, 0, &body)
    }

    /// Gives an interface an address, with a route to the others of this prefix.
    pub(crate) fn add_address(&self, interface: u32, address: IpAddr, prefix: u8) -> io::Result<()> {
        let mut body = vec![family(address), prefix, IFA_F_NODAD, 0];
        body.extend(interface.to_ne_bytes());
        for kind in [IFA_LOCAL, IFA_ADDRESS] {
            attribute(&mut body, kind, &octets(address));
        }
        self.request(RTM_NEWADDR, CREATE_REPLACE, &body)
    }

    /// Sends what is for these addresses out of an interface.
    pub(crate) fn add_route(&self, interface: u32, to: IpAddr, prefix: u8) -> io::Result<()> {
        // Table main, by an administrator (RTPROT_STATIC), everywhere, unicast; a route to a group is one too.
        let mut body = vec![family(to), prefix, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0];
        if prefix > 0 {
            attribute(&mut body, RTA_DST, &octets(to));
        }
        attribute(&mut body, RTA_OIF, &interface.to_ne_bytes());
        self.request(RTM_NEWROUTE, CREATE_REPLACE, &body)
    }

    fn request(&self, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
        let mut message = Vec::with_capacity(16 + body.len());
        message.extend((16 + body.len() as u32).to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend((REQUEST_ACK | flags).to_ne_bytes());
        message.extend([0; 8]);
        message.extend(body);
        rustix::net::send(&self.socket, &message, SendFlags::empty())?;
        let mut answer = [0; 4096];
        let (length, _) = rustix::net::recv(&self.socket, answer.as_mut_slice(), RecvFlags::empty())?;
        match answer.get(..length).and_then(|answer| answer.first_chunk::<20>()) {
            Some(head) if u16::from_ne_bytes([head[4], head[5]]) == NLMSG_ERROR => {
                match i32::from_ne_bytes([head[16], head[17], head[18], head[19]]) {
                    0 => Ok(()),
                    error => Err(io::Error::from_raw_os_error(-error)),
                }
            }
            _ => Err(io::Error::other("the kernel's answer is not what rtnetlink defines")),
        }
    }
}

fn family(address: IpAddr) -> u8 {
    if address.is_ipv4() { AF_INET } else { AF_INET6 }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// Adds an attribute, with its length and what is missing to a multiple of four bytes.
fn attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    body.extend((4 + value.len() as u16).to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}
