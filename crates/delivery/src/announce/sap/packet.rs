//! Reader and writer.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use sha2::{Digest as _, Sha256};

use crate::announce::signature::{PublicKey, Signature, Signer, Verifier};
use crate::security::signed::Context;
use layercast_core::Always as _;

/// The longest packet that is written or read: the most that one datagram of IPv4 holds.
pub const MAX_BYTES: usize = 65_507;

/// The authentication type of an Ed25519 signature (the module has the reason). The highest, so that a number that is
/// assigned one day is unlikely to be the same.
pub const AUTH_ED25519: u8 = 15;

const VERSION: u8 = 1;
const IPV6: u8 = 0x10;
const DELETION: u8 = 0x04;
const ENCRYPTED: u8 = 0x02;
const COMPRESSED: u8 = 0x01;
/// The padding bit of authentication data.
const PADDED: u8 = 0x10;

const SDP: &str = "application/sdp";
/// The longest payload type that is searched for its end.
const TYPE_MAX: usize = 127;

/// First byte, key, signature and three bytes of padding.
const OWN_BYTES: usize = 1 + 32 + 64 + 3;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The payload describes a session.
    Announcement,
    /// The payload is the `o=` line of a session that has ended.
    Deletion,
}

/// Who vouches for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// Nobody.
    None,
    /// The holder of a key, if the signature is right.
    Ed25519(PublicKey, Signature),
    /// A type that is not read here: 0 is PGP, 1 is CMS.
    Other(u8),
}

/// A packet that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// What it is.
    pub kind: Kind,
    /// With the originating source the number of this version of the announcement. Never 0.
    pub hash: u16,
    /// The host that announced first; a proxy may have repeated it.
    pub origin: IpAddr,
    /// Who vouches for it.
    pub authentication: Authentication,
    /// The description, or the `o=` line.
    pub payload: &'a [u8],
    /// All bytes before and after the authentication data.
    signed: (&'a [u8], &'a [u8]),
}

/// Why a packet is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SapError {
    /// It ends too early.
    #[error("the packet ends within its header, after {0} bytes")]
    Short(usize),
    /// It is longer than [`MAX_BYTES`].
    #[error("{0} bytes are more than a datagram can have")]
    Long(usize),
    /// An unsupported version.
    #[error("version {0} of SAP; only version 1 is supported")]
    Version(u8),
    /// Encrypted: RFC 2974 defines no algorithm (section 7).
    #[error("it is encrypted, for which RFC 2974 defines no algorithm; announce without encryption")]
    Encrypted,
    /// Compressed.
    #[error("it is compressed, which is not supported; announce without compression")]
    Compressed,
    /// Hash or source is zero, as in version 0 (section 6 allows to discard them).
    #[error("it has no message id hash or no originating source, as in version 0 of SAP")]
    Anonymous,
    /// Authentication data that is longer than the packet, or not as section 8 has it.
    #[error("its authentication data is not as RFC 2974, section 8, defines it")]
    Authentication,
    /// A payload that is not SDP.
    #[error("its payload is `{0}`; only `application/sdp` is supported")]
    PayloadType(String),
}

