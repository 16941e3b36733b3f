//! Signatures over texts and bytes (Ed25519, RFC 8032).
//!
//! What is signed starts with a fixed text and the context, so that a signature for one purpose is none for another: a
//! signed announcement is never taken for a signed table.

use core::fmt;
use core::str::FromStr;

use base64ct::{Base64UrlUnpadded, Encoding as _};

use super::keys::{KeyId, PublicKey, SecretKey};

/// What a signature is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// A session description.
    Description,
    /// An announcement of a session.
    Announcement,
    /// A file delivery table, with the hashes of the objects and their blocks.
    Table,
}

impl Context {
    /// All contexts.
    pub const ALL: [Context; 3] = [Context::Description, Context::Announcement, Context::Table];

    /// Its name, which is part of what is signed.
    pub fn name(self) -> &'static str {
        match self {
            Context::Description => "description",
            Context::Announcement => "announcement",
            Context::Table => "table",
        }
    }
}

/// The first word of a signature as text, and the start of what is signed.
const FORMAT: &str = "layercast-signature-1";
/// The first bytes of [`Signed`].
const MAGIC: [u8; 4] = *b"LCS1";
/// The length of a signature in bytes: the key's number, then Ed25519's 64 bytes.
const SIGNATURE: usize = 8 + 64;
/// The most bytes that [`Signed`] holds, so that a reader knows what to expect.
pub const SIGNED_MAX: usize = 1 << 20;
/// Everything of [`Signed`] but the bytes that are signed.
const OVERHEAD: usize = MAGIC.len() + 4 + SIGNATURE;

/// Why bytes are not signed as they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The key that signed is not among those that are trusted.
    #[error("it is signed with a key that is not trusted here; give the sender's public key")]
    Key,
    /// The key is trusted, and the signature is not its signature of these bytes in this context.
    #[error("the signature is wrong: what it signs was changed, or the key did not sign it")]
    Wrong,
    /// It is not a signature.
    #[error("this is not a signature; one has the form `{FORMAT} LETTERS`")]
    Form,
    /// Fewer bytes than needed, or more than there should be.
    #[error("{have} bytes where {need} are needed")]
    Length {
        /// How many are needed.
        need: usize,
        /// How many there are.
        have: usize,
    },
    /// More than [`SIGNED_MAX`] bytes.
    #[error("{0} bytes are too many to sign; at most {SIGNED_MAX} are accepted")]
    Limit(usize),
}

/// A signature and the number of the key that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    key: KeyId,
    bytes: [u8; 64],
}

/// What the signature algorithm gets.
pub(crate) fn message(context: Context, bytes: &[u8]) -> Vec<u8> {
    [FORMAT.as_bytes(), &[0], context.name().as_bytes(), &[0], bytes].concat()
}

impl Signature {
    /// Signs bytes for a purpose.
    pub fn sign(key: &SecretKey, context: Context, bytes: &[u8]) -> Signature {
        Signature { key: key.public().id(), bytes: key.sign(&message(context, bytes)) }
    }

    /// The number of the key that signed, as the signature says.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The key among `trusted` that signed the bytes for this purpose.
    ///
    /// # Errors
    /// [`SignatureError::Key`] or [`SignatureError::Wrong`].
    pub fn verify(
        &self,
        trusted: &[PublicKey],
        context: Context,
        bytes: &[u8],
    ) -> Result<PublicKey, SignatureError> {
        let message = message(context, bytes);
        let mut found = SignatureError::Key;
        for key in trusted.iter().filter(|key| key.id() == self.key) {
            if key.verifies(&message, &self.bytes) {
                return Ok(*key);
            }
            found = SignatureError::Wrong;
        }
        Err(found)
    }

    fn to_bytes(self) -> [u8; SIGNATURE] {
        let mut all = [0; SIGNATURE];
        let (key, bytes) = all.split_at_mut(self.key.0.len());
        key.copy_from_slice(&self.key.0);
        bytes.copy_from_slice(&self.bytes);
        all
    }

    fn from_bytes(all: &[u8; SIGNATURE]) -> Option<Signature> {
        let (key, bytes) = all.split_first_chunk()?;
        Some(Signature { key: KeyId(*key), bytes: bytes.try_into().ok()? })
    }
}

/// As text: one line without its end, for files and for attributes of descriptions.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORMAT} {}", Base64UrlUnpadded::encode_string(&self.to_bytes()))
    }
}

impl FromStr for Signature {
    type Err = SignatureError;

    /// Never panics.
    fn from_str(text: &str) -> Result<Signature, SignatureError> {
        let letters = text.trim().strip_prefix(FORMAT).ok_or(SignatureError::Form)?;
        let mut all = [0; SIGNATURE];
        match Base64UrlUnpadded::decode(letters.trim(), &mut all) {
            Ok(decoded) if decoded.len() == SIGNATURE && letters.starts_with(char::is_whitespace) => {
                Signature::from_bytes(&all).ok_or(SignatureError::Form)
            }
            _ => Err(SignatureError::Form),
        }
    }
}

/// Bytes with a signature of them, which was not verified yet.
///
/// ```text
/// "LCS1" | length of the bytes (32) | number of the key (64) | signature (512) | the bytes
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    signature: Signature,
    bytes: &'a [u8],
}

impl<'a> Signed<'a> {
    /// Signs bytes, and writes them and the signature.
    ///
    /// # Errors
    /// [`SignatureError::Limit`] for more than [`SIGNED_MAX`] bytes.
    pub fn write(key: &SecretKey, context: Context, bytes: &[u8]) -> Result<Vec<u8>, SignatureError> {
        if bytes.len() > SIGNED_MAX {
            return Err(SignatureError::Limit(bytes.len()));
        }
        let signature = Signature::sign(key, context, bytes).to_bytes();
        Ok([MAGIC.as_slice(), &(bytes.len() as u32).to_be_bytes(), &signature, bytes].concat())
    }

    /// Reads what [`Signed::write`] wrote. Copies nothing, never panics.
    ///
    /// # Errors
    /// Why it is not that.
    pub fn read(all: &'a [u8]) -> Result<Signed<'a>, SignatureError> {
        let short = SignatureError::Length { need: OVERHEAD, have: all.len() };
        let (magic, rest) = all.split_first_chunk().ok_or(short)?;
        if *magic != MAGIC {
            return Err(SignatureError::Form);
        }
        let (length, rest) = rest.split_first_chunk().ok_or(short)?;
        let (signature, bytes) = rest.split_first_chunk().ok_or(short)?;
        let length = u32::from_be_bytes(*length) as usize;
        if length > SIGNED_MAX {
            return Err(SignatureError::Limit(length));
        }
        if length != bytes.len() {
            return Err(SignatureError::Length { need: length + OVERHEAD, have: all.len() });
        }
        Ok(Signed { signature: Signature::from_bytes(signature).ok_or(SignatureError::Form)?, bytes })
    }

    /// The bytes, if one of the keys signed them for this purpose.
    ///
    /// # Errors
    /// [`SignatureError::Key`] or [`SignatureError::Wrong`].
    pub fn verify(&self, trusted: &[PublicKey], context: Context) -> Result<&'a [u8], SignatureError> {
        self.signature.verify(trusted, context, self.bytes).map(|_| self.bytes)
    }
}
