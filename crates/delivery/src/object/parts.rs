//! Long files as several objects, each a part of the file. All parts but the last have the same length, so that one of them
//! gives the places of all others, and no two can overlap.

use core::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256 as Digest};

use super::{BlockHasher, Coding, Sha256};

/// The maximum number of parts of a file (CHOICE): 5.6 TB in packets of 1400 bytes.
pub const PARTS_MAX: u32 = 4096;

/// What the hash of a whole file starts with, before the hashes of its parts: as of a node of a hash tree (RFC 9162, section
/// 2.1.1), so that it is not the hash of any content.
const NODE: [u8; 1] = [1];

/// Where the parts of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    length: u64,
    part: u64,
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// Where all parts are.
    pub layout: Layout,
    /// Which one it is, from 0.
    pub number: u32,
    /// The hash of the file: that of the hashes of its parts ([`whole_hash`]).
    pub sha256: Sha256,
}

/// Why a part of a file is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartsError {
    /// A file of one part, or of too many.
    Count(u64),
    /// There is no part of this number.
    Number {
        /// The number, from 1.
        number: u64,
        /// How many parts there are.
        count: u64,
    },
    /// It is not where the lengths of the part and of the file want it.
    Place,
    /// Its name is not that of the file and its number.
    Name,
    /// It has no hash, or the file has none.
    Hash,
    /// It is compressed, or a package.
    Kind,
}

/// What is invalid, as the object of a sentence.
impl fmt::Display for PartsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartsError::Count(count) => write!(f, "a file of {count} parts; there are 2 to {PARTS_MAX}"),
            PartsError::Number { number, count } => write!(f, "part {number} of {count} of a file"),
            PartsError::Place => write!(
                f,
                "a part of a file that is not where the lengths want it: parts would overlap, or leave a gap"
            ),
            PartsError::Name => write!(f, "a part of a file with the name of another part"),
            PartsError::Hash => write!(f, "a part of a file without a hash, its own or that of the file"),
            PartsError::Kind => write!(f, "a part of a file that is compressed, or a package"),
        }
    }
}

impl core::error::Error for PartsError {}

impl Layout {
    /// A file of `length` bytes in parts of `part` bytes; the last one may be shorter.
    ///
    /// # Errors
    /// If these are not 2 to [`PARTS_MAX`] parts.
    pub fn new(length: u64, part: u64) -> Result<Layout, PartsError> {
        let count = if part == 0 { 0 } else { length.div_ceil(part) };
        if !(2..=u64::from(PARTS_MAX)).contains(&count) {
            return Err(PartsError::Count(count));
        }
        Ok(Layout { length, part })
    }

    /// The parts of a file of which no object may have more than `longest` symbols: of about equal length, and whole symbols.
    /// None if one object suffices.
    ///
    /// # Errors
    /// If there would be too many.
    pub fn plan(length: u64, symbol: u16, longest: u64) -> Result<Option<Layout>, PartsError> {
        // As the blocks of an object round it.
        let symbol = u64::from(symbol - symbol % 4).max(1);
        let room = longest.max(1).saturating_mul(symbol);
        if length <= room {
            return Ok(None);
        }
        let count = length.div_ceil(room);
        let part = length.div_ceil(count).checked_next_multiple_of(symbol).unwrap_or(room);
        Layout::new(length, part).map(Some)
    }

    /// The length of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The length of all parts but the last.
    pub fn part(&self) -> u64 {
        self.part
    }

    /// How many parts there are.
    pub fn count(&self) -> u32 {
        // At most PARTS_MAX.
        self.length.div_ceil(self.part) as u32
    }

    /// Where a part begins, and its length; none if there is no such part.
    pub fn range(&self, number: u32) -> Option<(u64, u64)> {
        let start = u64::from(number).checked_mul(self.part).filter(|&start| start < self.length)?;
        Some((start, self.part.min(self.length - start)))
    }
}

