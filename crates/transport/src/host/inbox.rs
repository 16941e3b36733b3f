//! Packets that have come, from several sockets, in the order of their arrival.

use std::io::IoSliceMut;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use layercast_core::contract::Ecn;
use layercast_core::units::{Channel, Time};
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, MultiHeaders, RecvMsg, SockaddrIn, recvmmsg};
use nix::sys::time::TimeSpec;

use super::Clock;

/// Packets taken in one go. More wait in the kernel for the next.
const BATCH: usize = 256;
/// Packets taken from one socket in one go, by one system call. No more, so that a full socket does not
/// keep the others waiting.
const PER_SOCKET: usize = 64;
/// How often one go is tried again that a signal or another's fault ended.
const TRIES: usize = 4;

/// A packet that came.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    /// When.
    pub at: Time,
    /// On which channel; none if by unicast.
    pub channel: Option<Channel>,
    /// From where.
    pub from: SocketAddrV4,
    /// What routers wrote on it.
    pub ecn: Ecn,
    /// Whether it was longer than the room for it.
    pub cut: bool,
    start: usize,
    length: usize,
}

/// Room for packets, made once.
#[derive(Debug)]
pub struct Inbox {
    room: Vec<u8>,
    largest: usize,
    headers: MultiHeaders<SockaddrIn>,
    /// The most control messages that a packet ever had.
    most_controls: usize,
    heard: Vec<Datagram>,
}

impl Inbox {
    /// Room for packets of up to `largest` bytes of UDP payload.
    pub fn new(largest: usize) -> Inbox {
        let largest = largest.max(1);
        Inbox {
            room: vec![0; BATCH * largest],
            largest,
            headers: headers(),
            most_controls: 0,
            heard: Vec::with_capacity(BATCH),
        }
    }

    /// Empties the inbox.
    pub fn clear(&mut self) {
        self.heard.clear();
    }

    /// Takes what waits at a socket, up to a limit.
    ///
    /// # Errors
    /// What the system says; not for an empty socket.
    pub fn drain(&mut self, socket: &UdpSocket, channel: Option<Channel>, clock: &Clock) -> nix::Result<()> {
        for _ in 0..TRIES {
            match self.take(socket, channel, clock) {
                Err(Errno::EAGAIN) => return Ok(()),
                Err(Errno::EINTR) => {}
                // A unicast packet of ours met a closed port: no matter for what comes in.
                Err(Errno::ECONNREFUSED) => {}
                other => return other,
            }
        }
        Ok(())
    }

