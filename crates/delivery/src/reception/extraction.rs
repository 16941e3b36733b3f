//! The files of a package, from its bytes to their paths: a few in each step, so that packets are not kept waiting. Files
//! are written under names of the receiver's own, synchronised together, and moved to their paths. After a crash the
//! package is still there, and what is in place already is found by its hash.

use std::io;

use super::event::{ObjectError, ReceptionEvent, ReceptionSettings, is_full};
use super::members::{Fate, Members, is_needed};
use crate::disk::{Disk, DiskFile, Found};
use crate::journal::Identity;
use crate::object::sha256;
use crate::package::{Head, Member, PREFIX, PackageError};
use crate::placed::Placed;
use crate::placing::{OWN_FOLDER, Partial, index_name, member_name, prepare};
use layercast_core::cannot_be;

/// Files, and their bytes, of a step (CHOICE).
const STEP_FILES: usize = 16;
const STEP_BYTES: u64 = 256 << 10;
/// Files that are synchronised together: each is open until then.
const BATCH: usize = 64;
/// What precedes an index on the disk: the package's identity, and the checksum of the rest.
const INDEX_HEADER: usize = 36;

/// What the files of a package need.
pub(super) struct Surroundings<'a, D: Disk> {
    pub(super) disk: &'a mut D,
    pub(super) identity: &'a Identity,
    pub(super) settings: ReceptionSettings,
    pub(super) room: &'a mut [u8],
    /// The record of a mirror.
    pub(super) record: Option<&'a mut Placed<D::File>>,
    pub(super) events: &'a mut Vec<ReceptionEvent>,
}

/// A package whose hash is right.
#[derive(Debug)]
pub(super) struct Extraction<F> {
    pub(super) partial: Box<Partial<F>>,
    /// Files that are written and wait for their names: their places in the index.
    batch: Vec<(usize, F)>,
    /// The next place to look at.
    next: usize,
    has_begun: bool,
}

/// Reads the head of a package.
pub(super) fn read_head<F: DiskFile>(
    file: &F,
    files: u32,
    length: u64,
) -> io::Result<Result<Head, PackageError>> {
    let mut prefix = [0; PREFIX];
    file.read_at(0, &mut prefix)?;
    let whole = match Head::length(&prefix) {
        Ok(whole) if whole as u64 <= length => whole,
        Ok(_) => return Ok(Err(PackageError::Length)),
        Err(error) => return Ok(Err(error)),
    };
    let mut bytes = vec![0; whole];
    file.read_at(0, &mut bytes)?;
    Ok(Head::decode(&bytes, files, length))
}

/// Keeps the head of a package, so that another receiver can tell which of its files are there.
pub(super) fn keep_head<D: Disk>(
    disk: &mut D,
    identity: &Identity,
    package: &impl DiskFile,
    head: &Head,
) -> io::Result<()> {
    let mut bytes = vec![0; usize::try_from(head.start(0)).map_err(|_| io::ErrorKind::InvalidData)?];
    package.read_at(0, &mut bytes)?;
    let checksum = crc32fast::hash(&bytes).to_be_bytes();
    let file = disk.open(&index_name(identity))?;
    file.set_length(0)?;
    file.write_at(0, &[&identity[..], &checksum, &bytes].concat())
}

/// The head of a package that an earlier receiver kept; none if there is none that is whole.
pub(super) fn kept_head<D: Disk>(disk: &mut D, identity: &Identity, files: u32, length: u64) -> Option<Head> {
    let file = disk.read(&index_name(identity)).ok()?;
    let mut prefix = [0; INDEX_HEADER + PREFIX];
    file.read_at(0, &mut prefix).ok()?;
    let (header, prefix) = prefix.split_at(INDEX_HEADER);
    let whole = Head::length(prefix.first_chunk()?).ok()?;
    let mut bytes = vec![0; whole];
    file.read_at(INDEX_HEADER as u64, &mut bytes).ok()?;
    let checksum = crc32fast::hash(&bytes).to_be_bytes();
    if header != [&identity[..], &checksum].concat() {
        return None;
    }
    Head::decode(&bytes, files, length).ok()
}

