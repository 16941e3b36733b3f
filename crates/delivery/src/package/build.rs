//! The bytes of a package.

use std::collections::BTreeSet;
use std::sync::Arc;

use sha2::Digest as _;

use super::{Group, Head, PackageError, Part, package_name};
use crate::catalogue::Item;
use crate::disk::Attributes;
use crate::object::Sha256;

/// A package that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// Its path, in the table.
    pub name: String,
    /// Its length in bytes.
    pub length: u64,
    /// Its hash.
    pub sha256: Sha256,
    /// What its files are and where.
    pub head: Head,
}

/// Fills its room with the content of a file.
pub type Read<'a, E> = dyn FnMut(&Part, &mut [u8]) -> Result<(), E> + 'a;

/// Builds a package: `read` fills its room with the content of a file, and `write` gets the bytes one after the other.
///
/// # Errors
/// Those of the two, and if no receiver would take the package.
pub fn build<E: From<PackageError>>(
    group: &Group,
    read: &mut Read<'_, E>,
    write: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<Built, E> {
    let members: Vec<_> = group.iter().map(|(member, _)| member.clone()).collect();
    let bytes = Head::encode(&members)?;
    let head = Head::of(members, bytes.len());
    let mut hasher = sha2::Sha256::new_with_prefix(&bytes);
    write(&bytes)?;
    let mut length = bytes.len() as u64;
    let mut room = Vec::new();
    for (member, part) in group {
        // It was bounded when the head was encoded.
        room.resize(usize::try_from(member.length).map_err(|_| PackageError::Size)?, 0);
        read(part, &mut room)?;
        hasher.update(&room);
        write(&room)?;
        length += member.length;
    }
    let sha256 = hasher.finalize().into();
    Ok(Built { name: package_name(&sha256), length, sha256, head })
}

impl Built {
    /// The package as an item of a catalogue; `leaves` are the hashes of its blocks if it is signed.
    pub fn item(&self, leaves: Arc<[Sha256]>) -> Item {
        Item {
            path: self.name.clone(),
            file: Some((self.length, Some(self.sha256))),
            tag: None,
            leaves,
            parts: None,
            members: self.head.members().iter().map(|member| member.path.clone()).collect(),
            attributes: Attributes::default(),
        }
    }
}

/// The numbers of the items of a change that are in groups.
pub fn packed(groups: &[Group]) -> BTreeSet<usize> {
    let number = |(_, part): &(_, Part)| match part {
        Part::New(number) => Some(*number),
        Part::Kept(..) => None,
    };
    groups.iter().flatten().filter_map(number).collect()
}
