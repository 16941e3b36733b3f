//! Paths received from the network.

use core::fmt;

/// The longest path, in bytes.
pub const PATH_MAX: usize = 1024;
/// The longest part of a path, in bytes: that of the usual file systems.
const PART_MAX: usize = 255;

/// Why a path is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// It or one of its parts is empty.
    Empty,
    /// It has more than 1024 bytes, or one of its parts more than 255.
    Long,
    /// It would leave its folder, or is absolute.
    Outside,
    /// Its first part is hidden.
    Hidden,
    /// It has control characters or a backslash.
    Character,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NameError::Empty => "it, or one of its parts, is empty",
            NameError::Long => "it is too long",
            NameError::Outside => "it leads out of the folder",
            NameError::Hidden => "it begins with a dot, which hides it",
            NameError::Character => "it has control characters or a backslash",
        })
    }
}

impl core::error::Error for NameError {}

/// Checks that a path, with `/` between its parts, stays in a folder and is visible there. Only the first part must be
/// visible: a folder that was received may have hidden files, but a source cannot place one in a home directory, or
/// among the receiver's own files.
///
/// # Errors
/// Why it is not safe.
pub fn safe_path(path: &str) -> Result<&str, NameError> {
    if path.starts_with('/') || path.split('/').any(|part| part == "." || part == "..") {
        return Err(NameError::Outside);
    }
    if path.split('/').any(str::is_empty) {
        return Err(NameError::Empty);
    }
    if path.len() > PATH_MAX || path.split('/').any(|part| part.len() > PART_MAX) {
        return Err(NameError::Long);
    }
    if path.starts_with('.') {
        return Err(NameError::Hidden);
    }
    if path.chars().any(|char| char.is_control() || char == '\\') {
        return Err(NameError::Character);
    }
    Ok(path)
}

/// The folders above a path, the outermost first.
pub fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(end, _)| path.get(..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_their_folder() {
        let bad = [
            "",
            ".",
            "..",
            "../x",
            "/etc/passwd",
            "a/../../b",
            "a//b",
            "a/",
            ".bashrc",
            ".ssh/keys",
            "a\\b",
            "a\nb",
            "a\0b",
            "a/./b",
        ];
        for path in bad {
            assert!(safe_path(path).is_err(), "{path:?}");
        }
        assert_eq!(safe_path(&"x".repeat(256)), Err(NameError::Long));
        assert_eq!(safe_path(&"x/".repeat(600)), Err(NameError::Empty));
        for path in ["Füße & Co.tar.gz", "a/b/c", "site/.htaccess", "a...b", "...x"] {
            assert_eq!(safe_path(path).is_ok(), !path.starts_with('.'), "{path:?}");
        }
    }
}