    fn take(&mut self, socket: &UdpSocket, channel: Option<Channel>, clock: &Clock) -> nix::Result<()> {
        let first = self.heard.len();
        let count = PER_SOCKET.min(BATCH.saturating_sub(first));
        if count == 0 {
            return Ok(());
        }
        let free = self.room.get_mut(first * self.largest..).unwrap_or_default();
        let mut rooms = free.chunks_exact_mut(self.largest);
        let mut parts: [[IoSliceMut<'_>; 1]; PER_SOCKET] =
            std::array::from_fn(|_| [IoSliceMut::new(rooms.next().unwrap_or_default())]);
        let parts = parts.iter_mut().take(count);
        let came = recvmmsg(socket.as_raw_fd(), &mut self.headers, parts, MsgFlags::MSG_DONTWAIT, None)?;
        let mut lacks_room = false;
        for (index, message) in came.enumerate() {
            let ancillary = AncillaryData::of(&message);
            lacks_room |=
                ancillary.count < self.most_controls || message.flags.contains(MsgFlags::MSG_CTRUNC);
            self.most_controls = self.most_controls.max(ancillary.count);
            let from = message.address.map_or((Ipv4Addr::UNSPECIFIED, 0), |from| (from.ip(), from.port()));
            self.heard.push(Datagram {
                at: clock.arrival(ancillary.stamp),
                channel,
                from: SocketAddrV4::new(from.0, from.1),
                ecn: ecn_of(ancillary.tos),
                cut: message.flags.contains(MsgFlags::MSG_TRUNC),
                start: (first + index) * self.largest,
                length: message.bytes,
            });
        }
        // The headers keep only as much room for control messages as the packet before used (nix does
        // not give it back), so one packet with fewer would take marks and times from all that follow.
        if lacks_room {
            self.headers = headers();
        }
        Ok(())
    }

    /// Puts packets of all sockets in the order of their arrival.
    pub fn sort(&mut self) {
        // Places grow in the order of reading, and an unstable sort needs no memory.
        self.heard.sort_unstable_by_key(|heard| (heard.at, heard.start));
    }

    /// How many packets there are.
    pub fn len(&self) -> usize {
        self.heard.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.heard.is_empty()
    }

    /// A packet and its bytes.
    pub fn get(&self, index: usize) -> Option<(Datagram, &[u8])> {
        let heard = *self.heard.get(index)?;
        let length = heard.length.min(self.largest);
        Some((heard, self.room.get(heard.start..heard.start + length)?))
    }
}

/// What the kernel tells of a packet beside its bytes.
#[derive(Default)]
struct AncillaryData {
    count: usize,
    stamp: Option<SystemTime>,
    tos: Option<u8>,
}

impl AncillaryData {
    fn of(message: &RecvMsg<'_, '_, SockaddrIn>) -> AncillaryData {
        let mut ancillary = AncillaryData::default();
        for control in message.cmsgs().into_iter().flatten() {
            ancillary.count += 1;
            match control {
                ControlMessageOwned::ScmTimestampns(time) => {
                    ancillary.stamp = UNIX_EPOCH.checked_add(Duration::from(time));
                }
                ControlMessageOwned::Ipv4Tos(byte) => ancillary.tos = Some(byte),
                _ => {}
            }
        }
        ancillary
    }
}

fn headers() -> MultiHeaders<SockaddrIn> {
    MultiHeaders::preallocate(PER_SOCKET, Some(nix::cmsg_space!(TimeSpec, u8, u32)))
}

/// The two bits of ECN (RFC 3168, section 5).
fn ecn_of(tos: Option<u8>) -> Ecn {
    match tos.map(|tos| tos & 3) {
        None | Some(0) => Ecn::NotCapable,
        Some(3) => Ecn::Marked,
        Some(_) => Ecn::Capable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Interface;
    use crate::host::socket::open_reports;

    /// A socket of ours on the loopback interface, and its address.
    fn heard_by() -> (UdpSocket, SocketAddrV4) {
        let interface = Interface { name: "lo".to_owned(), index: 1, address: Ipv4Addr::LOCALHOST };
        let any = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
        let socket = open_reports(&interface, any).expect("a socket");
        let port = socket.local_addr().expect("an address").port();
        (socket, SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))
    }

    #[test]
    fn a_batch_has_the_bytes_marks_cuts_and_times_of_each_packet() {
        let (socket, to) = heard_by();
        let from = socket2::Socket::from(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket"));
        let from_port = from.local_addr().ok().and_then(|from| from.as_socket_ipv4()).map(|from| from.port());
        let clock = Clock::default();
        let mut inbox = Inbox::new(8);
        // More than one go takes, and twice, so that the headers are used again.
        for round in 0..2 {
            for number in 0..PER_SOCKET as u8 + 6 {
                from.set_tos_v4(u32::from(number % 4)).expect("ECN");
                let length = usize::from(number % 12);
                from.send_to(&[number; 12][..length], &to.into()).expect("a packet");
            }
            let mut number = 0;
            for expected in [PER_SOCKET, 6, 0] {
                inbox.clear();
                inbox.drain(&socket, Some(Channel(3)), &clock).expect("packets");
                inbox.sort();
                assert_eq!(inbox.len(), expected, "round {round}");
                let mut before = Time::ZERO;
                for index in 0..inbox.len() {
                    let (heard, bytes) = inbox.get(index).expect("a packet");
                    let length = usize::from(number % 12u8);
                    assert_eq!(bytes, &[number; 12][..length.min(8)]);
                    assert_eq!(heard.cut, length > 8);
                    let ecn = [Ecn::NotCapable, Ecn::Capable, Ecn::Capable, Ecn::Marked];
                    assert_eq!(heard.ecn, ecn[usize::from(number % 4)]);
                    assert_eq!((heard.channel, Some(heard.from.port())), (Some(Channel(3)), from_port));
                    // The kernel's stamp is of the sending here, so times differ within a batch.
                    assert!(heard.at >= before && heard.at <= clock.now());
                    before = heard.at;
                    number += 1;
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_waits_in_the_kernel() {
        let (socket, to) = heard_by();
        let from = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        for _ in 0..BATCH + 1 {
            from.send_to(b"x", to).expect("a packet");
        }
        let (mut inbox, clock) = (Inbox::new(8), Clock::default());
        for _ in 0..BATCH / PER_SOCKET + 2 {
            inbox.drain(&socket, None, &clock).expect("packets");
        }
        assert_eq!(inbox.len(), BATCH);
        inbox.clear();
        inbox.drain(&socket, None, &clock).expect("a packet");
        assert_eq!(inbox.len(), 1);
    }
}