impl FilePart {
    /// The part of an object of `own` bytes, from what a table says of it: its number, from 1, of how many, where it begins, and
    /// the length and the hash of the file.
    ///
    /// # Errors
    /// What does not fit.
    pub fn read(
        number: u64,
        count: u64,
        offset: u64,
        own: u64,
        length: u64,
        sha256: Sha256,
    ) -> Result<FilePart, PartsError> {
        if !(2..=u64::from(PARTS_MAX)).contains(&count) {
            return Err(PartsError::Count(count));
        }
        if !(1..=count).contains(&number) {
            return Err(PartsError::Number { number, count });
        }
        let part = if number < count { own } else { offset / (count - 1) };
        let layout = Layout::new(length, part).map_err(|_| PartsError::Place)?;
        let number = (number - 1) as u32;
        let fits = u64::from(layout.count()) == count && layout.range(number) == Some((offset, own));
        if fits { Ok(FilePart { layout, number, sha256 }) } else { Err(PartsError::Place) }
    }

    /// Where it begins in the file.
    pub fn offset(&self) -> u64 {
        self.layout.range(self.number).map_or(0, |(start, _)| start)
    }

    /// What its name has after that of the file.
    pub fn suffix(&self) -> String {
        format!(".part-{}-of-{}", u64::from(self.number) + 1, self.layout.count())
    }
}

/// The hash of a file, from those of its parts in order.
pub fn whole_hash<'a>(parts: impl IntoIterator<Item = &'a Sha256>) -> Sha256 {
    let mut digest = Digest::new_with_prefix(NODE);
    parts.into_iter().for_each(|part| digest.update(part));
    digest.finalize().into()
}

/// Computes the hash of a file by its parts, as the content comes.
#[derive(Clone, Debug)]
pub(super) struct ByParts {
    part: u64,
    /// The bytes of this part that have not come.
    left: u64,
    digest: Digest,
    whole: Digest,
}

impl ByParts {
    pub(super) fn new(layout: Layout) -> ByParts {
        let (digest, whole) = (Digest::new(), Digest::new_with_prefix(NODE));
        ByParts { part: layout.part, left: layout.part, digest, whole }
    }

    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let count = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
            let (now, later) = bytes.split_at(count);
            self.digest.update(now);
            self.left -= now.len() as u64;
            bytes = later;
            if self.left == 0 {
                self.whole.update(self.digest.finalize_reset());
                self.left = self.part;
            }
        }
    }

    pub(super) fn finish(&self) -> Sha256 {
        let mut whole = self.whole.clone();
        if self.left < self.part {
            whole.update(self.digest.clone().finalize());
        }
        whole.finalize().into()
    }
}

/// How a source cuts files into objects, and which hashes it needs of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The size of symbols.
    pub symbol: u16,
    /// The maximum number of symbols of an object ([`PART_SYMBOLS`](super::PART_SYMBOLS)); longer files have parts.
    pub longest: u64,
    /// Whether the hashes of blocks are needed, for a table that is signed.
    pub is_signed: bool,
}

/// The hashes of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectHashes {
    /// That of its content.
    pub sha256: Sha256,
    /// Those of its blocks, if it has several and the table is signed; else empty.
    pub leaves: Arc<[Sha256]>,
}

/// The parts of a file, with their hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Where they are.
    pub layout: Layout,
    /// The hashes of each.
    pub each: Vec<ObjectHashes>,
}

/// The hashes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// Those of the file as one object; of a file of parts [`whole_hash`], and no blocks.
    pub whole: ObjectHashes,
    /// Its parts, if it is too long for one object.
    pub parts: Option<Arc<Parts>>,
}

impl Hashes {
    /// Those of parts.
    pub fn of_parts(parts: Parts) -> Hashes {
        let sha256 = whole_hash(parts.each.iter().map(|part| &part.sha256));
        Hashes { whole: ObjectHashes { sha256, leaves: Arc::default() }, parts: Some(Arc::new(parts)) }
    }
}

/// Computes the hashes that a source needs of a file, as its content comes, in order and in parts of any size.
#[derive(Clone, Debug)]
pub struct FileHasher {
    cut: Cut,
    length: u64,
    layout: Option<Layout>,
    done: Vec<ObjectHashes>,
    digest: Digest,
    blocks: Option<BlockHasher>,
    /// The bytes of this object that have not come.
    left: u64,
    /// Whether the content is not as long as the file should be.
    is_wrong: bool,
}

