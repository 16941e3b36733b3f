//! Keys as text: files, and parts of a session's URL.
//!
//! A key file has one line, and any number of empty lines and of comments that start with `#`:
//!
//! ```text
//! layercast-public-key-1 KEY FINGERPRINT NAME
//! ```
//!
//! KEY is base64url without padding (RFC 4648, section 5). The fingerprint lets people compare keys and shows damage.

use core::fmt::Write as _;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use zeroize::Zeroizing;

use super::keys::{
    Fingerprint, GroupKey, KEY_BYTES, KEY_FILE_MAX, KeyError, KeyKind, NAME_MAX, PublicKey, SecretKey,
    shortened,
};

/// A key and its name, as a file has them. The name is for people and proves nothing.
#[derive(Clone, Debug)]
pub struct KeyFile {
    key: Key,
    name: String,
}

#[derive(Clone, Debug)]
enum Key {
    Public(PublicKey),
    Secret(SecretKey),
    Group(GroupKey),
}

/// The first word of a key's line.
fn start(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Public => "layercast-public-key-1",
        KeyKind::Secret => "layercast-secret-key-1",
        KeyKind::Group => "layercast-group-key-1",
    }
}

impl KeyFile {
    /// The file of a public key.
    ///
    /// # Errors
    /// [`KeyError::Name`] for a name that a file cannot hold.
    pub fn public(key: PublicKey, name: &str) -> Result<KeyFile, KeyError> {
        Ok(KeyFile { key: Key::Public(key), name: checked(name)? })
    }

    /// The file of a secret key.
    ///
    /// # Errors
    /// [`KeyError::Name`] for a name that a file cannot hold.
    pub fn secret(key: SecretKey, name: &str) -> Result<KeyFile, KeyError> {
        Ok(KeyFile { key: Key::Secret(key), name: checked(name)? })
    }

    /// The file of a group key.
    ///
    /// # Errors
    /// [`KeyError::Name`] for a name that a file cannot hold.
    pub fn group(key: GroupKey, name: &str) -> Result<KeyFile, KeyError> {
        Ok(KeyFile { key: Key::Group(key), name: checked(name)? })
    }

    /// The key in a file's bytes. Never panics.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(bytes: &[u8]) -> Result<KeyFile, KeyError> {
        if bytes.len() > KEY_FILE_MAX {
            return Err(KeyError::Long(bytes.len()));
        }
        let text = core::str::from_utf8(bytes).map_err(|_| KeyError::NotText)?;
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let line = lines.next().ok_or(KeyError::Empty)?;
        if lines.next().is_some() {
            return Err(KeyError::Several);
        }
        parse_line(line)
    }

    /// The kind of the key.
    pub fn kind(&self) -> KeyKind {
        match self.key {
            Key::Public(_) => KeyKind::Public,
            Key::Secret(_) => KeyKind::Secret,
            Key::Group(_) => KeyKind::Group,
        }
    }

    /// The name of the key.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fingerprint of the key; that of a secret key is that of its public key.
    pub fn fingerprint(&self) -> Fingerprint {
        match &self.key {
            Key::Public(key) => key.fingerprint(),
            Key::Secret(key) => key.public().fingerprint(),
            Key::Group(key) => key.fingerprint(),
        }
    }

    /// The public key of a public key's file.
    ///
    /// # Errors
    /// [`KeyError::Kind`] for a key of another kind.
    pub fn into_public(self) -> Result<PublicKey, KeyError> {
        match self.key {
            Key::Public(key) => Ok(key),
            _ => Err(self.not(KeyKind::Public)),
        }
    }

    /// The secret key of a secret key's file.
    ///
    /// # Errors
    /// [`KeyError::Kind`] for a key of another kind.
    pub fn into_secret(self) -> Result<SecretKey, KeyError> {
        match self.key {
            Key::Secret(key) => Ok(key),
            _ => Err(self.not(KeyKind::Secret)),
        }
    }

    /// The group key of a group key's file.
    ///
    /// # Errors
    /// [`KeyError::Kind`] for a key of another kind.
    pub fn into_group(self) -> Result<GroupKey, KeyError> {
        match self.key {
            Key::Group(key) => Ok(key),
            _ => Err(self.not(KeyKind::Group)),
        }
    }

    fn not(&self, wanted: KeyKind) -> KeyError {
        KeyError::Kind { found: self.kind(), wanted }
    }

    /// The public half: a secret key's public key with the same name, a public key itself. None for a group key, which
    /// has none.
    pub fn public_half(&self) -> Option<KeyFile> {
        let key = match &self.key {
            Key::Public(key) => *key,
            Key::Secret(key) => key.public(),
            Key::Group(_) => return None,
        };
        Some(KeyFile { key: Key::Public(key), name: self.name.clone() })
    }

    /// The line of the file, with its end. It is cleared from memory when it is dropped.
    pub fn to_text(&self) -> Zeroizing<String> {
        let bytes = match &self.key {
            Key::Public(key) => Zeroizing::new(key.to_bytes()),
            Key::Secret(key) => key.seed(),
            Key::Group(key) => Zeroizing::new(*key.bytes()),
        };
        // Long enough for every line, so that no copy stays where the text was before it grew.
        let mut text = Zeroizing::new(String::with_capacity(256));
        let key = key_letters(&bytes);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} {} {} {}", start(self.kind()), *key, self.fingerprint(), self.name);
        text
    }
}

