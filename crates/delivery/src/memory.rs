//! Files in memory: for short objects, for sources that generate what they send, and for tests.

use core::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::rc::Rc;

use crate::disk::{Attributes, Disk, DiskFile, Found};
use crate::object::{BlockEncoder, Coding, Content, Entry, Oti, SymbolPlace, folders_above};
use crate::packet::PayloadId;
use crate::sender::Symbols;
use layercast_core::Always as _;

/// A short file that is kept in memory until it is complete.
#[derive(Debug, Default)]
pub struct MemoryFile(RefCell<Vec<u8>>);

impl MemoryFile {
    /// The content.
    pub fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

impl DiskFile for Rc<MemoryFile> {
    fn length(&self) -> io::Result<u64> {
        (**self).length()
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        (**self).set_length(length)
    }

    fn read_at(&self, start: u64, room: &mut [u8]) -> io::Result<()> {
        (**self).read_at(start, room)
    }

    fn write_at(&self, start: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).write_at(start, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl DiskFile for MemoryFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.borrow().len() as u64)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.borrow_mut().resize(length as usize, 0);
        Ok(())
    }

    fn read_at(&self, start: u64, room: &mut [u8]) -> io::Result<()> {
        let bytes = self.0.borrow();
        let part = bytes.get(start as usize..start as usize + room.len());
        room.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, start: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.0.borrow_mut();
        let end = start as usize + bytes.len();
        if file.len() < end {
            file.resize(end, 0);
        }
        file.get_mut(start as usize..end).ok_or(io::ErrorKind::UnexpectedEof)?.copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A folder in memory.
#[derive(Debug, Default)]
pub struct MemoryDisk {
    files: BTreeMap<String, (Rc<MemoryFile>, Attributes)>,
    folders: BTreeSet<String>,
}

impl MemoryDisk {
    /// The paths and contents of all files.
    pub fn files(&self) -> impl Iterator<Item = (&str, Vec<u8>)> {
        self.files.iter().map(|(path, (file, _))| (path.as_str(), file.0.borrow().clone()))
    }

    /// The folders.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str)
    }

    /// The attributes of a file.
    pub fn attributes(&self, path: &str) -> Option<Attributes> {
        self.files.get(path).map(|(_, attributes)| *attributes)
    }

    /// Puts a file there.
    pub fn put(&mut self, path: &str, bytes: &[u8]) {
        let file = Rc::new(MemoryFile(RefCell::new(bytes.to_vec())));
        self.files.insert(path.to_owned(), (file, Attributes::default()));
    }

    fn check_folder(&self, path: &str) -> io::Result<()> {
        match path.rsplit_once('/') {
            Some((folder, _)) if self.files.contains_key(folder) => Err(io::ErrorKind::NotADirectory.into()),
            Some((folder, _)) if !self.folders.contains(folder) => Err(io::ErrorKind::NotFound.into()),
            _ => Ok(()),
        }
    }
}

impl Disk for MemoryDisk {
    type File = Rc<MemoryFile>;

    fn stat(&mut self, path: &str) -> io::Result<Found> {
        if self.folders.contains(path) {
            return Ok(Found::Folder);
        }
        Ok(self.files.get(path).map_or(Found::Nothing, |(file, _)| Found::File(file.0.borrow().len() as u64)))
    }

    fn open(&mut self, path: &str) -> io::Result<Rc<MemoryFile>> {
        self.check_folder(path)?;
        Ok(Rc::clone(&self.files.entry(path.to_owned()).or_default().0))
    }

    fn read(&mut self, path: &str) -> io::Result<Rc<MemoryFile>> {
        self.files.get(path).map(|(file, _)| Rc::clone(file)).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn create_folder(&mut self, path: &str) -> io::Result<()> {
        for part in folders_above(path).chain([path]) {
            if self.files.contains_key(part) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            self.folders.insert(part.to_owned());
        }
        Ok(())
    }

    fn names(&mut self, path: &str) -> io::Result<Vec<String>> {
        let all = self.files.keys().chain(&self.folders);
        let below = all.filter_map(|other| other.strip_prefix(path)?.strip_prefix('/'));
        Ok(below.filter(|name| !name.contains('/')).map(str::to_owned).collect())
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.check_folder(to)?;
        let file = self.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        self.files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&mut self, path: &str) -> io::Result<()> {
        let prefix = format!("{path}/");
        let is_used = self.files.keys().chain(&self.folders).any(|other| other.starts_with(&prefix));
        if self.folders.contains(path) && is_used {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        self.folders.remove(path);
        self.files.remove(path);
        Ok(())
    }

    fn set_attributes(&mut self, path: &str, attributes: Attributes) -> io::Result<()> {
        self.files.get_mut(path).ok_or(io::ErrorKind::NotFound)?.1 = attributes;
        Ok(())
    }
}

/// Objects in memory, as a source of symbols.
#[derive(Debug, Default)]
pub struct MemoryObjects {
    objects: BTreeMap<u32, (Coding, Vec<u8>)>,
    encoders: BTreeMap<(u32, u8), Option<BlockEncoder>>,
}

impl MemoryObjects {
    /// Adds an object.
    pub fn add(&mut self, toi: u32, coding: Coding, bytes: Vec<u8>) {
        self.objects.insert(toi, (coding, bytes));
    }

    /// Adds an object of a catalogue, which is a file or a part of it.
    pub fn add_entry(&mut self, toi: u32, entry: &Entry, file: &[u8]) {
        let Content::File { coding, .. } = entry.content else { return };
        let start = entry.part.map_or(0, |part| part.offset() as usize);
        let own = file.get(start..start + entry.own_length() as usize).always("an entry describes this file");
        self.add(toi, coding, own.to_vec());
    }
}

impl Symbols for MemoryObjects {
    type Error = core::convert::Infallible;

    fn symbol(&mut self, toi: u32, id: PayloadId, room: &mut [u8]) -> Result<(), Self::Error> {
        let Some((coding, bytes)) = self.objects.get(&toi) else { return Ok(()) };
        let (start, length) = match coding.locate(id) {
            None => (0, 0),
            Some(SymbolPlace::Source(start, length)) => (start, length),
            Some(SymbolPlace::Repair(oti, number)) => {
                let encoder = self.encoders.entry((toi, id.block));
                if let Some(encoder) = encoder.or_insert_with(|| encoder_of(oti, id.block, bytes)) {
                    encoder.repair(number, room);
                }
                return Ok(());
            }
        };
        let part =
            bytes.get(start as usize..start as usize + length).always("a source symbol is within its object");
        let (data, padding) = room.split_at_mut(part.len().min(room.len()));
        data.copy_from_slice(part.get(..data.len()).always("what is copied is no longer than the part"));
        padding.fill(0);
        Ok(())
    }
}

fn encoder_of(oti: Oti, block: u8, bytes: &[u8]) -> Option<BlockEncoder> {
    let (start, _) = oti.position(block, 0);
    let length = BlockEncoder::data_length(oti, block);
    let mut data: Vec<u8> = bytes.iter().skip(start as usize).take(length).copied().collect();
    data.resize(length, 0);
    BlockEncoder::new(oti, block, &data)
}
