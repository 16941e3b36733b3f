//! The objects that an instance of the table describes.

use core::fmt;
use std::sync::Arc;

use super::{BlockHashes, Coding, ContentEncoding, Digests, FilePart, Md5, OtiError, PartsError, Sha256};
use crate::disk::Attributes;

/// The most entries that a reader takes from an instance.
pub(super) const ENTRIES_MAX: usize = 4096;

/// The number of an object (TOI), of up to 112 bits (RFC 5651, section 5.1). Our sources use 32 bits.
pub type Toi = u128;

/// An object of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number, not 0.
    pub toi: Toi,
    /// Its path, with `/` between its folders and its name; of a part of a file that of the file.
    pub path: String,
    /// What it is.
    pub content: Content,
    /// The hashes of its source blocks as leaves of RFC 9162, of a signed object of several blocks; else empty.
    pub leaves: Arc<[Sha256]>,
    /// How many files it has, if it is a package of files ([`package`](crate::package)).
    pub package: Option<u32>,
    /// Which part of a file it is, if it is not the whole.
    pub part: Option<FilePart>,
    /// Permissions and times.
    pub attributes: Attributes,
    /// How it is compressed, which only other sources do.
    pub compressed: Option<Compressed>,
    /// Its MD5, as other sources give it.
    pub md5: Option<Md5>,
    /// What distinguishes its content from others before its hash is known, as an entity tag does (RFC 9110, section 8.8.3). A
    /// file that has a tag and no hash gets its hash by a later instance, and is not put in place before.
    pub tag: Option<Sha256>,
}

impl Entry {
    /// An object of which nothing else is known.
    pub fn new(toi: Toi, path: impl Into<String>, content: Content) -> Entry {
        Entry {
            toi,
            path: path.into(),
            content,
            leaves: Arc::default(),
            package: None,
            part: None,
            attributes: Attributes::default(),
            compressed: None,
            md5: None,
            tag: None,
        }
    }

    /// The hashes of its blocks, if the sender is trusted who wrote this entry.
    pub fn block_hashes(&self) -> BlockHashes {
        let Content::File { coding: Coding::RaptorQ(oti), sha256 } = self.content else {
            return BlockHashes::None;
        };
        match sha256 {
            Some(sha256) if oti.blocks() == 1 => BlockHashes::Whole(sha256),
            _ if self.leaves.len() == usize::from(oti.blocks()) => {
                BlockHashes::Leaves(Arc::clone(&self.leaves))
            }
            _ => BlockHashes::None,
        }
    }

    /// The length of the file, not compressed; of a part that of the whole file.
    pub fn length(&self) -> u64 {
        self.part.map_or_else(|| self.own_length(), |part| part.layout.length())
    }

    /// The length of the object, not compressed.
    pub fn own_length(&self) -> u64 {
        match (self.compressed, self.content) {
            (Some(compressed), _) => compressed.length,
            (None, Content::File { coding, .. }) => coding.length(),
            (None, _) => 0,
        }
    }

    /// The name of the object: the path, and of a part of a file which one it is.
    pub fn location(&self) -> String {
        match self.part {
            Some(part) => self.path.clone() + &part.suffix(),
            None => self.path.clone(),
        }
    }

    /// Whether its hash is still to come.
    pub fn awaits_hash(&self) -> bool {
        self.tag.is_some() && !self.has_hash()
    }

    /// The hash of the object's content, if the table gives it.
    pub fn sha256(&self) -> Option<Sha256> {
        match self.content {
            Content::File { sha256, .. } => sha256,
            Content::Folder | Content::Unsupported(_) => None,
        }
    }

    /// Whether a hash shows that a file is the one that was sent.
    pub fn has_hash(&self) -> bool {
        self.md5.is_some() || matches!(self.content, Content::File { sha256: Some(_), .. })
    }

    /// Whether these hashes are those of the file, as far as its source gives any.
    pub fn agrees(&self, found: &Digests) -> bool {
        let wanted = match (self.part, self.content) {
            (Some(part), _) => Some(part.sha256),
            (None, Content::File { sha256, .. }) => sha256,
            (None, _) => None,
        };
        wanted.is_none_or(|wanted| wanted == found.sha256)
            && self.md5.is_none_or(|wanted| found.md5 == Some(wanted))
    }
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// By what.
    pub encoding: ContentEncoding,
    /// How long it is without compression.
    pub length: u64,
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A file.
    File {
        /// Its symbols.
        coding: Coding,
        /// Its hash; none from sources that do not give it, or give it later ([`Entry::tag`]).
        sha256: Option<Sha256>,
    },
    /// A folder without files.
    Folder,
    /// A file that cannot be received, and why.
    Unsupported(TableError),
}

/// Why an instance is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// It is not XML, or not in UTF-8.
    Xml,
    /// The named field is missing or invalid.
    Field(&'static str),
    /// Its packets had another number in their header.
    Number {
        /// The number in the instance.
        own: u32,
        /// The number in the header.
        header: u32,
    },
    /// A file is compressed in an unknown way.
    Compression,
    /// A file's transmission information is invalid.
    Oti(OtiError),
    /// A part of a file is invalid.
    Parts(PartsError),
    /// It has too many entries.
    Long,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Xml => write!(f, "the file delivery table is not XML"),
            TableError::Field(name) => write!(f, "the file delivery table has no valid {name}"),
            TableError::Number { own, header } => {
                write!(f, "instance {own} of the file delivery table came as instance {header}")
            }
            TableError::Compression => {
                write!(f, "its content encoding is unknown; zlib, deflate and gzip are supported")
            }
            TableError::Oti(error) => write!(f, "the file delivery table: {error}"),
            TableError::Parts(error) => write!(f, "the file delivery table has {error}"),
            TableError::Long => write!(f, "the file delivery table has more than {ENTRIES_MAX} entries"),
        }
    }
}

impl core::error::Error for TableError {}
