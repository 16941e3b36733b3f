//! The door of a host: a TUN device, from which the packets of its kernel are read and to which those for it are
//! written.

use std::io;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;
use tun_rs::{DeviceBuilder, SyncDevice};

/// The name of the device in every host.
pub(crate) const NAME: &str = "net0";

/// A TUN device.
pub(crate) struct Device {
    tun: SyncDevice,
}

impl Device {
    /// Makes one in the namespace of the calling thread. It is down.
    pub(crate) fn open(mtu: u16) -> io::Result<Device> {
        let tun = DeviceBuilder::new().name(NAME).mtu(mtu).enable(false).build_sync()?;
        rustix::io::ioctl_fionbio(&tun, true)?;
        Ok(Device { tun })
    }

    /// Reads a packet. None if there is none now.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&self.tun, into) {
            Ok(length) => Ok(Some(length)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Hands a packet to the host.
    pub(crate) fn write(&self, packet: &[u8]) -> io::Result<()> {
        rustix::io::write(&self.tun, packet)?;
        Ok(())
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}
