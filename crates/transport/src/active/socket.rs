//! The socket of a node.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::time::Duration as StdDuration;

use layercast_core::Always as _;
use layercast_core::contract::Ecn;
use layercast_core::units::Channel;
use layercast_delivery::active::Wire;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use socket2::MsgHdr;

use crate::error::Error;
use crate::host::{Clock, Inbox, PacketSocket, Tunnel, open_unicast};
use crate::notice::Notice;
use crate::relay::{control, for_socket, send_message};

/// A UDP socket.
#[derive(Debug)]
pub(crate) struct NodeSocket {
    socket: PacketSocket,
    is_v6: bool,
    is_warned: bool,
    /// Datagrams that the system did not take.
    pub(crate) unsent: u64,
    /// System calls that sent.
    pub(crate) calls: u64,
}

impl NodeSocket {
    /// Opens it.
    pub(crate) fn open(at: SocketAddr) -> Result<NodeSocket, Error> {
        let socket = open_unicast(at)?;
        Ok(NodeSocket { socket, is_v6: at.is_ipv6(), is_warned: false, unsent: 0, calls: 0 })
    }

    /// Where it is.
    pub(crate) fn address(&self) -> Result<SocketAddr, Error> {
        let what = || "read the address of a socket".to_owned();
        self.socket.as_udp().local_addr().map_err(|source| Error::Socket { what: what(), source })
    }

    /// Waits for a datagram, for so long at most.
    pub(crate) fn wait(&self, most: StdDuration) {
        let timeout = Timespec { tv_sec: most.as_secs() as i64, tv_nsec: i64::from(most.subsec_nanos()) };
        // An interrupted wait is over: the caller looks at the time.
        let _ = poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&timeout));
    }

    /// Fills an empty inbox with datagrams that wait. An error that an earlier datagram has caused, such as a host that
    /// cannot be reached, is skipped.
    pub(crate) fn fill(&self, inbox: &mut Inbox, clock: &Clock) -> Result<(), Error> {
        match inbox.drain(&self.socket, None, clock) {
            Err(error) => match error.kind() {
                io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Ok(()),
                _ => Err(Error::Socket { what: "read from a socket".to_owned(), source: error }),
            },
            Ok(_) => Ok(()),
        }
    }
}

/// A receiver whose routers take part talks with its parents itself: all that comes is for it.
impl Tunnel for NodeSocket {
    fn socket(&self) -> &PacketSocket {
        &self.socket
    }

    fn join(&mut self, _: Channel, _: SocketAddr) -> Result<(), Error> {
        Ok(())
    }

    fn leave(&mut self, _: Channel, _: SocketAddr) {}

    fn rest(&self) -> StdDuration {
        StdDuration::MAX
    }

    fn work(&mut self, _: &mut Inbox) {}

    fn send_feedback(&self, _: &[u8], _: SocketAddr) -> Option<io::Result<()>> {
        None
    }

    fn send_unicast(&mut self, to: SocketAddr, ecn: Ecn, bytes: &[u8]) {
        self.send(to, ecn, bytes, &[]);
    }

    fn take_notice(&mut self) -> Option<Notice> {
        None
    }
}

impl Wire for NodeSocket {
    fn send(&mut self, to: SocketAddr, ecn: Ecn, head: &[u8], body: &[u8]) -> bool {
        let (parts, address) = ([IoSlice::new(head), IoSlice::new(body)], for_socket(to, self.is_v6).into());
        let (control, length) = control(None, ecn, to.ip().to_canonical().is_ipv4());
        let message = MsgHdr::new()
            .with_addr(&address)
            .with_buffers(&parts)
            .with_control(control.get(..length).always("the length is that of what was written"));
        let sent = send_message(&self.socket, &message, &mut self.calls);
        if let Err(error) = &sent {
            // As if the network had lost it.
            tracing::trace!(%error, %to, "a datagram was not sent");
            self.unsent += 1;
            if error.raw_os_error() == Some(Errno::MSGSIZE.raw_os_error()) && !self.is_warned {
                self.is_warned = true;
                let bytes = head.len() + body.len();
                tracing::warn!("{to}: packets of {bytes} bytes exceed the MTU: use a smaller --packet");
            }
        }
        sent.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_keep_their_marks() {
        for at in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
            let at: SocketAddr = at.parse().expect("an address");
            let (mut one, other) = match (NodeSocket::open(at), NodeSocket::open(at)) {
                (Ok(one), Ok(other)) => (one, other),
                // A system without IPv6.
                _ if at.is_ipv6() => continue,
                (one, other) => panic!("{:?} {:?}", one.err(), other.err()),
            };
            let port = other.address().expect("its address").port();
            let to = SocketAddr::new("127.0.0.1".parse().expect("an address"), port);
            let to = if at.ip().is_unspecified() { to } else { SocketAddr::new(at.ip(), port) };
            let (clock, mut inbox) = (Clock::default(), Inbox::new(1 << 16));
            for ecn in [Ecn::NotCapable, Ecn::Capable, Ecn::Marked] {
                assert!(one.send(to, ecn, b"head", b"body"));
                other.wait(StdDuration::from_secs(5));
                inbox.clear();
                other.fill(&mut inbox, &clock).expect("it is read");
                let (datagram, bytes) = inbox.get(0).expect("a datagram");
                assert_eq!((datagram.ecn, bytes), (ecn, &b"headbody"[..]), "{at}");
            }
        }
    }
}
