//! The socket of a node.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration as StdDuration;

use layercast_delivery::active::Wire;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::SockRef;

use super::ActiveFailure;

/// The longest datagram.
const DATAGRAM: usize = 1 << 16;
/// The buffers of the kernel; it may grant less.
const BUFFER: usize = 4 << 20;

/// A UDP socket, and room for a datagram in each direction.
pub(super) struct NodeSocket {
    socket: UdpSocket,
    is_v6: bool,
    out: Vec<u8>,
    /// Datagrams that the system did not take.
    pub(super) unsent: u64,
}

impl NodeSocket {
    /// Opens it.
    pub(super) fn open(at: SocketAddr) -> Result<NodeSocket, ActiveFailure> {
        let open = || {
            let socket = UdpSocket::bind(at)?;
            socket.set_nonblocking(true)?;
            let options = SockRef::from(&socket);
            for set in [options.set_recv_buffer_size(BUFFER), options.set_send_buffer_size(BUFFER)] {
                if let Err(error) = set {
                    tracing::debug!(%error, "a buffer keeps its default size");
                }
            }
            Ok(NodeSocket { socket, is_v6: at.is_ipv6(), out: Vec::with_capacity(DATAGRAM), unsent: 0 })
        };
        open().map_err(|source| ActiveFailure::Socket { what: format!("open {at}"), source })
    }

    /// Where it is.
    pub(super) fn address(&self) -> Result<SocketAddr, ActiveFailure> {
        let what = || "read the address of a socket".to_owned();
        self.socket.local_addr().map_err(|source| ActiveFailure::Socket { what: what(), source })
    }

    /// Waits for a datagram, for so long at most.
    pub(super) fn wait(&self, most: StdDuration) {
        let timeout = Timespec { tv_sec: most.as_secs() as i64, tv_nsec: i64::from(most.subsec_nanos()) };
        // An interrupted wait is over: the caller looks at the time.
        let _ = poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&timeout));
    }

    /// Reads a datagram into `room`; none if none waits. An error that an earlier datagram has caused, such as a port where nobody is,
    /// is skipped.
    pub(super) fn read(&self, room: &mut [u8]) -> Result<Option<(usize, SocketAddr)>, ActiveFailure> {
        loop {
            match self.socket.recv_from(room) {
                Ok(read) => return Ok(Some(read)),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return Ok(None),
                    io::ErrorKind::Interrupted
                    | io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::HostUnreachable
                    | io::ErrorKind::NetworkUnreachable => {}
                    _ => {
                        let what = "read from a socket".to_owned();
                        return Err(ActiveFailure::Socket { what, source: error });
                    }
                },
            }
        }
    }
}

impl Wire for NodeSocket {
    fn send(&mut self, to: SocketAddr, head: &[u8], body: &[u8]) {
        let ip = match to.ip() {
            IpAddr::V4(ip) if self.is_v6 => IpAddr::V6(ip.to_ipv6_mapped()),
            ip => ip,
        };
        self.out.clear();
        self.out.extend(head);
        self.out.extend(body);
        if let Err(error) = self.socket.send_to(&self.out, SocketAddr::new(ip, to.port())) {
            // As if the network had lost it.
            tracing::trace!(%error, %to, "a datagram was not sent");
            self.unsent += 1;
        }
    }
}
