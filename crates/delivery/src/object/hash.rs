//! Hashes of files.

use md5::Digest as _;

use super::parts::ByParts;
use super::{Layout, Sha256};

/// The MD5 of a file, as other sources give it (RFC 6726, section 3.4.2). It finds damage, not forgery.
pub type Md5 = [u8; 16];

/// The hashes of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digests {
    /// Its SHA-256.
    pub sha256: Sha256,
    /// Its MD5, if that was asked for.
    pub md5: Option<Md5>,
}

/// Computes the hashes of a content part by part.
#[derive(Clone, Debug)]
pub struct Hasher {
    sha256: sha2::Sha256,
    md5: Option<md5::Md5>,
    /// Of a file of parts its hash is that of their hashes.
    by_parts: Option<ByParts>,
}

impl Hasher {
    /// A hasher of nothing yet, with MD5 or without.
    pub fn new(has_md5: bool) -> Hasher {
        Hasher { sha256: sha2::Sha256::new(), md5: has_md5.then(md5::Md5::new), by_parts: None }
    }

    /// A hasher of a file of parts, whose hash is [`whole_hash`](super::whole_hash).
    pub fn by_parts(layout: Layout) -> Hasher {
        Hasher { by_parts: Some(ByParts::new(layout)), ..Hasher::new(false) }
    }

    /// Adds a part.
    pub fn update(&mut self, part: &[u8]) {
        if let Some(by_parts) = &mut self.by_parts {
            return by_parts.update(part);
        }
        self.sha256.update(part);
        if let Some(md5) = &mut self.md5 {
            md5.update(part);
        }
    }

    /// The hashes of all parts.
    pub fn finish(&self) -> Digests {
        Digests {
            sha256: match &self.by_parts {
                Some(by_parts) => by_parts.finish(),
                None => self.sha256.clone().finalize().into(),
            },
            md5: self.md5.clone().map(|md5| md5.finalize().into()),
        }
    }
}
