//! Messages to sockets whose queue may be full for a moment, and their control messages.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration as StdDuration;

use layercast_core::contract::Ecn;
use nix::libc::{ENOBUFS, IP_TOS, IPPROTO_IP, IPPROTO_IPV6, IPV6_TCLASS, SOL_UDP, UDP_SEGMENT};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use socket2::{MsgHdr, SockRef};

/// How long the kernel's queue may stay full before packets are dropped (CHOICE): a burst of a megabyte at 4 Gbit/s. Meanwhile
/// arriving packets wait in the receive buffers.
const LONGEST_WAIT: StdDuration = StdDuration::from_millis(2);

/// Sends a message, after a short wait if the queue is full. Counts system calls.
pub(crate) fn send(socket: &impl AsFd, message: &MsgHdr<'_, '_, '_>, calls: &mut u64) -> io::Result<()> {
    *calls += 1;
    match SockRef::from(socket).sendmsg(message, 0) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock || is_full(&error) => {
            let mut waits = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
            if ppoll(&mut waits, Some(TimeSpec::from(LONGEST_WAIT)), None).unwrap_or(0) == 0 {
                return Err(error);
            }
            *calls += 1;
            SockRef::from(socket).sendmsg(message, 0).map(|_| ())
        }
        Err(error) => Err(error),
    }
}

fn is_full(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ENOBUFS)
}

/// A control message (cmsg(3)): its length, level and type, and up to four bytes.
const WORD: usize = size_of::<usize>();
const HEAD: usize = WORD + 8;
const SPACE: usize = HEAD + WORD;

/// The control messages that name the length of packets and their ECN field, and their length.
pub(crate) fn control(segment: Option<u16>, ecn: Ecn, is_v4: bool) -> ([u8; 2 * SPACE], usize) {
    let mut bytes = [0; 2 * SPACE];
    let mut at = 0;
    let mut put = |level: i32, kind: i32, value: &[u8]| {
        let fields: [&[u8]; 4] =
            [&(HEAD + value.len()).to_ne_bytes(), &level.to_ne_bytes(), &kind.to_ne_bytes(), value];
        let room = bytes.iter_mut().skip(at);
        room.zip(fields.into_iter().flatten()).for_each(|(place, byte)| *place = *byte);
        at += SPACE;
    };
    let field: i32 = match ecn {
        Ecn::NotCapable => 0,
        Ecn::Capable => 2,
        Ecn::Marked => 3,
    };
    let (level, kind) = if is_v4 { (IPPROTO_IP, IP_TOS) } else { (IPPROTO_IPV6, IPV6_TCLASS) };
    put(level, kind, &field.to_ne_bytes());
    if let Some(segment) = segment {
        put(SOL_UDP, UDP_SEGMENT, &segment.to_ne_bytes());
    }
    (bytes, at)
}
