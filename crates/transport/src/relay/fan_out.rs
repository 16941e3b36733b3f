//! One packet to many: runs of packets that several children get, each by one system call, from one buffer.

use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};

use layercast_core::Always as _;
use layercast_core::contract::Ecn;
use layercast_core::units::{Rate, Time};
use layercast_delivery::relay::message::{DATA_HEAD_MAX, Data};
use layercast_delivery::relay::parent::Parent;
use nix::libc::{EINVAL, EIO, EMSGSIZE, ENOPROTOOPT, EOPNOTSUPP};
use socket2::MsgHdr;

use super::link::Link;
use super::sending::{control, send};
use super::tunnel::for_socket;
use crate::host::{RUN_BYTES, RUN_PACKETS};

/// The parts of a message: a header and a payload for each packet.
const PARTS: usize = 2 * RUN_PACKETS;

/// What was sent to children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FanOutCounters {
    /// Packets to children, each counted for itself.
    pub(super) packets: u64,
    /// Their bytes, without headers of UDP and IP.
    pub(super) bytes: u64,
    /// Packets that the kernel did not take, or that the highest rate did not allow.
    pub(super) dropped: u64,
    /// System calls that sent.
    pub(super) calls: u64,
}

/// The highest rate, as a token bucket.
#[derive(Debug)]
struct Limit {
    bytes_per_s: f64,
    /// The bytes that may be sent at once.
    saved: f64,
    filled: Time,
}

/// How much of the highest rate may be saved, and sent at once: a tenth of a second.
const SAVED_S: f64 = 0.1;

impl Limit {
    fn take(&mut self, now: Time, bytes: usize) -> bool {
        let passed = now.since(self.filled).as_secs_f64();
        self.filled = now;
        let most = (self.bytes_per_s * SAVED_S).max(RUN_BYTES as f64);
        self.saved = (self.saved + passed * self.bytes_per_s).min(most);
        let may = self.saved >= bytes as f64;
        if may {
            self.saved -= bytes as f64;
        }
        may
    }
}

/// Sends to children.
#[derive(Debug)]
pub(super) struct FanOut {
    is_v6: bool,
    cuts_runs: bool,
    limit: Option<Limit>,
    /// Where the next run begins in the list of its children: else the last of them would have all the losses.
    turn: usize,
    /// Where packets are sent on by multicast.
    pub(super) link: Option<Link>,
    counters: FanOutCounters,
}

impl FanOut {
    pub(super) fn new(is_v6: bool, highest: Option<Rate>) -> FanOut {
        let limit = |rate: Rate| Limit { bytes_per_s: rate.as_bps() / 8.0, saved: 0.0, filled: Time::ZERO };
        FanOut {
            is_v6,
            cuts_runs: true,
            limit: highest.map(limit),
            turn: 0,
            link: None,
            counters: FanOutCounters::default(),
        }
    }

    pub(super) fn counters(&self) -> FanOutCounters {
        self.counters
    }

    /// Sends packets of one length, of which the last may be shorter, to all children that hold their channel.
    pub(super) fn send(
        &mut self,
        now: Time,
        socket: &UdpSocket,
        (parent, session): (&mut Parent, usize),
        data: &Data,
        payloads: &[IoSlice<'_>],
        ecn: Ecn,
    ) {
        let count = parent.holders(session, data.channel).len();
        let group = parent.key(session).and_then(|key| key.address(data.channel));
        let is_run = count > 0 && payloads.len() <= RUN_PACKETS;
        let (Some(first), Some(group), true) = (payloads.first(), group, is_run) else { return };
        let mut head = [0; DATA_HEAD_MAX];
        let length = data.write(&mut head);
        let head = head.get(..length).always("a head fits its room");
        let parts: [IoSlice<'_>; PARTS] = std::array::from_fn(|index| {
            IoSlice::new(match payloads.get(index / 2) {
                Some(_) if index.is_multiple_of(2) => head,
                Some(payload) => payload,
                None => &[],
            })
        });
        let parts = parts.get(..2 * payloads.len()).always("a run has a limit");
        let segment = u16::try_from(length + first.len()).unwrap_or(u16::MAX);
        let bytes: usize = payloads.iter().map(|payload| payload.len() + length).sum();
        self.turn = self.turn.wrapping_add(1);
        for index in 0..count {
            let holders = parent.holders(session, data.channel);
            let Some(&place) = holders.get((index + self.turn) % count) else { continue };
            let Some(child) = parent.child_mut(place) else { continue };
            let packets = payloads.len() as u64;
            // The link gets packets without our header, if its hosts want this source.
            let is_link = child.address.is_none();
            if is_link && !self.link.as_mut().is_some_and(|link| link.wants(group.ip(), data.source)) {
                continue;
            }
            let (bytes, segment) = if is_link {
                (bytes - length * payloads.len(), segment.saturating_sub(length as u16))
            } else {
                (bytes, segment)
            };
            let may = self.limit.as_mut().is_none_or(|limit| limit.take(now, bytes));
            let sent = match child.address {
                _ if !may => 0,
                Some(to) => self.send_one(socket, to, parts, segment, ecn),
                None => {
                    let of = (data.source, group, data.hops);
                    let calls = &mut self.counters.calls;
                    self.link.as_ref().map_or(0, |link| link.send(of, payloads, ecn, calls))
                }
            };
            child.packets += sent;
            child.dropped += packets - sent;
            self.counters.packets += sent;
            self.counters.dropped += packets - sent;
            let sent_bytes = if sent == packets { bytes as u64 } else { sent * u64::from(segment) };
            child.bytes += sent_bytes;
            self.counters.bytes += sent_bytes;
        }
    }

    /// Sends a run to one child; how many packets of it were sent.
    fn send_one(
        &mut self,
        socket: &UdpSocket,
        to: SocketAddr,
        parts: &[IoSlice<'_>],
        segment: u16,
        ecn: Ecn,
    ) -> u64 {
        let address = for_socket(to, self.is_v6);
        if self.cuts_runs && parts.len() > 2 {
            match self.call(socket, address, to.is_ipv4(), parts, Some(segment), ecn) {
                Ok(()) => return parts.len() as u64 / 2,
                // An interface without checksum offload says EIO; one whose packets are smaller, EINVAL or EMSGSIZE.
                Err(error)
                    if matches!(
                        error.raw_os_error(),
                        Some(EIO | EINVAL | EMSGSIZE | ENOPROTOOPT | EOPNOTSUPP)
                    ) =>
                {
                    tracing::debug!(%error, %to, "UDP GSO unavailable; sending packets individually");
                    self.cuts_runs = false;
                }
                Err(error) => {
                    tracing::trace!(%error, %to, "packets were dropped");
                    return 0;
                }
            }
        }
        let one = |packet| self.call(socket, address, to.is_ipv4(), packet, None, ecn).is_ok();
        parts.chunks(2).map(one).filter(|sent| *sent).count() as u64
    }

    fn call(
        &mut self,
        socket: &UdpSocket,
        to: SocketAddr,
        is_v4: bool,
        parts: &[IoSlice<'_>],
        segment: Option<u16>,
        ecn: Ecn,
    ) -> io::Result<()> {
        let (control, length) = control(segment, ecn, is_v4);
        let address = to.into();
        let message = MsgHdr::new()
            .with_addr(&address)
            .with_buffers(parts)
            .with_control(control.get(..length).always("the length is that of what was written"));
        send(socket, &message, &mut self.counters.calls)
    }
}
