//! Where an object is on the disk: first among the receiver's own files, then at its path.

use std::io;
use std::sync::Arc;

use sha2::Digest as _;

use crate::disk::{Attributes, Disk, DiskFile, Found, Region};
use crate::journal::{Identity, Journal};
use crate::memory::MemoryFile;
use crate::object::{
    BlockHashes, Coding, Content, Digests, Entry, FilePart, Hasher, Reassembly, folders_above,
};
use layercast_core::{Always as _, cannot_be};

/// The folder of partial files and their records, in the folder of received files. No object's path leads there, since
/// its first part is hidden.
pub const OWN_FOLDER: &str = ".layercast";
/// Objects up to this length are kept in memory until they are complete (CHOICE).
pub const SHORT: u64 = 1 << 16;

/// What comes in the place of a FEC encoding in the identity of a file of parts.
const PARTS: [u8; 1] = [255];
/// What comes before a tag in the identity of an object that has one.
const TAGGED: [u8; 1] = [254];

/// What a file is, whatever the numbers of its objects.
pub fn identity(entry: &Entry) -> Identity {
    let (Some(FilePart { layout, sha256, .. }), Content::File { coding, .. }) = (entry.part, entry.content)
    else {
        return own_identity(entry);
    };
    let mut hasher = sha2::Sha256::new();
    hasher.update((entry.path.len() as u64).to_be_bytes());
    hasher.update(&entry.path);
    hasher.update(PARTS);
    for number in [layout.length(), layout.part(), coding.symbol_size() as u64] {
        hasher.update(number.to_be_bytes());
    }
    hasher.update(sha256);
    hasher.finalize().into()
}

/// What an object is, whatever its number. It differs from that of the file only if it is a part of one.
pub fn own_identity(entry: &Entry) -> Identity {
    let mut hasher = sha2::Sha256::new();
    let name = entry.location();
    hasher.update((name.len() as u64).to_be_bytes());
    hasher.update(name);
    if let Content::File { coding, sha256 } = entry.content {
        hasher.update([coding.encoding_id()]);
        hasher.update(coding.length().to_be_bytes());
        hasher.update((coding.symbol_size() as u64).to_be_bytes());
        match coding {
            Coding::RaptorQ(oti) => hasher.update(oti.scheme()),
            Coding::NoCode(coding) => hasher.update(coding.max_block().to_be_bytes()),
        }
        // The tag stays when the hash becomes known.
        match entry.tag {
            Some(tag) => {
                hasher.update(TAGGED);
                hasher.update(tag);
            }
            None => hasher.update(sha256.unwrap_or_default()),
        }
    }
    if let Some(md5) = entry.md5 {
        hasher.update(md5);
    }
    hasher.finalize().into()
}

/// The names of an object's partial file and of its record.
pub fn own_names(identity: &Identity) -> (String, String) {
    let name = base16ct::lower::encode_string(&identity[..12]);
    (format!("{OWN_FOLDER}/{name}.partial"), format!("{OWN_FOLDER}/{name}.symbols"))
}

/// The name of the record of a part of a file.
pub fn part_record(identity: &Identity, number: u32) -> String {
    let (partial, _) = own_names(identity);
    partial.replace(".partial", &format!(".{number}.symbols"))
}

/// The name of the file that a compressed object is decompressed into.
pub fn unpacked_name(identity: &Identity) -> String {
    let (partial, _) = own_names(identity);
    partial.replace(".partial", ".unpacked")
}

/// The name of the file that keeps the index of a package.
pub fn index_name(identity: &Identity) -> String {
    let (partial, _) = own_names(identity);
    partial.replace(".partial", ".index")
}

/// The name of a file of a package until it is moved to its path.
pub fn member_name(identity: &Identity, slot: usize) -> String {
    let (partial, _) = own_names(identity);
    partial.replace(".partial", &format!(".file{slot}"))
}

/// A long object that is not complete yet, in a partial file of its own or in that of the file that it is a part of.
#[derive(Debug)]
pub struct Partial<F> {
    /// Its symbols.
    pub coding: Coding,
    /// The reassembly into the partial file.
    pub reassembly: Reassembly<Region<F>>,
    /// None where the record cannot be written.
    pub journal: Option<Journal<F>>,
    /// How many symbols were there already.
    pub resumed: u64,
}

