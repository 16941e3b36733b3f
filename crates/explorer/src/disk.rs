//! A disk that fails on purpose: writes that are torn, space that ends, and programs that are killed in the midst of an
//! operation.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::rc::Rc;

use layercast_core::stream::Stream;
use layercast_delivery::disk::{Attributes, Disk, DiskFile, Found};
use layercast_delivery::object::folders_above;

/// The unit in which a torn write reaches the disk, in bytes.
const SECTOR: usize = 512;

/// A file on the disk.
#[derive(Clone, Debug, Default)]
struct Inode {
    /// What programs see.
    bytes: Vec<u8>,
    /// What survives a loss of power.
    durable: Vec<u8>,
    is_locked: bool,
}

type Shared = Rc<RefCell<Inode>>;

/// The content of a disk and what is wrong with it. It outlives the programs that use it.
#[derive(Debug)]
pub struct State {
    files: BTreeMap<String, Shared>,
    /// Names that were given and have not reached the disk, in order: from which to which, and what had that name.
    renamed: Vec<(String, String, Option<Shared>)>,
    folders: BTreeSet<String>,
    stream: Stream,
    /// The most bytes of all files.
    pub space: Option<u64>,
    /// The probability that a write fails.
    pub failing: f64,
    /// After how many further operations the program is killed.
    pub killed_after: Option<u32>,
}

/// A disk in the hands of a program.
#[derive(Clone, Debug)]
pub struct FaultyDisk(Rc<RefCell<State>>);

/// An open file of such a disk.
#[derive(Debug)]
pub struct FaultyFile {
    inode: Shared,
    disk: Rc<RefCell<State>>,
    holds_lock: bool,
}

impl State {
    /// Counts an operation.
    fn operation(&mut self) -> io::Result<()> {
        match &mut self.killed_after {
            None => Ok(()),
            Some(0) => Err(io::ErrorKind::Interrupted.into()),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }

    fn write(&mut self) -> io::Result<()> {
        self.operation()?;
        if self.failing > 0.0 && self.stream.chance(self.failing) {
            return Err(io::Error::other("the disk does not answer"));
        }
        Ok(())
    }

    fn used(&self) -> u64 {
        self.files.values().map(|inode| inode.borrow().bytes.len() as u64).sum()
    }

    fn has_space(&self, more: u64) -> io::Result<()> {
        match self.space {
            Some(space) if more > 0 && self.used() + more > space => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    fn check_folder(&self, path: &str) -> io::Result<()> {
        match path.rsplit_once('/') {
            Some((folder, _)) if self.files.contains_key(folder) => Err(io::ErrorKind::NotADirectory.into()),
            Some((folder, _)) if !self.folders.contains(folder) => Err(io::ErrorKind::NotFound.into()),
            _ => Ok(()),
        }
    }
}

impl FaultyDisk {
    /// An empty disk.
    pub fn new(stream: Stream) -> FaultyDisk {
        FaultyDisk(Rc::new(RefCell::new(State {
            files: BTreeMap::new(),
            renamed: Vec::new(),
            folders: BTreeSet::new(),
            stream,
            space: None,
            failing: 0.0,
            killed_after: None,
        })))
    }

    /// What is wrong with it.
    pub fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.borrow_mut());
    }

    /// Puts a file there that has survived.
    pub fn put(&self, path: &str, bytes: &[u8]) {
        let state = &mut *self.0.borrow_mut();
        state.folders.extend(folders_above(path).map(str::to_owned));
        let inode = Inode { bytes: bytes.to_vec(), durable: bytes.to_vec(), is_locked: false };
        state.files.insert(path.to_owned(), Rc::new(RefCell::new(inode)));
    }

    /// Whether the program that uses it was killed by it.
    pub fn was_killed(&self) -> bool {
        self.0.borrow().killed_after == Some(0)
    }

    /// The power fails: of what was not synchronised, any sectors are there, and the rest is as before or zero. Names that have not
    /// reached the disk may be as before, the last ones first.
    pub fn lose_power(&self) {
        let State { files, stream, renamed, .. } = &mut *self.0.borrow_mut();
        while stream.chance(0.5)
            && let Some((from, to, before)) = renamed.pop()
        {
            // It may have got another name, or been removed, meanwhile.
            let Some(inode) = files.remove(&to) else { continue };
            files.insert(from, inode);
            files.extend(before.map(|before| (to, before)));
        }
        renamed.clear();
        for inode in files.values() {
            let inode = &mut *inode.borrow_mut();
            let mut left = inode.bytes.clone();
            for (number, sector) in left.chunks_mut(SECTOR).enumerate() {
                if stream.chance(0.5) {
                    let start = number * SECTOR;
                    for (at, byte) in sector.iter_mut().enumerate() {
                        *byte = inode.durable.get(start + at).copied().unwrap_or(0);
                    }
                }
            }
            if stream.chance(0.3) {
                let keep = (left.len() as f64 * stream.uniform()) as usize;
                left.truncate(keep.max(inode.durable.len().min(left.len())));
            }
            inode.bytes.clone_from(&left);
            inode.durable = left;
        }
    }

    /// The paths and contents of all files.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let state = self.0.borrow();
        state.files.iter().map(|(path, inode)| (path.clone(), inode.borrow().bytes.clone())).collect()
    }

    /// The bytes of all files.
    pub fn used(&self) -> u64 {
        self.0.borrow().used()
    }

    fn file(&self, inode: Shared, holds_lock: bool) -> FaultyFile {
        FaultyFile { inode, disk: Rc::clone(&self.0), holds_lock }
    }
}

