//! What precedes the contents in a package: a prefix of fixed length, and the index.
//!
//! ```text
//!  0  LCPACK01
//!  8  number of files (32)
//! 12  length of the index (32)
//! 16  length of the index, compressed with zlib (32)
//! 20  the index, compressed; then the contents of the files, one after the other
//! ```
//!
//! The index has an entry for each file, in the order of their paths (as bytes), and then the SHA-256 of each. Of an entry:
//!
//! ```text
//! varint  how many bytes the path has in common with the one before, from the start
//! varint  how many bytes follow
//! bytes   these, UTF-8
//! varint  length of the file
//! byte    1: the mode follows, 2: the time follows
//! varint  mode
//! varint  time in ns since 1970, less that of the file before which has one (modulo 2^64, zigzag)
//! ```
//!
//! A varint has seven bits in each byte, the low ones first; the top bit says that another byte follows.

use core::fmt;

use crate::disk::Attributes;
use crate::object::{ContentEncoding, NameError, Sha256, compressed, safe_path};
use crate::placing::OWN_FOLDER;
use crate::varint;
use layercast_core::Always as _;

const MAGIC: &[u8; 8] = b"LCPACK01";
/// The length of the prefix in bytes.
pub const PREFIX: usize = 20;
/// The most files of a package.
pub const FILES_MAX: u32 = 1 << 14;
/// The longest file of a package, so that it is read and written at once (CHOICE).
pub const MEMBER_MAX: u64 = 1 << 20;
/// The longest index, and the most bytes of all its paths (CHOICE: some hundred bytes for each of the files).
pub const INDEX_MAX: usize = 4 << 20;

const HAS_MODE: u8 = 1;
const HAS_TIME: u8 = 2;

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its path.
    pub path: String,
    /// Its length in bytes.
    pub length: u64,
    /// The hash of its content.
    pub sha256: Sha256,
    /// Permissions and times.
    pub attributes: Attributes,
}

/// Why a package is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageError {
    /// It does not begin as one, or is of another version.
    Magic,
    /// It has too many files, another number of them than the table says, too long a file or too long an index.
    Size,
    /// Its index is damaged.
    Index,
    /// Its paths are not in order, or one is there twice.
    Order,
    /// The path of one of its files is not safe.
    Name(NameError),
    /// The lengths of its files do not add up to its own.
    Length,
}

impl fmt::Display for PackageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PackageError::Magic => write!(f, "the package is of an unknown form or version"),
            PackageError::Size => write!(
                f,
                "the package has too many or too long files, or another number of them than announced"
            ),
            PackageError::Index => write!(f, "the index of the package is damaged"),
            PackageError::Order => write!(f, "the files of the package are not in order"),
            PackageError::Name(reason) => {
                write!(f, "the path of a file in the package is not safe: {reason}")
            }
            PackageError::Length => {
                write!(f, "the lengths of the files do not add up to that of the package")
            }
        }
    }
}

impl core::error::Error for PackageError {}

/// What precedes the contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    members: Vec<Member>,
    /// Where each content begins, and where the last one ends.
    starts: Vec<u64>,
}

/// The path of a package with this content: among the receivers' own files, where no file can be.
pub fn package_name(sha256: &Sha256) -> String {
    let digits = base16ct::lower::encode_string(&sha256[..12]);
    format!("{OWN_FOLDER}/{digits}.package")
}

impl Head {
    /// The head of these files, which takes so many bytes.
    pub(super) fn of(members: Vec<Member>, bytes: usize) -> Head {
        let mut starts = vec![bytes as u64];
        for member in &members {
            starts.push(starts.last().map_or(0, |start| start.saturating_add(member.length)));
        }
        Head { members, starts }
    }

