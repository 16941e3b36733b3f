//! Names of files that come from the network.

use core::fmt;

/// Why a name is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// It is empty.
    Empty,
    /// It has more than 255 bytes, or would have with `.partial` after it.
    Long,
    /// It would lead out of its directory, or hides in it.
    Path,
    /// It has control characters.
    Control,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NameError::Empty => "the name is empty",
            NameError::Long => "the name is too long",
            NameError::Path => "the name is not that of a plain file in a directory",
            NameError::Control => "the name has control characters",
        })
    }
}

impl core::error::Error for NameError {}

/// Whether a name may become a file beside others: one part, visible, printable.
///
/// # Errors
/// Why not.
pub fn safe_name(name: &str) -> Result<&str, NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    if name.len() + ".partial".len() > 255 {
        return Err(NameError::Long);
    }
    if name.starts_with('.') || name.contains(['/', '\\']) {
        return Err(NameError::Path);
    }
    if name.chars().any(char::is_control) {
        return Err(NameError::Control);
    }
    Ok(name)
}