impl Drop for FaultyFile {
    fn drop(&mut self) {
        if self.holds_lock {
            self.inode.borrow_mut().is_locked = false;
        }
    }
}

impl DiskFile for FaultyFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.inode.borrow().bytes.len() as u64)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        let mut disk = self.disk.borrow_mut();
        disk.write()?;
        disk.has_space(length.saturating_sub(self.inode.borrow().bytes.len() as u64))?;
        self.inode.borrow_mut().bytes.resize(length as usize, 0);
        Ok(())
    }

    fn read_at(&self, start: u64, room: &mut [u8]) -> io::Result<()> {
        self.disk.borrow_mut().operation()?;
        let inode = self.inode.borrow();
        let part = inode.bytes.get(start as usize..start as usize + room.len());
        room.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, start: u64, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.disk.borrow_mut();
        let end = start as usize + bytes.len();
        let longer = (end as u64).saturating_sub(self.inode.borrow().bytes.len() as u64);
        let done = disk.write();
        let fits = disk.has_space(longer);
        let torn = match (&done, &fits) {
            (Ok(()), Ok(())) => bytes.len(),
            // A part may be there.
            _ => (bytes.len() as f64 * disk.stream.uniform()) as usize,
        };
        if fits.is_ok() {
            let mut inode = self.inode.borrow_mut();
            let end = start as usize + torn;
            if inode.bytes.len() < end {
                inode.bytes.resize(end, 0);
            }
            if let (Some(room), Some(part)) = (inode.bytes.get_mut(start as usize..end), bytes.get(..torn)) {
                room.copy_from_slice(part);
            }
        }
        done.and(fits)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.borrow_mut().write()?;
        let mut inode = self.inode.borrow_mut();
        inode.durable = inode.bytes.clone();
        Ok(())
    }
}

impl Disk for FaultyDisk {
    type File = FaultyFile;

    fn stat(&mut self, path: &str) -> io::Result<Found> {
        let mut state = self.0.borrow_mut();
        state.operation()?;
        if state.folders.contains(path) {
            return Ok(Found::Folder);
        }
        let length = |inode: &Shared| Found::File(inode.borrow().bytes.len() as u64);
        Ok(state.files.get(path).map_or(Found::Nothing, length))
    }

    fn open(&mut self, path: &str) -> io::Result<FaultyFile> {
        let inode = {
            let mut state = self.0.borrow_mut();
            state.write()?;
            state.check_folder(path)?;
            Rc::clone(state.files.entry(path.to_owned()).or_default())
        };
        if std::mem::replace(&mut inode.borrow_mut().is_locked, true) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        Ok(self.file(inode, true))
    }

    fn read(&mut self, path: &str) -> io::Result<FaultyFile> {
        self.0.borrow_mut().operation()?;
        let inode = self.0.borrow().files.get(path).map(Rc::clone);
        inode.map(|inode| self.file(inode, false)).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn create_folder(&mut self, path: &str) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        state.write()?;
        for part in folders_above(path).chain([path]) {
            if state.files.contains_key(part) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            state.folders.insert(part.to_owned());
        }
        Ok(())
    }

    fn names(&mut self, path: &str) -> io::Result<Vec<String>> {
        let mut state = self.0.borrow_mut();
        state.operation()?;
        let all = state.files.keys().chain(&state.folders);
        let below = all.filter_map(|other| other.strip_prefix(path)?.strip_prefix('/'));
        Ok(below.filter(|name| !name.contains('/')).map(str::to_owned).collect())
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        // The name is given, and then synchronised, with all that were given before. Either may fail, or the program be killed
        // there.
        let done = state.write();
        if done.is_err() && state.stream.chance(0.5) {
            return done;
        }
        state.check_folder(to)?;
        let inode = state.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        let before = state.files.insert(to.to_owned(), inode);
        match done {
            Ok(()) => state.renamed.clear(),
            Err(_) => state.renamed.push((from.to_owned(), to.to_owned(), before)),
        }
        done
    }

    fn remove(&mut self, path: &str) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        state.write()?;
        let prefix = format!("{path}/");
        let is_used = state.files.keys().chain(&state.folders).any(|other| other.starts_with(&prefix));
        if state.folders.contains(path) && is_used {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        state.folders.remove(path);
        state.files.remove(path);
        Ok(())
    }

    fn set_attributes(&mut self, path: &str, _attributes: Attributes) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        state.write()?;
        if state.files.contains_key(path) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

#[cfg(test)]
mod tests {
    use layercast_delivery::placed::Placed;

    use super::*;

    #[test]
    fn the_record_of_a_mirror_can_be_opened_after_a_loss_of_power() {
        for seed in 0..200 {
            let mut disk = FaultyDisk::new(Stream::new(seed, "disk"));
            for path in ["a", "b", "c"] {
                let mut placed =
                    Placed::open(&mut disk).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                placed.intend(path).expect("a line");
                drop(placed);
                disk.lose_power();
            }
        }
    }

    #[test]
    fn a_mirror_knows_its_files_after_a_loss_of_power() {
        for seed in 0..50 {
            let mut disk = FaultyDisk::new(Stream::new(seed, "disk"));
            let mut placed = Placed::open(&mut disk).expect("a record");
            placed.intend("a").expect("a line");
            placed.confirm("a").expect("a line");
            placed.flush().expect("on the disk");
            placed.intend("b").expect("a line");
            drop(placed);
            disk.lose_power();
            let mut placed = Placed::open(&mut disk).expect("the record");
            assert!(placed.contains("a"), "seed {seed}");
            // It was moved there just before the power failed.
            placed.confirm("b").expect("a line");
            assert!(placed.contains("b"), "seed {seed}");
        }
    }
}
