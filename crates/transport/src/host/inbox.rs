//! Received packets of several sockets, in the order of their arrival.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::ops::Range;
use std::time::UNIX_EPOCH;

use layercast_core::contract::Ecn;
use layercast_core::units::{Channel, Time};
use layercast_core::{Always as _, cannot_be};
use layercast_delivery::accept::Incoming;
use quinn_udp::{EcnCodepoint, RecvMeta};

use super::Clock;
use super::clock::Reading;
use super::socket::PacketSocket;

/// The maximum number of buffers per batch. More wait in the kernel.
const BATCH: usize = 64;
/// The maximum number of buffers from one socket per batch, read by one system call, so that a full socket
/// does not starve the others.
const PER_SOCKET: usize = quinn_udp::BATCH_SIZE;
/// How many of them the first read from a socket offers. Few packets wait as a rule, and each buffer costs instructions.
const FEW: usize = 4;
/// How often a read is retried after a signal or a foreign error.
const TRIES: u64 = 4;
/// The length of a buffer: that of the longest datagram, and of the longest run of packets.
const BUFFER: usize = 1 << 16;
/// The maximum number of packets in a run.
const RUN_MAX: usize = 128;

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
    /// Whether it is too long, and only its first bytes are here.
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

/// A packet that came inside of another one.
#[derive(Clone, Debug)]
pub struct Unwrapped {
    /// Its channel.
    pub channel: Channel,
    /// From where it was sent first.
    pub from: SocketAddr,
    /// Where it is in the bytes of the other one.
    pub bytes: Range<usize>,
    /// Its ECN codepoint; none for that of the other one.
    pub ecn: Option<Ecn>,
}

/// A preallocated packet buffer.
///
/// The kernel may put packets of one sender, group and length together, a run: then most of its work is done once for all of
/// them. They have the arrival time of the first one.
#[derive(Debug)]
pub struct Inbox {
    room: Vec<u8>,
    largest: usize,
    /// How many buffers are in use.
    used: usize,
    datagrams: Vec<Datagram>,
    /// The clocks when the first of these packets were read: one reading for all keeps their order.
    reading: Option<Reading>,
}

impl Inbox {
    /// A buffer for packets of up to `largest` bytes of UDP payload.
    pub fn new(largest: usize) -> Inbox {
        Inbox {
            // The system provides pages when they are first used.
            room: vec![0; BATCH * BUFFER],
            largest: largest.max(1),
            used: 0,
            datagrams: Vec::with_capacity(Inbox::MOST),
            reading: None,
        }
    }

    /// The maximum number of packets that it has at a time.
    pub(super) const MOST: usize = BATCH * RUN_MAX;

    /// Empties the inbox.
    pub fn clear(&mut self) {
        self.datagrams.clear();
        self.used = 0;
        self.reading = None;
    }