    /// The head of a package as bytes. The files must be in the order of their paths.
    ///
    /// # Errors
    /// If no receiver would take it.
    pub fn encode(members: &[Member]) -> Result<Vec<u8>, PackageError> {
        let mut index = Vec::new();
        let (mut before, mut time) = ("", 0i64);
        for member in members {
            check_order(before, &member.path)?;
            safe_path(&member.path).map_err(PackageError::Name)?;
            let common = common(before.as_bytes(), member.path.as_bytes());
            let rest = member.path.as_bytes().get(common..).always("what is common is a part of both");
            varint::write(&mut index, common as u64);
            varint::write(&mut index, rest.len() as u64);
            index.extend_from_slice(rest);
            varint::write(&mut index, member.length);
            let Attributes { mode, modified_ns } = member.attributes;
            let has_mode = if mode.is_some() { HAS_MODE } else { 0 };
            index.push(has_mode | if modified_ns.is_some() { HAS_TIME } else { 0 });
            mode.iter().for_each(|&mode| varint::write(&mut index, mode.into()));
            if let Some(modified) = modified_ns {
                let step = modified.wrapping_sub(time);
                varint::write(&mut index, (step << 1 ^ step >> 63).cast_unsigned());
                time = modified;
            }
            before = &member.path;
        }
        members.iter().for_each(|member| index.extend_from_slice(&member.sha256));
        let count = u32::try_from(members.len()).ok().filter(|&count| count <= FILES_MAX);
        let count = count.ok_or(PackageError::Size)?;
        let paths: usize = members.iter().map(|member| member.path.len()).sum();
        let is_long = members.iter().any(|member| member.length > MEMBER_MAX);
        if index.len() > INDEX_MAX || paths > INDEX_MAX || is_long {
            return Err(PackageError::Size);
        }
        let packed = compressed(&index);
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(|_| PackageError::Size);
        let mut head = MAGIC.to_vec();
        for number in [count, length(&index)?, length(&packed)?] {
            head.extend_from_slice(&number.to_be_bytes());
        }
        head.extend_from_slice(&packed);
        Ok(head)
    }

    /// The length of the whole head of a package that begins with these bytes. Memory is bounded by [`INDEX_MAX`].
    ///
    /// # Errors
    /// Why it is rejected.
    pub fn length(prefix: &[u8; PREFIX]) -> Result<usize, PackageError> {
        let (magic, numbers) = prefix.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(PackageError::Magic);
        }
        let mut numbers = numbers.as_chunks().0.iter().map(|&bytes| u32::from_be_bytes(bytes));
        let (count, index, packed) =
            (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        // What cannot be compressed grows by a few bytes.
        let is_bounded =
            count <= FILES_MAX && index as usize <= INDEX_MAX && packed as usize <= INDEX_MAX + 4096;
        if is_bounded { Ok(PREFIX + packed as usize) } else { Err(PackageError::Size) }
    }

    /// Reads the head of a package of `files` files and `length` bytes. Never panics.
    ///
    /// # Errors
    /// Why it is rejected.
    pub fn decode(head: &[u8], files: u32, length: u64) -> Result<Head, PackageError> {
        let (prefix, packed) = head.split_first_chunk::<PREFIX>().ok_or(PackageError::Magic)?;
        if Head::length(prefix)? != head.len() {
            return Err(PackageError::Index);
        }
        let number =
            |at: usize| prefix.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |b| u32::from_be_bytes(*b));
        let (count, index) = (number(8), number(12) as usize);
        if count != files {
            return Err(PackageError::Size);
        }
        let raw = ContentEncoding::Zlib.decompressed(packed, index).ok_or(PackageError::Index)?;
        let hashes = raw.len().checked_sub(32 * count as usize).filter(|_| raw.len() == index);
        let (mut entries, hashes) = raw.split_at(hashes.ok_or(PackageError::Index)?);
        let mut members = Vec::new();
        let (mut time, mut paths, mut end) = (0i64, 0, head.len() as u64);
        for sha256 in hashes.as_chunks().0 {
            let before = members.last().map_or("", |member: &Member| member.path.as_str());
            let member = read(&mut entries, before, &mut time, *sha256)?;
            check_order(before, &member.path)?;
            paths += member.path.len();
            end = end.checked_add(member.length).ok_or(PackageError::Length)?;
            if paths > INDEX_MAX || member.length > MEMBER_MAX {
                return Err(PackageError::Size);
            }
            members.push(member);
        }
        if !entries.is_empty() {
            return Err(PackageError::Index);
        }
        if end == length { Ok(Head::of(members, head.len())) } else { Err(PackageError::Length) }
    }

    /// The files, in the order of their paths.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Where the content of a file begins in the package.
    pub fn start(&self, member: usize) -> u64 {
        self.starts.get(member).copied().unwrap_or(0)
    }

    /// The place of a file among the members.
    pub fn find(&self, path: &str) -> Option<usize> {
        self.members.binary_search_by(|member| member.path.as_str().cmp(path)).ok()
    }
}

