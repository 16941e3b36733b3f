//! The hash tree of RFC 9162, section 2.1, with SHA-256.

use sha2::{Digest as _, Sha256};

/// A hash of a leaf, of a node or of a whole tree.
pub type Hash = [u8; 32];

/// What every leaf starts with, so that no leaf has the hash of a node (RFC 9162, section 2.1.1).
const LEAF: [u8; 1] = [0];
/// What every node starts with.
const NODE: [u8; 1] = [1];

/// The hash of a leaf whose content comes in parts.
pub(super) fn leaf_hasher() -> Sha256 {
    Sha256::new_with_prefix(LEAF)
}

fn node(left: &Hash, right: &Hash) -> Hash {
    let mut hash = Sha256::new_with_prefix(NODE);
    hash.update(left);
    hash.update(right);
    hash.finalize().into()
}

/// The number of leaves of a tree's left half: the largest power of two that is less than all.
fn left_half(leaves: usize) -> usize {
    leaves.next_power_of_two() / 2
}

/// The root over the hashes of leaves (RFC 9162, section 2.1.1); that of no leaves is the hash of nothing.
pub(super) fn root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => Sha256::digest([]).into(),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(left_half(leaves.len()));
            node(&root(left), &root(right))
        }
    }
}

/// The hashes next to the path from a leaf to the root, from the leaf upwards (RFC 9162, section 2.1.3.1). Empty for a
/// leaf that does not exist.
pub(super) fn path(leaves: &[Hash], index: usize) -> Vec<Hash> {
    if index >= leaves.len() || leaves.len() == 1 {
        return Vec::new();
    }
    let half = left_half(leaves.len());
    let (left, right) = leaves.split_at(half);
    let (mut hashes, other) =
        if index < half { (path(left, index), root(right)) } else { (path(right, index - half), root(left)) };
    hashes.push(other);
    hashes
}

/// The root to which a path leads from a leaf at its position; none if the path is too long or too short for it
/// (RFC 9162, section 2.1.3.2).
pub(super) fn climb(leaf: Hash, index: usize, leaves: usize, path: &[Hash]) -> Option<Hash> {
    if leaves <= 1 {
        return (index < leaves && path.is_empty()).then_some(leaf);
    }
    let (other, below) = path.split_last()?;
    let half = left_half(leaves);
    if index < half {
        Some(node(&climb(leaf, index, half, below)?, other))
    } else {
        Some(node(other, &climb(leaf, index - half, leaves - half, below)?))
    }
}
