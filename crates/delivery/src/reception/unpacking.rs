//! A compressed object of another sender, from its symbols to its content.

use std::io;

use crate::disk::{Disk, DiskFile as _};
use crate::journal::Identity;
use crate::object::{Compressed, Digests, Entry, Hasher, Inflated, Inflater};
use crate::placing::{OWN_FOLDER, Partial, unpacked_name};

/// An object that is complete and is decompressed into a file of its own.
#[derive(Debug)]
pub(super) struct Unpacking<F> {
    pub(super) partial: Box<Partial<F>>,
    pub(super) file: F,
    inflater: Inflater,
    hasher: Hasher,
    /// The hashes of what was sent. Senders disagree on whether an MD5 is that of the content or of what is sent.
    pub(super) sent: Digests,
}

/// What became of a part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unpacked {
    More,
    /// Whether it is right.
    Done(bool),
}

impl<F: crate::disk::DiskFile> Unpacking<F> {
    /// Begins; the disk reserves the space for the whole content.
    pub(super) fn new<D: Disk<File = F>>(
        disk: &mut D,
        identity: &Identity,
        entry: &Entry,
        compressed: Compressed,
        partial: Box<Partial<F>>,
        sent: Digests,
    ) -> Result<Unpacking<F>, (Box<Partial<F>>, io::Error)> {
        match open(disk, identity, compressed.length) {
            Ok(file) => Ok(Unpacking {
                inflater: Inflater::new(compressed.encoding, partial.coding.length(), compressed.length),
                partial,
                file,
                hasher: Hasher::new(entry.md5.is_some()),
                sent,
            }),
            Err(error) => Err((partial, error)),
        }
    }

    /// Decompresses the next part.
    pub(super) fn go_on(&mut self, entry: &Entry, room: &mut [u8]) -> io::Result<Unpacked> {
        let Unpacking { partial, file, inflater, hasher, sent } = self;
        let inflated =
            inflater.go_on(partial.reassembly.file(), file, room, &mut |part| hasher.update(part))?;
        Ok(match inflated {
            Inflated::More => Unpacked::More,
            Inflated::Damaged => Unpacked::Done(false),
            Inflated::Done => Unpacked::Done(entry.agrees(&hasher.finish()) || entry.agrees(sent)),
        })
    }
}

fn open<D: Disk>(disk: &mut D, identity: &Identity, length: u64) -> io::Result<D::File> {
    disk.create_folder(OWN_FOLDER)?;
    let file = disk.open(&unpacked_name(identity))?;
    file.set_length(0)?;
    file.set_length(length)?;
    Ok(file)
}
