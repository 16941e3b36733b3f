//! Messages to sockets whose queue may be full for a moment.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration as StdDuration;

use nix::libc::ENOBUFS;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use socket2::{MsgHdr, SockRef};

/// How long the kernel's queue may stay full before packets are dropped (CHOICE): a burst of a megabyte at 4 Gbit/s. Meanwhile
/// arriving packets wait in the receive buffers.
const LONGEST_WAIT: StdDuration = StdDuration::from_millis(2);

/// Sends a message, after a short wait if the queue is full. Counts system calls.
pub(super) fn send(socket: &impl AsFd, message: &MsgHdr<'_, '_, '_>, calls: &mut u64) -> io::Result<()> {
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
