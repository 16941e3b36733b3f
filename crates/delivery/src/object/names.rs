//! File names received from the network.

use core::fmt;

/// Why a name is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// It is empty.
    Empty,
    /// It has more than 255 bytes, or would have with `.partial.symbols` after it.
    Long,
    /// It would leave its directory, or is hidden.
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

/// Checks that a name is safe for a file in a directory: one component, visible, printable.
///
/// # Errors
/// Why it is not safe.
pub fn safe_name(name: &str) -> Result<&str, NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    if name.len() + ".partial.symbols".len() > 255 {
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