/// Opens the partial file of an object, and continues with what it holds. Blocks are verified by their hashes, if these
/// are known.
///
/// # Errors
/// The disk's error; [`io::ErrorKind::StorageFull`] before any symbol arrives.
pub fn open_partial<D: Disk>(
    disk: &mut D,
    identity: &Identity,
    coding: Coding,
    hashes: BlockHashes,
) -> io::Result<Partial<D::File>> {
    disk.create_folder(OWN_FOLDER)?;
    let (partial, symbols) = own_names(identity);
    let file = disk.open(&partial)?;
    let record = disk.open(&symbols);
    let is_same = file.length()? == coding.length()
        && record.as_ref().is_ok_and(|record| Journal::describes(record, identity));
    if !is_same {
        file.set_length(0)?;
        if let Err(error) = file.set_length(coding.length()) {
            // Not to keep what others need.
            let _ = file.set_length(0);
            return Err(error);
        }
    }
    let region = Region::new(Arc::new(file), 0, coding.length());
    Ok(go_on(Reassembly::new(coding, region, hashes), coding, identity, is_same, record))
}

/// Continues with what a record says, if it is that of this object.
fn go_on<F: DiskFile>(
    mut reassembly: Reassembly<Region<F>>,
    coding: Coding,
    identity: &Identity,
    is_same: bool,
    record: io::Result<F>,
) -> Partial<F> {
    let journal = record.and_then(|record| {
        if is_same {
            return Journal::resume(record, identity, &mut reassembly);
        }
        if record.length()? > 0 {
            tracing::info!("a partial file is begun again: its journal is of another version, or damaged");
        }
        Journal::create(record, identity)
    });
    let (_, resumed) = reassembly.symbols();
    Partial { coding, reassembly, journal: journal.ok(), resumed }
}

/// Opens the partial file of a file of so many parts. If it is not what an earlier receiver left, the records of its parts are
/// removed.
///
/// # Errors
/// As [`open_partial`].
pub fn open_whole<D: Disk>(
    disk: &mut D,
    identity: &Identity,
    length: u64,
    count: u32,
) -> io::Result<D::File> {
    disk.create_folder(OWN_FOLDER)?;
    let (partial, _) = own_names(identity);
    let file = disk.open(&partial)?;
    if file.length()? == length {
        return Ok(file);
    }
    // Before the file has its length: who is killed meanwhile must not leave records of what is not there.
    file.set_length(0)?;
    for number in 0..count {
        disk.remove(&part_record(identity, number))?;
    }
    if let Err(error) = file.set_length(length) {
        let _ = file.set_length(0);
        return Err(error);
    }
    Ok(file)
}

/// Opens a part of a file, whose partial file is open, and continues with what the part's record says.
pub fn open_part<D: Disk>(
    disk: &mut D,
    identity: &Identity,
    file: &Arc<D::File>,
    entry: &Entry,
    hashes: BlockHashes,
) -> Option<Partial<D::File>> {
    let (Some(part), Content::File { coding, .. }) = (entry.part, entry.content) else {
        return cannot_be("the entry is that of a part");
    };
    let own = own_identity(entry);
    let record = disk.open(&part_record(identity, part.number));
    let is_same = record.as_ref().is_ok_and(|record| Journal::describes(record, &own));
    let region = Region::new(Arc::clone(file), part.offset(), coding.length());
    Some(go_on(Reassembly::new(coding, region, hashes), coding, &own, is_same, record))
}

/// How many symbols of a part the partial file has, at most, by the length of the part's record.
pub fn held_of_part<D: Disk>(disk: &mut D, identity: &Identity, entry: &Entry) -> u64 {
    let (Some(part), Content::File { coding, .. }) = (entry.part, entry.content) else {
        return cannot_be("the entry is that of a part");
    };
    let record = disk.read(&part_record(identity, part.number));
    let record = record.ok().filter(|record| Journal::describes(record, &own_identity(entry)));
    record.map_or(0, |record| Journal::held_at_most(&record).min(coding.symbols()))
}

/// Removes the partial file of a file of so many parts, and their records.
///
/// # Errors
/// The disk's error.
pub fn remove_parts<D: Disk>(disk: &mut D, identity: &Identity, count: u32) -> io::Result<()> {
    for number in 0..count {
        disk.remove(&part_record(identity, number))?;
    }
    let (partial, _) = own_names(identity);
    disk.remove(&partial)
}

/// Moves a file whose parts are complete to its path.
///
/// # Errors
/// As [`place`].
pub fn place_parts<D: Disk>(
    disk: &mut D,
    identity: &Identity,
    file: &D::File,
    entry: &Entry,
) -> io::Result<()> {
    let (partial, _) = own_names(identity);
    move_to(disk, &partial, file, &entry.path, entry.attributes)?;
    // Without their file records are of no use; whether they can be removed changes nothing.
    for number in 0..entry.part.map_or(0, |part| part.layout.count()) {
        let _ = disk.remove(&part_record(identity, number));
    }
    Ok(())
}

