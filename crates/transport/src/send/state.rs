//! What a sender that is started again needs: which symbols it had reached, the hashes of its files, and the packet numbers
//! that it may have used.
//!
//! ```text
//! layercast send state 3
//! packets SALT NUMBER
//! file SHA256 DEVICE INODE LENGTH SECONDS NANOSECONDS ESI,ESI,... NAME
//! part LENGTH SHA256 ESI,ESI,...
//! blocks SYMBOL LEAVES
//! package SHA256 ESI,ESI,... NAME
//! end LINES CHECKSUM
//! ```
//!
//! The numbers after the hash identify the content without reading it; then follow the next symbol of each block and
//! the path at the receivers. A package of files has no fingerprint: it is made again from its files. A long file has no symbols of its own, but parts, in their order, of which all but the last have this length. `blocks` has the hashes of the
//! blocks of the file or the part before it, in symbols of this size, where the table is signed. Of `packets`, SALT is `-` if nothing was encrypted, and packets up to NUMBER may have been sent. The
//! checksum is the start of the SHA-256 of all lines before. The file is replaced as a
//! whole: after a crash there is the one before or the new one.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use base16ct::lower::encode_string as hex;
use layercast_delivery::object::{
    Coding, Content, Cut, Entry as Object, FilePart, Hashes, Layout, ObjectHashes, Parts, Sha256, sha256,
};
use layercast_delivery::security::encryption::Salt;

use super::scan::Fingerprint;
use crate::error::Error;
use layercast_core::Always as _;

const HEAD: &str = "layercast send state 3";

/// The packet numbers of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    /// What packets are encrypted with; none if none were.
    pub(super) salt: Option<Salt>,
    /// The highest number that may have been used.
    pub(super) granted: u64,
}

/// The hashes of an object, and of its blocks in symbols of a size.
#[derive(Clone, Debug)]
struct Known {
    sha256: Sha256,
    symbol: usize,
    leaves: Arc<[Sha256]>,
}

/// The hashes of a file, and of its parts of some length if it has several.
#[derive(Clone, Debug)]
struct KnownFile {
    name: String,
    whole: Known,
    layout: Option<Layout>,
    parts: Vec<Known>,
}

impl Known {
    fn new(sha256: Sha256) -> Known {
        Known { sha256, symbol: 0, leaves: Arc::default() }
    }

    /// The hashes of an object of this length; none if those of its blocks are needed and not there.
    fn hashes(&self, length: u64, cut: Cut) -> Option<ObjectHashes> {
        let leaves = match Coding::plan(length, cut.symbol) {
            Ok(Coding::RaptorQ(oti)) if cut.is_signed && oti.blocks() > 1 => {
                let fits = oti.symbol_size() == self.symbol && self.leaves.len() == usize::from(oti.blocks());
                fits.then(|| Arc::clone(&self.leaves))?
            }
            _ => Arc::default(),
        };
        Some(ObjectHashes { sha256: self.sha256, leaves })
    }
}

