//! What a reception may do, what it says, and how far it is.

use core::fmt;
use std::io;

use crate::listing::InstanceError;
use crate::object::{NameError, TableError};
use crate::package::PackageError;

/// How often the same wrong content of an object comes before it fails: it is what the sender has.
pub(super) const TRIES: u32 = 3;
/// How often an object of wrong contents that differ is received (CHOICE: bursts of forged packets spoil fewer).
pub(super) const TRIES_MAX: u32 = 100;

/// What a receiver may do to its folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceptionSettings {
    /// Files of the same path and other content are replaced.
    pub replace: bool,
    /// Files that the source removes or no longer has are removed, if a receiver put them there
    /// ([`Placed`](crate::placed::Placed)).
    pub mirror: bool,
}

/// What happened to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceptionEvent {
    /// A long object continues with symbols of an earlier receiver.
    Resumed {
        /// Its path.
        path: String,
        /// Symbols present.
        held: u64,
        /// Symbols needed.
        needed: u64,
    },
    /// Symbols of an object are not recorded, so that a later receiver could not resume.
    NotRecorded {
        /// Its path.
        path: String,
    },
    /// An object is in its place.
    Complete {
        /// Its path.
        path: String,
        /// Its length.
        length: u64,
    },
    /// A file with this content was in its place already.
    Present {
        /// Its path.
        path: String,
    },
    /// An object was complete and had a wrong hash; its reception starts again.
    WrongHash {
        /// Its path.
        path: String,
    },
    /// An object cannot be received.
    Failed {
        /// Its path.
        path: String,
        /// Why.
        reason: ObjectError,
    },
    /// The source removed an object.
    Removed {
        /// Its path.
        path: String,
    },
    /// An instance of the table cannot be used.
    Rejected(InstanceError),
}

/// Why reception cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {source}")]
pub struct DiskError {
    /// The object's path.
    pub path: String,
    /// The disk's error.
    pub source: io::Error,
}

/// How far a reception is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceptionProgress {
    /// Objects of the session that are known.
    pub objects: usize,
    /// Objects in their place.
    pub complete: usize,
    /// Objects that cannot be received.
    pub failed: usize,
    /// The bytes of all of them.
    pub bytes: u64,
    /// The least number of symbols that they need.
    pub needed: u64,
    /// How many of these are present.
    pub held: u64,
    /// Whether more objects may follow.
    pub is_open: bool,
}

impl ReceptionProgress {
    /// Whether all objects that are known are in their place.
    pub fn is_complete(&self) -> bool {
        self.objects > 0 && self.complete == self.objects
    }
}

/// Why an object cannot be received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectError {
    /// Its path is not safe.
    Name(NameError),
    /// A file of other content is at its path, and may not be replaced.
    Exists,
    /// A folder, a link or a device is at its path, or in place of a folder above.
    InTheWay,
    /// Its hash was wrong several times.
    Hash,
    /// The disk refuses it.
    Disk(io::ErrorKind),
    /// Its entry in the table describes a file that this receiver cannot take.
    Table(TableError),
    /// It is a package of files that cannot be read.
    Package(PackageError),
    /// The hashes of its parts do not give its own.
    Parts,
    /// The table names more than is kept in memory.
    NoRoom,
}

/// Whether an error may pass when somebody makes space.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

impl ObjectError {
    pub(super) fn of(error: &io::Error) -> ObjectError {
        match error.kind() {
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists | io::ErrorKind::IsADirectory => {
                ObjectError::InTheWay
            }
            kind => ObjectError::Disk(kind),
        }
    }
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectError::Name(reason) => write!(f, "its path is not safe: {reason}"),
            ObjectError::Exists => {
                write!(f, "a file of other content is there already: move it, or replace it with --replace")
            }
            ObjectError::InTheWay => {
                write!(f, "a folder, a link or a file that is not a folder is in its place: move it away")
            }
            ObjectError::Hash => write!(
                f,
                "its hash is wrong, time and again: another source may be sending to the group, or the file changed"
            ),
            ObjectError::Disk(kind) => write!(f, "the disk refuses it: {kind}"),
            ObjectError::Table(reason) => write!(f, "it is of a kind that is not supported: {reason}"),
            ObjectError::Package(reason) => write!(f, "{reason}"),
            ObjectError::NoRoom => write!(
                f,
                "the file delivery table names more files than are kept in memory for a sender that no key shows to be the right one: ask it for \
                 packages, or for --key, without which anyone may forge tables"
            ),
            ObjectError::Parts => write!(
                f,
                "the hashes of its parts in the file delivery table do not give that of the file: another source may be sending to the group"
            ),
        }
    }
}
