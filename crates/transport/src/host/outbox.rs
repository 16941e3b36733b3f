//! Packets due at the same time, sent with as few system calls as possible.

use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};

use layercast_core::units::Channel;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};

/// The maximum number of packets per batch.
pub(super) const BATCH: usize = 32;

/// A packet that is due.
#[derive(Clone, Debug)]
struct Due {
    channel: Channel,
    to: SocketAddr,
    /// The address in the kernel's format.
    address: SocketAddrAny,
    start: usize,
    length: usize,
}

/// A preallocated packet buffer.
#[derive(Debug)]
pub(super) struct Outbox {
    room: Vec<u8>,
    largest: usize,
    due: Vec<Due>,
}

impl Outbox {
    /// A buffer for packets of up to `largest` bytes.
    pub(super) fn new(largest: usize) -> Outbox {
        Outbox { room: vec![0; BATCH * largest], largest, due: Vec::with_capacity(BATCH) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.due.len() >= BATCH
    }

    /// The space for building the next packet; empty if the outbox is full.
    pub(super) fn room(&mut self) -> &mut [u8] {
        let start = self.due.len() * self.largest;
        self.room.get_mut(start..start + self.largest).unwrap_or_default()
    }

    /// Adds the packet that was built in the room, from `start` on.
    pub(super) fn add(&mut self, channel: Channel, to: SocketAddr, start: usize, length: usize) {
        if self.is_full() || start + length > self.largest {
            return;
        }
        let start = self.due.len() * self.largest + start;
        self.due.push(Due { channel, to, address: to.into(), start, length });
    }

    /// Sends all packets in order and reports the outcome of each. Returns the number of system calls.
    pub(super) fn flush(
        &mut self,
        socket: &UdpSocket,
        mut report: impl FnMut(Channel, SocketAddr, io::Result<usize>),
    ) -> u64 {
        let (mut calls, mut due) = (0, self.due.as_slice());
        while let Some((first, others)) = due.split_first() {
            calls += 1;
            let sent = match others {
                [] => socket.send_to(bytes(&self.room, first), first.to).map(|_| 1),
                // Headers are rebuilt for each call; most batches are small.
                [_] | [_, _] | [_, _, _] => send::<4>(socket, &self.room, due),
                _ => send::<BATCH>(socket, &self.room, due),
            };
            // The kernel stops at the first packet that it refuses, and returns the reason when that packet
            // is the first of a call.
            match sent {
                Ok(count) => {
                    let (gone, left) = due.split_at(count.clamp(1, due.len()));
                    gone.iter().for_each(|one| report(one.channel, one.to, Ok(one.length)));
                    due = left;
                }
                Err(error) => {
                    report(first.channel, first.to, Err(error));
                    due = others;
                }
            }
        }
        self.due.clear();
        calls
    }
}

fn bytes<'a>(room: &'a [u8], due: &Due) -> &'a [u8] {
    room.get(due.start..due.start + due.length).unwrap_or_default()
}

/// Sends up to `MOST` packets by one system call; returns how many were sent.
fn send<const MOST: usize>(socket: &UdpSocket, room: &[u8], due: &[Due]) -> io::Result<usize> {
    let Some(last) = due.last() else { return Ok(0) };
    let at = |index: usize| due.get(index).unwrap_or(last);
    // All on the stack. Entries beyond the last packet repeat it and are not passed to the kernel.
    let parts: [[IoSlice<'_>; 1]; MOST] = std::array::from_fn(|index| [IoSlice::new(bytes(room, at(index)))]);
    let mut controls: [SendAncillaryBuffer<'_, '_, '_>; MOST] =
        std::array::from_fn(|_| SendAncillaryBuffer::default());
    let mut parts_in_order = parts.iter().enumerate();
    let mut messages = controls.each_mut().map(|control| {
        let (index, part): (usize, &[IoSlice<'_>]) =
            parts_in_order.next().map_or((0, &[]), |(index, part)| (index, part));
        MMsgHdr::new_with_addr(&at(index).address, part, control)
    });
    let messages = messages.get_mut(..due.len().min(MOST)).unwrap_or_default();
    Ok(sendmmsg(socket, messages, SendFlags::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::time::Duration;

    fn socket() -> (UdpSocket, SocketAddr) {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
        let port = socket.local_addr().expect("an address").port();
        (socket, SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port))
    }

    fn fill(outbox: &mut Outbox, channel: u16, to: SocketAddr, byte: u8) {
        outbox.room()[2..5].fill(byte);
        outbox.add(Channel(channel), to, 2, 3);
    }

    #[test]
    fn packets_go_by_one_call_and_to_their_addresses() {
        let ((from, _), (one, to_one), (two, to_two)) = (socket(), socket(), socket());
        let mut outbox = Outbox::new(10);
        for (channel, to) in [(0, to_one), (1, to_two), (0, to_one)] {
            fill(&mut outbox, channel, to, channel as u8 + 7);
        }
        let mut reported = Vec::new();
        let calls = outbox.flush(&from, |channel, _, sent| reported.push((channel.0, sent.ok())));
        assert_eq!((calls, reported), (1, vec![(0, Some(3)), (1, Some(3)), (0, Some(3))]));
        assert!(outbox.is_empty());
        let mut bytes = [0; 10];
        for (socket, byte) in [(&one, 7), (&one, 7), (&two, 8)] {
            assert_eq!(socket.recv(&mut bytes).expect("a packet"), 3);
            assert_eq!(bytes[..3], [byte; 3]);
        }
    }

    #[test]
    fn a_refused_packet_does_not_keep_those_behind_it() {
        let ((from, _), (one, to_one)) = (socket(), socket());
        // A socket may not send to the broadcast address unless it asked for that.
        let wrong = SocketAddr::new(Ipv4Addr::BROADCAST.into(), 9);
        let mut outbox = Outbox::new(10);
        for to in [to_one, wrong, wrong, to_one, to_one] {
            fill(&mut outbox, 0, to, 1);
        }
        let mut reported = Vec::new();
        let calls = outbox.flush(&from, |_, _, sent| reported.push(sent.is_ok()));
        assert_eq!(reported, [true, false, false, true, true]);
        assert_eq!(calls, 4);
        for _ in 0..3 {
            assert_eq!(one.recv(&mut [0; 10]).expect("a packet"), 3);
        }
    }

    #[test]
    fn what_does_not_fit_is_not_taken() {
        let (_, to) = socket();
        let mut outbox = Outbox::new(10);
        outbox.add(Channel(0), to, 2, 9);
        assert!(outbox.is_empty());
        for _ in 0..BATCH {
            assert!(!outbox.is_full());
            fill(&mut outbox, 0, to, 1);
        }
        assert!(outbox.is_full() && outbox.room().is_empty());
        outbox.add(Channel(0), to, 0, 0);
        assert_eq!(outbox.due.len(), BATCH);
    }
}
