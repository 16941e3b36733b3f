//! What a sender that is started again needs: which symbols it had reached, the hashes of its files, and the packet numbers
//! that it may have used.
//!
//! ```text
//! layercast send state 3
//! packets SALT NUMBER
//! file SHA256 DEVICE INODE LENGTH SECONDS NANOSECONDS ESI,ESI,... NAME
//! blocks SYMBOL LEAVES
//! package SHA256 ESI,ESI,... NAME
//! end LINES CHECKSUM
//! ```
//!
//! The numbers after the hash identify the content without reading it; then follow the next symbol of each block and
//! the path at the receivers. A package of files has no fingerprint: it is made again from its files. `blocks` has the hashes of the blocks of the file before it, in symbols of this size, where the
//! table is signed. Of `packets`, SALT is `-` if nothing was encrypted, and packets up to NUMBER may have been sent. The
//! checksum is the start of the SHA-256 of all lines before. The file is replaced as a
//! whole: after a crash there is the one before or the new one.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use layercast_delivery::catalogue::Item;
use layercast_delivery::object::{Coding, Sha256, sha256};
use layercast_delivery::security::encryption::Salt;

use super::scan::Fingerprint;
use crate::error::Error;

const HEAD: &str = "layercast send state 3";

/// The packet numbers of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    /// What packets are encrypted with; none if none were.
    pub(super) salt: Option<Salt>,
    /// The highest number that may have been used.
    pub(super) granted: u64,
}

/// The hashes of a file and of its blocks in symbols of a size.
#[derive(Clone, Debug)]
struct Hashes {
    whole: Sha256,
    symbol: usize,
    leaves: Arc<[Sha256]>,
}

/// What an earlier sender left.
#[derive(Debug, Default)]
pub(super) struct Saved {
    /// Its packet numbers.
    pub(super) numbers: Numbers,
    hashes: HashMap<Fingerprint, Hashes>,
    reached: BTreeMap<String, (Sha256, Vec<u32>)>,
}

impl Saved {
    /// Reads a state; an empty one if there is no file.
    pub(super) fn read(path: &Path) -> Result<Saved, Error> {
        let wrong = |reason: &str| Error::State { path: path.to_owned(), reason: reason.to_owned() };
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Saved::default()),
            Err(error) => return Err(Error::file("read", path, error)),
        };
        let text = String::from_utf8(bytes).map_err(|_| wrong(FOREIGN))?;
        Saved::parse(&text).map_err(|reason| wrong(&reason))
    }

    fn parse(text: &str) -> Result<Saved, String> {
        match text.lines().next() {
            Some(HEAD) => {}
            Some(other) if other.starts_with("layercast send state ") => {
                return Err(format!(
                    "its version, `{other}`, is not known here: use the program that wrote it; it is left as it is"
                ));
            }
            _ => return Err(FOREIGN.to_owned()),
        }
        let damaged = |reason: String| format!("it is damaged ({reason}): {DAMAGED}");
        let cut = || damaged("its last line is missing".to_owned());
        let body = text.strip_suffix('\n').ok_or_else(cut)?;
        let (body, last) = body.rsplit_once('\n').ok_or_else(cut)?;
        let lines: Vec<&str> = body.lines().skip(1).collect();
        if !last.starts_with("end ") {
            return Err(cut());
        }
        if last != end(body, lines.len()) {
            return Err(damaged("its checksum is wrong".to_owned()));
        }
        let mut saved = Saved::default();
        let mut last = None;
        for (index, line) in lines.into_iter().enumerate() {
            saved.line(line, &mut last).ok_or_else(|| damaged(format!("line {}", index + 2)))?;
        }
        Ok(saved)
    }

    /// Reads a line; `last` is the file of the line before.
    fn line(&mut self, line: &str, last: &mut Option<Fingerprint>) -> Option<()> {
        if let Some(rest) = line.strip_prefix("package ") {
            let mut fields = rest.splitn(3, ' ');
            let (hash, reached) = (from_hex(fields.next()?)?, numbers(fields.next()?)?);
            self.reached.insert(fields.next()?.to_owned(), (hash, reached));
            return Some(());
        }
        let mut fields = line.splitn(9, ' ');
        match fields.next()? {
            "file" => {}
            "blocks" => {
                let hashes = self.hashes.get_mut(&last.take()?)?;
                hashes.symbol = fields.next()?.parse().ok()?;
                let leaves = fields.next()?.split(',').map(from_hex).collect::<Option<Vec<_>>>()?;
                hashes.leaves = leaves.into();
                return Some(());
            }
            "packets" => {
                let salt = match fields.next()? {
                    "-" => None,
                    salt => Some(salt.parse().ok()?),
                };
                self.numbers = Numbers { salt, granted: fields.next()?.parse().ok()? };
                return Some(());
            }
            _ => return None,
        }
        let hash = from_hex(fields.next()?)?;
        let fingerprint = Fingerprint::from_fields(&mut fields)?;
        let reached = numbers(fields.next()?)?;
        let hashes = Hashes { whole: hash, symbol: 0, leaves: Arc::default() };
        self.hashes.insert(fingerprint, hashes);
        *last = Some(fingerprint);
        self.reached.insert(fields.next()?.to_owned(), (hash, reached));
        Some(())
    }

    /// The hash of a file that has not changed since, and those of its blocks if it is to be `signed` in symbols of some
    /// size.
    pub(super) fn hashes(
        &self,
        fingerprint: &Fingerprint,
        signed: Option<u16>,
    ) -> Option<(Sha256, Arc<[Sha256]>)> {
        let Hashes { whole, symbol, leaves } = self.hashes.get(fingerprint)?;
        let Some(coding) = signed.map(|symbol| Coding::plan(fingerprint.length(), symbol)) else {
            return Some((*whole, Arc::default()));
        };
        match coding {
            Ok(Coding::RaptorQ(oti)) if oti.blocks() > 1 => {
                let fits = oti.symbol_size() == *symbol && leaves.len() == usize::from(oti.blocks());
                fits.then(|| (*whole, Arc::clone(leaves)))
            }
            _ => Some((*whole, Arc::default())),
        }
    }

    /// The next symbol of each block of an object of the same path and content; empty if there was none.
    pub(super) fn reached(&self, item: &Item) -> Vec<u32> {
        let same =
            self.reached.get(&item.path).filter(|(hash, _)| item.file.is_some_and(|(_, of)| of == *hash));
        same.map(|(_, reached)| reached.clone()).unwrap_or_default()
    }
}