impl FileHasher {
    /// Starts a file of this length.
    pub fn new(length: u64, cut: Cut) -> FileHasher {
        // What is too long is refused when it is to be sent.
        let layout = Layout::plan(length, cut.symbol, cut.longest).ok().flatten();
        let left = layout.map_or(length, |layout| layout.part);
        let blocks = blocks(left, cut);
        let (done, digest) = (Vec::new(), Digest::new());
        FileHasher { cut, length, layout, done, digest, blocks, left, is_wrong: false }
    }

    /// Adds the next part of the content.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.left == 0 {
                self.is_wrong = true;
                return;
            }
            let count = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
            let (now, later) = bytes.split_at(count);
            self.digest.update(now);
            if let Some(blocks) = &mut self.blocks {
                blocks.update(now);
            }
            self.left -= now.len() as u64;
            bytes = later;
            if self.left == 0 && self.layout.is_some() {
                self.next_part();
            }
        }
    }

    fn next_part(&mut self) {
        self.end_object();
        let next = self.layout.and_then(|layout| layout.range(self.done.len() as u32));
        self.left = next.map_or(0, |(_, length)| length);
        self.blocks = blocks(self.left, self.cut);
    }

    fn end_object(&mut self) {
        let leaves = self.blocks.take().map_or_else(|| Some(Arc::default()), BlockHasher::finish);
        self.is_wrong |= leaves.is_none() || self.left > 0;
        let sha256 = self.digest.finalize_reset().into();
        self.done.push(ObjectHashes { sha256, leaves: leaves.unwrap_or_default() });
    }

    /// The hashes; none if the content was not as long as the file: it has changed.
    pub fn finish(mut self) -> Option<Hashes> {
        let Some(layout) = self.layout else {
            self.end_object();
            let whole = self.done.pop().filter(|_| !self.is_wrong)?;
            return Some(Hashes { whole, parts: None });
        };
        let is_whole = self.done.len() == layout.count() as usize && !self.is_wrong;
        is_whole.then(|| Hashes::of_parts(Parts { layout, each: self.done }))
    }

    /// The length of the file.
    pub fn length(&self) -> u64 {
        self.length
    }
}

/// A hasher of the blocks of an object of this length, if their hashes are needed.
fn blocks(length: u64, cut: Cut) -> Option<BlockHasher> {
    match Coding::plan(length, cut.symbol) {
        Ok(Coding::RaptorQ(oti)) if cut.is_signed && oti.blocks() > 1 => Some(BlockHasher::new(oti)),
        _ => None,
    }
}

