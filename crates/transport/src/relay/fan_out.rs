//! One packet to many: runs of packets that several children get, each by one system call, from one buffer.

use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};

use layercast_core::Always as _;
use layercast_core::contract::Ecn;
use layercast_core::units::Time;
use layercast_delivery::node::{Copies, Relay};
use layercast_delivery::relay::message::DATA_HEAD_MAX;
use nix::libc::{EINVAL, EIO, EMSGSIZE, ENOPROTOOPT, EOPNOTSUPP};
use socket2::MsgHdr;

use super::link::Link;
use super::sending::{control, send};
use super::tunnel::for_socket;
use crate::host::RUN_PACKETS;

/// The parts of a message: a header and a payload for each packet.
const PARTS: usize = 2 * RUN_PACKETS;

/// Sends to children.
#[derive(Debug)]
pub(super) struct FanOut {
    is_v6: bool,
    cuts_runs: bool,
    /// Where packets are sent on by multicast.
    pub(super) link: Option<Link>,
    /// System calls that sent.
    calls: u64,
}

impl FanOut {
    pub(super) fn new(is_v6: bool) -> FanOut {
        FanOut { is_v6, cuts_runs: true, link: None, calls: 0 }
    }

    /// System calls that sent.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    /// Sends packets of one length, of which the last may be shorter, to all children that hold their channel.
    pub(super) fn send(
        &mut self,
        now: Time,
        socket: &UdpSocket,
        node: &mut Relay,
        mut copies: Copies,
        payloads: &[IoSlice<'_>],
        ecn: Ecn,
    ) {
        let (Some(first), true) = (payloads.first(), payloads.len() <= RUN_PACKETS) else { return };
        let mut head = [0; DATA_HEAD_MAX];
        let length = copies.head.write(&mut head);
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
        let packets = payloads.len() as u64;
        let (source, group) = (copies.head.source, copies.group.ip());
        while let Some(holder) = node.next_holder(&mut copies) {
            // The link gets packets without our header, if its hosts want this source.
            let is_link = holder.address.is_none();
            if is_link && !self.link.as_mut().is_some_and(|link| link.wants(group, source)) {
                continue;
            }
            let (bytes, segment) = if is_link {
                (bytes - length * payloads.len(), segment.saturating_sub(length as u16))
            } else {
                (bytes, segment)
            };
            let sent = match holder.address {
                _ if !node.may_send(now, bytes) => 0,
                Some(to) => self.send_one(socket, to, parts, segment, ecn),
                None => {
                    self.link.as_ref().map_or(0, |link| link.send(&copies, payloads, ecn, &mut self.calls))
                }
            };
            let sent_bytes = if sent == packets { bytes as u64 } else { sent * u64::from(segment) };
            node.sent(holder, packets, sent, sent_bytes);
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
        send(socket, &message, &mut self.calls)
    }
}
