//! Text files that a scenario names.

use std::io::Read as _;
use std::path::Path;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 32_000_000;

/// The text of a file, or why there is none. Only plain files are read: a pipe would wait for its writer.
pub(super) fn load(path: &Path) -> Result<String, String> {
    let reason = |error: std::io::Error| error.to_string();
    if !std::fs::metadata(path).map_err(reason)?.is_file() {
        return Err("it is not a plain file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(reason)?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(reason)?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it has more than {LARGEST} bytes; cut it"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
