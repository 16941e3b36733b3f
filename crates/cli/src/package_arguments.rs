//! Arguments of `layercast completions` and `layercast man`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// A shell that completes words.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell that will read them
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManualPages {
    /// Write layercast.1 and a page for each command, such as layercast-send.1, to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}
