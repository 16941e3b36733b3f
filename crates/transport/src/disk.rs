//! A folder of the system, as the delivery layer wants it.

use layercast_core::Always as _;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SendError, sync_channel};
use std::thread;
use std::time::Duration;

use layercast_delivery::disk::{Attributes, Disk, DiskFile, Found};
use layercast_delivery::object::folders_above;
use rustix::fs::{
    AtFlags, Dir, FallocateFlags, FileType, FlockOperation, Mode, OFlags, Timespec, Timestamps, fallocate,
    flock, fsync, mkdirat, open, openat, renameat, statat, unlinkat, utimensat,
};
use rustix::io::Errno;

/// Permissions of new files and folders, before the umask.
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);

/// Space is reserved by another thread for files of so many bytes, and waited for that long: the packets of the fastest
/// sessions fit into the receive buffer meanwhile.
const LONG: u64 = 16 << 20;
const RESERVE_WITHIN: Duration = Duration::from_millis(10);
/// How much is reserved by one request, or this share of the file, if that is more. A file system that fills it with zeros
/// writes nothing else to the file meanwhile.
const RESERVE_STEP: u64 = 8 << 20;
const RESERVE_STEPS: u64 = 64;

/// How many files are synchronised at the same time.
const SYNCS: usize = 8;

/// An open file of the system.
#[derive(Debug)]
pub struct OpenFile(pub File);

impl DiskFile for OpenFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)?;
        if length == 0 {
            return Ok(());
        }
        // A full disk is better reported now than after an hour.
        let reserved = reserve(&self.0, length);
        if reserved.is_err() {
            // What was reserved is of no use.
            self.0.set_len(0)?;
        }
        reserved
    }

    fn read_at(&self, start: u64, room: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(room, start)
    }

    fn write_at(&self, start: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, start)
    }

    fn write_parts_at(&self, start: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let mut written = match rustix::io::pwritev(&self.0, parts, start) {
            Err(Errno::INTR) => 0,
            other => other?,
        };
        if written == length {
            return Ok(());
        }
        // The rest of a request that was cut short.
        let mut at = start;
        for part in parts {
            let done = written.min(part.len());
            self.0.write_all_at(
                part.get(done..).always("no more was written than there is"),
                at + done as u64,
            )?;
            written -= done;
            at += part.len() as u64;
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}

/// Reserves the space of a file. Where that takes long, as in memory, which is filled with zeros, it goes on while the first
/// packets are written; then a disk that turns out to be full is reported by those that find no space.
fn reserve(file: &File, length: u64) -> io::Result<()> {
    let file = file.try_clone()?;
    let (done, reserved) = sync_channel(1);
    let run = move || {
        let result = match reserve_in_steps(&file, length) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(error) => Err(io::Error::from(error)),
        };
        if let Err(SendError(Err(error))) = done.send(result) {
            tracing::debug!(%error, "the space of a file was not reserved");
        }
    };
    if length < LONG {
        run();
    } else {
        thread::Builder::new().name("reserve".into()).spawn(run)?;
    }
    match reserved.recv_timeout(RESERVE_WITHIN) {
        Ok(result) => result,
        Err(_) => Ok(()),
    }
}

fn reserve_in_steps(file: &File, length: u64) -> Result<(), Errno> {
    let mut start = 0;
    while start < length {
        let step = RESERVE_STEP.max(length / RESERVE_STEPS).min(length - start);
        fallocate(file, FallocateFlags::empty(), start, step)?;
        start += step;
    }
    Ok(())
}

/// Synchronises files, several at the same time: a disk, or the journal of a file system, serves many requests as quickly as
/// one.
fn sync_files(files: &[&OpenFile]) -> io::Result<()> {
    let share = files.len().div_ceil(SYNCS).max(1);
    thread::scope(|scope| {
        let threads: Vec<_> = files
            .chunks(share)
            .map(|part| scope.spawn(|| part.iter().try_for_each(|file| file.sync())))
            .collect();
        // A thread that panicked has synchronised nothing.
        let failed = || Err(io::Error::other("a thread that synchronises files ended"));
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| failed()))
    })
}

