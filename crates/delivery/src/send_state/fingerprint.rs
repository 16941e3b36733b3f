//! What a file is known by.

use serde::{Deserialize, Serialize};

use crate::object::{Sha256, sha256};

/// What identifies the content of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The number of its device.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Its length in bytes.
    pub length: u64,
    /// When it was modified, in seconds and nanoseconds.
    pub modified: (i64, i64),
}

impl Fingerprint {
    /// The tag of a content: another file, and another version of this one, has another.
    pub fn tag(self) -> Sha256 {
        let Fingerprint { device, inode, length, modified: (seconds, nanoseconds) } = self;
        sha256(format!("layercast tag {device} {inode} {length} {seconds} {nanoseconds}").as_bytes())
    }
}