const FOREIGN: &str = "it is not the state of a sender: name another file; this one is left as it is";
const DAMAGED: &str = "remove it to begin with the first symbols; it is left as it is";

fn end(body: &str, lines: usize) -> String {
    let hash = sha256(body.as_bytes());
    format!("end {lines} {}", hex(hash.get(..8).unwrap_or_default()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex(text: &str) -> Option<Sha256> {
    let mut hash = Sha256::default();
    if text.len() != 2 * hash.len() {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(hash)
}

/// A file of a state.
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) hash: Sha256,
    /// The size of symbols, and the hashes of the blocks in them if the file is signed.
    pub(super) leaves: (usize, &'a [Sha256]),
    /// None of a package.
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) reached: Vec<u32>,
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split(',').filter(|esi| !esi.is_empty()).map(|esi| esi.parse().ok()).collect()
}

/// A state as text.
pub(super) fn text<'a>(numbers: &Numbers, files: impl Iterator<Item = Entry<'a>>) -> String {
    let salt = numbers.salt.map_or_else(|| "-".to_owned(), |salt| salt.to_string());
    let mut text = format!("{HEAD}\npackets {salt} {}", numbers.granted);
    let mut count = 1;
    for file in files {
        let reached: Vec<String> = file.reached.iter().map(u32::to_string).collect();
        let (hash, reached) = (hex(&file.hash), reached.join(","));
        count += 1;
        let Some(fingerprint) = file.fingerprint else {
            let _ = write!(text, "\npackage {hash} {reached} {}", file.name);
            continue;
        };
        let _ = write!(text, "\nfile {hash} {} {reached} {}", fingerprint.to_fields(), file.name);
        if let (symbol, leaves @ [_, ..]) = file.leaves {
            let leaves: Vec<String> = leaves.iter().map(|leaf| hex(leaf)).collect();
            let _ = write!(text, "\nblocks {symbol} {}", leaves.join(","));
            count += 1;
        }
    }
    let end = end(&text, count);
    text + "\n" + &end + "\n"
}

/// Replaces the file of a state as a whole.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let mut file = File::create(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use layercast_delivery::disk::Attributes;

    fn folder(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("layercast-state-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).expect("a folder");
        root
    }

    const NUMBERS: Numbers = Numbers { salt: Some(Salt([0xa5; 16])), granted: 1 << 24 };

    #[test]
    fn hashes_of_blocks_count_for_the_symbols_of_which_they_were_made() {
        let root = folder("blocks");
        let file = File::create(root.join("file")).expect("a file");
        file.set_len(3_000_000).expect("its length");
        let fingerprint = Fingerprint::of(&file.metadata().expect("a file"));
        let leaves = [[1; 32], [2; 32], [3; 32]];
        let (name, hash) = ("file", [7; 32]);
        let entry = Entry {
            name,
            hash,
            leaves: (1000, &leaves),
            fingerprint: Some(fingerprint),
            reached: vec![0; 3],
        };
        let saved = Saved::parse(&text(&Numbers::default(), [entry].into_iter())).expect("a state");
        assert_eq!(saved.numbers, Numbers::default());
        assert_eq!(saved.hashes(&fingerprint, None), Some((hash, Arc::default())));
        assert_eq!(saved.hashes(&fingerprint, Some(1001)), Some((hash, leaves.into())));
        assert_eq!(saved.hashes(&fingerprint, Some(900)), None, "it must be read again");
        fs::remove_dir_all(root).expect("removed");
    }

    fn sample(root: &Path) -> (Fingerprint, String) {
        fs::write(root.join("file"), b"content").expect("a file");
        let fingerprint = Fingerprint::of(&fs::metadata(root.join("file")).expect("a file"));
        let entry = |name, reached| Entry {
            name,
            hash: [7; 32],
            leaves: (900, &[]),
            fingerprint: Some(fingerprint),
            reached,
        };
        let package = Entry { fingerprint: None, ..entry(".layercast/0a.package", vec![3, 4]) };
        let files = [entry("a folder/a file", vec![5, 70_000]), package, entry("short", vec![])];
        (fingerprint, text(&NUMBERS, files.into_iter()))
    }

    fn item(path: &str, hash: Sha256) -> Item {
        Item {
            path: path.into(),
            file: Some((7, hash)),
            leaves: Arc::default(),
            members: Arc::default(),
            attributes: Attributes::default(),
        }
    }

    #[test]
    fn what_was_written_is_read_by_path_and_content() {
        let root = folder("whole");
        let (fingerprint, text) = sample(&root);
        let path = root.join("state");
        replace(&path, &text).expect("written");
        let saved = Saved::read(&path).expect("a state");
        assert_eq!(saved.hashes(&fingerprint, None), Some(([7; 32], Arc::default())));
        assert_eq!(saved.numbers, NUMBERS);
        assert_eq!(saved.reached(&item("a folder/a file", [7; 32])), [5, 70_000]);
        assert_eq!(saved.reached(&item(".layercast/0a.package", [7; 32])), [3, 4]);
        assert!(saved.reached(&item("a folder/a file", [8; 32])).is_empty());
        assert!(saved.reached(&item("another", [7; 32])).is_empty());
        assert!(Saved::read(&root.join("none")).expect("none yet").reached.is_empty());
        fs::remove_dir_all(root).expect("removed");
    }

    #[test]
    fn a_torn_damaged_or_foreign_file_is_an_error_and_stays() {
        let root = folder("torn");
        let (_, text) = sample(&root);
        let path = root.join("state");
        for length in 0..text.len() {
            fs::write(&path, &text[..length]).expect("written");
            let error = Saved::read(&path).expect_err("torn").to_string();
            assert!(error.contains("left as it is") && error.contains("state"), "{error}");
            assert_eq!(fs::read_to_string(&path).expect("it stays"), &text[..length]);
        }
        let newer = text.replacen("state 3", "state 4", 1);
        let other = text.replacen("70000", "70001", 1);
        let expected =
            [(newer.as_str(), "version"), (&other, "checksum"), ("[package]\n", "not the state of a sender")];
        for (text, expected) in expected {
            fs::write(&path, text).expect("written");
            let error = Saved::read(&path).expect_err("wrong").to_string();
            assert!(error.contains(expected), "{error}");
        }
        fs::remove_dir_all(root).expect("removed");
    }
}
