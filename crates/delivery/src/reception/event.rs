//! What a reception may do, what it says, and how far it is.

use core::fmt;
use std::io;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event")]
pub enum ReceptionEvent {
    /// A long object continues with symbols of an earlier receiver.
    #[serde(rename = "object_resumed")]
    Resumed {
        /// Its path.
        path: String,
        /// Symbols present.
        #[serde(rename = "symbols_held")]
        held: u64,
        /// Symbols needed.
        #[serde(rename = "symbols_needed")]
        needed: u64,
    },
    /// Symbols of an object are not recorded, so that a later receiver could not resume.
    #[serde(rename = "object_not_recorded")]
    NotRecorded {
        /// Its path.
        path: String,
    },
    /// An object is in its place.
    #[serde(rename = "object_complete")]
    Complete {
        /// Its path.
        path: String,
        /// Its length.
        #[serde(rename = "bytes")]
        length: u64,
    },
    /// A file with this content was in its place already.
    #[serde(rename = "object_present")]
    Present {
        /// Its path.
        path: String,
    },
    /// An object was complete and had a wrong hash; its reception starts again.
    #[serde(rename = "object_wrong_hash")]
    WrongHash {
        /// Its path.
        path: String,
    },
    /// An object cannot be received.
    #[serde(rename = "object_failed")]
    Failed {
        /// Its path.
        path: String,
        /// Why.
        #[serde(rename = "text", serialize_with = "in_words")]
        reason: ObjectError,
    },
    /// The source removed an object.
    #[serde(rename = "object_removed")]
    Removed {
        /// Its path.
        path: String,
    },
    /// An instance of the table cannot be used.
    #[serde(rename = "table_rejected")]
    Rejected(#[serde(serialize_with = "as_text")] InstanceError),
}

fn in_words<T: fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn as_text<T: fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct("Text", 1)?;
    fields.serialize_field("text", &value.to_string())?;
    fields.end()
}

impl ReceptionEvent {
    /// The path of the object; none of an instance of the table.
    pub fn path(&self) -> Option<&str> {
        match self {
            ReceptionEvent::Resumed { path, .. }
            | ReceptionEvent::NotRecorded { path }
            | ReceptionEvent::Complete { path, .. }
            | ReceptionEvent::Present { path }
            | ReceptionEvent::WrongHash { path }
            | ReceptionEvent::Failed { path, .. }
            | ReceptionEvent::Removed { path } => Some(path),
            ReceptionEvent::Rejected(_) => None,
        }
    }

    /// Whether something is wrong.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            ReceptionEvent::NotRecorded { .. }
                | ReceptionEvent::WrongHash { .. }
                | ReceptionEvent::Failed { .. }
                | ReceptionEvent::Rejected(_)
        )
    }

    /// What people should know of the object, without its path; none of one that is in its place.
    pub fn text(&self) -> Option<String> {
        Some(match self {
            ReceptionEvent::Resumed { held, needed, .. } => {
                format!("{held} of {needed} symbols are here already: the rest follows")
            }
            ReceptionEvent::NotRecorded { .. } => {
                "what arrives is not recorded, so that a restarted receiver would begin again".to_owned()
            }
            ReceptionEvent::WrongHash { .. } => {
                "it is complete but its hash is wrong: its reception starts again".to_owned()
            }
            ReceptionEvent::Failed { reason, .. } => reason.to_string(),
            ReceptionEvent::Removed { .. } => "the source removed it".to_owned(),
            ReceptionEvent::Rejected(error) => error.to_string(),
            ReceptionEvent::Complete { .. } | ReceptionEvent::Present { .. } => return None,
        })
    }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReceptionProgress {
    /// Objects of the session that are known.
    pub objects: usize,
    /// Objects in their place.
    #[serde(rename = "objects_complete")]
    pub complete: usize,
    /// Objects that cannot be received.
    #[serde(rename = "objects_failed")]
    pub failed: usize,
    /// The bytes of all of them.
    #[serde(rename = "objects_bytes")]
    pub bytes: u64,
    /// The least number of symbols that they need.
    #[serde(rename = "symbols_needed")]
    pub needed: u64,
    /// How many of these are present.
    #[serde(rename = "symbols_held")]
    pub held: u64,
    /// Whether more objects may follow.
    #[serde(skip)]
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
    /// Whether another attempt may succeed though nobody changes names or rights.
    pub(super) fn may_pass(self) -> bool {
        use io::ErrorKind::{
            FileTooLarge, InvalidFilename, InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported,
        };
        let lasts = |kind| {
            matches!(
                kind,
                FileTooLarge
                    | InvalidFilename
                    | InvalidInput
                    | PermissionDenied
                    | ReadOnlyFilesystem
                    | Unsupported
            )
        };
        matches!(self, ObjectError::Disk(kind) if !lasts(kind))
    }

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
