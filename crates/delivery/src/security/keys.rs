//! Signing keys (Ed25519, RFC 8032) and group keys.
//!
//! A sender signs with its secret key, and receivers verify with the public key. A group key is shared by the sender and
//! all receivers: whoever can check a packet with it can also forge one.

use core::fmt;

use ed25519_dalek::{SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// The most bytes of a key file.
pub const KEY_FILE_MAX: usize = 4096;
/// The most bytes of a key's name.
pub const NAME_MAX: usize = 64;
/// The length of every key in bytes.
pub const KEY_BYTES: usize = 32;

/// The kinds of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Verifies signatures; may be known to all.
    Public,
    /// Makes signatures; only the sender has it.
    Secret,
    /// Authenticates and encrypts packets; the sender and all receivers have it.
    Group,
}

impl KeyKind {
    /// All kinds.
    pub const ALL: [KeyKind; 3] = [KeyKind::Public, KeyKind::Secret, KeyKind::Group];

    /// Whether a key of this kind must not be seen by others.
    pub fn is_secret(self) -> bool {
        self != KeyKind::Public
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyKind::Public => "public",
            KeyKind::Secret => "secret",
            KeyKind::Group => "group",
        })
    }
}

/// Why a text is not the key that is needed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is no line with a key.
    #[error("there is no key in it; make one with `layercast key new FILE`")]
    Empty,
    /// The text is longer than a key file can be.
    #[error("it has {0} bytes, and a key file has at most {KEY_FILE_MAX}; is it another file?")]
    Long(usize),
    /// There is more than one key.
    #[error("it holds more than one key; give each key a file of its own")]
    Several,
    /// The text is not text.
    #[error("it is not text; is it another file?")]
    NotText,
    /// The first word is not that of a key.
    #[error(
        "it does not start as a key does: `layercast-public-key-1 KEY FINGERPRINT NAME` (or `-secret-key-1`, \
         `-group-key-1`); is it another file?"
    )]
    Start,
    /// A key of a later format.
    #[error("format {0} of keys is not supported, only format 1; use the version of layercast that made it")]
    Version(String),
    /// Words are missing from the line, or there are too many.
    #[error(
        "the line of a key has four words: `layercast-public-key-1 KEY FINGERPRINT NAME`; this one has {0}: copy it again"
    )]
    Words(usize),
    /// A key of another kind than needed.
    #[error("this is a {found} key, where a {wanted} one is needed{}", remedy(*found, *wanted))]
    Kind {
        /// The kind of the key.
        found: KeyKind,
        /// The kind that is needed.
        wanted: KeyKind,
    },
    /// The key is not base64url of 32 bytes.
    #[error(
        "the key is not 43 letters of base64url, so a part of it is missing or was changed; copy it again"
    )]
    Encoding,
    /// A public key that no secret key has, or one that would verify anything.
    #[error("no secret key has this public key; copy it again")]
    Point,
    /// The fingerprint is not that of the key.
    #[error(
        "its fingerprint should be {computed}, and it says {written}: the line was changed; copy it again"
    )]
    Fingerprint {
        /// The fingerprint of the key.
        computed: Fingerprint,
        /// What the text says.
        written: String,
    },
    /// Not the group key that the session uses.
    #[error(
        "the session uses the group key {described}, and this one is {given}; ask the sender for the file of its key"
    )]
    OtherGroup {
        /// The fingerprint in the session's description.
        described: String,
        /// The fingerprint of the key.
        given: Fingerprint,
    },
    /// The name of the key is not one.
    #[error(
        "`{0}` is not a name for a key; use 1 to {NAME_MAX} letters, digits and signs of ASCII, without spaces"
    )]
    Name(String),
}

/// The beginning of a text from outside, for messages.
pub(super) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    short
}

fn remedy(found: KeyKind, wanted: KeyKind) -> &'static str {
    match (found, wanted) {
        (KeyKind::Secret, KeyKind::Public) => {
            "; `layercast key show FILE` prints the public key that belongs to it"
        }
        (KeyKind::Public, KeyKind::Secret) => {
            "; the file that ends in .pub is public, the one without it is secret"
        }
        (_, KeyKind::Group) => "; make one with `layercast key new FILE --group`",
        _ => "; make one with `layercast key new FILE`",
    }
}

