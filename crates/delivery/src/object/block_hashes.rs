//! What the blocks of an object must hash to, so that each is verified as soon as it is there.

use std::sync::Arc;

use sha2::{Digest as _, Sha256 as Hasher};

use super::{Sha256, sha256};

/// What the leaf of a hash tree starts with (RFC 9162, section 2.1.1).
const LEAF: [u8; 1] = [0];

/// The hash of a leaf of a hash tree (RFC 9162, section 2.1.1) whose content comes in parts.
pub(crate) fn leaf_hasher() -> Hasher {
    Hasher::new_with_prefix(LEAF)
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