/// Removes the partial file of an object and its record.
///
/// # Errors
/// The disk's error.
pub fn remove_partial<D: Disk>(disk: &mut D, identity: &Identity) -> io::Result<()> {
    let (partial, symbols) = own_names(identity);
    disk.remove(&symbols)?;
    disk.remove(&partial)
}

/// Moves a complete object to its path.
///
/// # Errors
/// The disk's error; [`io::ErrorKind::NotADirectory`] if something in the path is not a folder, and
/// [`io::ErrorKind::AlreadyExists`] if there is something other than a file at its end.
pub fn place<D: Disk>(
    disk: &mut D,
    identity: &Identity,
    file: &impl DiskFile,
    path: &str,
    attributes: Attributes,
) -> io::Result<()> {
    let (partial, symbols) = own_names(identity);
    move_to(disk, &partial, file, path, attributes)?;
    // Without its file a record is of no use; whether it can be removed changes nothing.
    let _ = disk.remove(&symbols);
    Ok(())
}

/// Moves the content of a compressed object, which is complete, to its path.
///
/// # Errors
/// As [`place`].
pub fn place_unpacked<D: Disk>(
    disk: &mut D,
    identity: &Identity,
    file: &D::File,
    path: &str,
    attributes: Attributes,
) -> io::Result<()> {
    move_to(disk, &unpacked_name(identity), file, path, attributes)?;
    // What was sent is of no use any more.
    let _ = remove_partial(disk, identity);
    Ok(())
}

fn move_to<D: Disk>(
    disk: &mut D,
    from: &str,
    file: &impl DiskFile,
    path: &str,
    attributes: Attributes,
) -> io::Result<()> {
    prepare(disk, path)?;
    disk.set_attributes(from, attributes)?;
    file.sync()?;
    disk.rename(from, path)
}

/// Writes a complete short object, and moves it to its path.
///
/// # Errors
/// As [`place`].
pub fn place_bytes<D: Disk>(
    disk: &mut D,
    identity: &Identity,
    bytes: &[u8],
    path: &str,
    attributes: Attributes,
) -> io::Result<()> {
    disk.create_folder(OWN_FOLDER)?;
    let (partial, _) = own_names(identity);
    let file = disk.open(&partial)?;
    file.set_length(bytes.len() as u64)?;
    file.write_at(0, bytes)?;
    place(disk, identity, &file, path, attributes)
}

/// Creates the folders above a path, and checks that a file can be put there.
///
/// # Errors
/// As [`place`].
pub fn prepare<D: Disk>(disk: &mut D, path: &str) -> io::Result<()> {
    for folder in folders_above(path) {
        match disk.stat(folder)? {
            Found::Folder => {}
            Found::Nothing => disk.create_folder(folder)?,
            Found::File(_) | Found::Other => return Err(io::ErrorKind::NotADirectory.into()),
        }
    }
    match disk.stat(path)? {
        Found::Nothing | Found::File(_) => Ok(()),
        Found::Folder | Found::Other => Err(io::ErrorKind::AlreadyExists.into()),
    }
}

/// The hashes of a file, computed part by part, so that a long file does not stop reception.
#[derive(Debug, Clone)]
pub struct Hashing {
    hasher: Hasher,
    done: u64,
}

impl Hashing {
    /// The hashes that an object needs.
    pub fn of(entry: &Entry) -> Hashing {
        let hasher = match entry.part {
            Some(part) => Hasher::by_parts(part.layout),
            None => Hasher::new(entry.md5.is_some()),
        };
        Hashing { hasher, done: 0 }
    }

    /// That of a part of a file.
    pub fn of_part() -> Hashing {
        Hashing { hasher: Hasher::new(false), done: 0 }
    }

    /// Reads up to `room.len()` further bytes of a file of this length. The hashes when all is read.
    ///
    /// # Errors
    /// The disk's error.
    pub fn go_on(
        &mut self,
        file: &impl crate::disk::DiskFile,
        length: u64,
        room: &mut [u8],
    ) -> io::Result<Option<Digests>> {
        let count = length.saturating_sub(self.done).min(room.len() as u64) as usize;
        let part = room.get_mut(..count).always("the count is limited by the room");
        file.read_at(self.done, part)?;
        self.hasher.update(part);
        self.done += count as u64;
        Ok((self.done >= length).then(|| self.hasher.finish()))
    }

    /// How many bytes were read.
    pub fn done(&self) -> u64 {
        self.done
    }
}

/// A reassembly in memory of a short object.
pub fn in_memory(coding: Coding, hashes: BlockHashes) -> Reassembly<MemoryFile> {
    let file = MemoryFile::default();
    // It is in memory: this cannot fail.
    let _ = file.set_length(coding.length());
    Reassembly::new(coding, file, hashes)
}
