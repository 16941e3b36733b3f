//! Arguments of `layercast key`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Key {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key pair to sign with: FILE for the sender, FILE.pub for receivers. No file is ever overwritten
    New(New),
    /// Show the kind, name and fingerprint of a key, and the public key that belongs to it
    Show(Show),
    /// Sign a session description: writes DESCRIPTION.sig
    Sign(Sign),
    /// Verify a session description and its DESCRIPTION.sig
    Verify(Verify),
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// The file of the secret key, readable by its owner only
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Make a group key instead, which the sender and all receivers share
    #[arg(long)]
    pub(crate) group: bool,

    /// A name for people [default: that of the file]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The file of a key of any kind
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Sign {
    /// The file of the secret key
    #[arg(value_name = "KEY")]
    pub(crate) key: PathBuf,

    /// The description
    #[arg(value_name = "DESCRIPTION")]
    pub(crate) description: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The file of the public key
    #[arg(value_name = "KEY")]
    pub(crate) key: PathBuf,

    /// The description
    #[arg(value_name = "DESCRIPTION")]
    pub(crate) description: PathBuf,
}
