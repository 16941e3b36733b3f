//! The hash tree of RFC 9162, section 2.1, with SHA-256.

use sha2::{Digest as _, Sha256};

/// A hash of a leaf, of a node or of a whole tree.
pub type Hash = [u8; 32];

/// What every node starts with; leaves start with another byte, so that no leaf has the hash of a node.
const NODE: [u8; 1] = [1];

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

#[cfg(test)]
mod tests {
    use sha2::Digest as _;

    use super::{Hash, climb, path, root};
    use crate::object::leaf_hasher;

    fn leaf(content: &[u8]) -> Hash {
        leaf_hasher().chain_update(content).finalize().into()
    }

    fn hex(hash: &Hash) -> String {
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The leaves and roots with which implementations of Certificate Transparency test theirs.
    #[test]
    fn roots_are_those_of_certificate_transparency() {
        let contents: [&[u8]; 8] =
            [b"", b"\x00", b"\x10", b" !", b"01", b"@ABC", b"PQRSTUVW", b"`abcdefghijklmno"];
        let leaves = contents.map(leaf);
        let roots = [
            (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
            (2, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
            (3, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"),
            (8, "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
        ];
        for (count, expected) in roots {
            assert_eq!(hex(&root(&leaves[..count])), expected, "{count} leaves");
        }
    }

    #[test]
    fn paths_lead_from_every_leaf_of_every_tree_to_its_root() {
        let leaves: Vec<Hash> = (0..70u8).map(|number| leaf(&[number])).collect();
        for count in 1..leaves.len() {
            let tree = &leaves[..count];
            for index in 0..count {
                let path = path(tree, index);
                assert_eq!(climb(tree[index], index, count, &path), Some(root(tree)), "{index} of {count}");
                assert_eq!(climb(tree[index], count, count, &path), None);
                let longer = [path.as_slice(), &[Hash::default()]].concat();
                assert_ne!(climb(tree[index], index, count, &longer), Some(root(tree)));
            }
        }
    }
}