/// Looks at what is at the paths of some files. Whether there are more.
pub(super) fn compare<D: Disk>(members: &mut Members, around: &mut Surroundings<'_, D>) -> io::Result<bool> {
    let (mut files, mut bytes) = (0, 0);
    while files < STEP_FILES && bytes < STEP_BYTES {
        let Some(place) = members.next(0, |fate| fate == Fate::Unknown) else { return Ok(false) };
        let Some((member, _)) = members.get(place) else { return Ok(cannot_be("the place was found")) };
        bytes += member.length;
        files += 1;
        let fate = around.examine(member)?;
        members.set(place, fate);
    }
    Ok(true)
}

/// Removes what an extraction may have left.
pub(super) fn clean<D: Disk>(disk: &mut D, identity: &Identity) {
    for slot in 0..BATCH {
        let _ = disk.remove(&member_name(identity, slot));
    }
}

impl<D: Disk> Surroundings<'_, D> {
    /// What is to be done about a file, by what is at its path.
    fn examine(&mut self, member: &Member) -> io::Result<Fate> {
        let found = match self.disk.stat(&member.path) {
            Ok(found) => found,
            Err(error) => return Ok(self.failed(member, ObjectError::of(&error))),
        };
        Ok(match found {
            Found::Nothing => Fate::Missing,
            Found::File(length) if length == member.length && self.is_same(member) => {
                if let Some(record) = &mut self.record {
                    record.confirm(&member.path)?;
                }
                self.events.push(ReceptionEvent::Present { path: member.path.clone() });
                Fate::Placed
            }
            Found::File(_) if self.settings.replace => Fate::Missing,
            Found::File(_) => self.failed(member, ObjectError::Exists),
            Found::Folder | Found::Other => self.failed(member, ObjectError::InTheWay),
        })
    }

    /// Whether the file at the path has the content.
    fn is_same(&mut self, member: &Member) -> bool {
        let Ok(file) = self.disk.read(&member.path) else { return false };
        let Some(room) = part(self.room, member.length) else { return false };
        file.read_at(0, room).is_ok() && sha256(room) == member.sha256
    }

    fn failed(&mut self, member: &Member, reason: ObjectError) -> Fate {
        self.events.push(ReceptionEvent::Failed { path: member.path.clone(), reason });
        Fate::Failed(reason)
    }
}

fn part(room: &mut [u8], length: u64) -> Option<&mut [u8]> {
    usize::try_from(length).ok().and_then(|length| room.get_mut(..length))
}

impl<F: DiskFile> Extraction<F> {
    pub(super) fn new(partial: Box<Partial<F>>) -> Extraction<F> {
        Extraction { partial, batch: Vec::new(), next: 0, has_begun: false }
    }

    /// The next step. Whether there is more to do. After an error the files that wait are written again.
    pub(super) fn go_on<D: Disk<File = F>>(
        &mut self,
        members: &mut Members,
        around: &mut Surroundings<'_, D>,
    ) -> io::Result<bool> {
        let done = self.step(members, around);
        if done.is_err() {
            self.batch.clear();
            (self.next, self.has_begun) = (0, false);
        }
        done
    }

    fn step<D: Disk<File = F>>(
        &mut self,
        members: &mut Members,
        around: &mut Surroundings<'_, D>,
    ) -> io::Result<bool> {
        if !self.has_begun {
            around.disk.create_folder(OWN_FOLDER)?;
            clean(around.disk, around.identity);
            self.has_begun = true;
        }
        let (mut files, mut bytes) = (0, 0);
        while self.batch.len() < BATCH && files < STEP_FILES && bytes < STEP_BYTES {
            let Some(place) = members.next(self.next, is_needed) else {
                self.next = 0;
                if self.batch.is_empty() {
                    return Ok(members.next(0, is_needed).is_some());
                }
                return self.place(members, around).map(|()| true);
            };
            let Some((member, _)) = members.get(place) else { return Ok(cannot_be("the place was found")) };
            let start = members.head().start(place);
            let written = match around.examine(member)? {
                Fate::Missing => self.write(member, start, around),
                fate => Ok(Err(fate)),
            };
            match written {
                Ok(Ok((file, length))) => {
                    members.set(place, Fate::Missing);
                    self.batch.push((place, file));
                    bytes += length;
                }
                Ok(Err(fate)) => members.set(place, fate),
                // What is written already needs no more space.
                Err(error) if is_full(&error) && !self.batch.is_empty() => {
                    return self.place(members, around).map(|()| true);
                }
                Err(error) if is_full(&error) => return Err(error),
                Err(error) => {
                    let fate = around.failed(member, ObjectError::of(&error));
                    members.set(place, fate);
                }
            }
            self.next = place + 1;
            files += 1;
        }
        if self.batch.len() >= BATCH {
            self.place(members, around)?;
        }
        Ok(true)
    }

