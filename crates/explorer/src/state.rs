//! The state of a source on a disk that fails.

use std::io;

use layercast_core::stream::Stream;
use layercast_delivery::disk::{self, Disk as _};
use layercast_delivery::send_state::file::{Saved, StateError};

use crate::disk::FaultyDisk;

const STATE: &str = "state";

/// The bytes of a state, if there is one.
pub(crate) fn bytes(disk: &FaultyDisk) -> Option<Vec<u8>> {
    disk.files().into_iter().find(|(path, _)| path == STATE).map(|(_, bytes)| bytes)
}

/// Reads a state; an empty one if there is no file.
pub(crate) fn read(disk: &FaultyDisk) -> Result<Saved, StateError> {
    bytes(disk).map_or_else(|| Ok(Saved::default()), |bytes| Saved::parse(&bytes))
}

/// Replaces the file of a state as a whole.
pub(crate) fn replace(mut disk: FaultyDisk, bytes: &[u8]) -> io::Result<()> {
    disk::replace(&mut disk, STATE, bytes)
}

/// Damages a state, as a disk does whose sectors fail. What it is now, if there is one.
pub(crate) fn damage(disk: &FaultyDisk, chaos: &mut Stream) -> Option<Vec<u8>> {
    let mut bytes = bytes(disk)?;
    let at = (chaos.bits() % bytes.len().max(1) as u64) as usize;
    if chaos.chance(0.5) {
        bytes.truncate(at);
    } else {
        bytes.iter_mut().skip(at).take(1 + chaos.bits() as usize % 600).for_each(|byte| *byte ^= 0x5a);
    }
    disk.put(STATE, &bytes);
    Some(bytes)
}

/// An operator removes the state.
pub(crate) fn remove(mut disk: FaultyDisk) {
    // One that the disk does not remove is refused again.
    let _ = disk.remove(STATE);
}