/// What an earlier sender left.
#[derive(Debug, Default)]
pub(super) struct Saved {
    /// Its packet numbers.
    pub(super) numbers: Numbers,
    hashes: HashMap<Fingerprint, KnownFile>,
    /// By the names of objects.
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
                let file = self.hashes.get_mut(last.as_ref()?)?;
                let hashes = file.parts.last_mut().unwrap_or(&mut file.whole);
                hashes.symbol = fields.next()?.parse().ok()?;
                let leaves = fields.next()?.split(',').map(from_hex).collect::<Option<Vec<_>>>()?;
                hashes.leaves = leaves.into();
                return Some(());
            }
            "part" => {
                let fingerprint = last.as_ref()?;
                return self.part(fingerprint.length(), *fingerprint, &mut fields);
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
        let name = fields.next()?.to_owned();
        let known =
            KnownFile { name: name.clone(), whole: Known::new(hash), layout: None, parts: Vec::new() };
        self.hashes.insert(fingerprint, known);
        *last = Some(fingerprint);
        self.reached.insert(name, (hash, reached));
        Some(())
    }

    /// Reads the next part of a file of this length.
    fn part<'a>(
        &mut self,
        length: u64,
        of: Fingerprint,
        fields: &mut impl Iterator<Item = &'a str>,
    ) -> Option<()> {
        let file = self.hashes.get_mut(&of)?;
        let layout = Layout::new(length, fields.next()?.parse().ok()?).ok()?;
        let (sha256, reached) = (from_hex(fields.next()?)?, numbers(fields.next()?)?);
        let number = file.parts.len() as u32;
        layout.range(number).filter(|_| file.layout.is_none_or(|of| of == layout))?;
        file.layout = Some(layout);
        file.parts.push(Known::new(sha256));
        let part = FilePart { layout, number, sha256: file.whole.sha256 };
        self.reached.insert(file.name.clone() + &part.suffix(), (sha256, reached));
        Some(())
    }

    /// The hashes of a file that has not changed since; none if it is cut otherwise than it was.
    pub(super) fn hashes(&self, fingerprint: &Fingerprint, cut: Cut) -> Option<Hashes> {
        let known = self.hashes.get(fingerprint)?;
        let length = fingerprint.length();
        let layout = Layout::plan(length, cut.symbol, cut.longest).ok()?;
        if layout != known.layout {
            return None;
        }
        let Some(layout) = layout else {
            return Some(Hashes { whole: known.whole.hashes(length, cut)?, parts: None });
        };
        let each = (0..).zip(&known.parts);
        let each: Option<Vec<ObjectHashes>> =
            each.map(|(number, part)| part.hashes(layout.range(number)?.1, cut)).collect();
        let each = each.filter(|each| each.len() == layout.count() as usize)?;
        Some(Hashes::of_parts(Parts { layout, each }))
            .filter(|found| found.whole.sha256 == known.whole.sha256)
    }

    /// The next symbol of each block of an object of the same name and content; empty if there was none.
    pub(super) fn reached(&self, object: &Object) -> Vec<u32> {
        let Content::File { sha256: Some(sha256), .. } = object.content else { return Vec::new() };
        let same = self.reached.get(&object.location()).filter(|(hash, _)| *hash == sha256);
        same.map(|(_, reached)| reached.clone()).unwrap_or_default()
    }
}

const FOREIGN: &str = "it is not the state of a sender: name another file; this one is left as it is";
const DAMAGED: &str = "remove it to begin with the first symbols; it is left as it is";

fn end(body: &str, lines: usize) -> String {
    let hash = sha256(body.as_bytes());
    format!("end {lines} {}", hex(hash.get(..8).always("a hash is longer")))
}

fn from_hex(text: &str) -> Option<Sha256> {
    let mut hash = Sha256::default();
    let length = base16ct::mixed::decode(text, &mut hash).ok()?.len();
    (length == hash.len()).then_some(hash)
}

