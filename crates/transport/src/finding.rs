//! What a receiver is given to find its session by: URLs, descriptions and announced names; and the files of keys by which it trusts
//! them.

mod announced;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use layercast_delivery::announce::flute::{FLUTE_SCHEME, FluteSession};
use layercast_delivery::announce::sdp::Description;
use layercast_delivery::announce::url::SessionUrl;
use layercast_delivery::search::Known;
use layercast_delivery::security::encryption::Salt;
use layercast_delivery::security::key_file::KeyFile;
use layercast_delivery::security::keys::{Fingerprint, KEY_FILE_MAX, KeyError, PublicKey};
use layercast_delivery::security::signed::{Context, SIGNED_MAX, Signature, SignatureError};
use layercast_delivery::session::Session;

pub use announced::{Announced, announced_within, find_announced, signed_by};

/// What is known of a session that was asked for.
#[derive(Clone, Debug)]
pub struct Sought {
    /// Where it is.
    pub known: Known,
    /// The salt of its packets, if they are encrypted.
    pub salt: Option<Salt>,
    /// Whose signatures count; anyone's if empty.
    pub keys: Vec<PublicKey>,
    /// The relays that its description names.
    pub relays: Vec<SocketAddr>,
}

/// Why what was given does not lead to a session.
#[derive(Debug, thiserror::Error)]
pub enum FindingError {
    /// A URL cannot be read.
    #[error("{url}: {reason}")]
    Url {
        /// The URL.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The key of a URL is none.
    #[error("the key of the URL: {0}")]
    UrlKey(KeyError),
    /// A URL names another key than the operator.
    #[error("the URL names the key {0}, and --key another one; which of them is the sender's?")]
    OtherKey(Fingerprint),
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// None of the keys that count has signed a description.
    #[error("{}: {source}", path.display())]
    Unsigned {
        /// The description.
        path: PathBuf,
        /// Why its signature does not count.
        source: SignatureError,
    },
}

impl FindingError {
    /// Whether the operator's input is wrong; otherwise it may be right at another time.
    pub fn is_input(&self) -> bool {
        !matches!(self, FindingError::Unreadable { .. } | FindingError::Unsigned { .. })
    }

    fn file(path: &Path, reason: impl std::fmt::Display) -> FindingError {
        FindingError::File { path: path.to_owned(), reason: reason.to_string() }
    }
}

impl Sought {
    /// A session of which only this is known.
    pub fn new(known: Known, salt: Option<Salt>, keys: Vec<PublicKey>) -> Sought {
        Sought { known, salt, keys, relays: Vec::new() }
    }

    /// By a URL: `layercast://`, or `flute://` for one of another FLUTE sender. If no keys count yet, that of the URL does.
    ///
    /// # Errors
    /// If it is none, or names a key that is none of `keys`.
    pub fn by_url(url: &str, mut keys: Vec<PublicKey>) -> Result<Sought, FindingError> {
        let wrong = |reason: String| FindingError::Url { url: url.to_owned(), reason };
        if url.starts_with(FLUTE_SCHEME) {
            let session: FluteSession = url.parse().map_err(|error| wrong(format!("{error}")))?;
            return Ok(Sought::new(Known::Flute(session), None, keys));
        }
        let url: SessionUrl = url.parse().map_err(|error| wrong(format!("{error}")))?;
        trust(&url, &mut keys)?;
        Ok(Sought::new(Known::Group(SocketAddr::new(url.group, url.port), url.source), url.salt, keys))
    }

    /// By the file of a description, in SDP if its name ends in `.sdp`. If keys count, one of them must have signed it, by the
    /// signature in the file of the same name and `.sig`.
    ///
    /// # Errors
    /// If it cannot be read, or is not signed.
    pub fn by_description(path: &Path, keys: Vec<PublicKey>) -> Result<Sought, FindingError> {
        let bytes = read_description(path)?;
        if !keys.is_empty() {
            verify_description(path, &bytes, &keys)?;
        }
        let mut relays = Vec::new();
        let text = if is_sdp(path) {
            let description = Description::read(&bytes).map_err(|error| FindingError::file(path, error))?;
            if let Some(session) =
                description.flute_session().map_err(|error| FindingError::file(path, error))?
            {
                return Ok(Sought::new(Known::Flute(session), None, keys));
            }
            relays = description.relays();
            description.session_text().map_err(|error| FindingError::file(path, error))?
        } else {
            String::from_utf8(bytes)
                .map_err(|_| FindingError::file(path, "it is not text; is it another file?"))?
        };
        let session: Session = text.parse().map_err(|error| FindingError::file(path, error))?;
        Ok(Sought { relays, ..Sought::new(Known::Session(Box::new(session)), None, keys) })
    }
}

/// Whether a file has a description in SDP.
pub fn is_sdp(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("sdp"))
}

/// Takes the key of a URL, if the operator has not said which keys count.
fn trust(url: &SessionUrl, keys: &mut Vec<PublicKey>) -> Result<(), FindingError> {
    let Some(bytes) = &url.key else { return Ok(()) };
    let key = PublicKey::from_bytes(bytes).map_err(FindingError::UrlKey)?;
    if keys.is_empty() {
        keys.push(key);
    }
    if keys.contains(&key) { Ok(()) } else { Err(FindingError::OtherKey(key.fingerprint())) }
}

/// The path with more at its end.
pub fn with(path: &Path, more: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(more);
    PathBuf::from(name)
}

/// A file of at most `limit` bytes; one more of a longer one.
fn read(path: &Path, limit: usize) -> Result<Vec<u8>, FindingError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(limit as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|source| FindingError::Unreadable { path: path.to_owned(), source })?;
    Ok(bytes)
}

/// The key in a file, of the kind that `into` takes: `read_key(path, KeyFile::into_group)`.
///
/// # Errors
/// If the file cannot be read, or has no such key.
pub fn read_key<K>(
    path: &Path,
    into: impl FnOnce(KeyFile) -> Result<K, KeyError>,
) -> Result<K, FindingError> {
    let key = KeyFile::parse(&read(path, KEY_FILE_MAX)?).and_then(into);
    key.map_err(|error| FindingError::file(path, error))
}

/// Whether other users can read a file: who can read a secret key can use it.
pub fn others_can_read(path: &Path) -> bool {
    fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode()) & 0o077 != 0
}

/// A description, which is a text.
///
/// # Errors
/// If it cannot be read, or is too long to be signed.
pub fn read_description(path: &Path) -> Result<Vec<u8>, FindingError> {
    let bytes = read(path, SIGNED_MAX)?;
    if bytes.len() > SIGNED_MAX {
        return Err(FindingError::file(path, SignatureError::Limit(bytes.len())));
    }
    Ok(bytes)
}

/// The key that signed a description, by the signature in the file of the same name and `.sig`.
///
/// # Errors
/// If there is none, or it is by another key.
pub fn verify_description(
    path: &Path,
    bytes: &[u8],
    trusted: &[PublicKey],
) -> Result<PublicKey, FindingError> {
    let signed = with(path, ".sig");
    let text = String::from_utf8_lossy(&read(&signed, KEY_FILE_MAX)?).into_owned();
    let signature: Signature = text.parse().map_err(|error| FindingError::file(&signed, error))?;
    let verified = signature.verify(trusted, Context::Description, bytes);
    verified.map_err(|source| FindingError::Unsigned { path: path.to_owned(), source })
}