    /// Reads the packets waiting at a socket, up to a limit. How many system calls that took.
    ///
    /// # Errors
    /// The system's error; none for an empty socket.
    pub fn drain(
        &mut self,
        socket: &PacketSocket,
        channel: Option<Channel>,
        clock: &Clock,
    ) -> io::Result<u64> {
        let mut has_read = false;
        for calls in 1..=TRIES {
            let read = match has_read {
                false => self.read_batch::<FEW>(socket, channel, clock),
                true => self.read_batch::<{ PER_SOCKET - FEW }>(socket, channel, clock),
            };
            match read {
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return Ok(calls),
                    // A unicast packet of ours reached a closed port: this does not affect reception.
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionRefused => {}
                    _ => return Err(error),
                },
                Ok(FEW) if !has_read => has_read = true,
                Ok(_) => return Ok(calls),
            }
        }
        Ok(TRIES)
    }

    /// Reads into up to `MOST` buffers; how many it filled.
    fn read_batch<const MOST: usize>(
        &mut self,
        socket: &PacketSocket,
        channel: Option<Channel>,
        clock: &Clock,
    ) -> io::Result<usize> {
        let count = MOST.min(BATCH.saturating_sub(self.used));
        if count == 0 {
            return Ok(0);
        }
        let free = self.room.get_mut(self.used * BUFFER..).always("no more is used than there is");
        let mut free = free.chunks_exact_mut(BUFFER);
        let mut rooms: [IoSliceMut<'_>; MOST] =
            std::array::from_fn(|_| IoSliceMut::new(free.next().unwrap_or_default()));
        let mut meta = [RecvMeta::default(); MOST];
        let came = socket.read(rooms.get_mut(..count).always("the count is limited"), &mut meta)?;
        let reading = *self.reading.get_or_insert_with(|| clock.read());
        let read = clock.now();
        for meta in meta.iter().take(came) {
            let start = self.used * BUFFER;
            self.used += 1;
            let stamp = meta.timestamp.and_then(|since_1970| UNIX_EPOCH.checked_add(since_1970));
            let datagram = Datagram {
                at: reading.arrival(stamp, read),
                channel,
                from: meta.addr,
                ecn: ecn_of(meta.ecn),
                cut: false,
                start,
                length: 0,
            };
            let stride = if meta.stride == 0 { meta.len } else { meta.stride };
            // An empty datagram is one too.
            let starts = (0..meta.len.max(1)).step_by(stride.max(1)).take(RUN_MAX);
            self.datagrams.extend(starts.map(|at| {
                let length = stride.min(meta.len - at);
                Datagram { cut: length > self.largest, start: start + at, length, ..datagram }
            }));
        }
        Ok(came)
    }

    /// Sorts the packets of all sockets by arrival time.
    pub fn sort(&mut self) {
        // Positions increase in the order of reading, and an unstable sort needs no memory.
        self.datagrams.sort_unstable_by_key(|datagram| (datagram.at, datagram.start));
    }

    /// Looks at each packet, all its bytes: those of which something is returned are replaced by that, the others are taken out.
    pub fn unwrap(&mut self, mut open: impl FnMut(&Datagram, &mut [u8]) -> Option<Unwrapped>) {
        let (room, largest) = (&mut self.room, self.largest);
        self.datagrams.retain_mut(|datagram| {
            let end = datagram.start + datagram.length;
            let Some(bytes) = room.get_mut(datagram.start..end) else {
                return cannot_be("a datagram is in the room");
            };
            let Some(inner) = open(datagram, bytes) else { return false };
            if inner.bytes.start > inner.bytes.end || inner.bytes.end > datagram.length {
                return false;
            }
            datagram.start += inner.bytes.start;
            datagram.length = inner.bytes.len();
            datagram.cut = datagram.length > largest;
            (datagram.channel, datagram.from) = (Some(inner.channel), inner.from);
            datagram.ecn = inner.ecn.unwrap_or(datagram.ecn);
            true
        });
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

fn ecn_of(codepoint: Option<EcnCodepoint>) -> Ecn {
    match codepoint {
        None => Ecn::NotCapable,
        Some(EcnCodepoint::Ce) => Ecn::Marked,
        Some(EcnCodepoint::Ect0 | EcnCodepoint::Ect1) => Ecn::Capable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::IoSlice;
    use std::net::{Ipv4Addr, UdpSocket};
    use std::time::Duration;

    use crate::host::Interface;
    use crate::host::segmentation::Segmentation;
    use crate::host::socket::open_source;

    /// A socket of ours on the loopback interface, and its address.
    fn loopback_socket() -> (PacketSocket, SocketAddr) {
        let interface = Interface { name: "lo".to_owned(), index: 1, address: Ipv4Addr::LOCALHOST.into() };
        let any = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        let socket = open_source(&interface, any, 0, 1).expect("a socket");
        let port = socket.as_udp().local_addr().expect("an address").port();
        (socket, SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port))
    }

    #[test]
    fn a_batch_has_the_bytes_marks_cuts_and_times_of_each_packet() {
        let (socket, to) = loopback_socket();
        let from = socket2::Socket::from(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket"));
        let from_port = from.local_addr().ok().and_then(|from| from.as_socket_ipv4()).map(|from| from.port());
        let clock = Clock::default();
        let mut inbox = Inbox::new(8);
        // More than one batch, and twice.
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
    fn drain_until(inbox: &mut Inbox, socket: &PacketSocket, clock: &Clock, count: usize) {
        let until = std::time::Instant::now() + Duration::from_secs(5);
        while inbox.len() < count && std::time::Instant::now() < until {
            let before = inbox.len();
            inbox.drain(socket, Some(Channel(3)), clock).expect("packets");
            assert!(inbox.used <= BATCH && inbox.len() - before <= PER_SOCKET * RUN_MAX);
        }
    }

    #[test]
    fn a_run_is_read_as_its_packets() {
        let (socket, to) = loopback_socket();
        let from = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        let packets: Vec<Vec<u8>> =
            (0..40u8).map(|number| vec![number; if number < 39 { 1200 } else { 7 }]).collect();
        let run: Vec<IoSlice<'_>> = packets.iter().map(|packet| IoSlice::new(packet)).collect();
        let sent = Segmentation::default().send(&from, to, &run);
        sent.expect("the loopback interface cuts runs").expect("sent");
        let (mut inbox, clock) = (Inbox::new(1000), Clock::default());
        drain_until(&mut inbox, &socket, &clock, packets.len());
        inbox.sort();
        assert_eq!((inbox.len(), inbox.used), (packets.len(), 1), "all of them by one buffer");
        for (index, packet) in packets.iter().enumerate() {
            let (datagram, bytes) = inbox.get(index).expect("a packet");
            assert_eq!(bytes, &packet[..packet.len().min(1000)], "packet {index}");
            assert_eq!((datagram.cut, datagram.channel), (packet.len() > 1000, Some(Channel(3))));
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