/// A fingerprint for people to compare: 100 bits of a hash, in five groups of four letters and digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint([u8; 20]);

/// The alphabet of base32 (RFC 4648, section 6), in lower case.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

impl Fingerprint {
    fn of(hash: [u8; 32]) -> Fingerprint {
        let digit = |index: usize| {
            let bit = index * 5;
            let pair = u16::from_be_bytes([hash[bit / 8], hash[bit / 8 + 1]]);
            BASE32[usize::from(pair >> (11 - bit % 8) & 31)]
        };
        Fingerprint(core::array::from_fn(digit))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, &letter) in self.0.iter().enumerate() {
            let dash = if index > 0 && index % 4 == 0 { "-" } else { "" };
            write!(f, "{dash}{}", char::from(letter))?;
        }
        Ok(())
    }
}

/// A short number that says which key to try. It proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId(pub [u8; 8]);

/// The hash behind fingerprints and numbers, different for each use and kind.
fn identity(what: &str, kind: KeyKind, key: &[u8; KEY_BYTES]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix("layercast key 1\0");
    hash.update(what);
    hash.update([0, kind as u8]);
    hash.update(key);
    hash.finalize().into()
}

/// A public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// The key with these bytes.
    ///
    /// # Errors
    /// [`KeyError::Point`] for bytes that are no key, and for a key under which anyone can sign.
    pub fn from_bytes(bytes: &[u8; KEY_BYTES]) -> Result<PublicKey, KeyError> {
        match VerifyingKey::from_bytes(bytes) {
            Ok(key) if !key.is_weak() => Ok(PublicKey(key)),
            _ => Err(KeyError::Point),
        }
    }

    /// The key as bytes.
    pub fn to_bytes(self) -> [u8; KEY_BYTES] {
        self.0.to_bytes()
    }

    /// Its fingerprint.
    pub fn fingerprint(self) -> Fingerprint {
        Fingerprint::of(identity("fingerprint", KeyKind::Public, self.0.as_bytes()))
    }

    /// Its number.
    pub fn id(self) -> KeyId {
        let [a, b, c, d, e, f, g, h, ..] = identity("id", KeyKind::Public, self.0.as_bytes());
        KeyId([a, b, c, d, e, f, g, h])
    }

    /// Whether the signature is of these bytes. Refuses the malleable forms that RFC 8032 leaves open.
    pub(crate) fn verifies(self, bytes: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(bytes, &ed25519_dalek::Signature::from_bytes(signature)).is_ok()
    }
}

/// A secret key. It is cleared from memory when it is dropped, and never printed.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// The key that belongs to 32 random bytes.
    pub fn from_seed(seed: &[u8; KEY_BYTES]) -> SecretKey {
        SecretKey(SigningKey::from_bytes(seed))
    }

    /// The public key that belongs to it.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs bytes.
    pub(crate) fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        use ed25519_dalek::Signer as _;
        self.0.sign(bytes).to_bytes()
    }

    /// The random bytes.
    pub(super) fn seed(&self) -> Zeroizing<[u8; KEY_BYTES]> {
        Zeroizing::new(self.0.to_bytes())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.public().fingerprint())
    }
}

/// A group key. It is cleared from memory when it is dropped, and never printed.
#[derive(Clone)]
pub struct GroupKey(Zeroizing<[u8; KEY_BYTES]>);

impl GroupKey {
    /// The key with these random bytes.
    pub fn from_seed(seed: &[u8; KEY_BYTES]) -> GroupKey {
        GroupKey(Zeroizing::new(*seed))
    }

    /// Its fingerprint. It may be known to all: a description names it, so that a receiver with another key gets an error
    /// ([`GroupKey::check`]) and does not just count forged packets.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(identity("fingerprint", KeyKind::Group, &self.0))
    }

    /// Whether the key matches the fingerprint.
    ///
    /// # Errors
    /// [`KeyError::OtherGroup`] if it is not.
    pub fn check(&self, described: &str) -> Result<(), KeyError> {
        let given = self.fingerprint();
        if given.to_string() == described {
            Ok(())
        } else {
            Err(KeyError::OtherGroup { described: shortened(described), given })
        }
    }

    /// The key as bytes.
    pub(super) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

impl fmt::Debug for GroupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GroupKey({})", self.fingerprint())
    }
}
