//! Sockets with the necessary options.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};

use super::Interface;
use crate::error::Error;

/// The receive buffer, for packets that arrive while a block is decoded. The kernel may grant less.
const RECEIVE_BUFFER: usize = 2 << 20;

/// ECN-capable transport (RFC 3168, section 5): the code point ECT(0).
const ECT_0: u32 = 2;

fn new() -> std::io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM.nonblocking(), Some(Protocol::UDP))?;
    if let Err(error) = socket.set_recv_buffer_size(RECEIVE_BUFFER) {
        tracing::debug!(%error, "the receive buffer keeps its default size");
    }
    // Without them arrival times come from our clock and marks are not seen.
    let stamps = setsockopt(&socket, sockopt::ReceiveTimestampns, &true);
    let marks = setsockopt(&socket, sockopt::IpRecvTos, &true);
    if let Err(error) = stamps.and(marks) {
        tracing::warn!(
            "the system gives no arrival times or ECN marks, so estimates are less exact: {error}"
        );
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
    group: SocketAddrV4,
    source: Option<Ipv4Addr>,
) -> Result<UdpSocket, Error> {
    let open = || {
        let socket = new()?;
        // Several receivers of one host get a copy each.
        socket.set_reuse_address(true)?;
        // Otherwise a socket receives groups that other sockets of this host joined.
        socket.set_multicast_all_v4(false)?;
        socket.bind(&group.into())?;
        match source {
            Some(source) => socket.join_ssm_v4(&source, group.ip(), &interface.address)?,
            None => {
                let interface = InterfaceIndexOrAddress::Index(interface.index);
                socket.join_multicast_v4_n(group.ip(), &interface)?;
            }
        }
        Ok(socket.into())
    };
    open().map_err(|source| Error::socket(format!("join {group}"), group, source))
}

/// The source's socket: sends to groups, and receives feedback on its port.
pub(super) fn open_source(
    interface: &Interface,
    group: SocketAddrV4,
    feedback_port: u16,
    ttl: u8,
) -> Result<UdpSocket, Error> {
    let open = || {
        let socket = new()?;
        socket.bind(&SocketAddrV4::new(interface.address, feedback_port).into())?;
        socket.set_multicast_if_v4(&interface.address)?;
        socket.set_multicast_ttl_v4(u32::from(ttl))?;
        // Receivers on the same host are receivers too.
        socket.set_multicast_loop_v4(true)?;
        socket.set_tos_v4(ECT_0)?;
        Ok(socket.into())
    };
    open().map_err(|source| {
        Error::socket(format!("open port {feedback_port} of {}", interface.address), group, source)
    })
}

/// Whether a socket sends packets as ECN-capable.
pub(super) fn set_ecn(socket: &UdpSocket, ecn: bool) -> std::io::Result<()> {
    socket2::SockRef::from(socket).set_tos_v4(if ecn { ECT_0 } else { 0 })
}

/// A socket for reports to the source.
pub(super) fn open_reports(interface: &Interface, group: SocketAddrV4) -> Result<UdpSocket, Error> {
    let open = || {
        let socket = new()?;
        socket.bind(&SocketAddrV4::new(interface.address, 0).into())?;
        Ok(socket.into())
    };
    open().map_err(|source| Error::socket(format!("open a port of {}", interface.address), group, source))
}
