//! The files that are to be sent.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layercast_delivery::catalogue::Item;
use layercast_delivery::disk::Attributes;
use layercast_delivery::object::{Cut, FileHasher, Hashes, Layout, Sha256};
use layercast_delivery::send_state::fingerprint::Fingerprint;
use nix::libc::O_NONBLOCK;

use crate::error::Error;
use crate::notice::Notice;
use layercast_core::Always as _;

/// How files are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// How they are cut into objects, and which hashes are needed.
    pub(crate) cut: Cut,
    /// The least length of a file that has a tag, so that it is sent while it is read for its hash.
    pub(crate) tagged: u64,
}

/// Why a pipe or a device cannot be sent.
const NOT_PLAIN: &str = "not a plain file: its length must be known before it is sent, and its parts are read several times; \
     write it to a file first";

/// What identifies the content of a file.
pub(crate) fn fingerprint_of(metadata: &Metadata) -> Fingerprint {
    Fingerprint {
        device: metadata.dev(),
        inode: metadata.ino(),
        length: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
    }
}

/// A file or an empty folder that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundItem {
    /// Its path at the receivers.
    pub(crate) name: String,
    /// Where it is here.
    pub(crate) path: PathBuf,
    /// None for a folder.
    pub(crate) fingerprint: Option<Fingerprint>,
    pub(crate) attributes: Attributes,
}

impl FoundItem {
    /// The length of the file; zero of a folder.
    pub(crate) fn length(&self) -> u64 {
        self.fingerprint.map_or(0, |fingerprint| fingerprint.length)
    }
}

/// Files, with their hashes.
pub(crate) type Found = Vec<(FoundItem, Item)>;

/// What is in the paths of a sender.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) items: Vec<FoundItem>,
    pub(crate) left_out: Vec<LeftOut>,
    /// The paths, as receivers have them, of what is there and could not be looked at: what was sent of them is not gone.
    pub(crate) unread: Vec<String>,
}

/// Something in a folder that is not sent.
#[derive(Debug)]
pub(crate) struct LeftOut {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
    /// Whether receivers lack something by it: it is no link, pipe or device, and not hidden.
    pub(crate) is_lacking: bool,
}

impl LeftOut {
    /// A file that cannot be sent.
    pub(crate) fn file(path: &Path, reason: &dyn std::fmt::Display) -> LeftOut {
        LeftOut { path: path.to_owned(), reason: reason.to_string(), is_lacking: true }
    }

    /// As it is said.
    pub(crate) fn notice(&self) -> Notice {
        Notice::LeftOut { path: self.path.clone(), reason: self.reason.clone() }
    }
}

/// Finds the files in paths. A folder keeps its name, unless its path ends with `/`, `.` or `..`; then its content is
/// sent without it. Links to files of the same folder are sent as files; other links, pipes, devices, and what cannot be read in a
/// folder are left out.
///
/// # Errors
/// If a path cannot be read, is neither a file nor a folder, or there is nothing in any.
pub(crate) fn scan(paths: &[PathBuf]) -> Result<Scan, Error> {
    let mut scan = Scan::default();
    for path in paths {
        let failed = |source| Error::file("read", path, source);
        // What the user names is followed.
        let metadata = fs::metadata(path).map_err(failed)?;
        if metadata.is_file() {
            let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| failed(not_utf8()))?;
            scan.items.push(item(name.to_owned(), path.clone(), &metadata));
        } else if metadata.is_dir() {
            let root = fs::canonicalize(path).map_err(failed)?;
            let named = path.file_name().filter(|_| !path.as_os_str().as_encoded_bytes().ends_with(b"/"));
            let prefix = match named {
                None => String::new(),
                Some(name) => format!("{}/", name.to_str().ok_or_else(|| failed(not_utf8()))?),
            };
            scan.folder(path, &root, &prefix).map_err(failed)?;
        } else {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, NOT_PLAIN)));
        }
    }
    Ok(scan)
}

