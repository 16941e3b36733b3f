//! Names in lists of arguments.

/// One of several names with commas between, without the spaces around it.
#[allow(clippy::unnecessary_wraps, reason = "the type that a parser of arguments has")]
pub(crate) fn trimmed(name: &str) -> Result<String, std::convert::Infallible> {
    Ok(name.trim().to_owned())
}
