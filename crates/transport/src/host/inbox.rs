//! Packets that have come, from several sockets, in the order of their arrival.

use std::io::IoSliceMut;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, UNIX_EPOCH};

use layercast_protocol::contract::Ecn;
use layercast_protocol::units::{Channel, Time};
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg};
use nix::sys::time::TimeSpec;

use super::Clock;

/// Packets taken in one go. More wait in the kernel for the next.
const BATCH: usize = 256;
/// Packets taken from one socket in one go, so that a full one does not keep the others waiting.
const PER_SOCKET: usize = 64;

/// A packet that came.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
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
    control: Vec<u8>,
    heard: Vec<Heard>,
}

impl Inbox {
    /// Room for packets of up to `largest` bytes of UDP payload.
    pub fn new(largest: usize) -> Inbox {
        Inbox {
            room: vec![0; BATCH * largest],
            largest,
            control: nix::cmsg_space!(TimeSpec, u8, u32),
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
        for _ in 0..PER_SOCKET {
            let start = self.heard.len() * self.largest;
            let Some(room) = self.room.get_mut(start..start + self.largest) else { return Ok(()) };
            let mut parts = [IoSliceMut::new(room)];
            let flags = MsgFlags::MSG_DONTWAIT;
            let control = Some(self.control.as_mut_slice());
            let message = match recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut parts, control, flags) {
                Ok(message) => message,
                Err(Errno::EAGAIN) => return Ok(()),
                Err(Errno::EINTR) => continue,
                // A unicast packet of ours met a closed port: no matter for what comes in.
                Err(Errno::ECONNREFUSED) => continue,
                Err(error) => return Err(error),
            };
            let (mut stamp, mut tos) = (None, None);
            for control in message.cmsgs().into_iter().flatten() {
                match control {
                    ControlMessageOwned::ScmTimestampns(time) => {
                        let since = Duration::from(time);
                        stamp = UNIX_EPOCH.checked_add(since);
                    }
                    ControlMessageOwned::Ipv4Tos(byte) => tos = Some(byte),
                    _ => {}
                }
            }
            let from = message.address.map_or((Ipv4Addr::UNSPECIFIED, 0), |from| (from.ip(), from.port()));
            self.heard.push(Heard {
                at: clock.arrival(stamp),
                channel,
                from: SocketAddrV4::new(from.0, from.1),
                ecn: ecn_of(tos),
                cut: message.flags.contains(MsgFlags::MSG_TRUNC),
                start,
                length: message.bytes,
            });
        }
        Ok(())
    }

    /// Puts packets of all sockets in the order of their arrival.
    pub fn sort(&mut self) {
        self.heard.sort_by_key(|heard| heard.at);
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
    pub fn get(&self, index: usize) -> Option<(Heard, &[u8])> {
        let heard = *self.heard.get(index)?;
        let length = heard.length.min(self.largest);
        Some((heard, self.room.get(heard.start..heard.start + length)?))
    }
}

/// The two bits of ECN (RFC 3168, section 5).
fn ecn_of(tos: Option<u8>) -> Ecn {
    match tos.map(|tos| tos & 3) {
        None | Some(0) => Ecn::NotCapable,
        Some(3) => Ecn::Marked,
        Some(_) => Ecn::Capable,
    }
}
