//! Manifests: every block is the sender's or refused.

use layercast_delivery::object::Oti;
use layercast_delivery::security::manifest::{
    BlockHasher, Hash, MANIFEST_MAX, Manifest, ManifestBuilder, ManifestError, PROOF_MAX, Proof,
};
use proptest::prelude::*;

use super::hex;

/// An object in blocks of at most `size` bytes a symbol.
fn object() -> impl Strategy<Value = (Oti, Vec<u8>)> {
    let sizes = (1..40u16, 1..=255u8, prop::collection::vec(any::<u8>(), 0..4000));
    sizes.prop_map(|(symbol, blocks, content)| {
        let symbols = (content.len() as u64).div_ceil(u64::from(symbol)).max(1);
        let blocks = u64::from(blocks).min(symbols) as u8;
        (Oti::new(content.len() as u64, symbol, [blocks, 0, 1, 1]).unwrap(), content)
    })
}

fn block_of<'c>(oti: &Oti, content: &'c [u8], block: u8) -> &'c [u8] {
    let start = |block| (oti.block_start(block) as usize * oti.symbol_size()).min(content.len());
    let end = if block + 1 == oti.blocks() { content.len() } else { start(block + 1) };
    &content[start(block)..end]
}

fn hashed(oti: &Oti, block: u8, content: &[u8]) -> Hash {
    let mut hasher = BlockHasher::new(oti, block).unwrap();
    for part in content.chunks(7) {
        hasher.update(part);
    }
    hasher.finish().unwrap()
}

fn made(oti: Oti, content: &[u8], part: usize) -> Result<Manifest, ManifestError> {
    let mut builder = ManifestBuilder::new(oti).unwrap();
    for part in content.chunks(part.max(1)) {
        builder.update(part);
    }
    builder.finish()
}

#[test]
fn a_leaf_is_the_content_of_a_block_without_padding() {
    // An object in one block has the root of a tree with one leaf.
    let empty = Oti::new(0, 4, [1, 0, 1, 4]).unwrap();
    let root = made(empty, &[], 1).unwrap().root();
    assert_eq!(root.to_vec(), hex("6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"));
    // The root over the leaves of "ab" and "c".
    let oti = Oti::new(3, 2, [2, 0, 1, 2]).unwrap();
    let leaf = |content: &[u8]| sha2_of(&[&[0], content].concat());
    let expected = sha2_of(&[&[1][..], &leaf(b"ab"), &leaf(b"c")].concat());
    assert_eq!(made(oti, b"abc", 3).unwrap().root(), expected);
}

fn sha2_of(bytes: &[u8]) -> Hash {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).into()
}

#[test]
fn a_block_and_a_file_of_another_length_are_refused() {
    let oti = Oti::new(10, 4, [3, 0, 1, 4]).unwrap();
    for (length, have) in [(9, 9), (11, 11), (0, 0), (30, 30)] {
        let error = made(oti, &vec![1; length], 4).unwrap_err();
        assert_eq!(error, ManifestError::Length { need: 10, have });
    }
    let mut hasher = BlockHasher::new(&oti, 2).unwrap();
    hasher.update(&[1; 4]);
    assert_eq!(hasher.finish(), Err(ManifestError::Length { need: 2, have: 4 }), "padding is not content");
    assert_eq!(BlockHasher::new(&oti, 3).unwrap_err(), ManifestError::NoBlock(3));
}

#[test]
fn the_largest_manifest_and_proof_are_as_long_as_stated() {
    let content = vec![3; 255 * 4];
    let manifest = made(Oti::new(255 * 4, 4, [255, 0, 1, 4]).unwrap(), &content, 1 << 10).unwrap();
    assert_eq!(manifest.to_bytes().len(), MANIFEST_MAX);
    assert_eq!(manifest.proof(0).unwrap().as_bytes().len(), PROOF_MAX);
    assert_eq!(manifest.proof(255).unwrap_err(), ManifestError::NoBlock(255));
    assert_eq!(
        Proof::read(&[0; PROOF_MAX + 32]).unwrap_err(),
        ManifestError::Length { need: 256, have: 288 }
    );
}

/// The place of the alignment in a manifest.
const ALIGNMENT: usize = 17;

