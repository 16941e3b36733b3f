//! Packets due at the same time, sent with as few system calls as possible.
//!
//! Packets of one channel that have the same length are a run, which the kernel takes as one buffer and cuts as late as it
//! can (generic segmentation offload, `UDP_SEGMENT`): most of its work is done once for the run. All other packets are
//! passed many to a call.

use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};
use std::ops::Range;

use layercast_core::Always as _;
use layercast_core::contract::Ecn;
use layercast_core::units::Channel;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};

use super::segmentation::{RUN_BYTES, RUN_PACKETS, Segmentation};
use super::unicast_path::{SecondPath, UnicastPath};

/// The maximum number of packets per batch.
pub(super) const BATCH: usize = 256;
/// The maximum number of packets per call that are not in a run.
const PER_CALL: usize = 32;

/// The golden ratio's fraction of 2^32: multiples of it spread evenly.
const GOLDEN: u32 = 2_654_435_769;

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
    /// The order of channels, which changes with each flush.
    turn: u32,
    segmentation: Segmentation,
}

impl Outbox {
    /// A buffer for packets of up to `largest` bytes.
    pub(super) fn new(largest: usize) -> Outbox {
        Outbox {
            room: vec![0; BATCH * largest],
            largest,
            due: Vec::with_capacity(BATCH),
            turn: 0,
            segmentation: Segmentation::default(),
        }
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

    /// Passes all packets to a second path, those of each channel in order.
    fn copy(&self, path: &mut dyn UnicastPath, ecn: Ecn) {
        let mut rest = self.due.as_slice();
        while let Some(first) = rest.first() {
            let alike = |due: &&Due| due.channel == first.channel;
            let (run, others) = rest.split_at(rest.iter().take(RUN_PACKETS).take_while(alike).count());
            let parts: [IoSlice<'_>; RUN_PACKETS] = std::array::from_fn(|index| {
                IoSlice::new(run.get(index).map_or(&[], |due| bytes(&self.room, due)))
            });
            path.send(first.channel, parts.get(..run.len()).always("a run has a limit"), ecn);
            rest = others;
        }
    }

    /// Sends all packets, those of each channel in order, and reports the outcome of each. Returns the number of system
    /// calls.
    pub(super) fn flush(
        &mut self,
        socket: &UdpSocket,
        second_path: Option<&mut SecondPath>,
        mut report: impl FnMut(Channel, SocketAddr, io::Result<usize>),
    ) -> u64 {
        // A queue that a burst fills drops its last packets. With one order of channels the same ones would have all losses, which
        // to receivers looks like a queue for each flow. A product with an odd number is another order for each flush, of any
        // channels that a receiver may hold.
        self.turn = self.turn.wrapping_add(GOLDEN);
        let odd = self.turn | 1;
        let order = |channel: Channel| (u32::from(channel.0) + 1).wrapping_mul(odd);
        // An unstable sort needs no memory; places keep the order.
        self.due.sort_unstable_by_key(|due| (order(due.channel), due.start));
        if let Some(SecondPath { path, only, ecn }) = second_path {
            self.copy(path.as_mut(), *ecn);
            if *only {
                self.due.drain(..).for_each(|one| report(one.channel, one.to, Ok(one.length)));
                return 0;
            }
        }
        let (mut calls, mut next) = (0, 0);
        while next < self.due.len() {
            let first = next;
            let mut run = self.run(next);
            // Packets on their own go together, up to the next run.
            while run.len() == 1 && next - first < PER_CALL {
                next += 1;
                run = if next < self.due.len() { self.run(next) } else { next..next };
            }
            calls += self.send_each(first..next, socket, &mut report);
            if run.len() > 1 {
                calls += self.send_run(run.clone(), socket, &mut report);
                next = run.end;
            }
        }
        self.due.clear();
        calls
    }

    /// The packets from `first` on that the kernel can take as one: to one group and of one length, the last one shorter
    /// perhaps.
    fn run(&self, first: usize) -> Range<usize> {
        let rest = self.due.get(first..).unwrap_or_default();
        let Some(head) = rest.first().filter(|_| self.segmentation.is_on()) else {
            return first..(first + 1).min(self.due.len());
        };
        let most = RUN_PACKETS.min(RUN_BYTES / head.length.max(1)).max(1);
        let follows = |due: &&Due| due.to == head.to && due.length == head.length;
        let mut count = rest.iter().take(most).take_while(follows).count();
        let shorter = |due: &&Due| due.to == head.to && due.length < head.length;
        if count < most && rest.get(count).as_ref().is_some_and(shorter) {
            count += 1;
        }
        first..first + count
    }

