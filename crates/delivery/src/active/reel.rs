//! Files as a sequence of pieces of equal length: before each file a head with its path, length and hash, after the last one
//! an end.

use std::io;

use sha2::{Digest as _, Sha256};

use crate::object::safe_path;
use layercast_core::{Always as _, cannot_be};

const FILE: [u8; 4] = *b"LCF1";
const END: [u8; 4] = *b"LCE1";
/// The bytes of a head before the path.
const HEAD: usize = 4 + 2 + 8 + 32;

/// A file to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHead {
    /// The path at receivers, with `/` between its parts.
    pub path: String,
    /// The length in bytes.
    pub length: u64,
    /// The SHA-256 of the content.
    pub hash: [u8; 32],
}

/// Where the content of files to send is.
pub trait Contents {
    /// Fills `room` from the file of this place, from `offset` on.
    ///
    /// # Errors
    /// What the system says, and if the file is shorter.
    fn read(&mut self, file: usize, offset: u64, room: &mut [u8]) -> io::Result<()>;
}

/// The sequence of a source.
#[derive(Clone, Debug)]
pub struct Reel {
    piece: u64,
    /// Each head with its first byte in the sequence, and the length of the content after it.
    files: Vec<(u64, Vec<u8>, u64)>,
    length: u64,
}

impl Reel {
    /// The sequence of these files in pieces of `piece` bytes.
    pub fn new(files: &[FileHead], piece: usize) -> Reel {
        let mut reel = Reel { piece: piece.max(1) as u64, files: Vec::new(), length: 0 };
        for file in files {
            let mut head = Vec::with_capacity(HEAD + file.path.len());
            head.extend(FILE);
            head.extend((file.path.len() as u16).to_be_bytes());
            head.extend(file.length.to_be_bytes());
            head.extend(file.hash);
            head.extend(file.path.as_bytes());
            let first = reel.length;
            reel.length += head.len() as u64 + file.length;
            reel.files.push((first, head, file.length));
        }
        reel.files.push((reel.length, END.to_vec(), 0));
        reel.length += END.len() as u64;
        reel
    }

    /// How many pieces there are.
    pub fn pieces(&self) -> u64 {
        self.length.div_ceil(self.piece)
    }

    /// Writes a piece to `into`, which is emptied first.
    ///
    /// # Errors
    /// Of the contents.
    pub fn read(&self, number: u64, contents: &mut dyn Contents, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        let mut at = number.saturating_mul(self.piece);
        let end = at.saturating_add(self.piece).min(self.length);
        let mut file = self.files.partition_point(|(first, ..)| *first <= at).saturating_sub(1);
        while at < end {
            let Some((first, head, length)) = self.files.get(file) else {
                cannot_be::<()>("the files fill the length");
                return Ok(());
            };
            let within = at - first;
            let head_length = head.len() as u64;
            if within < head_length {
                let stop = (within + (end - at)).min(head_length);
                into.extend(head.get(within as usize..stop as usize).always("it ends within the head"));
                at += stop - within;
            } else if within < head_length + length {
                let count = (end - at).min(head_length + length - within);
                let start = into.len();
                into.resize(start + count as usize, 0);
                contents.read(
                    file,
                    within - head_length,
                    into.get_mut(start..).always("it was made longer"),
                )?;
                at += count;
            } else {
                file += 1;
            }
        }
        Ok(())
    }
}

/// Where received files go.
pub trait Files {
    /// A file begins.
    ///
    /// # Errors
    /// What the system says.
    fn begin(&mut self, head: &FileHead) -> io::Result<()>;

    /// What comes next of the file.
    ///
    /// # Errors
    /// What the system says.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// The file is complete and its hash is right.
    ///
    /// # Errors
    /// What the system says.
    fn end(&mut self, head: &FileHead) -> io::Result<()>;
}

