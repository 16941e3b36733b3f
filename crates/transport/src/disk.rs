//! Files of the system, as the delivery layer wants them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use layercast_delivery::disk::DiskFile;
use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};

/// An open file of the system.
#[derive(Debug)]
pub struct OpenFile(pub File);

impl DiskFile for OpenFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)?;
        if length == 0 {
            return Ok(());
        }
        // A full disk is better reported now than after an hour.
        match fallocate(&self.0, FallocateFlags::empty(), 0, length as i64) {
            Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn read_at(&self, start: u64, room: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(room, start)
    }

    fn write_at(&self, start: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, start)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}
