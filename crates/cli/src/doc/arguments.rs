//! Arguments of `layercast completions`, `layercast man` and `layercast reference`.

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

#[derive(Debug, Args)]
pub(crate) struct Reference {
    /// Write commands.md, keys.md, lints.md, modes.md, options.md, protocols.md, scenarios.md and suites.md to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}