proptest! {
    #[test]
    fn every_block_is_accepted_in_any_order_and_nothing_else(
        (oti, content) in object(),
        part in 1..500usize,
        at: prop::sample::Index,
        bit in 0..8u8,
    ) {
        let manifest = made(oti, &content, part).unwrap();
        let root = manifest.root();
        let read = Manifest::read(&manifest.to_bytes(), &oti, &root).unwrap();
        prop_assert_eq!(&read, &manifest);
        for block in (0..oti.blocks()).rev() {
            let leaf = hashed(&oti, block, block_of(&oti, &content, block));
            prop_assert_eq!(read.verify(block, &leaf), Ok(()));
            let proof = Proof::read(manifest.proof(block).unwrap().as_bytes()).unwrap();
            prop_assert_eq!(proof.verify(&root, &oti, block, &leaf), Ok(()));
        }
        if !content.is_empty() {
            // One bit of the content.
            let mut changed = content.clone();
            let at = at.index(changed.len());
            changed[at] ^= 1 << bit;
            prop_assert_ne!(made(oti, &changed, part).unwrap().root(), root);
            let block = (0..oti.blocks())
                .rfind(|&block| oti.block_start(block) as usize * oti.symbol_size() <= at)
                .unwrap();
            let leaf = hashed(&oti, block, block_of(&oti, &changed, block));
            prop_assert_eq!(read.verify(block, &leaf), Err(ManifestError::Forged(block)));
            let proof = manifest.proof(block).unwrap();
            prop_assert_eq!(proof.verify(&root, &oti, block, &leaf), Err(ManifestError::Proof(block)));
        }
    }

    #[test]
    fn a_proof_holds_for_its_block_alone(
        blocks in 2..=255u8,
        first: prop::sample::Index,
        second: prop::sample::Index,
        bit: prop::sample::Index,
    ) {
        // Different content in each block.
        let content: Vec<u8> = (0..blocks).flat_map(|block| [block; 4]).collect();
        let oti = Oti::new(content.len() as u64, 4, [blocks, 0, 1, 4]).unwrap();
        let manifest = made(oti, &content, 100).unwrap();
        let root = manifest.root();
        let (mine, other) = (first.index(blocks.into()) as u8, second.index(blocks.into()) as u8);
        let leaf = hashed(&oti, mine, block_of(&oti, &content, mine));
        let proof = manifest.proof(mine).unwrap();
        prop_assert_eq!(proof.verify(&root, &oti, other, &leaf).is_ok(), mine == other);
        prop_assert_eq!(manifest.proof(other).unwrap().verify(&root, &oti, mine, &leaf).is_ok(), mine == other);
        let mut bytes = proof.as_bytes().to_vec();
        let bit = bit.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(Proof::read(&bytes).unwrap().verify(&root, &oti, mine, &leaf).is_err());
        let shorter = Proof::read(&proof.as_bytes()[32..]).unwrap();
        prop_assert!(shorter.verify(&root, &oti, mine, &leaf).is_err());
        // The hash of an inner node is no leaf.
        let beside: Hash = proof.as_bytes()[..32].try_into().unwrap();
        prop_assert!(Proof::read(&[]).unwrap().verify(&root, &oti, mine, &root).is_err());
        prop_assert!(proof.verify(&root, &oti, mine, &beside).is_err());
    }

    #[test]
    fn any_bit_of_a_manifest_counts((oti, content) in object(), bit: prop::sample::Index, cut: prop::sample::Index) {
        let manifest = made(oti, &content, 100).unwrap();
        let mut bytes = manifest.to_bytes();
        prop_assert!(Manifest::read(&bytes[..cut.index(bytes.len())], &oti, &manifest.root()).is_err());
        let bit = bit.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        // Another alignment that the symbols have too is the same coding.
        let read = Manifest::read(&bytes, &oti, &manifest.root());
        prop_assert!(read.is_err() || (bit / 8 == ALIGNMENT && read == Ok(manifest)), "bit {bit}");
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let oti = Oti::new(10, 4, [3, 0, 1, 4]).unwrap();
        let _ = Manifest::read(&bytes, &oti, &[0; 32]);
        let _ = Manifest::read(&[b"LCM1".as_slice(), &bytes].concat(), &oti, &[0; 32]);
        let _ = Proof::read(&bytes);
    }
}
