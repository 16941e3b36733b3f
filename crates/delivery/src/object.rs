//! A file as source blocks and symbols of RaptorQ (RFC 6330), and its reassembly.
//!
//! [`Oti`] describes the blocks and symbols of a file, and [`Coding`] its encoding. [`BlockEncoder`] generates repair
//! symbols, [`Reassembly`] puts the file together. [`Instance`] describes files to receivers: their paths, hashes,
//! blocks and symbols.

mod assembly;
mod bits;
mod block;
mod block_hashes;
mod coding;
mod decoding;
mod encoder;
mod encoding;
mod entry;
mod fields;
mod hash;
mod instance;
mod instance_file;
mod names;
mod oti;
mod parts;
mod plain;
mod reassembly;
mod table;
mod text;

use layercast_core::Always as _;

pub use assembly::{Assembly, AssemblyCounters, Attempt, SymbolOutcome};
pub use block_hashes::{BlockHasher, BlockHashes};
pub use coding::{Coding, NoCode, SymbolPlace};
pub use decoding::{DecodeJob, Decoded};
pub use encoder::BlockEncoder;
pub use encoding::{ContentEncoding, Inflated, Inflater};
pub use entry::{Compressed, Content, Entry, TableError, Toi};
pub use hash::{Digests, Hasher, Md5};
pub use instance::Instance;
pub use names::{NameError, PATH_MAX, folders_above, safe_path};
pub use oti::{MAX_BLOCK_SYMBOLS, Oti, OtiError, PART_SYMBOLS};
pub use parts::{
    Cut, FileHasher, FilePart, Hashes, Layout, ObjectHashes, PARTS_MAX, Parts, PartsError, hashes_of,
    whole_hash,
};
pub use plain::PlainAssembly;
pub use reassembly::Reassembly;
pub use table::{FOREIGN_TABLE_MAX, TABLE_MAX, compressed, decompressed, table_fti};

/// The object number of the file delivery table (RFC 6726, section 3.1).
pub const TOI_TABLE: u32 = 0;

/// The FEC encoding id of the table: no code (RFC 5445, section 3).
pub const FEC_NO_CODE: u8 = 0;
/// The FEC encoding id of the file: RaptorQ (RFC 6330, section 3.3.1).
pub const FEC_RAPTORQ: u8 = 6;

/// The hash of a file.
pub type Sha256 = [u8; 32];

/// The hash of bytes.
pub fn sha256(bytes: &[u8]) -> Sha256 {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).into()
}

/// The hash of a reader's content.
///
/// # Errors
/// The reader's error.
pub fn sha256_of(reader: impl std::io::Read) -> std::io::Result<Sha256> {
    // Nobody stops it.
    Ok(sha256_while(reader, &mut |_| true)?.always("nobody stops it"))
}

/// Hashes the reader; `None` if `go_on`, which gets the number of bytes read so far, returns false.
///
/// # Errors
/// The reader's error.
pub fn sha256_while(
    mut reader: impl std::io::Read,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> std::io::Result<Option<Sha256>> {
    use sha2::Digest as _;
    let mut hasher = sha2::Sha256::new();
    let mut room = vec![0; 1 << 16];
    let mut done = 0;
    while go_on(done) {
        match reader.read(&mut room) {
            Ok(0) => return Ok(Some(hasher.finalize().into())),
            Ok(length) => {
                done += length as u64;
                hasher.update(room.get(..length).always("a reader fills no more than its room"));
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