fn checked(name: &str) -> Result<String, KeyError> {
    if (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(name.to_owned())
    } else {
        Err(KeyError::Name(shortened(name)))
    }
}

fn parse_line(line: &str) -> Result<KeyFile, KeyError> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let first = words.first().copied().unwrap_or_default();
    let Some(kind) = KeyKind::ALL.into_iter().find(|&kind| start(kind) == first) else {
        return Err(unknown(first));
    };
    let &[_, key, written, name] = words.as_slice() else { return Err(KeyError::Words(words.len())) };
    let bytes = read_key_letters(key)?;
    let key = match kind {
        KeyKind::Public => Key::Public(PublicKey::from_bytes(&bytes)?),
        KeyKind::Secret => Key::Secret(SecretKey::from_seed(&bytes)),
        KeyKind::Group => Key::Group(GroupKey::from_seed(&bytes)),
    };
    let file = KeyFile { key, name: checked(name)? };
    let computed = file.fingerprint();
    if computed.to_string() == written {
        Ok(file)
    } else {
        Err(KeyError::Fingerprint { computed, written: shortened(written) })
    }
}

/// Why a line's first word is not that of a key.
fn unknown(first: &str) -> KeyError {
    let mut kinds = KeyKind::ALL.into_iter();
    let version = kinds.find_map(|kind| first.strip_prefix(start(kind).strip_suffix('1')?));
    match version {
        Some(version) => KeyError::Version(shortened(version)),
        // What is not understood may be a secret, so it is not shown.
        None => KeyError::Start,
    }
}

/// Any key as 43 letters, digits, `-` and `_` (RFC 4648, section 5).
pub(crate) fn key_letters(bytes: &[u8; KEY_BYTES]) -> Zeroizing<String> {
    Zeroizing::new(Base64UrlUnpadded::encode_string(bytes))
}

/// A key from its letters; each key has one spelling.
pub(crate) fn read_key_letters(text: &str) -> Result<Zeroizing<[u8; KEY_BYTES]>, KeyError> {
    let mut bytes = Zeroizing::new([0; KEY_BYTES]);
    match Base64UrlUnpadded::decode(text, &mut *bytes) {
        Ok(decoded) if decoded.len() == KEY_BYTES => Ok(bytes),
        _ => Err(KeyError::Encoding),
    }
}

impl PublicKey {
    /// The key as the part of a URL: 43 letters, digits, `-` and `_`.
    pub fn to_url(self) -> String {
        key_letters(&self.to_bytes()).to_string()
    }

    /// The key from the part of a URL. Never panics.
    ///
    /// # Errors
    /// [`KeyError::Encoding`] or [`KeyError::Point`].
    pub fn from_url(text: &str) -> Result<PublicKey, KeyError> {
        PublicKey::from_bytes(&*read_key_letters(text)?)
    }
}

impl GroupKey {
    /// The key as the part of a URL, which is then as secret as the key.
    pub fn to_url(&self) -> Zeroizing<String> {
        key_letters(self.bytes())
    }

    /// The key from the part of a URL. Never panics.
    ///
    /// # Errors
    /// [`KeyError::Encoding`].
    pub fn from_url(text: &str) -> Result<GroupKey, KeyError> {
        Ok(GroupKey::from_seed(&*read_key_letters(text)?))
    }
}
