//! The manifest of an object: the hashes of its source blocks as a tree, so that each block is verified when it is decoded,
//! in whatever order, and no one but the signer can make the root.
//!
//! A leaf is the hash of a block's content without the padding of its last symbol. The tree is that of RFC 9162, section
//! 2.1. Whoever trusts the root and the object's coding parameters (because the table that names both is signed) can
//! trust a manifest that has them, or one block with its [`Proof`].

use sha2::{Digest as _, Sha256};

pub use super::merkle::Hash;
use super::merkle::{climb, path, root};
use crate::object::{Oti, OtiError, leaf_hasher};

/// The first bytes of a manifest.
const MAGIC: [u8; 4] = *b"LCM1";
/// Everything of a manifest but the hashes: the magic, length (64), symbol size (16), Z, N and Al (32).
const HEAD: usize = MAGIC.len() + 8 + 2 + 4;
/// The longest manifest in bytes: one of 255 blocks.
pub const MANIFEST_MAX: usize = HEAD + 255 * 32;
/// The longest proof in bytes: a tree of 255 blocks has eight levels.
pub const PROOF_MAX: usize = 8 * 32;

/// Why bytes are not a manifest, or a block is not the one of the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The bytes do not start as a manifest does.
    #[error("this is not a manifest of format 1")]
    Form,
    /// Too few bytes, or too many.
    #[error("{have} bytes where {need} are needed")]
    Length {
        /// How many are needed.
        need: u64,
        /// How many there are.
        have: u64,
    },
    /// Its coding parameters are invalid.
    #[error("the manifest's blocks: {0}")]
    Oti(#[from] OtiError),
    /// Its root or its coding parameters are not those that are trusted.
    #[error("the manifest is not the one that the sender's table names")]
    Root,
    /// The object has no such block.
    #[error("there is no source block {0}")]
    NoBlock(u8),
    /// The block's content is not what the sender has: some symbol of it was forged.
    #[error("source block {0} is not what the sender has; a symbol of it was forged")]
    Forged(u8),
    /// The proof is not one for this block.
    #[error("the proof does not fit source block {0}")]
    Proof(u8),
}

/// The length of a block's content; none if there is no such block.
fn block_length(oti: &Oti, block: u8) -> Option<u64> {
    let symbols = oti.block_symbols(block);
    let (start, _) = oti.position(block, 0);
    let room = u64::from(symbols) * oti.symbol_size() as u64;
    (symbols > 0).then(|| oti.length().saturating_sub(start).min(room))
}

/// The hash of one block, as its content comes.
#[derive(Clone, Debug)]
pub struct BlockHasher {
    hash: Sha256,
    need: u64,
    have: u64,
}

impl BlockHasher {
    /// Starts a block.
    ///
    /// # Errors
    /// [`ManifestError::NoBlock`] if the object does not have it.
    pub fn new(oti: &Oti, block: u8) -> Result<BlockHasher, ManifestError> {
        let need = block_length(oti, block).ok_or(ManifestError::NoBlock(block))?;
        Ok(BlockHasher { hash: leaf_hasher(), need, have: 0 })
    }

    /// Adds the next part of the content.
    pub fn update(&mut self, bytes: &[u8]) {
        self.have += bytes.len() as u64;
        self.hash.update(bytes);
    }

    /// The leaf.
    ///
    /// # Errors
    /// [`ManifestError::Length`] if the content was too short or too long.
    pub fn finish(self) -> Result<Hash, ManifestError> {
        let BlockHasher { hash, need, have } = self;
        if need == have { Ok(hash.finalize().into()) } else { Err(ManifestError::Length { need, have }) }
    }
}

/// Makes a manifest from an object's content, in order and in parts of any size.
#[derive(Clone, Debug)]
pub struct ManifestBuilder {
    oti: Oti,
    leaves: Vec<Hash>,
    block: BlockHasher,
    surplus: u64,
}

impl ManifestBuilder {
    /// Starts an object.
    ///
    /// # Errors
    /// [`ManifestError::NoBlock`] for an object without blocks; an [`Oti`] always has one.
    pub fn new(oti: Oti) -> Result<ManifestBuilder, ManifestError> {
        Ok(ManifestBuilder { oti, leaves: Vec::new(), block: BlockHasher::new(&oti, 0)?, surplus: 0 })
    }

    /// Adds the next part of the content.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let left = (self.block.need - self.block.have).min(bytes.len() as u64) as usize;
            let (now, later) = bytes.split_at(left);
            self.block.update(now);
            bytes = later;
            if self.block.need == self.block.have && !bytes.is_empty() && !self.next_block() {
                self.surplus += bytes.len() as u64;
                return;
            }
        }
    }

    /// Ends a block that is complete; false if there is none after it.
    fn next_block(&mut self) -> bool {
        let following = (self.leaves.len() + 1) as u8;
        let Ok(next) = BlockHasher::new(&self.oti, following) else { return false };
        let done = core::mem::replace(&mut self.block, next);
        self.leaves.extend(done.finish());
        true
    }

    /// The manifest.
    ///
    /// # Errors
    /// [`ManifestError::Length`] if the content was not as long as the coding parameters say: the file has changed.
    pub fn finish(mut self) -> Result<Manifest, ManifestError> {
        let need = self.oti.length();
        let last = usize::from(self.oti.blocks()) == self.leaves.len() + 1;
        let (start, _) = self.oti.position(self.leaves.len() as u8, 0);
        let have = start.min(need) + self.block.have + self.surplus;
        match self.block.finish() {
            Ok(leaf) if last && have == need => {
                self.leaves.push(leaf);
                Ok(Manifest { oti: self.oti, leaves: self.leaves })
            }
            _ => Err(ManifestError::Length { need, have }),
        }
    }
}