/// The paths are in order, and none is there twice or the folder of another.
fn check_order(before: &str, path: &str) -> Result<(), PackageError> {
    let is_below = path.strip_prefix(before).is_some_and(|rest| !before.is_empty() && rest.starts_with('/'));
    if path > before && !is_below { Ok(()) } else { Err(PackageError::Order) }
}

fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn read(bytes: &mut &[u8], before: &str, time: &mut i64, sha256: Sha256) -> Result<Member, PackageError> {
    let length = |bytes: &mut &[u8]| varint::read(bytes).and_then(|number| usize::try_from(number).ok());
    let mut fields = |bytes: &mut &[u8]| {
        let common = length(bytes)?;
        let more = length(bytes)?;
        let (rest, after) = bytes.split_at_checked(more)?;
        *bytes = after;
        let path = [before.as_bytes().get(..common)?, rest].concat();
        let length = varint::read(bytes)?;
        let (&flags, after) = bytes.split_first()?;
        *bytes = after;
        let mode = if flags & HAS_MODE == 0 {
            None
        } else {
            Some(u32::try_from(varint::read(bytes)?).ok()? & 0o777)
        };
        let mut modified_ns = None;
        if flags & HAS_TIME != 0 {
            let step = varint::read(bytes)?;
            *time = time.wrapping_add((step >> 1).cast_signed() ^ -((step & 1).cast_signed()));
            modified_ns = Some(*time);
        }
        let attributes = Attributes { mode, modified_ns };
        (flags <= HAS_MODE | HAS_TIME).then_some((path, length, attributes))
    };
    let (path, length, attributes) = fields(bytes).ok_or(PackageError::Index)?;
    let path = String::from_utf8(path).map_err(|_| PackageError::Index)?;
    safe_path(&path).map_err(PackageError::Name)?;
    Ok(Member { path, length, sha256, attributes })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn members() -> impl Strategy<Value = Vec<Member>> {
        let path = "[a-c]/[a-z]{1,8}(é|x)?|d[0-9]{1,5}";
        let attributes = (proptest::option::of(0u32..0o1000), proptest::option::of(any::<i64>()));
        let member = (0u64..100_000, any::<[u8; 32]>(), attributes);
        proptest::collection::btree_map(path, member, 1..60).prop_map(|all| {
            let member = |(path, (length, sha256, (mode, modified_ns)))| Member {
                path,
                length,
                sha256,
                attributes: Attributes { mode, modified_ns },
            };
            all.into_iter().map(member).collect()
        })
    }

    fn total(head: &[u8], members: &[Member]) -> u64 {
        head.len() as u64 + members.iter().map(|member| member.length).sum::<u64>()
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_read(members in members()) {
            let bytes = Head::encode(&members).expect("a head");
            let (count, length) = (members.len() as u32, total(&bytes, &members));
            let head = Head::decode(&bytes, count, length).expect("a head");
            prop_assert_eq!(head.members(), &members[..]);
            let mut start = bytes.len() as u64;
            for (number, member) in members.iter().enumerate() {
                prop_assert_eq!((head.start(number), head.find(&member.path)), (start, Some(number)));
                start += member.length;
            }
            prop_assert_eq!(Head::decode(&bytes, count + 1, length), Err(PackageError::Size));
            for wrong in [length - 1, length + 1] {
                prop_assert_eq!(Head::decode(&bytes, count, wrong), Err(PackageError::Length));
            }
            for cut in 0..bytes.len() {
                prop_assert!(Head::decode(&bytes[..cut], count, length).is_err());
            }
        }

        #[test]
        fn nothing_that_is_damaged_or_random_panics(
            members in members(), at in any::<prop::sample::Index>(), bit in 0..8, junk in any::<Vec<u8>>(),
        ) {
            let mut bytes = Head::encode(&members).expect("a head");
            let length = total(&bytes, &members);
            let at = at.index(bytes.len());
            bytes[at] ^= 1u8 << bit;
            // zlib has a checksum of the content; a few bits of its frame mean nothing.
            if let Ok(head) = Head::decode(&bytes, members.len() as u32, length) {
                prop_assert!(at > PREFIX);
                prop_assert_eq!(head.members(), &members[..]);
            }
            // An index that is junk, in a valid frame.
            let packed = compressed(&junk);
            let mut head = MAGIC.to_vec();
            for number in [members.len(), junk.len(), packed.len()] {
                head.extend_from_slice(&(number as u32).to_be_bytes());
            }
            head.extend_from_slice(&packed);
            prop_assert!(Head::decode(&head, members.len() as u32, length).is_err());
        }
    }

    fn member(path: &str) -> Member {
        Member { path: path.into(), length: 1, sha256: [0; 32], attributes: Attributes::default() }
    }

    #[test]
    fn paths_are_safe_and_in_order() {
        let encoded = |paths: &[&str]| {
            Head::encode(&paths.iter().map(|path| member(path)).collect::<Vec<_>>()).map(|_| ())
        };
        assert_eq!(encoded(&["a", "b/c"]), Ok(()));
        assert_eq!(encoded(&["b", "a"]), Err(PackageError::Order));
        assert_eq!(encoded(&["a", "a"]), Err(PackageError::Order));
        assert_eq!(encoded(&["a", "a/b"]), Err(PackageError::Order));
        assert_eq!(encoded(&["../a"]), Err(PackageError::Name(NameError::Outside)));
        assert_eq!(encoded(&[".layercast/placed"]), Err(PackageError::Name(NameError::Hidden)));
        // The same, from the network.
        let good = Head::encode(&[member("aa/a")]).expect("a head");
        let raw = ContentEncoding::Zlib.decompressed(&good[PREFIX..], INDEX_MAX).expect("an index");
        let bad = raw.iter().map(|&byte| if byte == b'a' { b'.' } else { byte }).collect::<Vec<u8>>();
        let packed = compressed(&bad);
        let mut head = good[..16].to_vec();
        head.extend_from_slice(&(packed.len() as u32).to_be_bytes());
        head.extend_from_slice(&packed);
        let length = head.len() as u64 + 1;
        assert_eq!(Head::decode(&head, 1, length), Err(PackageError::Name(NameError::Outside)));
    }

    #[test]
    fn an_index_takes_less_than_sixty_bytes_for_each_file() {
        let hash = |number: u64| crate::object::sha256(&number.to_be_bytes());
        let members: Vec<Member> = (0..2000u64)
            .map(|number| Member {
                path: format!("site/folder-{}/file-{number:04}.html", number / 500),
                length: number * 7919 % 4000,
                sha256: hash(number),
                attributes: Attributes {
                    mode: Some(0o644),
                    modified_ns: Some(
                        1_700_000_000_000_000_000 + (number * 1_234_567_891 % 1_000_000_007).cast_signed(),
                    ),
                },
            })
            .collect();
        let bytes = Head::encode(&members).expect("a head").len();
        assert!(bytes < 2000 * 60, "{bytes}");
    }

    #[test]
    fn sizes_are_bounded_before_anything_is_allocated() {
        let mut prefix = [0; PREFIX];
        prefix[..8].copy_from_slice(MAGIC);
        assert_eq!(Head::length(&prefix), Ok(PREFIX));
        prefix[16] = 1;
        assert_eq!(Head::length(&prefix), Err(PackageError::Size));
        assert_eq!(Head::length(&[0; PREFIX]), Err(PackageError::Magic));
        let many: Vec<Member> = (0..=FILES_MAX).map(|number| member(&format!("{number:06}"))).collect();
        assert_eq!(Head::encode(&many), Err(PackageError::Size));
    }
}
