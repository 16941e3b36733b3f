//! The state of a source as bytes.
//!
//! It is one [record] of JSON after its head. Of a long file the objects are its parts; a package of files has no
//! fingerprint, since it is made again from its files.

use std::collections::BTreeMap;
use std::sync::Arc;

use layercast_core::Always as _;
use serde::{Deserialize, Serialize};

use super::Numbers;
use super::fingerprint::Fingerprint;
use crate::object::{
    Coding, Content, Cut, Entry as Object, FilePart, Hashes, Layout, ObjectHashes, Parts, Sha256,
};
use crate::record;
use crate::security::encryption::Salt;
use crate::sender::Sender;

const HEAD: &[u8] = b"layercast send state 4\n";
/// What the heads of all versions begin with.
const ANY_HEAD: &[u8] = b"layercast send state ";

/// Why a state cannot be used. The file of it is left as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// It is of another version, whose head this is.
    #[error("its version, `{0}`, is not known here: use the program that wrote it; it is left as it is")]
    Version(String),
    /// It is something else.
    #[error("it is not the state of a sender: name another file; this one is left as it is")]
    Foreign,
    /// Some of it is missing or wrong.
    #[error("it is damaged ({0}): remove it to begin with the first symbols; it is left as it is")]
    Damaged(String),
}

/// A hash, as text of hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Hash(Sha256);

impl From<Hash> for String {
    fn from(hash: Hash) -> String {
        base16ct::lower::encode_string(&hash.0)
    }
}

impl TryFrom<String> for Hash {
    type Error = base16ct::Error;