/// The hashes of a content that is in memory.
pub fn hashes_of(content: &[u8], cut: Cut) -> Option<Hashes> {
    let mut hasher = FileHasher::new(content.len() as u64, cut);
    hasher.update(content);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::object::{Hasher, sha256};

    fn cut(longest: u64, is_signed: bool) -> Cut {
        Cut { symbol: 10, longest, is_signed }
    }

    #[test]
    fn only_files_that_are_too_long_have_parts_of_about_equal_length() {
        let plan = |length| Layout::plan(length, 10, 100).expect("a layout");
        // Symbols are rounded to 8 bytes.
        assert_eq!((plan(0), plan(800)), (None, None));
        let ranges = |layout: Layout| (0..9).filter_map(|number| layout.range(number)).collect::<Vec<_>>();
        assert_eq!(ranges(plan(801).expect("parts")), [(0, 408), (408, 393)]);
        assert_eq!(ranges(plan(2400).expect("parts")), [(0, 800), (800, 800), (1600, 800)]);
        assert_eq!(Layout::plan(800 * 5000, 10, 100), Err(PartsError::Count(5000)));
        assert_eq!(Layout::plan(u64::MAX, 10, u64::MAX), Ok(None));
        assert!(Layout::plan(u64::MAX, u16::MAX, 1 << 40).is_ok());
    }

    #[test]
    fn parts_that_overlap_or_leave_gaps_or_are_too_many_are_errors() {
        let read = |number, count, offset, own, length| {
            FilePart::read(number, count, offset, own, length, [7; 32]).map(|part| part.number)
        };
        assert_eq!(read(1, 3, 0, 100, 250), Ok(0));
        assert_eq!(read(3, 3, 200, 50, 250), Ok(2));
        assert_eq!(read(2, 3, 90, 100, 250), Err(PartsError::Place), "it overlaps with the first");
        assert_eq!(read(2, 3, 110, 100, 250), Err(PartsError::Place), "a gap");
        assert_eq!(read(3, 3, 200, 60, 250), Err(PartsError::Place), "beyond the end");
        assert_eq!(read(3, 3, 201, 49, 250), Err(PartsError::Place));
        assert_eq!(read(1, 2, 0, 100, 250), Err(PartsError::Place), "two parts do not suffice");
        assert_eq!(read(1, 2, 0, 0, 0), Err(PartsError::Place));
        assert_eq!(read(4, 3, 300, 100, 250), Err(PartsError::Number { number: 4, count: 3 }));
        assert_eq!(read(0, 3, 0, 100, 250), Err(PartsError::Number { number: 0, count: 3 }));
        assert_eq!(read(1, 1, 0, 100, 100), Err(PartsError::Count(1)));
        assert_eq!(read(1, u64::MAX, 0, 1, u64::MAX), Err(PartsError::Count(u64::MAX)));
    }

    proptest! {
        #[test]
        fn hashes_are_those_of_each_part_and_of_all(
            content in prop::collection::vec(any::<u8>(), 0..3000),
            longest in 1..200u64,
            piece in 1..700usize,
            is_signed: bool,
        ) {
            let length = content.len() as u64;
            let mut hasher = FileHasher::new(length, cut(longest, is_signed));
            content.chunks(piece).for_each(|part| hasher.update(part));
            let hashes = hasher.finish().expect("the whole content");
            let Some(parts) = &hashes.parts else {
                prop_assert!(length <= longest * 8);
                prop_assert_eq!(hashes.whole.sha256, sha256(&content));
                return Ok(());
            };
            let layout = parts.layout;
            prop_assert_eq!(parts.each.len(), layout.count() as usize);
            let mut next = 0;
            for (number, part) in (0..).zip(&parts.each) {
                let (start, own) = layout.range(number).expect("a part");
                prop_assert_eq!(start, next);
                prop_assert!(own <= longest * 8);
                next += own;
                prop_assert_eq!(part.sha256, sha256(&content[start as usize..next as usize]));
                let one = u64::from(number) + 1;
                let read = FilePart::read(one, layout.count().into(), start, own, length, [0; 32]);
                prop_assert_eq!(read, Ok(FilePart { layout, number, sha256: [0; 32] }));
            }
            prop_assert_eq!(next, length);
            prop_assert_eq!(layout.range(layout.count()), None);
            // A receiver that compares a file that is there finds the same.
            let mut found = Hasher::by_parts(layout);
            content.chunks(piece).for_each(|part| found.update(part));
            prop_assert_eq!(found.finish().sha256, hashes.whole.sha256);
            // Of a file that became longer or shorter there is none.
            let mut longer = FileHasher::new(length - 1, cut(longest, is_signed));
            longer.update(&content);
            prop_assert_eq!(longer.finish(), None);
            let mut shorter = FileHasher::new(length + 1, cut(longest, is_signed));
            shorter.update(&content);
            prop_assert_eq!(shorter.finish(), None);
        }

        #[test]
        fn nothing_that_a_table_says_of_a_part_panics(
            number: u64, count in prop_oneof![any::<u64>(), 0..5000u64], offset: u64, own: u64, length: u64,
        ) {
            if let Ok(part) = FilePart::read(number, count, offset, own, length, [0; 32]) {
                prop_assert_eq!(part.layout.range(part.number), Some((offset, own)));
                prop_assert!(part.layout.count() <= PARTS_MAX);
            }
        }
    }
}
