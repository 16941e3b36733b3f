//! Sockets with the necessary options.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::sys::socket::{MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt};
use quinn_udp::{RecvMeta, UdpSocketState};
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};

use super::Interface;
use super::source_membership::join_source_v6;
use crate::error::Error;

/// The receive buffer of a group: what comes while the processor is busy with other things, 16 ms of 2 Gbit/s. The kernel
/// may grant less.
pub(crate) const RECEIVE_BUFFER: usize = 4 << 20;
/// The send buffer, for the runs of a burst.
pub(super) const SEND_BUFFER: usize = 1 << 20;

/// ECN-capable transport (RFC 3168, section 5): the code point ECT(0).
const ECT_0: u32 = 2;

/// A socket from which an [`Inbox`](super::Inbox) reads: runs of packets together where the kernel can (generic receive
/// offload), with their arrival times and ECN marks.
#[derive(Debug)]
pub struct PacketSocket {
    socket: UdpSocket,
    state: UdpSocketState,
}

impl PacketSocket {
    fn new(socket: Socket) -> io::Result<PacketSocket> {
        let state = UdpSocketState::new((&socket).into())?;
        // We have no use for the address of destination, and with it ancillary data would not fit.
        let is_v4 = socket.local_addr()?.is_ipv4();
        let without = if is_v4 {
            setsockopt(&socket, sockopt::Ipv4PacketInfo, &false)
        } else {
            setsockopt(&socket, sockopt::Ipv6RecvPacketInfo, &false)
        };
        without.map_err(io::Error::from)?;
        Ok(PacketSocket { socket: socket.into(), state })
    }

    /// The socket itself.
    pub fn as_udp(&self) -> &UdpSocket {
        &self.socket
    }

    /// Drops what the network answered to packets (ICMP), which no sender here has use for.
    pub(super) fn drop_errors(&self) {
        let mut room = [0; 512];
        let mut parts = [IoSliceMut::new(&mut room)];
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        while recvmsg::<SockaddrStorage>(self.socket.as_raw_fd(), &mut parts, None, flags).is_ok() {}
    }