/// Why a sequence cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum ReelError {
    /// It is no sequence of files.
    #[error("what came is no sequence of files")]
    Form,
    /// A path that leads out of the folder.
    #[error("the path `{0}` is not safe")]
    Path(String),
    /// The content of a file does not have its hash.
    #[error("the content of `{0}` does not have its hash: the file changed while it was sent")]
    Hash(String),
    /// The disk.
    #[error(transparent)]
    Disk(#[from] io::Error),
}

enum Expected {
    Head,
    Content { head: FileHead, left: u64, hash: Sha256 },
    Nothing,
}

/// Reads a sequence, piece by piece in order.
pub struct Unreel {
    expected: Expected,
    /// Of a head that has not come whole.
    held: Vec<u8>,
    files: u64,
    bytes: u64,
}

impl Default for Unreel {
    fn default() -> Unreel {
        Unreel { expected: Expected::Head, held: Vec::new(), files: 0, bytes: 0 }
    }
}

impl Unreel {
    /// Whether the end has come.
    pub fn is_complete(&self) -> bool {
        matches!(self.expected, Expected::Nothing)
    }

    /// How many files are complete.
    pub fn files(&self) -> u64 {
        self.files
    }

    /// How many bytes of contents have come.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// Why it cannot be read on.
    pub fn push(&mut self, mut piece: &[u8], files: &mut dyn Files) -> Result<(), ReelError> {
        while !piece.is_empty() || self.is_empty_file() {
            match &mut self.expected {
                Expected::Nothing => return Ok(()),
                Expected::Head => {
                    let needed = head_length(&self.held)?.saturating_sub(self.held.len());
                    let (now, later) = piece.split_at(needed.min(piece.len()));
                    self.held.extend(now);
                    piece = later;
                    if self.held == END {
                        self.expected = Expected::Nothing;
                    } else if self.held.len() == head_length(&self.held)? {
                        let head = read_head(&self.held)?;
                        self.held.clear();
                        files.begin(&head)?;
                        let left = head.length;
                        self.expected = Expected::Content { head, left, hash: Sha256::new() };
                    }
                }
                Expected::Content { head, left, hash } => {
                    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(piece.len());
                    let (now, later) = piece.split_at(count);
                    hash.update(now);
                    files.write(now)?;
                    *left -= count as u64;
                    self.bytes += count as u64;
                    piece = later;
                    if *left == 0 {
                        if hash.clone().finalize()[..] != head.hash {
                            return Err(ReelError::Hash(head.path.clone()));
                        }
                        files.end(head)?;
                        self.files += 1;
                        self.expected = Expected::Head;
                    }
                }
            }
        }
        Ok(())
    }

    fn is_empty_file(&self) -> bool {
        matches!(self.expected, Expected::Content { left: 0, .. })
    }
}

/// The length of a head of which these are the first bytes, as far as it is known.
fn head_length(held: &[u8]) -> Result<usize, ReelError> {
    let Some((mark, rest)) = held.split_first_chunk::<4>() else { return Ok(4) };
    match *mark {
        END => Ok(END.len()),
        FILE => Ok(match rest.first_chunk::<2>() {
            Some(length) => HEAD + usize::from(u16::from_be_bytes(*length)),
            None => HEAD,
        }),
        _ => Err(ReelError::Form),
    }
}

fn read_head(held: &[u8]) -> Result<FileHead, ReelError> {
    let fields = || {
        let (length, rest) = held.get(6..)?.split_first_chunk::<8>()?;
        let (hash, path) = rest.split_first_chunk::<32>()?;
        Some((u64::from_be_bytes(*length), *hash, path))
    };
    let (length, hash, path) = fields().ok_or(ReelError::Form)?;
    let path = std::str::from_utf8(path).map_err(|_| ReelError::Form)?;
    safe_path(path).map_err(|_| ReelError::Path(path.escape_debug().to_string()))?;
    Ok(FileHead { path: path.to_owned(), length, hash })
}
