//! `layercast key`: files of keys.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use layercast_delivery::security::key_file::KeyFile;
use layercast_delivery::security::keys::{GroupKey, KEY_BYTES, KeyError, KeyKind, SecretKey};
use layercast_delivery::security::signed::{Context, Signature};
use layercast_transport::finding::{self, with};

use crate::failure::Failure;
use crate::net::failure::not_found;
use crate::output::{complain, print};

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

/// Runs the command.
pub(crate) fn key(arguments: &Key) -> Result<(), Failure> {
    match &arguments.command {
        KeyCommand::New(new) => make(new),
        KeyCommand::Show(show) => self::show(show),
        KeyCommand::Sign(sign) => self::sign(sign),
        KeyCommand::Verify(verify) => self::verify(verify),
    }
}

/// A mistake in a file.
pub(crate) fn wrong(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::Input(format!("error: {}: {error}", path.display()))
}

fn make(arguments: &New) -> Result<(), Failure> {
    let New { file, group, name } = arguments;
    let name = match name {
        Some(name) => name.clone(),
        None => file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let mut seed = [0; KEY_BYTES];
    File::open("/dev/random")
        .and_then(|mut source| source.read_exact(&mut seed))
        .context("there are no random numbers: /dev/random cannot be read")?;
    let made = if *group {
        KeyFile::group(GroupKey::from_seed(&seed), &name)
    } else {
        KeyFile::secret(SecretKey::from_seed(&seed), &name)
    };
    let made = made.map_err(|error| Failure::Input(format!("error: {error}; give one with --name NAME")))?;
    let public = made.public_half().map(|half| (with(file, ".pub"), half));
    let paths = [Some(file), public.as_ref().map(|(path, _)| path)];
    if let Some(taken) = paths.into_iter().flatten().find(|path| path.symlink_metadata().is_ok()) {
        return Err(wrong(taken, TAKEN));
    }
    create(file, &made.to_text(), 0o600)?;
    if let Some((path, half)) = &public
        && let Err(error) = create(path, &half.to_text(), 0o644)
    {
        // The secret key was made just now, and nobody has its public key.
        let _ = fs::remove_file(file);
        return Err(error);
    }
    let mut text = String::new();
    match &public {
        Some((path, _)) => {
            let _ = writeln!(text, "secret key   {}, for the sender alone", file.display());
            let _ = writeln!(text, "public key   {}, for all receivers", path.display());
        }
        None => {
            let _ = writeln!(
                text,
                "group key    {}, for the sender and all receivers, and no one else",
                file.display()
            );
        }
    }
    let _ = writeln!(text, "fingerprint  {}", made.fingerprint());
    Ok(print(&text)?)
}

const TAKEN: &str =
    "the file exists, and keys are never overwritten; choose another name or remove it yourself";

/// Creates a file that does not exist.
fn create(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let mut file = match opened {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(wrong(path, TAKEN)),
        opened => opened.with_context(|| format!("{} cannot be created", path.display()))?,
    };
    if let Err(error) = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()) {
        // A part of a key is of no use, and would be in the way of the next attempt.
        let _ = fs::remove_file(path);
        return Err(anyhow::Error::new(error)
            .context(format!("{} cannot be written", path.display()))
            .into());
    }
    Ok(())
}

/// The key in a file. Whoever can read a secret key can use it, so this warns if others can.
fn read_key(path: &Path) -> Result<KeyFile, Failure> {
    let key = finding::read_key(path, Ok).map_err(not_found)?;
    if key.kind().is_secret() && finding::others_can_read(path) {
        let path = path.display();
        complain(&format!(
            "warning: others can read this {} key: `chmod 600 {path}`, or make a new one",
            key.kind()
        ));
    }
    Ok(key)
}

/// A key of the kind that is needed.
pub(crate) fn read_as<K>(
    path: &Path,
    into: impl FnOnce(KeyFile) -> Result<K, KeyError>,
) -> Result<K, Failure> {
    into(read_key(path)?).map_err(|error| wrong(path, error))
}

fn show(arguments: &Show) -> Result<(), Failure> {
    let key = read_key(&arguments.file)?;
    let mut text = String::new();
    let _ = writeln!(text, "{:<13}{}", format!("{} key", key.kind()), key.name());
    let _ = writeln!(text, "fingerprint  {}", key.fingerprint());
    match key.public_half() {
        Some(half) => {
            if key.kind() == KeyKind::Secret {
                let _ = writeln!(text, "public key   {}", half.to_text().trim_end());
            }
            let public = half.into_public().map_err(|error| wrong(&arguments.file, error))?;
            let _ = writeln!(text, "in a URL     {}", public.to_url());
        }
        None => text.push_str("the key      is in the file and not shown\n"),
    }
    Ok(print(&text)?)
}

/// Writes the signature of a description to the file next to it.
pub(crate) fn sign_description(path: &Path, bytes: &[u8], secret: &SecretKey) -> anyhow::Result<PathBuf> {
    let signature = Signature::sign(secret, Context::Description, bytes);
    // A description that changes is signed again.
    let signed = with(path, ".sig");
    fs::write(&signed, format!("{signature}\n"))
        .with_context(|| format!("{} cannot be written", signed.display()))?;
    Ok(signed)
}

fn sign(arguments: &Sign) -> Result<(), Failure> {
    let secret = read_as(&arguments.key, KeyFile::into_secret)?;
    let bytes = finding::read_description(&arguments.description).map_err(not_found)?;
    let path = sign_description(&arguments.description, &bytes, &secret)?;
    Ok(print(&format!("signed by {}: {}\n", secret.public().fingerprint(), path.display()))?)
}

fn verify(arguments: &Verify) -> Result<(), Failure> {
    let public = read_as(&arguments.key, KeyFile::into_public)?;
    let path = &arguments.description;
    let read = finding::read_description(path);
    let key =
        read.and_then(|bytes| finding::verify_description(path, &bytes, &[public])).map_err(not_found)?;
    Ok(print(&format!("signed by {}\n", key.fingerprint()))?)
}