    /// Writes a file under the next name of the receiver's own; its fate if its content is not what the index says.
    fn write<D: Disk<File = F>>(
        &self,
        member: &Member,
        start: u64,
        around: &mut Surroundings<'_, D>,
    ) -> io::Result<Result<(F, u64), Fate>> {
        let Some(room) = part(around.room, member.length) else {
            return Ok(Err(around.failed(member, ObjectError::Package(PackageError::Size))));
        };
        self.partial.reassembly.file().read_at(start, room)?;
        if sha256(room) != member.sha256 {
            return Ok(Err(around.failed(member, ObjectError::Hash)));
        }
        let name = member_name(around.identity, self.batch.len());
        let file = around.disk.open(&name)?;
        let written = file
            .set_length(member.length)
            .and_then(|()| file.write_at(0, room))
            .and_then(|()| around.disk.set_attributes(&name, member.attributes));
        if let Err(error) = written {
            drop(file);
            let _ = around.disk.remove(&name);
            return Err(error);
        }
        Ok(Ok((file, member.length)))
    }

    /// Moves the files of the batch to their paths.
    fn place<D: Disk<File = F>>(
        &mut self,
        members: &mut Members,
        around: &mut Surroundings<'_, D>,
    ) -> io::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        let files: Vec<&F> = batch.iter().map(|(_, file)| file).collect();
        around.disk.sync_files(&files)?;
        let (mut places, mut moves) = (Vec::new(), Vec::new());
        for (slot, (place, _)) in batch.iter().enumerate() {
            let name = member_name(around.identity, slot);
            // A newer version, or a removal, may have come meanwhile.
            let Some((member, _)) = members.get(*place).filter(|(_, fate)| is_needed(*fate)) else {
                let _ = around.disk.remove(&name);
                continue;
            };
            match around.ready(member)? {
                None => {
                    places.push(*place);
                    moves.push((name, member.path.clone()));
                }
                Some(fate) => {
                    let _ = around.disk.remove(&name);
                    members.set(*place, fate);
                }
            }
        }
        drop(batch);
        let mut full = Ok(());
        for (place, moved) in places.into_iter().zip(around.disk.rename_files(&moves)) {
            let Some((member, _)) = members.get(place) else {
                cannot_be::<()>("the place was found");
                continue;
            };
            match moved {
                Ok(()) => {
                    if let Some(record) = &mut around.record {
                        record.confirm(&member.path)?;
                    }
                    let (path, length) = (member.path.clone(), member.length);
                    around.events.push(ReceptionEvent::Complete { path, length });
                    members.set(place, Fate::Placed);
                }
                Err(error) if is_full(&error) => full = Err(error),
                Err(error) => {
                    let fate = around.failed(member, ObjectError::of(&error));
                    members.set(place, fate);
                }
            }
        }
        full
    }
}

impl<D: Disk> Surroundings<'_, D> {
    /// Makes the path of a file ready; its fate if it cannot be moved there.
    fn ready(&mut self, member: &Member) -> io::Result<Option<Fate>> {
        let is_taken = matches!(self.disk.stat(&member.path), Ok(Found::File(_))) && !self.settings.replace;
        if is_taken {
            return Ok(Some(self.failed(member, ObjectError::Exists)));
        }
        if let Err(error) = prepare(self.disk, &member.path) {
            return if is_full(&error) {
                Err(error)
            } else {
                Ok(Some(self.failed(member, ObjectError::of(&error))))
            };
        }
        if let Some(record) = &mut self.record {
            record.intend(&member.path)?;
        }
        Ok(None)
    }
}