    fn try_from(text: String) -> Result<Hash, base16ct::Error> {
        let bytes = base16ct::lower::decode_vec(text)?;
        bytes.try_into().map(Hash).map_err(|_| base16ct::Error::InvalidLength)
    }
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    salt: Option<String>,
    /// Packets up to this number may have been sent.
    granted: u64,
    files: Vec<KnownFile>,
    packages: Vec<Package>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KnownFile {
    /// Its path at the receivers.
    name: String,
    fingerprint: Fingerprint,
    hash: Hash,
    /// The length of all parts but the last; none of a file that is one object.
    part: Option<u64>,
    objects: Vec<Known>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Package {
    name: String,
    object: Known,
}

/// An object.
#[derive(Debug, Serialize, Deserialize)]
struct Known {
    hash: Hash,
    /// The next symbol of each block.
    reached: Vec<u32>,
    /// The size of symbols, and the hashes of the blocks in them if the table is signed.
    symbol: usize,
    blocks: Vec<Hash>,
}

impl KnownFile {
    /// How it is cut into parts; none if it is one object. An error if there are no such parts.
    fn layout(&self) -> Result<Option<Layout>, String> {
        let layout = self.part.map(|part| Layout::new(self.fingerprint.length, part)).transpose();
        layout.map_err(|error| error.to_string())
    }
}

impl Known {
    /// The hashes of an object of this length; none if those of its blocks are needed and not there.
    fn hashes(&self, length: u64, cut: Cut) -> Option<ObjectHashes> {
        let leaves = match Coding::plan(length, cut.symbol) {
            Ok(Coding::RaptorQ(oti)) if cut.is_signed && oti.blocks() > 1 => {
                let fits = oti.symbol_size() == self.symbol && self.blocks.len() == usize::from(oti.blocks());
                fits.then(|| self.blocks.iter().map(|hash| hash.0).collect())?
            }
            _ => Arc::default(),
        };
        Some(ObjectHashes { sha256: self.hash.0, leaves })
    }
}

/// What an earlier source left; nothing by default.
#[derive(Debug, Default)]
pub struct Saved {
    /// Its packet numbers.
    pub numbers: Numbers,
    files: BTreeMap<Fingerprint, (Option<Layout>, KnownFile)>,
    /// By the names of objects.
    reached: BTreeMap<String, (Sha256, Vec<u32>)>,
}

impl Saved {
    /// Reads a state.
    ///
    /// # Errors
    /// Why it cannot be used, and what an operator can do.
    pub fn parse(bytes: &[u8]) -> Result<Saved, StateError> {
        let Some(rest) = bytes.strip_prefix(HEAD) else {
            let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
            return Err(match bytes.starts_with(ANY_HEAD) {
                true => StateError::Version(String::from_utf8_lossy(first).into_owned()),
                false => StateError::Foreign,
            });
        };
        let Some((json, [])) = record::split(rest) else {
            return Err(StateError::Damaged("its end is missing, or its checksum is wrong".to_owned()));
        };
        let state = serde_json::from_slice(json).map_err(|error| StateError::Damaged(error.to_string()))?;
        Saved::of(state).map_err(StateError::Damaged)
    }

    fn of(state: State) -> Result<Saved, String> {
        let salt =
            state.salt.as_deref().map(str::parse::<Salt>).transpose().map_err(|error| format!("{error}"))?;
        let numbers = Numbers { salt, granted: state.granted };
        let mut saved = Saved { numbers, ..Saved::default() };
        for Package { name, object } in state.packages {
            saved.reached.insert(name, (object.hash.0, object.reached));
        }
        for file in state.files {
            let layout = file.layout()?;
            for (number, object) in (0..).zip(&file.objects) {
                let part = layout.map(|layout| FilePart { layout, number, sha256: file.hash.0 });
                let name = file.name.clone() + &part.map(|part| part.suffix()).unwrap_or_default();
                saved.reached.insert(name, (object.hash.0, object.reached.clone()));
            }
            saved.files.insert(file.fingerprint, (layout, file));
        }
        Ok(saved)
    }

    /// The hashes of a file that has not changed since; none if it is cut otherwise than it was.
    pub fn hashes(&self, fingerprint: &Fingerprint, cut: Cut) -> Option<Hashes> {
        let (known, file) = self.files.get(fingerprint)?;
        let length = fingerprint.length;
        let layout = Layout::plan(length, cut.symbol, cut.longest).ok()?;
        if layout != *known {
            return None;
        }
        let Some(layout) = layout else {
            return Some(Hashes { whole: file.objects.first()?.hashes(length, cut)?, parts: None });
        };
        let each = (0..).zip(&file.objects);
        let each: Option<Vec<ObjectHashes>> =
            each.map(|(number, part)| part.hashes(layout.range(number)?.1, cut)).collect();
        let each = each.filter(|each| each.len() == layout.count() as usize)?;
        Some(Hashes::of_parts(Parts { layout, each })).filter(|found| found.whole.sha256 == file.hash.0)
    }

    /// The next symbol of each block of an object of the same name and content; empty if there was none.
    pub fn reached(&self, object: &Object) -> Vec<u32> {
        let Content::File { sha256: Some(sha256), .. } = object.content else { return Vec::new() };
        let same = self.reached.get(&object.location()).filter(|(hash, _)| *hash == sha256);
        same.map(|(_, reached)| reached.clone()).unwrap_or_default()
    }
}

/// A file of a state, or a part of one.
struct Entry<'a> {
    name: &'a str,
    part: Option<FilePart>,
    hash: Sha256,
    /// The size of symbols, and the hashes of the blocks in them if the file is signed.
    leaves: (usize, &'a [Sha256]),
    /// None of a package.
    fingerprint: Option<Fingerprint>,
    reached: Vec<u32>,
}

/// The state of a sender as bytes. What is sent until the next state is stored is passed over by a source that reads it: `reserve`
/// of it, in multiples of all objects' symbols. Objects with neither a fingerprint nor a package are left out, and those without a
/// hash.
pub fn encode(
    sender: &Sender,
    numbers: &Numbers,
    reserve: f64,
    fingerprint: impl Fn(u32) -> Option<Fingerprint>,
) -> Vec<u8> {
    let files = sender.catalogue().objects().filter_map(|(toi, object)| {
        let Content::File { sha256: Some(hash), coding } = object.content else { return None };
        let fingerprint = fingerprint(toi);
        if fingerprint.is_none() && object.package.is_none() {
            return None;
        }
        let ahead = |block: u8| match coding {
            Coding::RaptorQ(oti) => (reserve * f64::from(oti.block_symbols(block))).ceil() as u32,
            Coding::NoCode(_) => 0,
        };
        let reached = sender.carousel().reached(toi).zip(0..=u8::MAX);
        let reached = reached.map(|(esi, block)| esi.saturating_add(ahead(block))).collect();
        let leaves = (coding.symbol_size(), &*object.leaves);
        Some(Entry { name: &object.path, part: object.part, hash, leaves, fingerprint, reached })
    });
    bytes(numbers, files)
}

fn bytes<'a>(numbers: &Numbers, entries: impl Iterator<Item = Entry<'a>>) -> Vec<u8> {
    let mut state = State {
        salt: numbers.salt.map(|salt| salt.to_string()),
        granted: numbers.granted,
        files: Vec::new(),
        packages: Vec::new(),
    };
    for entry in entries {
        let (symbol, leaves) = entry.leaves;
        let blocks = leaves.iter().copied().map(Hash).collect();
        let object = Known { hash: Hash(entry.hash), reached: entry.reached, symbol, blocks };
        let name = entry.name.to_owned();
        let Some(fingerprint) = entry.fingerprint else {
            state.packages.push(Package { name, object });
            continue;
        };
        let (hash, part) = match entry.part {
            Some(part) => (part.sha256, Some(part.layout.part())),
            None => (entry.hash, None),
        };
        match entry.part.map_or(0, |part| part.number) {
            0 => state.files.push(KnownFile {
                name,
                fingerprint,
                hash: Hash(hash),
                part,
                objects: vec![object],
            }),
            // Parts are read in their order; without one of them those after it are of no use.
            number => {
                let is_next =
                    |file: &&mut KnownFile| file.name == name && file.objects.len() == number as usize;
                if let Some(file) = state.files.last_mut().filter(is_next) {
                    file.objects.push(object);
                }
            }
        }
    }
    let json = serde_json::to_vec(&state).always("numbers and texts are JSON");
    let mut bytes = HEAD.to_vec();
    record::push(&mut bytes, &[&json]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: Numbers = Numbers { salt: Some(Salt([0xa5; 16])), granted: 1 << 24 };

    fn file(length: u64) -> Fingerprint {
        Fingerprint { device: 1, inode: 2, length, modified: (3, 4) }
    }

    #[test]
    fn hashes_of_blocks_count_for_the_symbols_of_which_they_were_made() {
        let fingerprint = file(3_000_000);
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
        let saved = Saved::parse(&bytes(&Numbers::default(), [entry].into_iter())).expect("a state");
        assert_eq!(saved.numbers, Numbers::default());
        let cut = |symbol, is_signed| Cut { symbol, longest: 4000, is_signed };
        let hashes = |cut| saved.hashes(&fingerprint, cut).map(|found| found.whole);
        assert_eq!(hashes(cut(1000, false)), Some(ObjectHashes { sha256: hash, leaves: [].into() }));
        assert_eq!(hashes(cut(1001, true)), Some(ObjectHashes { sha256: hash, leaves: leaves.into() }));
        assert_eq!(hashes(cut(900, true)), None, "it must be read again");
        assert_eq!(hashes(Cut { longest: 1000, ..cut(1000, false) }), None, "it has parts now");
    }

    fn sample() -> (Fingerprint, Vec<u8>) {
        let fingerprint = file(7);
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
        (fingerprint, bytes(&NUMBERS, files.into_iter()))
    }

    fn object(path: &str, hash: Sha256) -> Object {
        let coding = Coding::plan(7, 100).expect("a coding");
        Object::new(1, path, Content::File { coding, sha256: Some(hash) })
    }

    /// A state of a file of three parts, and what it is read as.
    #[test]
    fn parts_of_a_file_have_hashes_and_symbols_of_their_own() {
        let fingerprint = file(2_500_000);
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
        let saved = Saved::parse(&bytes(&NUMBERS, [other(), entry(0), entry(1), entry(2)].into_iter()));
        let saved = saved.expect("a state");
        assert_eq!(saved.hashes(&fingerprint, cut), Some(hashes.clone()));
        assert_eq!(saved.hashes(&fingerprint, Cut { longest: 5000, ..cut }), None);
        assert_eq!(saved.hashes(&fingerprint, Cut { longest: 900, ..cut }), Some(hashes.clone()));
        assert_eq!(saved.hashes(&fingerprint, Cut { longest: 800, ..cut }), None, "in other parts");
        let of = |number| Object { part: entry(number).part, ..object("a/long file", [number as u8; 32]) };
        assert_eq!([0, 1, 2].map(|number| saved.reached(&of(number))), [[7], [8], [9]]);
        // Some of them were withdrawn when the state was written.
        for some in [vec![entry(0), entry(2)], vec![other(), entry(1), entry(2)]] {
            let saved = Saved::parse(&bytes(&NUMBERS, some.into_iter())).expect("a state");
            assert_eq!(saved.hashes(&fingerprint, cut), None);
            assert_eq!(saved.reached(&of(2)), [0; 0]);
        }
    }

    #[test]
    fn what_was_written_is_read_by_path_and_content() {
        let (fingerprint, bytes) = sample();
        let saved = Saved::parse(&bytes).expect("a state");
        let cut = Cut { symbol: 900, longest: 1000, is_signed: false };
        assert_eq!(saved.hashes(&fingerprint, cut).map(|found| found.whole.sha256), Some([7; 32]));
        assert_eq!(saved.numbers, NUMBERS);
        assert_eq!(saved.reached(&object("a folder/a file", [7; 32])), [5, 70_000]);
        assert_eq!(saved.reached(&object(".layercast/0a.package", [7; 32])), [3, 4]);
        assert!(saved.reached(&object("a folder/a file", [8; 32])).is_empty());
        assert!(saved.reached(&object("another", [7; 32])).is_empty());
    }

    #[test]
    fn a_torn_damaged_or_foreign_state_is_an_error() {
        let (_, whole) = sample();
        for length in 0..whole.len() {
            Saved::parse(&whole[..length]).expect_err("torn");
        }
        let newer = [b"layercast send state 5\n", &whole[HEAD.len()..]].concat();
        let mut other = whole.clone();
        other[HEAD.len() + 20] ^= 1;
        let more = [whole.as_slice(), b"more"].concat();
        let expected: [(&[u8], &str); 5] = [
            (&newer, "version"),
            (b"layercast send state 3\npackets - 0\n", "version"),
            (&other, "checksum"),
            (&more, "checksum"),
            (b"[package]\n", "not the state of a sender"),
        ];
        for (bytes, expected) in expected {
            let error = Saved::parse(bytes).expect_err("wrong").to_string();
            assert!(error.contains(expected) && error.contains("left as it is"), "{error}");
        }
    }
}