/// The hashes of all blocks of an object.
///
/// ```text
/// "LCM1" | length (64) | symbol size (16) | Z (8) | N (16) | Al (8) | the hash of each block (256 each)
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    oti: Oti,
    leaves: Vec<Hash>,
}

impl Manifest {
    /// The object's blocks and symbols.
    pub fn oti(&self) -> Oti {
        self.oti
    }

    /// The root: what the table names and the sender signs.
    pub fn root(&self) -> Hash {
        root(&self.leaves)
    }

    /// The hashes of the blocks in order.
    pub fn leaves(&self) -> &[Hash] {
        &self.leaves
    }

    /// The manifest as bytes, at most [`MANIFEST_MAX`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = [&self.oti.length().to_be_bytes()[..], &(self.oti.symbol_size() as u16).to_be_bytes()];
        [&MAGIC, head[0], head[1], &self.oti.scheme(), self.leaves.as_flattened()].concat()
    }

    /// The manifest from bytes, if it is that of an object whose coding parameters and root are trusted. Never panics;
    /// memory only after the length is checked.
    ///
    /// # Errors
    /// Why it is not that manifest.
    pub fn read(bytes: &[u8], object: &Oti, trusted: &Hash) -> Result<Manifest, ManifestError> {
        let have = bytes.len() as u64;
        let short = ManifestError::Length { need: HEAD as u64, have };
        let (magic, rest) = bytes.split_first_chunk().ok_or(short)?;
        if *magic != MAGIC {
            return Err(ManifestError::Form);
        }
        let (length, rest) = rest.split_first_chunk().ok_or(short)?;
        let (symbol, rest) = rest.split_first_chunk().ok_or(short)?;
        let (scheme, rest) = rest.split_first_chunk().ok_or(short)?;
        let oti = Oti::new(u64::from_be_bytes(*length), u16::from_be_bytes(*symbol), *scheme)?;
        let (leaves, surplus) = rest.as_chunks();
        if !surplus.is_empty() || leaves.len() != usize::from(oti.blocks()) {
            return Err(ManifestError::Length { need: HEAD as u64 + u64::from(oti.blocks()) * 32, have });
        }
        if oti != *object || root(leaves) != *trusted {
            return Err(ManifestError::Root);
        }
        Ok(Manifest { oti, leaves: leaves.to_vec() })
    }

    /// Whether a block's content, hashed by a [`BlockHasher`], is that of the manifest.
    ///
    /// # Errors
    /// Why it is not.
    pub fn verify(&self, block: u8, leaf: &Hash) -> Result<(), ManifestError> {
        match self.leaves.get(usize::from(block)) {
            None => Err(ManifestError::NoBlock(block)),
            Some(hash) if hash == leaf => Ok(()),
            Some(_) => Err(ManifestError::Forged(block)),
        }
    }

    /// The proof of one block for receivers that have the root alone.
    ///
    /// # Errors
    /// [`ManifestError::NoBlock`] if there is no such block.
    pub fn proof(&self, block: u8) -> Result<Proof, ManifestError> {
        if block >= self.oti.blocks() {
            return Err(ManifestError::NoBlock(block));
        }
        Ok(Proof { hashes: path(&self.leaves, usize::from(block)) })
    }
}

/// That one block belongs to a root: at most eight hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    hashes: Vec<Hash>,
}

impl Proof {
    /// The proof as bytes, at most [`PROOF_MAX`].
    pub fn as_bytes(&self) -> &[u8] {
        self.hashes.as_flattened()
    }

    /// The proof from bytes. Never panics.
    ///
    /// # Errors
    /// [`ManifestError::Length`] for bytes that are no whole hashes, or more than eight.
    pub fn read(bytes: &[u8]) -> Result<Proof, ManifestError> {
        match bytes.as_chunks() {
            (hashes, []) if bytes.len() <= PROOF_MAX => Ok(Proof { hashes: hashes.to_vec() }),
            _ => Err(ManifestError::Length { need: PROOF_MAX as u64, have: bytes.len() as u64 }),
        }
    }

    /// Whether a block, hashed by a [`BlockHasher`], has its place under the root.
    ///
    /// # Errors
    /// [`ManifestError::NoBlock`]; [`ManifestError::Proof`] if the proof or the block is not the right one.
    pub fn verify(&self, trusted: &Hash, oti: &Oti, block: u8, leaf: &Hash) -> Result<(), ManifestError> {
        if block >= oti.blocks() {
            return Err(ManifestError::NoBlock(block));
        }
        match climb(*leaf, usize::from(block), usize::from(oti.blocks()), &self.hashes) {
            Some(found) if found == *trusted => Ok(()),
            _ => Err(ManifestError::Proof(block)),
        }
    }
}
