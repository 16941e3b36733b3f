//! Why a command failed.

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is wrong; the text says what, where and what would be right.
    Input(String),
    /// A program that was run for the user has failed, with this exit status, and has said why.
    Status(u8),
    /// Anything else.
    Other(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Other(error)
    }
}