impl<'a> Packet<'a> {
    /// Reads a packet. Never panics.
    ///
    /// # Errors
    /// Why it is not read.
    pub fn read(bytes: &'a [u8]) -> Result<Packet<'a>, SapError> {
        let short = || SapError::Short(bytes.len());
        if bytes.len() > MAX_BYTES {
            return Err(SapError::Long(bytes.len()));
        }
        let (&[flags, words, high, low], rest) = bytes.split_first_chunk().ok_or_else(short)?;
        if flags >> 5 != VERSION {
            return Err(SapError::Version(flags >> 5));
        }
        let (origin, rest): (IpAddr, _) = if flags & IPV6 == 0 {
            let (&source, rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
            (Ipv4Addr::from(source).into(), rest)
        } else {
            let (&source, rest) = rest.split_first_chunk::<16>().ok_or_else(short)?;
            (Ipv6Addr::from(source).into(), rest)
        };
        let (data, rest) = rest.split_at_checked(usize::from(words) * 4).ok_or(SapError::Authentication)?;
        let header = &bytes[..bytes.len() - data.len() - rest.len()];
        if flags & ENCRYPTED != 0 {
            return Err(SapError::Encrypted);
        }
        if flags & COMPRESSED != 0 {
            return Err(SapError::Compressed);
        }
        let hash = u16::from_be_bytes([high, low]);
        if hash == 0 || origin.is_unspecified() {
            return Err(SapError::Anonymous);
        }
        let kind = if flags & DELETION == 0 { Kind::Announcement } else { Kind::Deletion };
        let authentication = read_authentication(data)?;
        Ok(Packet { kind, hash, origin, authentication, payload: sdp_of(rest)?, signed: (header, rest) })
    }

    /// Whether the signature is right; none if there is none of ours.
    pub fn verify(&self, verifier: &dyn Verifier) -> Option<(PublicKey, bool)> {
        let Authentication::Ed25519(key, signature) = self.authentication else { return None };
        let (header, rest) = self.signed;
        let bytes = without_authentication(header, rest);
        Some((key, verifier.verify(&key, Context::Announcement, &bytes, &signature)))
    }
}

/// What is signed: the packet as it would be without authentication (RFC 2974, section 8).
fn without_authentication(header: &[u8], rest: &[u8]) -> Vec<u8> {
    let mut bytes = [header, rest].concat();
    if let Some(words) = bytes.get_mut(1) {
        *words = 0;
    }
    bytes
}

/// RFC 2974, section 8, figure 2.
fn read_authentication(data: &[u8]) -> Result<Authentication, SapError> {
    let Some((&first, rest)) = data.split_first() else { return Ok(Authentication::None) };
    if first >> 5 != VERSION {
        return Err(SapError::Authentication);
    }
    let padding =
        if first & PADDED == 0 { 0 } else { data.last().copied().always("there is a first byte").into() };
    if first & PADDED != 0 && (padding == 0 || padding > rest.len()) {
        return Err(SapError::Authentication);
    }
    let content = &rest[..rest.len() - padding];
    match first & 0x0f {
        AUTH_ED25519 => {
            let (&key, signature) = content.split_first_chunk().ok_or(SapError::Authentication)?;
            let signature = signature.try_into().map_err(|_| SapError::Authentication)?;
            Ok(Authentication::Ed25519(key, signature))
        }
        other => Ok(Authentication::Other(other)),
    }
}

/// The payload, if it is SDP. Without a payload type it begins as SDP does (RFC 2974, section 6).
fn sdp_of(rest: &[u8]) -> Result<&[u8], SapError> {
    if rest.starts_with(b"v=0") || rest.starts_with(b"o=") {
        return Ok(rest);
    }
    let head = &rest[..rest.len().min(TYPE_MAX + 1)];
    let end = head.iter().position(|&byte| byte == 0);
    let named = &rest[..end.unwrap_or(head.len())];
    // A content type may have parameters (RFC 2045, section 5.1).
    let essence = named.split(|&byte| byte == b';').next().always("a split has a first part").trim_ascii();
    match end {
        Some(end) if essence.eq_ignore_ascii_case(SDP.as_bytes()) => Ok(&rest[end + 1..]),
        _ => Err(SapError::PayloadType(named.escape_ascii().to_string())),
    }
}

/// A packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// What it is.
    pub kind: Kind,
    /// The number of this version of the announcement ([`message_hash`]).
    pub hash: u16,
    /// The host that announces.
    pub origin: IpAddr,
    /// The description, or the `o=` line.
    pub payload: &'a str,
}

impl Message<'_> {
    /// The packet, signed if there is a signer.
    ///
    /// # Errors
    /// If it does not fit into a datagram.
    pub fn write(&self, signer: Option<&dyn Signer>) -> Result<Vec<u8>, SapError> {
        let mut flags = VERSION << 5;
        if self.origin.is_ipv6() {
            flags |= IPV6;
        }
        if self.kind == Kind::Deletion {
            flags |= DELETION;
        }
        let [high, low] = self.hash.to_be_bytes();
        let mut bytes = vec![flags, 0, high, low];
        match self.origin {
            IpAddr::V4(origin) => bytes.extend(origin.octets()),
            IpAddr::V6(origin) => bytes.extend(origin.octets()),
        }
        let header = bytes.len();
        bytes.extend(SDP.bytes());
        bytes.push(0);
        bytes.extend(self.payload.bytes());
        if let Some(signer) = signer {
            let signature = signer.sign(Context::Announcement, &bytes);
            let mut data = vec![VERSION << 5 | PADDED | AUTH_ED25519];
            data.extend(signer.public_key());
            data.extend(signature);
            data.extend([0, 0, 3]);
            bytes[1] = (OWN_BYTES / 4) as u8;
            bytes.splice(header..header, data);
        }
        if bytes.len() > MAX_BYTES { Err(SapError::Long(bytes.len())) } else { Ok(bytes) }
    }
}

/// The message id hash of a description: 16 bits of its SHA-256, which change with it. Never 0.
pub fn message_hash(description: &str) -> u16 {
    let [high, low, ..] = <[u8; 32]>::from(Sha256::digest(description));
    u16::from_be_bytes([high, low]).max(1)
}