    /// Sends a run by one call, or each packet of it if the kernel takes no runs.
    fn send_run(
        &mut self,
        run: Range<usize>,
        socket: &UdpSocket,
        report: &mut impl FnMut(Channel, SocketAddr, io::Result<usize>),
    ) -> u64 {
        let due = self.due.get(run.clone()).always("a run is one of packets that are due");
        let Some(first) = due.first() else { return 0 };
        let parts: [IoSlice<'_>; RUN_PACKETS] = std::array::from_fn(|index| {
            IoSlice::new(due.get(index).map_or(&[], |due| bytes(&self.room, due)))
        });
        let parts = parts.get(..due.len()).always("a run has a limit");
        match self.segmentation.send(socket, first.to, parts) {
            Some(Ok(())) => {
                due.iter().for_each(|one| report(one.channel, one.to, Ok(one.length)));
                1
            }
            // All of it was refused, for one reason.
            Some(Err(error)) => {
                let again = |error: &io::Error| match error.raw_os_error() {
                    Some(code) => io::Error::from_raw_os_error(code),
                    None => error.kind().into(),
                };
                due.iter().for_each(|one| report(one.channel, one.to, Err(again(&error))));
                1
            }
            None => 1 + self.send_each(run, socket, report),
        }
    }

    /// Sends packets as they are.
    fn send_each(
        &self,
        range: Range<usize>,
        socket: &UdpSocket,
        report: &mut impl FnMut(Channel, SocketAddr, io::Result<usize>),
    ) -> u64 {
        let (mut calls, mut due) = (0, self.due.get(range).always("a range is one of packets that are due"));
        while let Some((first, others)) = due.split_first() {
            calls += 1;
            let sent = match others {
                [] => socket.send_to(bytes(&self.room, first), first.to).map(|_| 1),
                // Headers are rebuilt for each call; most batches are small.
                [_] | [_, _] | [_, _, _] => send::<4>(socket, &self.room, due),
                _ => send::<PER_CALL>(socket, &self.room, due),
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
        calls
    }
}

fn bytes<'a>(room: &'a [u8], due: &Due) -> &'a [u8] {
    room.get(due.start..due.start + due.length).always("a packet was written to the room")
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
    let messages = messages.get_mut(..due.len().min(MOST)).always("the count is limited");
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
    fn packets_go_by_few_calls_and_to_their_addresses() {
        let ((from, _), (one, to_one), (two, to_two)) = (socket(), socket(), socket());
        let mut outbox = Outbox::new(10);
        for (channel, to) in [(0, to_one), (1, to_two), (0, to_one), (2, to_one), (3, to_two)] {
            fill(&mut outbox, channel, to, channel as u8 + 7);
        }
        let mut reported = Vec::new();
        let calls = outbox.flush(&from, None, |channel, _, sent| reported.push((channel.0, sent.ok())));
        reported.sort_unstable();
        assert_eq!(reported, [0, 0, 1, 2, 3].map(|channel| (channel, Some(3))));
        // A run of two, and three packets on their own before and after it.
        assert!((2..=3).contains(&calls), "{calls}");
        assert!(outbox.is_empty());
        let mut bytes = [0; 10];
        for (socket, byte) in [(&one, 7), (&one, 7), (&two, 8), (&one, 9), (&two, 10)] {
            assert_eq!(socket.recv(&mut bytes).expect("a packet"), 3);
            assert_eq!(bytes[..3], [byte; 3]);
        }
    }

    #[test]
    fn every_channel_of_any_few_is_last_about_as_often_as_others() {
        let ((from, _), (_to, address)) = (socket(), socket());
        let mut outbox = Outbox::new(10);
        for held in [3, 8, 26] {
            let mut last = vec![0; 26];
            for _ in 0..2000 {
                (0..26).for_each(|channel| fill(&mut outbox, channel, address, 1));
                let mut lowest = 0;
                outbox.flush(&from, None, |channel, _, _| {
                    if channel.0 < held {
                        lowest = channel.index();
                    }
                });
                last[lowest] += 1;
            }
            let fair = 2000 / usize::from(held);
            for (channel, &count) in last.iter().enumerate().take(held.into()) {
                assert!(
                    (fair / 4..fair * 4).contains(&count),
                    "{channel} of {held}: {count}, {fair} expected"
                );
            }
        }
    }

    #[test]
    fn a_run_is_of_one_length_and_may_end_with_a_shorter_packet() {
        let ((from, _), (to, address)) = (socket(), socket());
        let mut outbox = Outbox::new(2000);
        let lengths = [1400, 1400, 1400, 900, 1400, 1400, 1500, 20, 20];
        for length in lengths {
            outbox.add(Channel(0), address, 0, length);
        }
        let runs: Vec<_> = [0, 4, 6, 7].map(|first| outbox.run(first).len()).to_vec();
        assert_eq!(runs, [4, 2, 2, 2]);
        let mut sent = Vec::new();
        outbox.flush(&from, None, |_, _, length| sent.extend(length.ok()));
        assert_eq!(sent, lengths);
        for length in lengths {
            assert_eq!(to.recv(&mut [0; 2000]).expect("a packet"), length);
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
        let calls = outbox.flush(&from, None, |_, _, sent| reported.push(sent.is_ok()));
        assert_eq!(reported, [true, false, false, true, true]);
        assert_eq!(calls, 3);
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