/// A file of a state, or a part of one.
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) part: Option<FilePart>,
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
    let mut next_part = 0;
    for file in files {
        // Parts are read in their order; without one of them those after it are of no use.
        if let Some(part) = file.part {
            if part.number > 0 && part.number != next_part {
                continue;
            }
            next_part = part.number + 1;
        }
        let reached: Vec<String> = file.reached.iter().map(u32::to_string).collect();
        let (hash, reached) = (hex(&file.hash), reached.join(","));
        count += 1;
        let Some(fingerprint) = file.fingerprint else {
            let _ = write!(text, "\npackage {hash} {reached} {}", file.name);
            continue;
        };
        if let Some(FilePart { layout, number, sha256 }) = file.part {
            if number == 0 {
                let _ = write!(text, "\nfile {} {}  {}", hex(&sha256), fingerprint.to_fields(), file.name);
                count += 1;
            }
            let _ = write!(text, "\npart {} {hash} {reached}", layout.part());
        } else {
            let _ = write!(text, "\nfile {hash} {} {reached} {}", fingerprint.to_fields(), file.name);
        }
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
            part: None,
            hash,
            leaves: (1000, &leaves),
            fingerprint: Some(fingerprint),
            reached: vec![0; 3],
        };
        let saved = Saved::parse(&text(&Numbers::default(), [entry].into_iter())).expect("a state");
        assert_eq!(saved.numbers, Numbers::default());
        let cut = |symbol, is_signed| Cut { symbol, longest: 4000, is_signed };
        let hashes = |cut| saved.hashes(&fingerprint, cut).map(|found| found.whole);
        assert_eq!(hashes(cut(1000, false)), Some(ObjectHashes { sha256: hash, leaves: [].into() }));
        assert_eq!(hashes(cut(1001, true)), Some(ObjectHashes { sha256: hash, leaves: leaves.into() }));
        assert_eq!(hashes(cut(900, true)), None, "it must be read again");
        assert_eq!(hashes(Cut { longest: 1000, ..cut(1000, false) }), None, "it has parts now");
        fs::remove_dir_all(root).expect("removed");
    }

    fn sample(root: &Path) -> (Fingerprint, String) {
        fs::write(root.join("file"), b"content").expect("a file");
        let fingerprint = Fingerprint::of(&fs::metadata(root.join("file")).expect("a file"));
        let entry = |name, reached| Entry {
            name,
            part: None,
            hash: [7; 32],
            leaves: (900, &[]),
            fingerprint: Some(fingerprint),
            reached,
        };
        let package = Entry { fingerprint: None, ..entry(".layercast/0a.package", vec![3, 4]) };
        let files = [entry("a folder/a file", vec![5, 70_000]), package, entry("short", vec![])];
        (fingerprint, text(&NUMBERS, files.into_iter()))
    }

    fn object(path: &str, hash: Sha256) -> Object {
        let coding = Coding::plan(7, 100).expect("a coding");
        Object {
            toi: 1,
            path: path.into(),
            content: Content::File { coding, sha256: Some(hash) },
            leaves: Arc::default(),
            package: None,
            part: None,
            attributes: Attributes::default(),
            compressed: None,
            md5: None,
            tag: None,
        }
    }

    /// A state of a file of three parts, and what it is read as.
    #[test]
    fn parts_of_a_file_have_hashes_and_symbols_of_their_own() {
        let root = folder("parts");
        let file = File::create(root.join("file")).expect("a file");
        file.set_len(2_500_000).expect("its length");
        let fingerprint = Fingerprint::of(&file.metadata().expect("a file"));
        let cut = Cut { symbol: 1000, longest: 1000, is_signed: true };
        let layout = Layout::plan(2_500_000, 1000, 1000).expect("a layout").expect("parts");
        assert_eq!(layout.count(), 3);
        let part = |number: u8| ObjectHashes { sha256: [number; 32], leaves: [].into() };
        let hashes = Hashes::of_parts(Parts { layout, each: (0..3).map(part).collect() });
        let entry = |number: u32| Entry {
            name: "a/long file",
            part: Some(FilePart { layout, number, sha256: hashes.whole.sha256 }),
            hash: [number as u8; 32],
            leaves: (1000, &[]),
            fingerprint: Some(fingerprint),
            reached: vec![number + 7],
        };
        let other = || Entry { name: "other", part: None, fingerprint: None, ..entry(1) };
        let saved = Saved::parse(&text(&NUMBERS, [other(), entry(0), entry(1), entry(2)].into_iter()));
        let saved = saved.expect("a state");
        assert_eq!(saved.hashes(&fingerprint, cut), Some(hashes.clone()));
        assert_eq!(saved.hashes(&fingerprint, Cut { longest: 5000, ..cut }), None);
        assert_eq!(saved.hashes(&fingerprint, Cut { longest: 900, ..cut }), Some(hashes.clone()));
        assert_eq!(saved.hashes(&fingerprint, Cut { longest: 800, ..cut }), None, "in other parts");
        let of = |number| Object { part: entry(number).part, ..object("a/long file", [number as u8; 32]) };
        assert_eq!([0, 1, 2].map(|number| saved.reached(&of(number))), [[7], [8], [9]]);
        // Some of them were withdrawn when the state was written.
        for some in [vec![entry(0), entry(2)], vec![other(), entry(1), entry(2)]] {
            let saved = Saved::parse(&text(&NUMBERS, some.into_iter())).expect("a state");
            assert_eq!(saved.hashes(&fingerprint, cut), None);
            assert_eq!(saved.reached(&of(2)), [0; 0]);
        }
        fs::remove_dir_all(root).expect("removed");
    }

    #[test]
    fn what_was_written_is_read_by_path_and_content() {
        let root = folder("whole");
        let (fingerprint, text) = sample(&root);
        let path = root.join("state");
        replace(&path, &text).expect("written");
        let saved = Saved::read(&path).expect("a state");
        let cut = Cut { symbol: 900, longest: 1000, is_signed: false };
        assert_eq!(saved.hashes(&fingerprint, cut).map(|found| found.whole.sha256), Some([7; 32]));
        assert_eq!(saved.numbers, NUMBERS);
        assert_eq!(saved.reached(&object("a folder/a file", [7; 32])), [5, 70_000]);
        assert_eq!(saved.reached(&object(".layercast/0a.package", [7; 32])), [3, 4]);
        assert!(saved.reached(&object("a folder/a file", [8; 32])).is_empty());
        assert!(saved.reached(&object("another", [7; 32])).is_empty());
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