    /// Reads what waits, a buffer for each packet or run of packets; how many there were.
    pub(super) fn read(&self, rooms: &mut [IoSliceMut<'_>], meta: &mut [RecvMeta]) -> io::Result<usize> {
        self.state.recv((&self.socket).into(), rooms, meta)
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn new(group: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(group), Type::DGRAM.nonblocking(), Some(Protocol::UDP))?;
    // The first takes a privilege, and is not bounded by the system's limit.
    let forced = setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER);
    if forced.is_err()
        && let Err(error) = socket.set_recv_buffer_size(RECEIVE_BUFFER)
    {
        tracing::debug!(%error, "cannot raise SO_RCVBUF");
    }
    Ok(socket)
}

/// A socket that is a member of one group. With a source address the membership is for that source alone
/// (RFC 4607), so that routers do not forward other sources.
///
/// # Errors
/// [`Error::NoRoute`], [`Error::NoPermission`] or what the system says.
pub fn open_group(
    interface: &Interface,
    group: SocketAddr,
    source: Option<IpAddr>,
) -> Result<PacketSocket, Error> {
    let open = || {
        let socket = new(group)?;
        // Several receivers of one host get a copy each.
        socket.set_reuse_address(true)?;
        join(&socket, interface, group, source)?;
        PacketSocket::new(socket)
    };
    open().map_err(|source| Error::socket(format!("join {group}"), group, source))
}

fn join(socket: &Socket, interface: &Interface, group: SocketAddr, source: Option<IpAddr>) -> io::Result<()> {
    match (group, source, interface.address) {
        (SocketAddr::V4(group), source, address) => {
            // Otherwise a socket receives groups that other sockets of this host joined.
            socket.set_multicast_all_v4(false)?;
            socket.bind(&group.into())?;
            match (source, address) {
                (Some(IpAddr::V4(source)), IpAddr::V4(address)) => {
                    socket.join_ssm_v4(&source, group.ip(), &address)
                }
                _ => {
                    let interface = InterfaceIndexOrAddress::Index(interface.index);
                    socket.join_multicast_v4_n(group.ip(), &interface)
                }
            }
        }
        (SocketAddr::V6(group), source, _) => {
            socket.set_only_v6(true)?;
            socket.set_multicast_all_v6(false)?;
            socket.bind(&SocketAddrV6::new(*group.ip(), group.port(), 0, interface.index).into())?;
            match source {
                Some(IpAddr::V6(source)) => Ok(join_source_v6(socket, *group.ip(), source, interface.index)?),
                _ => socket.join_multicast_v6(group.ip(), interface.index),
            }
        }
    }
}

/// The source's socket: sends to groups, and receives feedback on its port.
pub(crate) fn open_source(
    interface: &Interface,
    group: SocketAddr,
    feedback_port: u16,
    ttl: u8,
) -> Result<PacketSocket, Error> {
    let open = || {
        let socket = new(group)?;
        socket.bind(&interface.port(feedback_port).into())?;
        interface.select(&socket)?;
        // Receivers on the same host are receivers too.
        match group {
            SocketAddr::V4(_) => {
                socket.set_multicast_ttl_v4(u32::from(ttl))?;
                socket.set_multicast_loop_v4(true)?;
            }
            SocketAddr::V6(_) => {
                socket.set_multicast_hops_v6(u32::from(ttl))?;
                socket.set_multicast_loop_v6(true)?;
            }
        }
        if let Err(error) = socket.set_send_buffer_size(SEND_BUFFER) {
            tracing::debug!(%error, "cannot raise SO_SNDBUF");
        }
        // Otherwise the kernel does not say what its queue drops.
        let errors = match group {
            SocketAddr::V4(_) => setsockopt(&socket, sockopt::Ipv4RecvErr, &true),
            SocketAddr::V6(_) => setsockopt(&socket, sockopt::Ipv6RecvErr, &true),
        };
        errors.map_err(io::Error::from)?;
        let socket = PacketSocket::new(socket)?;
        set_ecn(&socket.socket, true)?;
        Ok(socket)
    };
    open().map_err(|source| {
        Error::socket(format!("open port {feedback_port} of {}", interface.address), group, source)
    })
}

/// A socket for packets by unicast, at an address and port of this host. One of IPv6 takes those of IPv4 too.
///
/// # Errors
/// The system's error.
pub(crate) fn open_unicast(at: SocketAddr) -> Result<PacketSocket, Error> {
    let open = || {
        let socket = new(at)?;
        if at.is_ipv6() {
            socket.set_only_v6(false)?;
        }
        socket.bind(&at.into())?;
        if let Err(error) = socket.set_send_buffer_size(SEND_BUFFER) {
            tracing::debug!(%error, "cannot raise SO_SNDBUF");
        }
        PacketSocket::new(socket)
    };
    open().map_err(|source| Error::socket(format!("open {at}"), at, source))
}

/// The hops of announcements: the group's scope limits them, not their time to live (RFC 2974, section 3).
const ANNOUNCEMENT_TTL: u8 = 255;

/// A socket that sends announcements. Nothing slows them down for marks, so they are not ECN-capable.
///
/// # Errors
/// As [`open_group`].
pub fn open_announcer(interface: &Interface, group: SocketAddr) -> Result<UdpSocket, Error> {
    let socket = open_source(interface, group, 0, ANNOUNCEMENT_TTL)?;
    let socket = socket.socket;
    set_ecn(&socket, false).map_err(|source| Error::socket("send announcements", group, source))?;
    Ok(socket)
}

/// Whether a socket sends packets as ECN-capable.
pub(super) fn set_ecn(socket: &UdpSocket, ecn: bool) -> io::Result<()> {
    let field = if ecn { ECT_0 } else { 0 };
    let socket_ref = socket2::SockRef::from(socket);
    if socket.local_addr()?.is_ipv4() {
        socket_ref.set_tos_v4(field)
    } else {
        socket_ref.set_tclass_v6(field)
    }
}

/// A socket for reports to the source.
pub(crate) fn open_reports(interface: &Interface, group: SocketAddr) -> Result<UdpSocket, Error> {
    let open = || {
        let socket = new(group)?;
        socket.bind(&interface.port(0).into())?;
        Ok(socket.into())
    };
    open().map_err(|source| Error::socket(format!("open a port of {}", interface.address), group, source))
}
