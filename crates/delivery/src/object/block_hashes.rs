//! The hashes of an object's source blocks, so that each block is verified as soon as it is there, in whatever order.

use std::sync::Arc;

use sha2::{Digest as _, Sha256 as Hasher};

use super::{Oti, Sha256, sha256};

/// What the leaf of a hash tree starts with (RFC 9162, section 2.1.1).
const LEAF: [u8; 1] = [0];

/// The hash of a leaf of a hash tree (RFC 9162, section 2.1.1) whose content comes in parts.
fn leaf_hasher() -> Hasher {
    Hasher::new_with_prefix(LEAF)
}

/// Hashes the blocks of an object, as its content comes, in order and in parts of any size.
#[derive(Clone, Debug)]
pub struct BlockHasher {
    oti: Oti,
    leaves: Vec<Sha256>,
    block: Hasher,
    /// The bytes of this block that have not come.
    left: u64,
    /// More came than the object has.
    is_too_long: bool,
}

impl BlockHasher {
    /// Starts an object.
    pub fn new(oti: Oti) -> BlockHasher {
        let left = block_length(&oti, 0);
        BlockHasher { oti, leaves: Vec::new(), block: leaf_hasher(), left, is_too_long: false }
    }

    /// Adds the next part of the content.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.leaves.len() >= usize::from(self.oti.blocks()) {
                self.is_too_long = true;
                return;
            }
            let count = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
            let (now, later) = bytes.split_at(count);
            self.block.update(now);
            self.left -= now.len() as u64;
            bytes = later;
            if self.left == 0 {
                let block = core::mem::replace(&mut self.block, leaf_hasher());
                self.leaves.push(block.finalize().into());
                self.left = block_length(&self.oti, self.leaves.len() as u8);
            }
        }
    }

    /// The hashes of the blocks; none if the content was not as long as the object: the file has changed.
    pub fn finish(self) -> Option<Arc<[Sha256]>> {
        let is_whole = self.leaves.len() == usize::from(self.oti.blocks()) && !self.is_too_long;
        is_whole.then(|| self.leaves.into())
    }
}

/// The length of a block without the padding of its last symbol; 0 if there is no such block.
fn block_length(oti: &Oti, block: u8) -> u64 {
    let (start, _) = oti.position(block, 0);
    let room = u64::from(oti.block_symbols(block)) * oti.symbol_size() as u64;
    oti.length().saturating_sub(start).min(room)
}

/// The hashes of an object's source blocks, as far as somebody who is trusted gave them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BlockHashes {
    /// Nobody did: blocks are not verified.
    #[default]
    None,
    /// Of the whole object, which is one block.
    Whole(Sha256),
    /// Of each block without the padding of its last symbol, as a leaf of RFC 9162.
    Leaves(Arc<[Sha256]>),
}

impl BlockHashes {
    /// Whether blocks are verified.
    pub fn are_known(&self) -> bool {
        *self != BlockHashes::None
    }

    /// Whether this is the content of a block, as far as is known.
    pub(super) fn fit(&self, block: u8, content: &[u8]) -> bool {
        match self {
            BlockHashes::None => true,
            BlockHashes::Whole(hash) => sha256(content) == *hash,
            BlockHashes::Leaves(leaves) => leaves.get(usize::from(block)).is_some_and(|leaf| {
                let found: Sha256 = leaf_hasher().chain_update(content).finalize().into();
                found == *leaf
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hashed(oti: Oti, content: &[u8], part: usize) -> Option<Arc<[Sha256]>> {
        let mut hasher = BlockHasher::new(oti);
        content.chunks(part).for_each(|part| hasher.update(part));
        hasher.finish()
    }

    /// A leaf of RFC 9162: SHA-256 of a zero byte and the content, as implementations of Certificate Transparency test it.
    #[test]
    fn a_hash_is_that_of_a_leaf_in_certificate_transparency() {
        let leaf: Sha256 = leaf_hasher().chain_update([]).finalize().into();
        assert_eq!(leaf[..4], [0x6e, 0x34, 0x0b, 0x9c]);
    }

    proptest! {
        #[test]
        fn blocks_fit_their_hashes_and_nothing_else_does(
            content in prop::collection::vec(any::<u8>(), 1..400),
            blocks in 1..5u8,
            part in 1..500usize,
            bit in 0..8u32,
            at: prop::sample::Index,
        ) {
            let Ok(oti) = Oti::new(content.len() as u64, 8, [blocks, 0, 1, 4]) else { return Ok(()) };
            let leaves = hashed(oti, &content, part).expect("the whole content");
            prop_assert_eq!(hashed(oti, &content[1..], part), None);
            prop_assert_eq!(hashed(oti, &[&content[..], &[0]].concat(), part), None, "padding is not content");
            prop_assert_eq!(leaves.len(), usize::from(oti.blocks()));
            let known = BlockHashes::Leaves(leaves);
            for number in 0..oti.blocks() {
                let (start, length) = (oti.position(number, 0).0 as usize, block_length(&oti, number) as usize);
                let mut block = content[start..start + length].to_vec();
                prop_assert!(known.fit(number, &block));
                let at = at.index(block.len());
                block[at] ^= 1 << bit;
                prop_assert!(!known.fit(number, &block));
            }
            prop_assert!(!known.fit(oti.blocks(), &content));
        }
    }
}