/// A folder. Every path is walked from its descriptor, part by part, and no link is followed.
#[derive(Debug)]
pub struct Folder {
    root: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder that exists and may be written to.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let root = open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::fs::accessat(&root, ".", rustix::fs::Access::WRITE_OK, AtFlags::EACCESS)?;
        Ok(Folder { root, path: path.to_owned() })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that a path is in, and the last part of the path.
    fn parent<'a>(&self, path: &'a str) -> io::Result<(OwnedFd, &'a str)> {
        let mut at = self.root.try_clone()?;
        let mut rest = path;
        while let Some((part, below)) = rest.split_once('/') {
            at = openat(&at, part, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
            rest = below;
        }
        Ok((at, rest))
    }
}

impl Disk for Folder {
    type File = OpenFile;

    fn stat(&mut self, path: &str) -> io::Result<Found> {
        let (folder, name) = match self.parent(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            other => other?,
        };
        let found = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(Found::Nothing),
            other => other?,
        };
        Ok(match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => Found::File(u64::try_from(found.st_size).unwrap_or(0)),
            FileType::Directory => Found::Folder,
            _ => Found::Other,
        })
    }

    fn open(&mut self, path: &str) -> io::Result<OpenFile> {
        let (folder, name) = self.parent(path)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat(&folder, name, flags, FILE_MODE)?;
        // It is not changed before the lock is held, since it may belong to a running receiver.
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(OpenFile(file.into())),
            Err(Errno::WOULDBLOCK) => Err(io::ErrorKind::ResourceBusy.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn read(&mut self, path: &str) -> io::Result<OpenFile> {
        let (folder, name) = self.parent(path)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        Ok(OpenFile(openat(&folder, name, flags, Mode::empty())?.into()))
    }

    fn create_folder(&mut self, path: &str) -> io::Result<()> {
        for part in folders_above(path).chain([path]) {
            let (folder, name) = self.parent(part)?;
            match mkdirat(&folder, name, FOLDER_MODE) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn names(&mut self, path: &str) -> io::Result<Vec<String>> {
        let (folder, name) = self.parent(path)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let entries = Dir::new(openat(&folder, name, flags, Mode::empty())?)?;
        let mut names = Vec::new();
        for entry in entries {
            // Ours are UTF-8.
            if let Ok(name) = entry?.file_name().to_str()
                && name != "."
                && name != ".."
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let (from_folder, from_name) = self.parent(from)?;
        let (to_folder, to_name) = self.parent(to)?;
        renameat(&from_folder, from_name, &to_folder, to_name)?;
        // The name must reach the disk too.
        Ok(fsync(&to_folder)?)
    }

    /// The names reach the disk together: one synchronisation of each folder.
    fn rename_files(&mut self, moves: &[(String, String)]) -> Vec<io::Result<()>> {
        let mut folders: BTreeMap<&str, (OwnedFd, Vec<usize>)> = BTreeMap::new();
        let mut done = Vec::with_capacity(moves.len());
        for (number, (from, to)) in moves.iter().enumerate() {
            let moved = self.parent(from).and_then(|(from_folder, from_name)| {
                let (to_folder, to_name) = self.parent(to)?;
                renameat(&from_folder, from_name, &to_folder, to_name)?;
                Ok(to_folder)
            });
            done.push(moved.map(|folder| {
                let name = to.rsplit_once('/').map_or("", |(name, _)| name);
                folders.entry(name).or_insert_with(|| (folder, Vec::new())).1.push(number);
            }));
        }
        for (folder, numbers) in folders.into_values() {
            if let Err(error) = fsync(&folder) {
                for number in numbers {
                    done.get_mut(number).into_iter().for_each(|place| *place = Err(error.into()));
                }
            }
        }
        done
    }

    fn sync_files(&mut self, files: &[&OpenFile]) -> io::Result<()> {
        sync_files(files)
    }

    fn remove(&mut self, path: &str) -> io::Result<()> {
        let (folder, name) = match self.parent(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        match unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(Errno::ISDIR) => Ok(unlinkat(&folder, name, AtFlags::REMOVEDIR)?),
            Err(error) => Err(error.into()),
        }
    }

    fn set_attributes(&mut self, path: &str, attributes: Attributes) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        if let Some(mode) = attributes.mode {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let file = openat(&folder, name, flags, Mode::empty())?;
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode & 0o777))?;
        }
        if let Some(modified_ns) = attributes.modified_ns {
            let time = Timespec {
                tv_sec: modified_ns.div_euclid(1_000_000_000),
                tv_nsec: modified_ns.rem_euclid(1_000_000_000),
            };
            let times = Timestamps { last_access: time, last_modification: time };
            utimensat(&folder, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Temporary {
            let path = std::env::temp_dir().join(format!("layercast-disk-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).expect("a folder");
            Temporary(path)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn files_are_written_moved_and_given_their_attributes() {
        let temporary = Temporary::new("files");
        let mut folder = Folder::open(&temporary.0).expect("a folder");
        folder.create_folder("a/b").expect("folders");
        let file = folder.open("a/part").expect("a file");
        file.set_length(5).expect("space");
        file.write_at(1, b"ello").expect("a part");
        file.write_at(0, b"h").expect("a part");
        assert_eq!(folder.open("a/part").expect_err("locked").kind(), io::ErrorKind::ResourceBusy);
        let attributes = Attributes { mode: Some(0o640), modified_ns: Some(-1_500_000_000) };
        folder.set_attributes("a/part", attributes).expect("attributes");
        folder.rename("a/part", "a/b/whole").expect("a name");
        assert_eq!(folder.stat("a/b/whole").expect("a file"), Found::File(5));
        assert_eq!(folder.stat("a/part").expect("nothing"), Found::Nothing);
        assert_eq!(folder.names("a/b").expect("a folder"), ["whole"]);
        assert_eq!(folder.names("a/b/c").expect_err("none").kind(), io::ErrorKind::NotFound);
        assert_eq!(folder.stat("a/no/such").expect("nothing"), Found::Nothing);
        let path = temporary.0.join("a/b/whole");
        assert_eq!(fs::read(&path).expect("a file"), b"hello");
        let metadata = fs::metadata(&path).expect("a file");
        assert_eq!(metadata.permissions().mode() & 0o7777, 0o640);
        assert_eq!(std::os::unix::fs::MetadataExt::mtime(&metadata), -2);
        folder.remove("a/b/whole").expect("removed");
        folder.remove("a/b/whole").expect("nothing to remove");
        folder.remove("a/b").expect("an empty folder");
        assert_eq!(folder.stat("a").expect("a folder"), Found::Folder);
    }

    #[test]
    fn many_files_are_synchronised_and_moved_together_and_each_failure_is_that_of_its_file() {
        let temporary = Temporary::new("batch");
        let mut folder = Folder::open(&temporary.0).expect("a folder");
        folder.create_folder("a/b").expect("folders");
        folder.create_folder("in-the-way").expect("a folder");
        let files: Vec<OpenFile> =
            (0..20).map(|n| folder.open(&format!("part{n}")).expect("a file")).collect();
        files.iter().for_each(|file| file.write_at(0, b"x").expect("a byte"));
        folder.sync_files(&files.iter().collect::<Vec<_>>()).expect("synchronised");
        folder.sync_files(&[]).expect("nothing to do");
        let to = |n: usize| match n {
            3 => "in-the-way".to_owned(),
            7 => "no/such/folder".to_owned(),
            n if n % 2 == 0 => format!("a/{n}"),
            n => format!("a/b/{n}"),
        };
        let moves: Vec<(String, String)> = (0..20).map(|n| (format!("part{n}"), to(n))).collect();
        let done = folder.rename_files(&moves);
        let failed: Vec<usize> = (0..20).filter(|&n| done[n].is_err()).collect();
        assert_eq!(failed, [3, 7]);
        assert_eq!(folder.stat("a/b/19").expect("a file"), Found::File(1));
        assert_eq!(folder.stat("part7").expect("it stays"), Found::File(1));
    }

    #[test]
    fn no_link_is_followed() {
        let (inside, outside) = (Temporary::new("inside"), Temporary::new("outside"));
        fs::write(outside.0.join("secret"), b"secret").expect("a file");
        symlink(&outside.0, inside.0.join("door")).expect("a link");
        symlink(outside.0.join("secret"), inside.0.join("file")).expect("a link");
        let mut folder = Folder::open(&inside.0).expect("a folder");
        assert!(folder.stat("door/secret").is_err());
        assert_eq!(folder.stat("file").expect("a link"), Found::Other);
        assert!(folder.open("door/new").is_err() && folder.open("file").is_err());
        assert!(folder.read("file").is_err());
        assert!(folder.create_folder("door/new").is_err());
        assert!(folder.set_attributes("file", Attributes { mode: Some(0), modified_ns: None }).is_err());
        folder.open("mine").expect("a file");
        assert!(folder.rename("mine", "door/mine").is_err());
        assert_eq!(fs::read_dir(&outside.0).expect("a folder").count(), 1);
    }
}
