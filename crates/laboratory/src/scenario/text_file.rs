//! Reading text files that a user names: scenarios, traces, rates.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// The largest file that a scenario may name, in bytes.
const LARGEST: u64 = 32_000_000;

/// The text of a file that a scenario names, or why there is none.
pub(super) fn load(path: &Path) -> Result<String, String> {
    read_text(path, LARGEST).map_err(|reason| reason.to_string())
}

/// The text of a regular file of at most `most` bytes. Pipes and devices are refused before they are opened, since
/// that might wait for ever.
///
/// # Errors
/// The file cannot be read, is not regular or too large, or is not text in UTF-8.
pub(super) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let kind = std::fs::metadata(path)?.file_type();
    // A directory has an error of its own when it is read.
    if !kind.is_file() && !kind.is_dir() {
        let reason = "it is a pipe or a device, not a regular file; write its contents to a file first";
        return Err(io::Error::new(ErrorKind::InvalidInput, reason));
    }
    let mut text = String::new();
    File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn devices_are_refused_and_large_files_too() {
        let refused = read_text(Path::new("/dev/zero"), 10).unwrap_err().to_string();
        assert!(refused.contains("not a regular file"), "{refused}");
        let manifest = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        assert!(read_text(manifest, 1_000_000).unwrap().contains("[package]"));
        assert!(read_text(manifest, 10).unwrap_err().to_string().contains("more than 10 bytes"));
    }
}