fn not_utf8() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "its name is not UTF-8, and cannot be described to receivers")
}

fn item(name: String, path: PathBuf, metadata: &Metadata) -> FoundItem {
    let modified_ns =
        metadata.mtime().checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(metadata.mtime_nsec()));
    FoundItem {
        name,
        path,
        fingerprint: metadata.is_file().then(|| fingerprint_of(metadata)),
        attributes: Attributes { mode: Some(metadata.permissions().mode() & 0o777), modified_ns },
    }
}

impl Scan {
    /// Adds what is in a folder, in the order of names.
    fn folder(&mut self, path: &Path, root: &Path, prefix: &str) -> io::Result<()> {
        let mut entries: Vec<_> = fs::read_dir(path)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        let mut is_empty = true;
        for entry in entries {
            let path = entry.path();
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                self.left_out.push(LeftOut::file(&path, &"its name is not UTF-8"));
                continue;
            };
            let mut leave_out = |reason: &str| {
                self.left_out.push(LeftOut { is_lacking: false, ..LeftOut::file(&path, &reason) });
            };
            if prefix.is_empty() && name.starts_with('.') {
                leave_out("receivers take no hidden names outside of a folder");
                continue;
            }
            let Ok(kind) = entry.file_type() else {
                leave_out("it vanished");
                continue;
            };
            let name = format!("{prefix}{name}");
            if kind.is_dir() {
                is_empty = false;
                if let Err(error) = self.folder(&path, root, &format!("{name}/")) {
                    self.left_out.push(LeftOut::file(&path, &error));
                    self.unread.push(name);
                }
                continue;
            }
            let inside = fs::canonicalize(&path).is_ok_and(|target| target.starts_with(root));
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_file() && inside => {
                    is_empty = false;
                    self.items.push(item(name, path, &metadata));
                }
                Ok(_) if kind.is_symlink() => leave_out("a link out of the folder, or to a folder"),
                Ok(_) => leave_out("neither a file nor a folder"),
                Err(error) => leave_out(&error.to_string()),
            }
        }
        if is_empty && let Some(name) = prefix.strip_suffix('/') {
            let metadata = fs::metadata(path)?;
            self.items.push(FoundItem {
                attributes: Attributes::default(),
                ..item(name.to_owned(), path.to_owned(), &metadata)
            });
        }
        Ok(())
    }
}

/// How much is read at once for hashes.
const READ: usize = 1 << 16;

