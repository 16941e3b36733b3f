//! Received packets of several sockets, in the order of their arrival.

use std::io::IoSliceMut;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use layercast_core::contract::Ecn;
use layercast_core::units::{Channel, Time};
use layercast_delivery::accept::Incoming;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, MultiHeaders, RecvMsg, SockaddrStorage, recvmmsg};
use nix::sys::time::TimeSpec;

use super::Clock;
use super::clock::Reading;

/// The maximum number of packets per batch. More wait in the kernel.
const BATCH: usize = 256;
/// The maximum number of packets from one socket per batch, read by one system call, so that a full socket
/// does not starve the others.
const PER_SOCKET: usize = 64;
/// How often a read is retried after a signal or a foreign error.
const TRIES: usize = 4;

/// A received packet.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    /// When.
    pub at: Time,
    /// The channel; none if by unicast.
    pub channel: Option<Channel>,
    /// From where.
    pub from: SocketAddr,
    /// Its ECN codepoint.
    pub ecn: Ecn,
    /// Whether it was truncated.
    pub cut: bool,
    start: usize,
    length: usize,
}

impl Datagram {
    /// How it came, for the acceptance check.
    pub fn incoming(&self) -> Incoming {
        Incoming { from: self.from, channel: self.channel, is_cut: self.cut }
    }
}

/// A preallocated packet buffer.
#[derive(Debug)]
pub struct Inbox {
    room: Vec<u8>,
    largest: usize,
    headers: MultiHeaders<SockaddrStorage>,
    /// The largest ancillary data that a packet has had.
    most_controls: usize,
    datagrams: Vec<Datagram>,
    /// The clocks when the first of these packets were read: one reading for all keeps their order.
    reading: Option<Reading>,
}

impl Inbox {
    /// A buffer for packets of up to `largest` bytes of UDP payload.
    pub fn new(largest: usize) -> Inbox {
        let largest = largest.max(1);
        Inbox {
            room: vec![0; BATCH * largest],
            largest,
            headers: headers(),
            most_controls: 0,
            datagrams: Vec::with_capacity(BATCH),
            reading: None,
        }
    }

    /// Empties the inbox.
    pub fn clear(&mut self) {
        self.datagrams.clear();
        self.reading = None;
    }

    /// Reads the packets waiting at a socket, up to a limit.
    ///
    /// # Errors
    /// The system's error; none for an empty socket.
    pub fn drain(&mut self, socket: &UdpSocket, channel: Option<Channel>, clock: &Clock) -> nix::Result<()> {
        for _ in 0..TRIES {
            match self.read_batch(socket, channel, clock) {
                Err(Errno::EAGAIN) => return Ok(()),
                Err(Errno::EINTR) => {}
                // A unicast packet of ours reached a closed port: this does not affect reception.
                Err(Errno::ECONNREFUSED) => {}
                other => return other,
            }
        }
        Ok(())
    }

    fn read_batch(&mut self, socket: &UdpSocket, channel: Option<Channel>, clock: &Clock) -> nix::Result<()> {
        let first = self.datagrams.len();
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
        let reading = *self.reading.get_or_insert_with(|| clock.read());
        let read = clock.now();
        let mut lacks_room = false;
        for (index, message) in came.enumerate() {
            let ancillary = AncillaryData::of(&message);
            lacks_room |=
                ancillary.count < self.most_controls || message.flags.contains(MsgFlags::MSG_CTRUNC);
            self.most_controls = self.most_controls.max(ancillary.count);
            let from = message.address.as_ref().and_then(address);
            self.datagrams.push(Datagram {
                at: reading.arrival(ancillary.stamp, read),
                channel,
                from: from.unwrap_or(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0)),
                ecn: ecn_of(ancillary.tos),
                cut: message.flags.contains(MsgFlags::MSG_TRUNC),
                start: (first + index) * self.largest,
                length: message.bytes,
            });
        }
        // The headers keep only as much space for ancillary data as the previous packet used (nix does not
        // restore it), so one packet with less would remove marks and times from all that follow.
        if lacks_room {
            self.headers = headers();
        }
        Ok(())
    }

    /// Sorts the packets of all sockets by arrival time.
    pub fn sort(&mut self) {
        // Positions increase in the order of reading, and an unstable sort needs no memory.
        self.datagrams.sort_unstable_by_key(|datagram| (datagram.at, datagram.start));
    }

    /// How many packets there are.
    pub fn len(&self) -> usize {
        self.datagrams.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.datagrams.is_empty()
    }

    /// A packet and its bytes.
    pub fn get(&self, index: usize) -> Option<(Datagram, &[u8])> {
        let datagram = *self.datagrams.get(index)?;
        let length = datagram.length.min(self.largest);
        Some((datagram, self.room.get(datagram.start..datagram.start + length)?))
    }
}