/// Hashes a file of this length; `None` if `go_on`, which gets the number of bytes read, returns false, or if the file has another
/// length.
fn read(mut file: &File, mut hasher: FileHasher, go_on: &mut dyn FnMut(u64) -> bool) -> io::Result<Read> {
    let mut room = vec![0; READ];
    let mut done = 0;
    while go_on(done) {
        match file.read(&mut room) {
            Ok(0) => return Ok(Read::Done(hasher.finish())),
            Ok(length) => {
                done += length as u64;
                hasher.update(room.get(..length).always("a reader fills no more than its room"));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Read::Stopped)
}

/// What came of reading a file.
enum Read {
    Stopped,
    /// None if it does not have its length.
    Done(Option<Hashes>),
}

/// The hashes of the blocks of a file of this length, if it has several; none if it has another length.
pub(crate) fn leaves(file: &File, length: u64, symbol: u16) -> io::Result<Option<Arc<[Sha256]>>> {
    let cut = Cut { symbol, longest: u64::MAX, is_signed: true };
    match read(file, FileHasher::new(length, cut), &mut |_| true)? {
        Read::Done(Some(hashes)) => Ok(Some(hashes.whole.leaves)),
        Read::Done(None) | Read::Stopped => Ok(None),
    }
}

/// The item of a file or folder that was found, with its hashes. A file without hashes must have a tag.
pub(crate) fn item_of(found: &FoundItem, hashes: Option<Hashes>, tag: Option<Sha256>) -> Item {
    let parts = hashes.as_ref().and_then(|hashes| hashes.parts.clone());
    let whole = hashes.map(|hashes| hashes.whole);
    let sha256 = whole.as_ref().map(|whole| whole.sha256);
    Item {
        path: found.name.clone(),
        file: found.fingerprint.map(|fingerprint| (fingerprint.length, sha256)),
        tag,
        leaves: whole.map_or_else(Arc::default, |whole| whole.leaves),
        parts,
        members: Arc::default(),
        attributes: found.attributes,
    }
}

/// The tag of a file that is long enough that its transfer does not wait for its hash: one object of a table that is not signed.
pub(crate) fn tag_of(found: &FoundItem, Reading { cut, tagged }: Reading) -> Option<Sha256> {
    let fingerprint = found.fingerprint.filter(|fingerprint| fingerprint.length >= tagged)?;
    let is_one = matches!(Layout::plan(fingerprint.length, cut.symbol, cut.longest), Ok(None));
    (is_one && !cut.is_signed).then(|| fingerprint.tag())
}

/// Hashes a file while `go_on`, which gets the number of bytes read, returns true.
///
/// # Errors
/// If it cannot be read; [`Error::Interrupted`]; [`Error::FileChanged`] if it is no longer the one that was found.
pub(crate) fn hashed(
    found: &FoundItem,
    how: Reading,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Item, Error> {
    let Some(fingerprint) = found.fingerprint else { return Ok(item_of(found, None, None)) };
    let failed = |source| Error::file("read", &found.path, source);
    let changed = || Error::FileChanged { path: found.path.clone() };
    let file = open(&found.path).map_err(failed)?;
    let hashes = match read(&file, FileHasher::new(fingerprint.length, how.cut), go_on).map_err(failed)? {
        Read::Stopped => return Err(Error::Interrupted),
        Read::Done(hashes) => hashes.ok_or_else(changed)?,
    };
    if fingerprint_of(&file.metadata().map_err(failed)?) != fingerprint {
        return Err(changed());
    }
    Ok(item_of(found, Some(hashes), tag_of(found, how)))
}

/// Opens a file without waiting for the other end of a pipe that has taken its place.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(O_NONBLOCK).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn folders_keep_their_structure_and_links_are_not_followed_outside() {
        let root = std::env::temp_dir().join(format!("layercast-scan-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let site = root.join("site");
        fs::create_dir_all(site.join("a/empty")).expect("folders");
        fs::write(site.join("a/one"), b"1").expect("a file");
        fs::write(site.join(".hidden"), b"2").expect("a file");
        fs::write(root.join("secret"), b"3").expect("a file");
        symlink("a/one", site.join("inside")).expect("a link");
        symlink("../secret", site.join("outside")).expect("a link");
        symlink("a", site.join("folder")).expect("a link");
        symlink("nothing", site.join("broken")).expect("a link");
        let mut left_out = Vec::new();
        let mut names = |path: PathBuf| -> Vec<String> {
            let found = scan(&[path]).expect("files");
            left_out.extend(found.left_out.iter().map(|left_out| left_out.notice().to_string()));
            found.items.into_iter().map(|item| item.name).collect()
        };
        assert_eq!(names(site.clone()), ["site/.hidden", "site/a/empty", "site/a/one", "site/inside"]);
        assert_eq!(names(site.join("")), ["a/empty", "a/one", "inside"]);
        assert_eq!(names(site.join("a/one")), ["one"]);
        assert_eq!(left_out.len(), 3 + 4, "{left_out:?}");
        assert!(left_out.iter().any(|notice| notice.contains("outside\" is left out: a link out of")));
        let empty = root.join("none");
        fs::create_dir(&empty).expect("a folder");
        assert!(scan(&[empty.join("")]).expect("a folder").items.is_empty());
        fs::remove_dir_all(&root).expect("removed");
    }
}