impl Inbox {
    /// A packet and its bytes, for a check that decrypts or marks them.
    pub fn get_mut(&mut self, index: usize) -> Option<(Datagram, &mut [u8])> {
        let datagram = *self.datagrams.get(index)?;
        let length = datagram.length.min(self.largest);
        Some((datagram, self.room.get_mut(datagram.start..datagram.start + length)?))
    }
}

/// The ancillary data of a packet.
#[derive(Default)]
struct AncillaryData {
    count: usize,
    stamp: Option<SystemTime>,
    tos: Option<u8>,
}

impl AncillaryData {
    fn of(message: &RecvMsg<'_, '_, SockaddrStorage>) -> AncillaryData {
        let mut ancillary = AncillaryData::default();
        for control in message.cmsgs().into_iter().flatten() {
            ancillary.count += 1;
            match control {
                ControlMessageOwned::ScmTimestampns(time) => {
                    ancillary.stamp = UNIX_EPOCH.checked_add(Duration::from(time));
                }
                ControlMessageOwned::Ipv4Tos(byte) => ancillary.tos = Some(byte),
                ControlMessageOwned::Ipv6TClass(class) => ancillary.tos = Some(class as u8),
                _ => {}
            }
        }
        ancillary
    }
}

/// The sender's address; none for another family than IP.
fn address(from: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = from.as_sockaddr_in().map(|from| SocketAddr::new(from.ip().into(), from.port()));
    v4.or_else(|| from.as_sockaddr_in6().map(|from| SocketAddr::new(from.ip().into(), from.port())))
}

fn headers() -> MultiHeaders<SockaddrStorage> {
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
    fn loopback_socket() -> (UdpSocket, SocketAddr) {
        let interface = Interface { name: "lo".to_owned(), index: 1, address: Ipv4Addr::LOCALHOST.into() };
        let any = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        let socket = open_reports(&interface, any).expect("a socket");
        let port = socket.local_addr().expect("an address").port();
        (socket, SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port))
    }

    #[test]
    fn a_batch_has_the_bytes_marks_cuts_and_times_of_each_packet() {
        let (socket, to) = loopback_socket();
        let from = socket2::Socket::from(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket"));
        let from_port = from.local_addr().ok().and_then(|from| from.as_socket_ipv4()).map(|from| from.port());
        let clock = Clock::default();
        let mut inbox = Inbox::new(8);
        // More than one batch, and twice, so that the headers are reused.
        for round in 0..2 {
            for number in 0..PER_SOCKET as u8 + 6 {
                from.set_tos_v4(u32::from(number % 4)).expect("ECN");
                let length = usize::from(number % 12);
                from.send_to(&[number; 12][..length], &to.into()).expect("a packet");
            }
            // Sorted by the kernel's times, which are in the order of sending.
            inbox.clear();
            drain_until(&mut inbox, &socket, &clock, PER_SOCKET + 6);
            inbox.sort();
            assert_eq!(inbox.len(), PER_SOCKET + 6, "round {round}");
            let mut before = Time::ZERO;
            for number in 0..PER_SOCKET as u8 + 6 {
                let (datagram, bytes) = inbox.get(usize::from(number)).expect("a packet");
                let length = usize::from(number % 12u8);
                assert_eq!(bytes, &[number; 12][..length.min(8)]);
                assert_eq!(datagram.cut, length > 8);
                let ecn = [Ecn::NotCapable, Ecn::Capable, Ecn::Capable, Ecn::Marked];
                assert_eq!(datagram.ecn, ecn[usize::from(number % 4)]);
                assert_eq!((datagram.channel, Some(datagram.from.port())), (Some(Channel(3)), from_port));
                // Here the kernel stamps the time of sending, so times differ within a batch.
                assert!(datagram.at >= before && datagram.at <= clock.now());
                before = datagram.at;
            }
        }
    }

    /// Reads until there are `count` packets; a loaded kernel delivers even local packets later, so a read may find
    /// fewer than were sent.
    fn drain_until(inbox: &mut Inbox, socket: &UdpSocket, clock: &Clock, count: usize) {
        let until = std::time::Instant::now() + Duration::from_secs(5);
        while inbox.len() < count && std::time::Instant::now() < until {
            let before = inbox.len();
            inbox.drain(socket, Some(Channel(3)), clock).expect("packets");
            assert!(inbox.len() - before <= PER_SOCKET, "one system call reads at most a batch");
        }
    }

    #[test]
    fn what_does_not_fit_waits_in_the_kernel() {
        let (socket, to) = loopback_socket();
        let from = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        for _ in 0..BATCH + 1 {
            from.send_to(b"x", to).expect("a packet");
        }
        let (mut inbox, clock) = (Inbox::new(8), Clock::default());
        drain_until(&mut inbox, &socket, &clock, BATCH);
        inbox.drain(&socket, None, &clock).expect("nothing");
        assert_eq!(inbox.len(), BATCH);
        inbox.clear();
        drain_until(&mut inbox, &socket, &clock, 1);
        assert_eq!(inbox.len(), 1);
    }
}
